//! Merges the models of several files into a list, and determines the URL and key of each.

use super::ambient::Ambient;
use super::entry::{KeyEntry, ModelEntry};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::secret::Secret;
use lepo_model::{ApiKey, ModelConfig};

/// Returns the user's models, replaced by the repository's models of the same name, and the repository's
/// other models after them. If the repository has an active model, the user's is not active.
pub fn merge(mut models: Vec<ModelEntry>, repo: Vec<ModelEntry>) -> Vec<ModelEntry> {
    if repo.iter().any(|entry| entry.config.is_active) {
        models.iter_mut().for_each(|entry| entry.config.is_active = false);
    }
    for entry in repo {
        match models.iter_mut().find(|other| other.config.name == entry.config.name) {
            Some(other) => {
                let is_active = entry.config.is_active || other.config.is_active;
                *other = entry;
                other.config.is_active = is_active;
            }
            None => models.push(entry),
        }
    }
    models
}

/// Completes a model from the environment. A missing key is not an error yet, because it may never be used.
pub fn complete(entry: ModelEntry, env: &Env, ambient: &Ambient) -> Result<ModelConfig> {
    let (name, source) = (&entry.config.name, &entry.source);
    let configured = |value, looked_for| Some(ApiKey { value, looked_for, ..ApiKey::default() });
    let facts = entry.config.provider.server();
    let text = match &entry.key {
        KeyEntry::None => None,
        KeyEntry::Literal(key) => {
            configured(Some(key.clone()), format!("api_key of model \"{name}\" at {source}"))
        }
        KeyEntry::Env(variable) => {
            let named = |(name, bearer): &(&str, bool)| *bearer && name == variable;
            let key = ApiKey {
                value: env.text(variable)?.map(|key| Secret::new(key.trim())),
                looked_for: format!("{variable} in the environment, named by model \"{name}\" at {source}"),
                bearer: facts.is_some_and(|facts| facts.key_env.iter().any(named)),
                command: Vec::new(),
            };
            Some(key)
        }
        KeyEntry::Command(command) => Some(ApiKey {
            looked_for: format!("api_key_command of model \"{name}\" at {source}"),
            command: command.clone(),
            ..ApiKey::default()
        }),
    };
    let (usual_url, usual_key) = ambient.pair(entry.config.provider);
    let (base_url, key) = match (entry.base_url, text) {
        // Without a key in the file, the environment's key is used, but only with the URL that it belongs to.
        (None, None) => (usual_url, usual_key),
        (Some(url), None) if url == usual_url => (usual_url, usual_key),
        (None, Some(key)) => match facts {
            Some(facts) if !facts.url.is_empty() => (facts.url.to_string(), key),
            _ => (usual_url, key),
        },
        (Some(url), key) => (url, key.unwrap_or_default()),
    };
    Ok(ModelConfig { base_url, key, ..entry.config })
}
