//! A server's list of models, and its facts of one. Kept for an hour in the state
//! directory, so that neither a question nor completing a name waits for it twice.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::http::place_of;
use super::memory::replace;
use crate::ModelConfig;
use lepo_base::hash::hash_of;

/// The time for which a server's facts of its models are cached.
const HOUR: Duration = Duration::from_secs(3600);

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
    /// What servers of this API on this machine or in its network tell of windows, the first that answers.
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

/// The list that a model's server gave within the last hour. Sends no request.
pub fn offered_before(config: &ModelConfig, state_dir: &Path) -> Vec<ModelFacts> {
    let Some(api) = super::spec(config).http else { return Vec::new() };
    Cache::new(state_dir, api.name, &config.base_url, "").load().unwrap_or_default()
}

/// The window of a model in tokens, as it is configured or as its server said at any time. Nothing is asked.
pub fn known_window(config: &ModelConfig, state_dir: &Path) -> Option<u64> {
    config.context.or_else(|| {
        let api = super::spec(config).http?;
        let place = place_of(config)?;
        let facts: ModelFacts = Cache::new(state_dir, api.name, &place, &config.model).load_any()?;
        facts.context
    })
}

/// The models of an answer: in `data` or in `models`.
pub(super) fn listed(catalog: &Catalog, answer: &Value) -> Vec<ModelFacts> {
    let items = ["data", "models"].iter().find_map(|key| answer.get(*key)?.as_array());
    items.into_iter().flatten().filter_map(catalog.read).collect()
}

/// The file in which a lookup is cached.
pub(super) struct Cache(PathBuf);

impl Cache {
    /// The list of the server at `place`, or what it says of one model.
    pub fn new(state_dir: &Path, provider: &str, place: &str, model: &str) -> Cache {
        let name = hash_of(&[provider.as_bytes(), place.as_bytes(), model.as_bytes()]);
        Cache(state_dir.join("catalogue").join(format!("{name}.json")))
    }

    /// The cached entry, if it is at most an hour old.
    pub fn load<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        let age = std::fs::metadata(&self.0).ok()?.modified().ok()?.elapsed().ok()?;
        if age > HOUR {
            return None;
        }
        self.load_any()
    }

    /// The cached entry, of any age.
    fn load_any<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        serde_json::from_slice(&std::fs::read(&self.0).ok()?).ok()
    }

    /// Keeps it. It is a convenience: what cannot be written is looked up again.
    pub fn keep(&self, value: &impl Serialize) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if let Err(error) = replace(&self.0, &bytes) {
            tracing::warn!("{} could not be written: {error}", self.0.display());
        }
    }
}
