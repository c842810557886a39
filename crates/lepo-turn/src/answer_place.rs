//! The place of an answer, and the facts about its request.

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

/// The place of an answer, and the facts about its request.
pub struct AnswerPlace<'a> {
    /// The store.
    pub store: &'a Arc<Store>,
    /// The bubb it follows as the answer that ends the turn.
    pub under: Option<BubbId>,
    /// Its index among several answers to one question; `None` for the only one.
    pub order: Option<OrderedAnswer<'a>>,
    /// The bubb it follows otherwise: the end of the side branch, where there is one.
    pub tip: Option<BubbId>,
    /// The hidden bubb before the answer in a group turn, which says whose it is.
    pub before: Option<&'a str>,
    /// The way the model may call tools.
    pub tools: Tools,
    /// An agent's questions are asked; otherwise each is refused.
    pub asks: bool,
    /// The calls that an agent makes by itself, as far as they are written.
    pub agent_calls: &'a RefCell<Vec<ToolUse>>,
    /// The schema of the answer: only an answer that fits is shown and kept as JSON.
    pub schema: Option<&'a AnswerSchema>,
    /// The model's configured name, for the journal.
    pub model: &'a str,
    /// Options, schema and tools of its request, for the journal.
    pub facts: &'a RequestFacts,
    /// The masking of what is spooled.
    pub masking: &'a Masking,
    /// The time at which the request left.
    pub start: Instant,
    /// The most bytes that the answer may have.
    pub limit: u32,
}

/// The way a model may call tools in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tools {
    /// Not at all; calls are ignored.
    None,
    /// No tool is offered, or none any more; a call that comes nevertheless is received as one.
    Unoffered,
    /// In fields of its API.
    Native,
    /// As JSON in its text, as its prompt tells it to; a call in fields of its API is taken too.
    InText,
}
