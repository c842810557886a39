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
pub(crate) use turn::instructions;
