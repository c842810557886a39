//! The context for building a request's body: the request, and facts about its model.

use super::config::ModelConfig;
use super::message::ChatRequest;
use super::model_facts::ModelFacts;
use super::quirks::{Quirk, Quirks};

/// The context for building a request's body.
pub(super) struct BodyContext<'a> {
    pub config: &'a ModelConfig,
    pub request: ChatRequest<'a>,
    /// The server's facts about the model.
    pub facts: &'a ModelFacts,
    learned: &'a Quirks,
    /// Quirks that a refusal of this body may be about.
    pub open: Vec<&'static Quirk>,
}

impl<'a> BodyContext<'a> {
    pub fn new(
        config: &'a ModelConfig,
        request: ChatRequest<'a>,
        facts: &'a ModelFacts,
        learned: &'a Quirks,
    ) -> Self {
        BodyContext { config, request, facts, learned, open: Vec::new() }
    }

    /// Whether the model is known to have this quirk. If not, a refusal may be about it.
    pub fn has(&mut self, quirk: &'static Quirk) -> bool {
        let known = self.learned.contains(quirk);
        if !known {
            self.open.push(quirk);
        }
        known
    }

    /// Whether the model may get the thing that this quirk forbids.
    pub fn accepts(&mut self, quirk: &'static Quirk) -> bool {
        !self.has(quirk)
    }
}
