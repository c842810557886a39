//! Converts conversations of other tools to bubbs.
//!
//! `lepo-import` reads them and [`plan()`] maps each to bubbs, deterministically; work on a single text runs
//! in the reading threads ([`finish`]). [`copy`] reads another store. Apart from that the code is pure; the
//! command writes to the store.

mod deferred;
mod files;
mod held_back;
mod mask;
mod omissions;
mod plan;
mod prepared_text;
mod store_copy;
mod tool_detail;

pub use held_back::HeldBackPart;
pub use omissions::{Omissions, record_removed};
pub use plan::{ImportPlan, ImportRules, NO_TIME, PlannedBubb, VERSION, plan};
pub use prepared_text::finish;
pub use store_copy::{StoreCopy, copy, is_request, store_in};
pub use tool_detail::ToolDetail;

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests;

#[cfg(test)]
mod histories_tests;

#[cfg(test)]
mod plan_tests;

#[cfg(test)]
mod proxy_tests;
