//! The contract of what reads an answer's bytes.

use super::event::Events;
use lepo_base::error::Result;

/// Decodes the bytes of one answer, which come in pieces of any size.
pub(super) trait AnswerReader {
    /// Takes the next bytes.
    fn read(&mut self, bytes: &[u8], events: &mut Events) -> Result<()>;

    /// The bytes have ended.
    fn end(&mut self, events: &mut Events) -> Result<()>;

    /// The answer is complete, and only its price may follow.
    fn is_finishing(&self) -> bool {
        false
    }

    /// The refusal that came in place of an answer, after a status of success.
    fn refused(&self) -> Option<Refused> {
        None
    }
}

/// A refusal within a stream, as the HTTP status it would have had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The status.
    pub status: u16,
    /// The server's words.
    pub words: String,
}

impl Refused {
    /// None if `status` is not that of a refusal.
    pub fn new(status: u64, words: &str) -> Option<Refused> {
        let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status))?;
        Some(Refused { status, words: words.to_owned() })
    }
}
