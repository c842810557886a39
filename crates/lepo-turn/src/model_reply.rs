//! The reply of a model to a request, and how it ended.

use super::outcome::FinishedAnswer;
use lepo_base::error::{Error, Result};
use lepo_model::{ProviderMessage, ToolCall, Usage};
use lepo_store::bubb::BubbName;
use lepo_tool::mcp::CallRequest;

/// A reply; its texts are already in the store, except those around calls in text.
pub enum ModelReply {
    /// The answer that ends the turn.
    Answer(FinishedAnswer),
    /// Calls by fields of the API, and the text around them, which is a hidden bubb.
    Calls(Option<BubbName>, Vec<ToolCall>, Option<ProviderMessage>),
    /// Calls in the text, and the text around them, which is not in a bubb yet.
    TextCalls(String, Vec<CallRequest>),
    /// An answer that does not match the schema, stored as a hidden bubb; and the fault.
    Unfit(BubbName, String),
    /// An interrupted answer, with the hidden bubb of its partial text, if there is any.
    Cut(Option<BubbName>, Error),
    /// The model did not answer.
    Refused(Error),
}

/// How an answer ended.
pub enum AnswerEnd {
    Final,
    /// Calls tools by fields of the API.
    Calls(Vec<ToolCall>, Option<ProviderMessage>),
    /// Calls tools in its text; with the text around them.
    TextCalls(String, Vec<CallRequest>),
    Unfit(String),
    Failed(Error),
}

impl AnswerEnd {
    /// Returns the keyword for the journal.
    pub fn journal_label(&self, blank: bool) -> &'static str {
        match self {
            AnswerEnd::Final if blank => "empty",
            AnswerEnd::Final => "answer",
            AnswerEnd::Calls(..) | AnswerEnd::TextCalls(..) => "calls",
            AnswerEnd::Unfit(_) => "unfit",
            AnswerEnd::Failed(_) => "partial",
        }
    }

    /// Returns the reply; `stored` is its bubb, unless it was blank.
    pub fn into_reply(
        self,
        stored: Option<Result<BubbName>>,
        (usage, cut): (Usage, Option<&'static str>),
        ms: u64,
    ) -> Result<ModelReply> {
        match (self, stored) {
            (AnswerEnd::Final, Some(name)) => {
                Ok(ModelReply::Answer(FinishedAnswer { name: name?, usage, cut, ms }))
            }
            (AnswerEnd::Calls(calls, replay), stored) => {
                Ok(ModelReply::Calls(stored.transpose()?, calls, replay))
            }
            (AnswerEnd::TextCalls(words, calls), _) => Ok(ModelReply::TextCalls(words, calls)),
            (AnswerEnd::Unfit(fault), Some(name)) => Ok(ModelReply::Unfit(name?, fault)),
            (AnswerEnd::Final | AnswerEnd::Unfit(_), None) => {
                Err(Error::remote("the model's answer is empty").ask_again())
            }
            (AnswerEnd::Failed(mut error), Some(Err(also))) => {
                error.message = format!("{}; and {}", error.message, also.chain());
                Err(error)
            }
            (AnswerEnd::Failed(error), kept) => Ok(ModelReply::Cut(kept.transpose()?, error)),
        }
    }
}
