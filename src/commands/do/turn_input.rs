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
