//! A server's facts of its models, and how an API tells them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The endpoint of an API that lists its models.
pub(super) struct Catalog {
    /// The path of the list, under `base_url`.
    pub path: &'static [&'static str],
    /// The way one model is looked up.
    pub one: One,
    /// Requests need what is said of their model.
    pub needed: bool,
    /// Reads one model of the list.
    pub read: fn(&Value) -> Option<ModelFacts>,
    /// Endpoints where local servers of this API tell of windows; the first that answers counts.
    pub running: &'static [Running],
}

/// An endpoint that tells the window that a model runs with.
pub(super) struct Running {
    /// The path of the endpoint, from the root of the server.
    pub path: &'static [&'static str],
    /// Reads the windows of an answer.
    pub read: fn(&Value) -> Vec<RunningWindow>,
}

/// The window that a model runs with.
pub(super) struct RunningWindow {
    /// Name of the model; none: of any.
    pub model: Option<String>,
    /// Window, in tokens.
    pub tokens: u64,
}

/// The way one model is looked up.
pub(super) enum One {
    /// At the path of the list and its name.
    Get,
    /// In the list.
    Listed,
    /// By a request of its own: the path, and what reads the answer.
    Post(&'static [&'static str], fn(&Value) -> Option<ModelFacts>),
}

/// A server's facts of one of its models; a fact it does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelFacts {
    /// Name on the server.
    pub id: String,
    /// Window, in tokens.
    pub context: Option<u64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
    /// Bytes of its weights.
    pub size: Option<u64>,
    /// Capabilities, in the server's words.
    pub capabilities: Vec<String>,
}

impl ModelFacts {
    /// Takes the window that it runs with in place of the one that it was trained for. One of no tokens is none.
    pub(super) fn run_with(&mut self, windows: &[RunningWindow]) {
        let is_its = |window: &&RunningWindow| window.model.as_ref().is_none_or(|model| *model == self.id);
        if let Some(window) = windows.iter().filter(|window| window.tokens > 0).find(is_its) {
            self.context = Some(window.tokens);
        }
    }

    /// True if it can do this.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

/// The models of an answer: in `data` or in `models`.
pub(super) fn listed(catalog: &Catalog, answer: &Value) -> Vec<ModelFacts> {
    let items = ["data", "models"].iter().find_map(|key| answer.get(*key)?.as_array());
    items.into_iter().flatten().filter_map(catalog.read).collect()
}
