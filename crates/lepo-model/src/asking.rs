//! A request that is being put into a body, and what is known of its model.

use super::config::ModelConfig;
use super::facts::ModelFacts;
use super::message::Request;
use super::quirks::{Quirk, Quirks};

/// A request that is being put into a body.
pub(super) struct Asking<'a> {
    /// The model.
    pub config: &'a ModelConfig,
    /// The request.
    pub request: Request<'a>,
    /// The server's facts of the model.
    pub facts: &'a ModelFacts,
    learned: &'a Quirks,
    /// The quirks that a refusal of it may be about.
    pub open: Vec<&'static Quirk>,
}

impl<'a> Asking<'a> {
    /// A request to a model of which `learned` and `facts` are known.
    pub fn new(
        config: &'a ModelConfig,
        request: Request<'a>,
        facts: &'a ModelFacts,
        learned: &'a Quirks,
    ) -> Self {
        Asking { config, request, facts, learned, open: Vec::new() }
    }

    /// True if the model has this quirk. If it is not known to, a refusal may be about it.
    pub fn has(&mut self, quirk: &'static Quirk) -> bool {
        let known = self.learned.has(quirk);
        if !known {
            self.open.push(quirk);
        }
        known
    }

    /// True if the model takes what this quirk would forbid.
    pub fn takes(&mut self, quirk: &'static Quirk) -> bool {
        !self.has(quirk)
    }
}
