//! The hidden messages with a repository's files that a turn adds. A recorded run neither compares nor adds
//! them, as they differ between clones.

use crate::instructions::is_instructions;
use crate::skills::is_of_skills;
use lepo_store::bubb::{BubbName, Kind};

/// Whether a turn added this message from the repository's files.
pub fn is_added(name: &BubbName, text: &str) -> bool {
    name.hidden && name.kind == Kind::System && (is_instructions(text) || is_of_skills(text))
}
