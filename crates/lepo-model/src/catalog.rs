//! Facts that servers told of their models before. Sends no request.

use std::path::Path;

use super::cache::Cache;
use super::config::ModelConfig;
use super::facts::ModelFacts;
use super::http::place_of;
use super::registry::spec;

/// The list that a model's server gave within the last hour. Sends no request.
pub fn offered_before(config: &ModelConfig, state_dir: &Path) -> Vec<ModelFacts> {
    let Some(api) = spec(config).http else { return Vec::new() };
    Cache::new(state_dir, api.name, &config.base_url, "").load().unwrap_or_default()
}

/// The window of a model in tokens, as it is configured or as its server said at any time. Nothing is asked.
pub fn known_window(config: &ModelConfig, state_dir: &Path) -> Option<u64> {
    config.context.or_else(|| {
        let api = spec(config).http?;
        let place = place_of(config)?;
        let facts: ModelFacts = Cache::new(state_dir, api.name, &place, &config.model).load_any()?;
        facts.context
    })
}
