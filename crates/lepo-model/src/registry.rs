//! The provider of each configured model: the one place that names them all.

use super::config::ModelConfig;
use super::contract::ProviderSpec;
use super::provider::{OPENAI_URL, Provider, Wire};
use super::{acp, anthropic, cli, embedded, ollama, openai, responses};
use lepo_base::error::{Error, Result};

/// The capabilities of the provider of a model.
pub fn spec(config: &ModelConfig) -> &'static ProviderSpec {
    match config.provider {
        Provider::Openai => match config.wire {
            Some(Wire::Responses) => &responses::SPEC,
            None if config.base_url == OPENAI_URL => &responses::SPEC,
            Some(Wire::Chat) | None => &openai::SPEC,
        },
        Provider::Anthropic => &anthropic::SPEC,
        Provider::Ollama => &ollama::SPEC,
        Provider::Cli => &cli::SPEC,
        Provider::Acp => &acp::SPEC,
        Provider::Embedded => &embedded::SPEC,
    }
}

impl ModelConfig {
    /// Exit 2 if its provider is to search the web and cannot.
    pub fn require_web(&self) -> Result<()> {
        if !self.options.web || spec(self).has_web() {
            return Ok(());
        }
        let error = format!("model \"{}\" cannot search the web: its API has no such tool", self.name);
        Err(Error::usage(error)
            .hint("OpenAI's Responses API (wire = \"responses\") and Anthropic's have one"))
    }
}
