//! The things that `/undo` takes back: questions, and commands that left the conversation for a new one.

use lepo_store::bubb::BubbId;

/// One thing that `/undo` takes back.
pub(super) enum Past {
    /// A question as it was typed, and the end of the conversation before it.
    Asked(Option<BubbId>, String),
    /// `/new` or `/system`, and the place that it left.
    Left(Place),
}

/// A place in the store.
pub(super) struct Place {
    pub(super) at: Option<BubbId>,
    pub(super) unanswered: Option<BubbId>,
    pub(super) branch: Option<(String, BubbId)>,
    pub(super) waiting: Option<BubbId>,
    /// The system prompt that `/system` replaced: of the command line, or none; absent after `/new`.
    pub(super) system_prompt: Option<Option<String>>,
}
