//! Answers from the record: a store as the cassette of a program's tests.
//!
//! A request is recognised by the messages before it, and by model, options, schema and tools. In that case
//! nothing is sent, and nothing is written.

mod debate;
mod facts;
mod find;
mod look_up;
mod nearest;
mod past_message;
mod paths;
mod query;
mod recorded_answer;
mod tool_hashes;

pub use facts::{RequestFacts, options_json, schema_hash};
pub use look_up::{Lookup, LookupRequest, MissingAnswer, RecordedOutcome, Voices, look_up};
pub use nearest::{differing_excerpts, not_recorded};
pub use past_message::{PastMessage, before, opening_messages};
pub use query::{OptionsRule, Query, RecordStore, ToolsRule};
pub use recorded_answer::{RecordedAnswer, show_answer};
pub use tool_hashes::{ToolHashes, hash_of_json};

use std::path::PathBuf;

/// The request for recorded answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedOptions {
    /// Send nothing: a request that is not recorded fails.
    pub only: bool,
    /// The store to search, instead of the store of the turn.
    pub from: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
