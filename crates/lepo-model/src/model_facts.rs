//! A server's facts of its models, and how to request them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The endpoint of an API that lists its models.
pub(super) struct CatalogSpec {
    /// The path of the list, below `base_url`.
    pub path: &'static [&'static str],
    /// The way to look up a single model.
    pub one: LookupMethod,
    /// Whether requests depend on the facts of their model.
    pub needed: bool,
    /// Parses one model of the list.
    pub read: fn(&Value) -> Option<ModelFacts>,
    /// Endpoints where local servers of this API report windows; the first that answers counts.
    pub running: &'static [RunningEndpoint],
}

/// An endpoint that reports the actual windows of running models.
pub(super) struct RunningEndpoint {
    /// The path of the endpoint, from the root of the server.
    pub path: &'static [&'static str],
    /// Parses the windows of an answer.
    pub read: fn(&Value) -> Vec<RunningWindow>,
}

pub(super) struct RunningWindow {
    /// The name of the model; `None` for all models.
    pub model: Option<String>,
    /// The window in tokens.
    pub tokens: u64,
}

/// The way to look up a single model.
pub(super) enum LookupMethod {
    /// At the path of the list and the model's name.
    Get,
    /// In the list.
    Listed,
    /// By a separate request: its path, and the parser of the answer.
    Post(&'static [&'static str], fn(&Value) -> Option<ModelFacts>),
}

/// A server's facts of one of its models; an unreported fact is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelFacts {
    /// The name on the server.
    pub id: String,
    /// The window in tokens.
    pub context: Option<u64>,
    /// The longest answer in tokens.
    pub max_tokens: Option<u64>,
    /// The size of its weights in bytes.
    pub size: Option<u64>,
    /// Capabilities, in the server's spelling.
    pub capabilities: Vec<String>,
}

impl ModelFacts {
    /// Replaces the window of the training by the actual one. A reported window of zero tokens is ignored.
    pub(super) fn run_with(&mut self, windows: &[RunningWindow]) {
        let is_its = |window: &&RunningWindow| window.model.as_ref().is_none_or(|model| *model == self.id);
        if let Some(window) = windows.iter().filter(|window| window.tokens > 0).find(is_its) {
            self.context = Some(window.tokens);
        }
    }

    /// Whether the server reports this capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

/// Returns the models of an answer: in `data` or in `models`.
pub(super) fn parse_list(catalog: &CatalogSpec, answer: &Value) -> Vec<ModelFacts> {
    let items = ["data", "models"].iter().find_map(|key| answer.get(*key)?.as_array());
    items.into_iter().flatten().filter_map(catalog.read).collect()
}
