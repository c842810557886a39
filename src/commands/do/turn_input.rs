//! The input of one turn.

use std::sync::Arc;

use lepo_store::bubb::BubbId;
use lepo_turn::skills::Skill;
use lepo_turn::{AnswerSchema, Question, Served, Verdict};

/// The input of one turn.
pub struct TurnInput {
    /// The decision on a request that waits.
    pub verdict: Option<(BubbId, Verdict)>,
    /// The question; none where one is answered again.
    pub question: Option<Question>,
    /// Resources and prompts of MCP servers that go with it.
    pub served: Served,
    /// The form that the answer must have.
    pub schema: Option<Arc<AnswerSchema>>,
    /// Only the code blocks of the answer are printed.
    pub code_only: bool,
    /// The skill that the question is asked with.
    pub skill: Option<Skill>,
}
