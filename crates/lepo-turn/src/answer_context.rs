//! The position of an answer, and the facts about its request.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use lepo_store::bubb::BubbId;
use lepo_store::store::Store;

use super::Masking;
use super::ToolUse;
use super::answer_order::OrderedAnswer;
use super::recorded::RequestFacts;
use super::schema::AnswerSchema;

/// The position of an answer, and the facts about its request.
pub struct AnswerContext<'a> {
    pub store: &'a Arc<Store>,
    /// The bubb that the answer follows if it ends the turn.
    pub under: Option<BubbId>,
    /// Its index among several answers to a question; `None` for a single answer.
    pub order: Option<OrderedAnswer<'a>>,
    /// The bubb that it follows otherwise: the end of the side branch, if there is one.
    pub tip: Option<BubbId>,
    /// The hidden bubb before the answer in a group turn, which names the model.
    pub before: Option<&'a str>,
    pub tools: CallStyle,
    /// Whether the user is asked an agent's questions; otherwise each is refused.
    pub can_ask: bool,
    /// The calls of an agent that are already written.
    pub agent_calls: &'a RefCell<Vec<ToolUse>>,
    /// The schema of the answer: only a matching answer is displayed, and stored as JSON.
    pub schema: Option<&'a AnswerSchema>,
    /// The model's configured name, for the journal.
    pub model: &'a str,
    /// Options, schema and tools of its request, for the journal.
    pub facts: &'a RequestFacts,
    /// Masks the text before it is written.
    pub masking: &'a Masking,
    /// The time at which the request was sent.
    pub start: Instant,
    /// Maximum bytes of the answer.
    pub limit: u32,
}

/// How a model may call tools in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStyle {
    /// Calls are ignored.
    None,
    /// Tools are not offered, or not any more; a call is still received as a call.
    Unoffered,
    /// By fields of its API.
    Native,
    /// As JSON in its text, as the prompt instructs it; a call by fields of its API is accepted too.
    InText,
}
