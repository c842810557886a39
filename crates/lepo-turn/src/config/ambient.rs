//! Models that the environment alone offers, with their URLs and keys: `openai:gpt-4o`, `ollama:qwen3:8b`,
//! `embedded:`. A URL and its key are read as a pair, so that a key never reaches a server it was not meant
//! for.

use std::path::PathBuf;

use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::keyword::{Keyword, parse_keyword};
use lepo_base::secret::Secret;
use lepo_model::weights::{self, SMOLLM2};
use lepo_model::{ApiKey, ModelConfig, ModelOptions, Provider};
use lepo_model::{ProviderFields, ServerDefaults};
use lepo_model::{agent_preset, preset};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ambient {
    servers: Vec<AmbientServer>,
    /// Request options of each of these models.
    options: ModelOptions,
    /// Folder of the embedded model's weights.
    weights: PathBuf,
}

/// Settings of one provider's server in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AmbientServer {
    provider: Provider,
    url: String,
    key: ApiKey,
    /// The model to ask if the user names none, and there is a key.
    model: Option<String>,
}

impl Ambient {
    /// Reads the variables. Exit 2 for an invalid URL, with the variable's name.
    pub fn from_env(env: &Env) -> Result<Ambient> {
        let servers = Provider::ALL.iter().filter_map(|&provider| Some((provider, provider.server()?)));
        let servers = servers.map(|(provider, facts)| AmbientServer::from_env(provider, facts, env));
        Ok(Ambient {
            servers: servers.collect::<Result<_>>()?,
            options: ModelOptions::default(),
            weights: PathBuf::new(),
        })
    }

    /// Sets the request options of these models.
    pub fn asking(self, options: &ModelOptions) -> Ambient {
        Ambient { options: options.clone(), ..self }
    }

    /// Adds the models whose weights are in this folder, by name.
    pub fn with_weights(self, weights: PathBuf) -> Ambient {
        Ambient { weights, ..self }
    }

    fn server(&self, provider: Provider) -> Option<&AmbientServer> {
        self.servers.iter().find(|server| server.provider == provider)
    }

    /// Returns a provider's URL and the key that belongs to it.
    pub fn pair(&self, provider: Provider) -> (String, ApiKey) {
        self.server(provider).map(|server| (server.url.clone(), server.key.clone())).unwrap_or_default()
    }

    /// Returns the available models as `PROVIDER:MODEL`, each with the variable that offers it: first those
    /// with a key, then those at a configured URL that need no key.
    pub fn offers(&self) -> impl Iterator<Item = (String, &'static str)> {
        let with_key = self.servers.iter().filter_map(|server| {
            server.key.value.as_ref()?;
            let mut keys = server.provider.server()?.key_env.iter();
            let (name, _) = keys.find(|(name, _)| server.key.looked_for.starts_with(name))?;
            Some((server.name()?, *name))
        });
        let without = self.servers.iter().filter_map(|server| {
            let facts = server.provider.server()?;
            let needs_none = server.key.value.is_none() && server.key.looked_for.is_empty();
            let is_named = facts.needs_key && server.url != facts.url;
            (needs_none && is_named).then(|| Some((server.name()?, facts.url_env))).flatten()
        });
        with_key.chain(without)
    }

    /// Returns the model for `PROVIDER:MODEL`, a preset's name or the name of weights; `None` for any other
    /// text.
    pub fn model(&self, text: &str) -> Option<Result<ModelConfig>> {
        if let Some((command, answer)) = preset(text) {
            let command = command.iter().map(|word| word.to_string()).collect();
            return Some(Ok(ModelConfig { command, answer, ..ModelConfig::new(text, Provider::Cli) }));
        }
        if text == SMOLLM2.name || weights::find(&self.weights, text).is_some() {
            let model = if text == SMOLLM2.name { String::new() } else { text.to_string() };
            let options = self.options.clone();
            return Some(Ok(ModelConfig { model, options, ..ModelConfig::new(text, Provider::Embedded) }));
        }
        let (word, model) = text.split_once(':')?;
        let provider = parse_keyword(word, Provider::ALL)?;
        let model = model.trim();
        match provider.fields() {
            ProviderFields::Program => return None,
            ProviderFields::Agent => {
                let command = agent_preset(model)?.iter().map(|word| word.to_string()).collect();
                return Some(Ok(ModelConfig { command, ..ModelConfig::new(text, provider) }));
            }
            ProviderFields::Server(facts) if model.is_empty() => {
                return Some(Err(Error::usage(format!("\"{text}\" names no model"))
                    .hint(format!("write it like {}", facts.example))));
            }
            ProviderFields::Server(_) | ProviderFields::Weights => {}
        }
        let (base_url, key) = self.pair(provider);
        let (model, options) = (model.to_string(), self.options.clone());
        Some(Ok(ModelConfig { model, base_url, key, options, ..ModelConfig::new(text, provider) }))
    }
}

impl AmbientServer {
    /// Returns `PROVIDER:MODEL`, if the model is known.
    fn name(&self) -> Option<String> {
        Some(format!("{}:{}", self.provider.as_str(), self.model.as_ref()?))
    }

    fn from_env(provider: Provider, facts: &ServerDefaults, env: &Env) -> Result<AmbientServer> {
        let url = match (env.text(facts.url_env)?, facts.url) {
            (None, url) if !url.is_empty() => url.to_string(),
            (text, _) => (facts.read_url)(text.unwrap_or_default()).map_err(|what| {
                Error::usage(format!("{} in the environment {what}", facts.url_env)).hint(facts.url_form)
            })?,
        };
        let mut key = ApiKey::default();
        for (name, bearer) in facts.key_env {
            let Some(value) = env.text(name)? else { continue };
            key.value = Some(Secret::new(value.trim()));
            key.looked_for = format!("{name} in the environment");
            key.bearer = *bearer;
            break;
        }
        // A local server needs no key, unlike the provider's own server.
        if key.value.is_none() && facts.needs_key && url == facts.url {
            let names: Vec<&str> = facts.key_env.iter().map(|(name, _)| *name).collect();
            key.looked_for = format!("{} in the environment", names.join(" or "));
        }
        let model = match facts.model {
            Some((name, usual)) => Some(env.text(name)?.unwrap_or(usual).to_string()),
            None => None,
        };
        Ok(AmbientServer { provider, url, key, model })
    }
}
