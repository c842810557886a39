//! Instructions of a repository: `AGENTS.md`, or `CLAUDE.md`, of each folder from its root down to the folder
//! that lepo was started in. They are added to a conversation once, as a hidden bubb, so that its history
//! proves which instructions an answer was based on.

mod bounded;
mod consent;
mod find;
mod opening;
mod text;
mod turn;

pub(crate) use bounded::{in_note, read_inside};
pub(crate) use consent::unagreed;
pub use consent::{InstructionsConsent, SentInstructions, agreements, record_consent, unagreed_here};
pub(crate) use find::NOT_TAKEN;
pub use find::{InstructionFile, Instructions};
pub use text::is_instructions;
pub(crate) use turn::instructions;

/// Whether this is the text of a bubb with content of the repository or of the user's skills: instructions,
/// or the names of skills. In a conversation such a bubb is hidden and of kind system, but is not a system
/// prompt, although it may be the root.
pub fn is_of_repository(text: &str) -> bool {
    is_instructions(text) || crate::skills::is_catalogue(text)
}
pub(crate) use text::is_instructions_entry;
