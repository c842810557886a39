//! Cached facts about models. Sends no request.

use std::path::Path;

use super::cache::Cache;
use super::config::ModelConfig;
use super::http::display_url;
use super::model_facts::ModelFacts;
use super::registry::spec;

/// Returns the list of models that the server sent within the last hour. Sends no request.
pub fn offered_before(config: &ModelConfig, state_dir: &Path) -> Vec<ModelFacts> {
    let Some(api) = spec(config).http else { return Vec::new() };
    Cache::new(state_dir, api.name, &config.base_url, "").load().unwrap_or_default()
}

/// Returns the window of a model in tokens: the configured one, or the latest cached one, from the model's own facts or
/// from the server's list. Sends no request.
pub fn known_window(config: &ModelConfig, state_dir: &Path) -> Option<u64> {
    config.context.or_else(|| {
        let api = spec(config).http?;
        let one = Cache::new(state_dir, api.name, &display_url(config)?, &config.model);
        let list = Cache::new(state_dir, api.name, &config.base_url, "");
        let of_one = || one.load_any::<ModelFacts>()?.context;
        let of_list = || {
            let mut models = list.load_any::<Vec<ModelFacts>>()?.into_iter();
            models.find(|facts| facts.id == config.model)?.context
        };
        match list.cached_at() > one.cached_at() {
            true => of_list().or_else(of_one),
            false => of_one().or_else(of_list),
        }
    })
}
