//! The outcome of a turn.

use super::turn_path::{SaveResult, TurnPath};
use super::{TurnEvent, TurnStart, View};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::role::Role;
use lepo_model::Usage;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;
use lepo_tool::ToolRequest;

/// The outcome of a turn. Written bubbs remain, regardless of an error.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The ids of the conv so far, oldest first.
    pub conv: Vec<BubbId>,
    /// The question.
    pub user: Option<BubbId>,
    /// The configured name of the model.
    pub model: Option<String>,
    /// The answer.
    pub answer: Option<FinishedAnswer>,
    /// The hidden bubb with the partial text of an interrupted answer.
    pub partial: Option<BubbId>,
    /// Whether the next question follows `partial`, which it does not if that is thinking alone.
    pub is_continued: bool,
    /// Whether the answer is JSON, as a schema required.
    pub is_json: bool,
    /// The requests of this turn.
    pub tools: Vec<ToolUse>,
    /// A pending request.
    pub pending: Option<BubbId>,
    /// The error, if the turn has no answer.
    pub error: Option<Error>,
    /// Whether the question got no answer at all: the next question does not follow it.
    pub is_unanswered: bool,
    /// The masks in the answer's bubb, each with the text that it replaced, for displaying the answer
    /// unmasked.
    pub truths: Vec<(String, String)>,
    /// The recorded answer, if one was returned: then nothing was sent or written.
    pub recorded: Option<BubbId>,
}

impl Outcome {
    /// Creates the outcome of a turn that starts at `start`, before anything happened.
    pub fn at_start(model: &str, forest: &Forest, start: TurnStart) -> Outcome {
        let user = match start {
            TurnStart::New | TurnStart::Under(_) => None,
            TurnStart::Again(question) => Some(question),
            TurnStart::Decided(id) => {
                forest.find(id).and_then(|ix| forest.last_question(ix)).map(|ix| forest.name(ix).id)
            }
        };
        Outcome { user, model: Some(model.to_string()), ..Outcome::default() }
    }

    /// Reports bubbs of [`TurnPath::write_in_background`] that are now durable.
    pub fn report_saved(&mut self, view: &mut dyn View, saved: SaveResult) {
        for (name, text) in saved {
            if name.role == Role::User && !name.hidden {
                self.user = Some(name.id);
            }
            view.on_event(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        }
    }

    /// Completes the outcome of a turn at its end. After an interrupt, waits for a question that is still being written.
    pub async fn finish(mut self, mut path: TurnPath, view: &mut dyn View, result: Result<()>) -> Outcome {
        self.error = result.err();
        match path.saved().await {
            Ok(saved) => self.report_saved(view, saved),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        path.prove_side_branch(self.partial);
        log_failure(self.model.as_deref(), self.error.as_ref());
        self.is_unanswered = self.got_nothing(&path);
        if let Some(question) = self.user.filter(|_| self.is_unanswered) {
            path.store().journal().note_unanswered(question);
        }
        self.conv = path.ids().collect();
        self.conv.extend(self.answer.map(|answer| answer.name.id));
        self
    }

    /// Whether the turn failed before any reaction to its question: a partial answer or a request.
    fn got_nothing(&self, path: &TurnPath) -> bool {
        let came = self.answer.is_some() || self.partial.is_some() || self.pending.is_some();
        let is_asked = self.user.is_some() && path.question() == self.user;
        is_asked && self.error.is_some() && !came && path.is_bare()
    }

    /// Returns the bubb that the next question follows: the answer, a stopped one, or the question.
    pub fn end(&self) -> Option<BubbId> {
        let stopped = self.partial.filter(|_| self.is_continued);
        self.answer.map(|answer| answer.name.id).or(stopped).or(self.user)
    }

    /// Unmasks a text of the answer's bubb.
    pub fn as_given(&self, text: String) -> String {
        if self.truths.is_empty() { text } else { lepo_secrets::restore(&text, &self.truths) }
    }
}

/// Logs the error that ended a turn, unless it is a pending request or an interrupt by the user.
pub fn log_failure(model: Option<&str>, error: Option<&Error>) {
    let failure = error.filter(|error| !matches!(error.kind, ExitKind::Pending | ExitKind::Signal(_)));
    if let Some(error) = failure {
        tracing::error!(model, error = error.chain(), "turn failed");
    }
}

/// An answer.
#[derive(Debug, Clone, Copy)]
pub struct FinishedAnswer {
    /// Bubb of the answer.
    pub name: BubbName,
    /// Tokens, if the provider reported them.
    pub usage: Usage,
    /// The limit at which it ended: `max_tokens`, or `window`.
    pub cut: Option<&'static str>,
    /// Milliseconds from the request to the end.
    pub ms: u64,
}

/// A request and its result.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// Bubb of the request; for the user's own command, bubb of the result.
    pub bubb: BubbId,
    /// `command` or `mcp`, `run` for the user's own command, or `agent` for an agent's own action.
    pub kind: &'static str,
    /// The request in canonical form.
    pub request: serde_json::Value,
    /// Bubb of the result.
    pub result: Option<BubbId>,
    /// The exit code, if the command has one.
    pub exit: Option<i32>,
}

impl ToolUse {
    /// Creates the entry of a model's request, which has no result yet.
    pub fn new(name: &BubbName, request: &ToolRequest) -> ToolUse {
        ToolUse { bubb: name.id, kind: request.kind(), request: request.to_json(), result: None, exit: None }
    }
}
