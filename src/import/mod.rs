//! Conversations of other tools as bubbs.
//!
//! `lepo-import` reads them; [`plan()`] makes bubbs of each, the same ones every time, and what it does to one text
//! alone is done by the threads that read ([`finish`]). [`copy`] takes over another store. Pure but for that; the
//! store is written to by the command.

mod brief;
mod files;
mod held;
mod lepo;
mod masked;
mod plan;
mod ready;
mod waiting;

pub use brief::Tools;
pub use held::Held;
pub use lepo::{Copied, copy, is_request, store_in};
pub use plan::{NO_TIME, Plan, Rules, VERSION, plan};
pub use ready::finish;

use lepo_import::Role;
use lepo_store::bubb::Kind;

/// The kind of the bubbs of a role.
fn kind_of(role: Role) -> Kind {
    match role {
        Role::System => Kind::System,
        Role::User => Kind::User,
        Role::Assistant => Kind::Assistant,
        Role::Tool => Kind::Tool,
    }
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests;

#[cfg(test)]
mod histories_tests;

#[cfg(test)]
mod plan_tests;
