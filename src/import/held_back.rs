//! The withheld part of a log's last message, which may be incomplete: the facts that the
//! report prints.

use lepo_base::role::Role;
use lepo_import::{ImportNode, NodeContent};

/// Age in milliseconds from which a log's last message counts as complete.
const SETTLED: u64 = 24 * 60 * 60 * 1000;

/// Characters of the text in the report.
const HEAD: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBackPart {
    pub role: Role,
    pub hidden: bool,
    pub text: String,
    /// Time from which it counts as complete, if the source has a time for it.
    pub until: Option<u64>,
}

/// Returns the time from which a node counts as complete, in a conversation that began at `start`.
pub fn held_until(node: &ImportNode, start: Option<u64>) -> Option<u64> {
    node.time.or(start).map(|time| time.saturating_add(SETTLED))
}

impl HeldBackPart {
    /// Describes a node; `None` if it is empty.
    pub fn from_node(node: &ImportNode, start: Option<u64>) -> Option<HeldBackPart> {
        let (role, hidden, text) = match &node.what {
            NodeContent::Nothing => return None,
            NodeContent::System(text) => (Role::System, true, text),
            NodeContent::Text(role, text, _) => (*role, false, text),
            NodeContent::Aside(role, text) | NodeContent::Side(role, text) => (*role, true, text),
            NodeContent::Call { name, .. } => (Role::Assistant, true, name),
            NodeContent::Output { text, .. } => (Role::Tool, true, text),
            NodeContent::Exact(role, hidden, text) => (*role, *hidden, text),
        };
        let text = text.chars().take(HEAD).collect();
        Some(HeldBackPart { role, hidden, text, until: held_until(node, start) })
    }
}
