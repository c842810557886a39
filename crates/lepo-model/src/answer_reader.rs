//! The interface of the decoders of an answer's bytes.

use serde_json::Value;

use super::event::EventQueue;
use super::failure::failure_message;
use super::refusals::{known_code, status_of};
use lepo_base::error::Result;

/// Decodes the bytes of one answer, split at any offset.
pub(super) trait AnswerReader {
    fn read(&mut self, bytes: &[u8], events: &mut EventQueue) -> Result<()>;

    fn finish(&mut self, events: &mut EventQueue) -> Result<()>;

    /// Whether the answer is complete, and only its usage may follow.
    fn is_finishing(&self) -> bool {
        false
    }

    /// Whether the end mark has arrived.
    fn is_done(&self) -> bool {
        false
    }

    /// Returns the refusal that arrived with a success status instead of an answer.
    fn refusal(&self) -> Option<StreamRefusal> {
        None
    }
}

/// A refusal within a stream, with the HTTP status that it would have had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamRefusal {
    pub status: u16,
    /// The server's error message.
    pub message: String,
    /// The error as JSON.
    pub body: String,
}

impl StreamRefusal {
    /// Converts an error; `None` if its status is unknown.
    pub fn new(error: &Value) -> Option<StreamRefusal> {
        let status = status_of(error)?;
        let message = failure_message(error);
        let message = match known_code(error).filter(|code| !message.contains(code)) {
            Some(code) => format!("{message} ({code})"),
            None => message,
        };
        Some(StreamRefusal { status, message, body: error.to_string() })
    }
}
