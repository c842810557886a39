//! The outcome of a turn.

use lepo_base::error::{Error, Kind};
use lepo_model::Usage;
use lepo_store::bubb::{BubbId, Name};
use lepo_tool::ToolRequest;

/// The outcome of a turn. What was written stays, whatever the error.
#[derive(Debug, Default)]
pub struct Report {
    /// The ids of the conv so far, oldest first.
    pub conv: Vec<BubbId>,
    /// The question.
    pub user: Option<BubbId>,
    /// The configured name of the model that was asked.
    pub model: Option<String>,
    /// The answer.
    pub answer: Option<Answered>,
    /// The part that came of an answer that was cut short; a hidden bubb.
    pub partial: Option<BubbId>,
    /// The answer is JSON, as a schema asked for.
    pub is_json: bool,
    /// The requests of this turn.
    pub tools: Vec<ToolUse>,
    /// A request that waits for consent.
    pub pending: Option<BubbId>,
    /// The error, if there is no answer.
    pub error: Option<Error>,
    /// Nothing came for the question: the next one is not asked behind it.
    pub is_unanswered: bool,
    /// The masks in the answer's bubb, each with what it stands for: they are shown as the model gave them.
    pub truths: Vec<(String, String)>,
    /// The recorded answer that this is; nothing was asked and nothing written.
    pub recorded: Option<BubbId>,
}

impl Report {
    /// A text of the answer's bubb as the model gave it.
    pub fn as_given(&self, text: String) -> String {
        if self.truths.is_empty() { text } else { lepo_secrets::restore(&text, &self.truths) }
    }
}

/// Logs the error that ended a turn. A pending request and a turn that the user stopped are no errors.
pub fn log_failure(model: Option<&str>, error: Option<&Error>) {
    let failure = error.filter(|error| !matches!(error.kind, Kind::Pending | Kind::Signal(_)));
    if let Some(error) = failure {
        tracing::error!(model, error = error.chain(), "turn failed");
    }
}

/// An answer that was given.
#[derive(Debug, Clone, Copy)]
pub struct Answered {
    /// Bubb of the answer.
    pub name: Name,
    /// Tokens, if they were told.
    pub usage: Usage,
    /// The limit that cut it off: `max_tokens`, or `window`.
    pub cut: Option<&'static str>,
    /// From the request to the end, milliseconds.
    pub ms: u64,
}

/// A request and its result.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// The request's bubb; the result's, for the user's own command.
    pub bubb: BubbId,
    /// `command` or `mcp`, `run` for the user's own command, or `agent` for what an agent did by itself.
    pub kind: &'static str,
    /// The request in its canonical form.
    pub request: serde_json::Value,
    /// The result's bubb.
    pub result: Option<BubbId>,
    /// The exit code, if the command came to one.
    pub exit: Option<i32>,
}

impl ToolUse {
    /// A request of a model, which has no result yet.
    pub fn of(name: &Name, request: &ToolRequest) -> ToolUse {
        ToolUse { bubb: name.id, kind: request.kind(), request: request.to_json(), result: None, exit: None }
    }
}
