//! An answer that was received, and the end that it came to.

use super::report::Answered;
use lepo_base::error::{Error, Result};
use lepo_model::{Replay, ToolCall, Usage};
use lepo_store::bubb::Name;
use lepo_tool::mcp::CallRequest;

/// An answer that was received.
pub enum Received {
    /// The answer that ends the turn.
    Answer(Answered),
    /// Calls of tools by the API, and the text around them, which is a hidden bubb.
    Calls(Option<Name>, Vec<ToolCall>, Option<Replay>),
    /// Calls that stood in the text, and the text around them, which no bubb holds yet.
    TextCalls(String, Vec<CallRequest>),
    /// An answer that does not fit the schema, kept as a hidden bubb; and the fault.
    Unfit(Name, String),
    /// An answer that was cut short; with the hidden bubb of the part that came, if any did.
    Cut(Option<Name>, Error),
}

/// The end of receiving an answer.
pub enum Ending {
    /// The answer ends the turn.
    Final,
    /// It calls tools by the API.
    Calls(Vec<ToolCall>, Option<Replay>),
    /// It calls tools in its text; with the text around them.
    TextCalls(String, Vec<CallRequest>),
    /// It does not fit the schema; with the fault.
    Unfit(String),
    /// It was cut short.
    Failed(Error),
}

impl Ending {
    /// Its word in the journal.
    pub fn word(&self, blank: bool) -> &'static str {
        match self {
            Ending::Final if blank => "empty",
            Ending::Final => "answer",
            Ending::Calls(..) | Ending::TextCalls(..) => "calls",
            Ending::Unfit(_) => "unfit",
            Ending::Failed(_) => "partial",
        }
    }

    /// The received answer, kept as a bubb if it was not blank.
    pub fn into_received(
        self,
        kept: Option<Result<Name>>,
        (usage, cut): (Usage, Option<&'static str>),
        ms: u64,
    ) -> Result<Received> {
        match (self, kept) {
            (Ending::Final, Some(name)) => Ok(Received::Answer(Answered { name: name?, usage, cut, ms })),
            (Ending::Calls(calls, replay), kept) => Ok(Received::Calls(kept.transpose()?, calls, replay)),
            (Ending::TextCalls(words, calls), _) => Ok(Received::TextCalls(words, calls)),
            (Ending::Unfit(fault), Some(name)) => Ok(Received::Unfit(name?, fault)),
            (Ending::Final | Ending::Unfit(_), None) => {
                Err(Error::remote("the model's answer is empty").ask_again())
            }
            (Ending::Failed(mut error), Some(Err(also))) => {
                error.message = format!("{}; and {}", error.message, also.chain());
                Err(error)
            }
            (Ending::Failed(error), kept) => Ok(Received::Cut(kept.transpose()?, error)),
        }
    }
}
