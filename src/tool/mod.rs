//! Acting for a model: what it asked for, a person's consent, and the doing. Knows no bubbs.

mod capture;
mod consent;
mod extract;
mod request;
mod sandbox;
mod shell;
mod tree;

pub use capture::{Captured, Section};
pub use consent::{Consent, Granted, Proposal, Reply};
pub use extract::{Piece, first, pieces};
pub use request::{Access, CommandRequest};
pub use sandbox::{Detected, Ground, Sandbox};
pub use shell::{Ending, Outcome, Shell};
