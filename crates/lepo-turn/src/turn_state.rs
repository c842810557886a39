//! The state of a turn: its path of bubbs and its report.

use super::outcome::log_failure;
use super::transcript::{SaveResult, Transcript};
use super::{Outcome, ToolUse, TurnEvent, TurnStart, View};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::conv::Forest;
use lepo_tool::ToolRequest;

/// The transcript and the report of a turn.
pub struct TurnRecord {
    /// The path from its root to the tip.
    pub transcript: Transcript,
    /// The outcome so far.
    pub report: Outcome,
    /// Describes the pending request in a line.
    waiting: String,
}

impl TurnRecord {
    /// Creates the state of a turn that starts at `start`.
    pub fn new(transcript: Transcript, model: &str, forest: &Forest, start: TurnStart) -> TurnRecord {
        let user = match start {
            TurnStart::New | TurnStart::Under(_) => None,
            TurnStart::Again(question) => Some(question),
            TurnStart::Decided(id) => {
                forest.find(id).and_then(|ix| forest.last_question(ix)).map(|ix| forest.name(ix).id)
            }
        };
        let report = Outcome { user, model: Some(model.to_string()), ..Outcome::default() };
        TurnRecord { transcript, report, waiting: String::new() }
    }

    /// Reports bubbs of [`Transcript::write_in_background`] that are now durable.
    pub fn report_saved(&mut self, view: &mut dyn View, saved: SaveResult) {
        for (name, text) in saved {
            if name.kind == Role::User && !name.hidden {
                self.report.user = Some(name.id);
            }
            view.on_event(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        }
    }

    pub fn wait_for(&mut self, name: &BubbName, request: &ToolRequest) {
        self.report.pending = Some(name.id);
        self.waiting = request.line();
        self.report.tools.push(ToolUse::new(name, request));
    }

    /// Returns an error with exit 4 if a request is pending.
    pub fn pending(&self) -> Result<()> {
        let Some(id) = self.report.pending else { return Ok(()) };
        Err(Error::new(ErrorKind::Pending, format!("needs approval: {}", self.waiting)).hint(
            Hint::default()
                .bare(ResumeAction::Approve(id.to_string()))
                .words("\n")
                .bare(ResumeAction::Deny(id.to_string())),
        ))
    }

    /// Whether the turn failed before any reaction to its question: a partial answer or a request.
    fn got_nothing(&self) -> bool {
        let report = &self.report;
        let came = report.answer.is_some() || report.partial.is_some() || report.pending.is_some();
        let is_asked = report.user.is_some() && self.transcript.question() == report.user;
        is_asked && report.error.is_some() && !came && self.transcript.is_bare()
    }

    /// Returns the report of the turn. After an interrupt, waits for a question that is still being written.
    pub async fn finish(mut self, view: &mut dyn View, result: Result<()>) -> Outcome {
        self.report.error = result.err();
        match self.transcript.saved().await {
            Ok(saved) => self.report_saved(view, saved),
            Err(error) => self.report.error = self.report.error.or(Some(error)),
        }
        self.transcript.prove_side_branch(self.report.partial);
        log_failure(self.report.model.as_deref(), self.report.error.as_ref());
        self.report.is_unanswered = self.got_nothing();
        if let Some(question) = self.report.user.filter(|_| self.report.is_unanswered) {
            self.transcript.store().journal().note_unanswered(question);
        }
        self.report.conv = self.transcript.ids().collect();
        self.report.conv.extend(self.report.answer.map(|answer| answer.name.id));
        self.report
    }
}
