//! Answers from the record: a store as the cassette of a program's tests.
//!
//! A request is known again by what was said before it, and by model, options, schema and tools. Nothing is sent for it
//! then, and nothing is written.

mod added;
mod debate;
mod facts;
mod find;
mod look;
mod miss;
mod paths;
mod said;
mod told;

pub(crate) use added::is_added;
pub use debate::{Voice, debate};
pub use facts::{RequestFacts, options_json, schema_hash, tools_hash};
pub use find::{find, verdict};
pub use look::{OptionsWish, Record, ToolsWish, Wish};
pub use miss::{missed, no_verdict, not_recorded};
pub use said::{Said, before, question};
pub use told::{Hit, tell};

use std::path::PathBuf;

/// The wish for recorded answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Nothing is sent: what is not recorded fails.
    pub only: bool,
    /// The store that is looked into, instead of the one that is written to.
    pub from: Option<PathBuf>,
}
