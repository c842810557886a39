//! The hidden messages that a turn adds of a repository's files: neither compared nor added in a recorded run, as they
//! differ from one clone to the next.

use crate::agents::is_instructions;
use crate::skills::is_of_skills;
use lepo_store::bubb::{Kind, Name};

/// True for a message that a turn added of the repository's files.
pub fn is_added(name: &Name, text: &str) -> bool {
    name.hidden && name.kind == Kind::System && (is_instructions(text) || is_of_skills(text))
}
