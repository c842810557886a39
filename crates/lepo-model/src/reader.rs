//! The contract of what reads an answer's bytes.

use serde_json::Value;

use super::event::Events;
use super::failure::failure_words;
use super::refusals::{known_word, status_of};
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

    /// The end mark has come.
    fn is_done(&self) -> bool {
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
    /// The error as JSON.
    pub body: String,
}

impl Refused {
    /// The refusal that an error is; none if nothing tells its status.
    pub fn new(error: &Value) -> Option<Refused> {
        let status = status_of(error)?;
        let words = failure_words(error);
        let words = match known_word(error).filter(|word| !words.contains(word)) {
            Some(word) => format!("{words} ({word})"),
            None => words,
        };
        Some(Refused { status, words, body: error.to_string() })
    }
}
