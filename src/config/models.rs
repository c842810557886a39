//! The models of several files become one list, and each gets its address and its key.

use super::ambient::{Ambient, OPENAI_URL};
use super::entry::{KeyEntry, ModelEntry};
use super::{Key, ModelConfig, Provider, Secret};
use crate::env::Env;
use crate::error::Result;

/// The user's models, with the repository's in place of those of the same name or after them. An
/// active one of the repository takes the place of the user's.
pub fn merge(mut models: Vec<ModelEntry>, repo: Vec<ModelEntry>) -> Vec<ModelEntry> {
    if repo.iter().any(|entry| entry.active) {
        models.iter_mut().for_each(|entry| entry.active = false);
    }
    for entry in repo {
        match models.iter_mut().find(|other| other.name == entry.name) {
            Some(other) => {
                let active = entry.active || other.active;
                *other = ModelEntry { active, ..entry };
            }
            None => models.push(entry),
        }
    }
    models
}

/// A model with what its file left to the environment. A key that is not there is no mistake yet:
/// it may never be used.
pub fn complete(entry: ModelEntry, env: &Env, ambient: &Ambient) -> Result<ModelConfig> {
    let ModelEntry { name, source, .. } = &entry;
    let said = match &entry.key {
        KeyEntry::None => None,
        KeyEntry::Literal(key) => Some(Key {
            value: Some(key.clone()),
            looked_for: format!("api_key of model \"{name}\" at {source}"),
        }),
        KeyEntry::Env(variable) => Some(Key {
            value: env.text(variable)?.map(|key| Secret::new(key.trim())),
            looked_for: format!("{variable} in the environment, named by model \"{name}\" at {source}"),
        }),
    };
    let (base_url, key) = match (entry.provider, entry.base_url, said) {
        // No key said: the environment's, but only with the address it belongs to.
        (Provider::Openai, None, None) => ambient.openai_pair(),
        (Provider::Openai, Some(url), None) if url == ambient.openai_url => ambient.openai_pair(),
        (Provider::Openai, url, key) => {
            (url.unwrap_or_else(|| OPENAI_URL.to_string()), key.unwrap_or_default())
        }
        (Provider::Ollama, url, key) => {
            (url.unwrap_or_else(|| ambient.ollama_url.clone()), key.unwrap_or_default())
        }
        (Provider::Cli | Provider::Embedded, _, _) => Default::default(),
    };
    Ok(ModelConfig {
        name: entry.name,
        provider: entry.provider,
        model: entry.model,
        base_url,
        key,
        command: entry.command,
        answer: entry.answer,
        system_first: entry.system_first,
        price: entry.price,
        active: entry.active,
    })
}
