//! Chooses the model that answers: the requested one, the active one, or, if nothing is configured, one from
//! the environment. Otherwise returns guidance on how to add one.
//!
//! This module does not use the network. If an Ollama server has to be asked, it returns a [`LocalLookup`] and
//! receives the answer as a value.

use super::Settings;
use super::ambient::Ambient;
use super::source::{SettingSource, SourcedValue};
use crate::Notice;
use lepo_base::closest_name::closest_name;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_model::ModelConfig;
use lepo_model::PRESETS;

/// The outcome of choosing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// The model that answers.
    Model(Box<ModelConfig>),
    /// Nothing is configured: look for local models, then call [`LocalLookup::choose`].
    NeedsLookup(Box<LocalLookup>),
}

/// A choice that depends on the local models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalLookup {
    /// URL of the Ollama server to ask for its models (`GET {ollama_url}/api/tags`).
    pub ollama_url: String,
    ambient: Ambient,
    guidance: Hint,
}

/// Models found on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalModels {
    /// The Ollama server's first model, if the server answered and has a model.
    pub ollama_model: Option<String>,
    /// Whether the embedded model's program and its weights are installed.
    pub embedded: bool,
}

impl Settings {
    /// Returns the model that answers, with its key. Exit 2 if the name is unknown, the key is missing, or no
    /// model is active (with guidance).
    pub fn choose(&self) -> Result<ModelChoice> {
        if let Some(chosen) = self.chosen_model() {
            let model = self.model(&chosen.value)?;
            model.require_key()?;
            model.require_web()?;
            return Ok(ModelChoice::Model(Box::new(model)));
        }
        if !self.models.is_empty() {
            return Err(self.none_active());
        }
        Ok(ModelChoice::NeedsLookup(Box::new(LocalLookup {
            ollama_url: self.ambient.pair(lepo_model::Provider::Ollama).0,
            ambient: self.ambient.clone(),
            guidance: self.none_configured(),
        })))
    }

    /// Returns the name of the model that answers, and the source of the choice, if no server has to be
    /// asked.
    pub fn chosen_model(&self) -> Option<SourcedValue<String>> {
        let set = |value: &str, source: &SettingSource| SourcedValue {
            value: value.to_string(),
            source: source.clone(),
        };
        if let Some(wanted) = &self.requested_model {
            return Some(set(wanted, self.source("model")));
        }
        if let Some(active) = self.models.iter().find(|model| model.is_active) {
            return Some(set(&active.name, self.source(&format!("models.{}", active.name))));
        }
        let (offer, variable) = self.ambient.offers().next().filter(|_| self.models.is_empty())?;
        Some(set(&offer, &SettingSource::Env(variable)))
    }

    /// Returns the notice for the case that nothing is configured and the environment offers several models.
    pub fn ambient_note(&self) -> Option<Notice> {
        let unsaid = self.requested_model.is_none() && self.models.is_empty();
        let offers: Vec<_> = self.ambient.offers().filter(|_| unsaid).collect();
        let [(taken, because), (other, _), ..] = offers.as_slice() else { return None };
        Some(Notice::AmbientModel(taken.clone(), because, other.clone()))
    }

    /// Returns the notice for the case that nothing is configured and the embedded model answers.
    pub fn embedded_note(&self, answers: &ModelConfig) -> Option<Notice> {
        let unsaid = self.chosen_model().is_none() && answers.provider == lepo_model::Provider::Embedded;
        unsaid.then_some(Notice::EmbeddedAnswers)
    }

    /// Returns the configured model, preset or `PROVIDER:MODEL` of this name. Does not require its key yet,
    /// see [`ModelConfig::require_key`]. Exit 2 for an unknown name, with the known ones.
    pub fn model(&self, name: &str) -> Result<ModelConfig> {
        if let Some(model) = self.models.iter().find(|model| model.name == name) {
            return Ok(model.clone());
        }
        self.ambient.model(name).unwrap_or_else(|| {
            let hint = match closest_name(name, self.models.iter().map(|model| model.name.as_str())) {
                Some(meant) => format!("did you mean {meant}? configured: {}", self.names()),
                None if self.models.is_empty() => format!("none is configured in {}", self.file.display()),
                None => format!("configured: {}", self.names()),
            };
            Err(Error::usage(format!("unknown model \"{name}\"")).hint(format!(
                "{hint}; or write PROVIDER:MODEL, like ollama:qwen3:8b, or embedded:, or a preset ({})",
                PRESETS.join(", ")
            )))
        })
    }

    /// Returns a model of the server that `name` refers to: a model's name, or a provider's (`anthropic`,
    /// `ollama:`).
    pub fn server_of(&self, name: &str) -> Result<ModelConfig> {
        let word = name.strip_suffix(':').unwrap_or(name);
        let provider = lepo_base::keyword::parse_keyword(word, lepo_model::Provider::ALL);
        match self.models.iter().any(|model| model.name == name) || provider.is_none() {
            true => self.model(name),
            false => self.model(&format!("{word}:-")),
        }
    }

    fn names(&self) -> String {
        self.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn none_active(&self) -> Error {
        Error::usage("no model is active").hint(
            Hint::from("choose one with /set-model")
                .either(" or `lepo model use NAME`, or for once with ", ", or for this session with ")
                .command(HintCommand::OtherModel)
                .text(format!("; configured: {}", self.names())),
        )
    }

    fn none_configured(&self) -> Hint {
        let file = format!(", or write to {}:\n\n{EXAMPLE}", self.file.display());
        // A session has offered to add a model before it prints this.
        Hint::from("run `lepo model add`, or `lepo model get` for the small embedded model")
            .either(file.as_str(), "")
    }
}

const EXAMPLE: &str = r#"    [[models]]
    name = "gpt"
    provider = "openai"
    model = "gpt-4o"
    api_key_env = "OPENAI_API_KEY"
    active = true"#;

impl LocalLookup {
    /// Returns the model to use, preferring Ollama's to the embedded one; without any, the guidance (exit 2).
    pub fn choose(self, found: LocalModels) -> Result<ModelConfig> {
        let name = match found {
            LocalModels { ollama_model: Some(model), .. } => format!("ollama:{model}"),
            LocalModels { embedded: true, .. } => "embedded:".to_string(),
            LocalModels { .. } => {
                return Err(Error::usage("no model is configured").hint(self.guidance));
            }
        };
        let unknown = || Err(Error::usage(format!("unknown model \"{name}\"")));
        self.ambient.model(&name).unwrap_or_else(unknown)
    }
}
