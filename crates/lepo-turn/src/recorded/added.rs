//! The hidden messages that a turn adds of a repository's files: neither compared nor added in a recorded run, as they
//! differ from one clone to the next.

use lepo_store::bubb::{Kind, Name};

/// The beginnings of their first lines.
const FIRST: [&str; 0] = [];

/// True for a message that a turn added of the repository's files.
pub fn is_added(name: &Name, text: &str) -> bool {
    name.hidden && name.kind == Kind::System && FIRST.iter().any(|first| text.starts_with(first))
}
