//! Parts of a log's last message that are held back, as they may not be whole yet: what a person is told of them.

use super::kind_of;
use lepo_import::{Node, What};
use lepo_store::bubb::Kind;

/// The age of a log's last message from which on it counts as complete.
const SETTLED: u64 = 24 * 60 * 60 * 1000;

/// Characters of a text that are kept.
const HEAD: usize = 200;

/// A part of a last message that is held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its kind.
    pub kind: Kind,
    /// It is hidden.
    pub hidden: bool,
    /// The beginning of its text.
    pub text: String,
    /// The moment from which on it counts as complete, if the source says when it was written.
    pub until: Option<u64>,
}

/// The moment from which on a node counts as complete, in a conversation that began at `start`.
pub fn held_until(node: &Node, start: Option<u64>) -> Option<u64> {
    node.time.or(start).map(|time| time.saturating_add(SETTLED))
}

impl Held {
    /// A node that is held back; `None` if it says nothing.
    pub fn of(node: &Node, start: Option<u64>) -> Option<Held> {
        let (kind, hidden, text) = match &node.what {
            What::Nothing => return None,
            What::System(text) => (Kind::System, true, text),
            What::Text(role, text, _) => (kind_of(*role), false, text),
            What::Aside(role, text) | What::Side(role, text) => (kind_of(*role), true, text),
            What::Call { name, .. } => (Kind::Assistant, true, name),
            What::Output { text, .. } => (Kind::Tool, true, text),
            What::Exact(role, hidden, text) => (kind_of(*role), *hidden, text),
        };
        let text = text.chars().take(HEAD).collect();
        Some(Held { kind, hidden, text, until: held_until(node, start) })
    }
}
