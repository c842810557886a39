//! The models that the environment alone offers, with its addresses and keys: `openai:gpt-4o`,
//! `ollama:qwen3:8b`, `embedded:`. An address and its key are taken as a pair, so that a key never
//! reaches a server it was not meant for.

use super::url::{BASE_URL_FORM, base_url, ollama_url};
use super::{Key, ModelConfig, Provider, Secret};
use crate::env::Env;
use crate::error::{Error, Result};

/// OpenAI's own address, where a key is needed.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";
/// Small, cheap, and takes a temperature.
const OPENAI_MODEL: &str = "gpt-4o-mini";

/// What the environment says about models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambient {
    /// `OPENAI_BASE_URL`, or OpenAI's own.
    pub openai_url: String,
    /// `OPENAI_API_KEY`.
    pub openai_key: Option<Secret>,
    /// `OPENAI_MODEL`, or a sensible one.
    pub openai_model: String,
    /// `OLLAMA_HOST`, or its usual address.
    pub ollama_url: String,
}

impl Ambient {
    /// Reads the variables; a wrong address is exit 2 with its name.
    pub fn from_env(env: &Env) -> Result<Ambient> {
        let wrong = |name: &str, what: &str, form: &str| {
            Error::usage(format!("{name} in the environment {what}")).hint(form)
        };
        let openai_url = env.text("OPENAI_BASE_URL")?.unwrap_or(OPENAI_URL);
        let ollama_host = env.text("OLLAMA_HOST")?.unwrap_or_default();
        Ok(Ambient {
            openai_url: base_url(openai_url).map_err(|what| wrong("OPENAI_BASE_URL", what, BASE_URL_FORM))?,
            openai_key: env.text("OPENAI_API_KEY")?.map(|key| Secret::new(key.trim())),
            openai_model: env.text("OPENAI_MODEL")?.unwrap_or(OPENAI_MODEL).to_string(),
            ollama_url: ollama_url(ollama_host)
                .map_err(|what| wrong("OLLAMA_HOST", what, "it is a host, host:port, :port or a URL"))?,
        })
    }

    /// Where the environment's key is, or would be.
    pub fn openai_pair(&self) -> (String, Key) {
        // A local server needs no key; OpenAI's own does.
        let needed = self.openai_key.is_some() || self.openai_url == OPENAI_URL;
        let looked_for = if needed { "OPENAI_API_KEY in the environment" } else { "" };
        let key = Key { value: self.openai_key.clone(), looked_for: looked_for.to_string() };
        (self.openai_url.clone(), key)
    }

    /// The model that `PROVIDER:MODEL` means; `None` if the text has another form.
    pub fn model(&self, text: &str) -> Option<Result<ModelConfig>> {
        let (provider, model) = text.split_once(':')?;
        let (provider, (base_url, key)) = match provider {
            "openai" => (Provider::Openai, self.openai_pair()),
            "ollama" => (Provider::Ollama, (self.ollama_url.clone(), Key::default())),
            "embedded" => (Provider::Embedded, Default::default()),
            _ => return None,
        };
        if model.trim().is_empty() && provider != Provider::Embedded {
            return Some(Err(Error::usage(format!("\"{text}\" names no model"))
                .hint("write it like openai:gpt-4o or ollama:qwen3:8b")));
        }
        Some(Ok(ModelConfig {
            model: model.trim().to_string(),
            base_url,
            key,
            ..ModelConfig::new(text, provider)
        }))
    }
}
