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

/// The window of a model in tokens, as it is configured or as its server told it last: of that model, or in its list.
/// Nothing is asked.
pub fn known_window(config: &ModelConfig, state_dir: &Path) -> Option<u64> {
    config.context.or_else(|| {
        let api = spec(config).http?;
        let one = Cache::new(state_dir, api.name, &place_of(config)?, &config.model);
        let list = Cache::new(state_dir, api.name, &config.base_url, "");
        let of_one = || one.load_any::<ModelFacts>()?.context;
        let of_list = || {
            let mut models = list.load_any::<Vec<ModelFacts>>()?.into_iter();
            models.find(|facts| facts.id == config.model)?.context
        };
        match list.kept_at() > one.kept_at() {
            true => of_list().or_else(of_one),
            false => of_one().or_else(of_list),
        }
    })
}
