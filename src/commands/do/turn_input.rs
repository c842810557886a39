//! The input of a turn.

use std::sync::Arc;

use lepo_store::bubb::BubbId;
use lepo_turn::skills::Skill;
use lepo_turn::{AnswerSchema, Question, ServerContent, Verdict};

pub struct DoInput {
    pub verdict: Option<(BubbId, Verdict)>,
    /// `None` if an existing question is answered again.
    pub question: Option<Question>,
    /// Resources and prompts of MCP servers to send with it.
    pub served: ServerContent,
    pub schema: Option<Arc<AnswerSchema>>,
    /// Only the code blocks of the answer are printed.
    pub code_only: bool,
    pub skill: Option<Skill>,
    /// Whether the rest of the stopped answer at the end of the conversation is asked for.
    pub rest: bool,
}

impl DoInput {
    /// Returns why no look-up can tell whether this turn is recorded.
    pub fn unknown_in_record(&self) -> Option<&'static str> {
        match (&self.verdict, self.served.is_empty()) {
            (Some(_), _) => Some("a decision on a request is not looked up"),
            (None, false) => Some("what an MCP server gives is not known before it is started"),
            (None, true) => None,
        }
    }
}
