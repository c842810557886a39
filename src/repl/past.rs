//! Steps that `/undo` reverts: questions, and commands that left the conversation for a new one.

use lepo_store::bubb::BubbId;

pub(super) enum UndoStep {
    /// A question as typed, and the end of the conversation before it.
    Asked(Option<BubbId>, String),
    /// `/new` or `/system`, with the position before it.
    Left(SessionSnapshot),
}

/// The position of a session in the store.
pub(super) struct SessionSnapshot {
    pub(super) at: Option<BubbId>,
    pub(super) unanswered: Option<BubbId>,
    pub(super) branch: Option<(String, BubbId)>,
    pub(super) waiting: Option<BubbId>,
    /// The system prompt that `/system` replaced, from the command line or `None`; absent after `/new`.
    pub(super) system_prompt: Option<Option<String>>,
}
