//! Maps each configured model to its provider; no other module names all providers.

use super::config::ModelConfig;
use super::provider::{OPENAI_URL, Provider, Wire};
use super::provider_spec::ProviderSpec;
use super::{acp, anthropic, cli, embedded, ollama, openai, responses};
use lepo_base::error::{Error, Result};

/// Returns the capabilities of a model's provider.
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
    /// Fails with exit 2 if the model is configured to search the web and its provider cannot.
    pub fn require_web(&self) -> Result<()> {
        if !self.options.web || spec(self).has_web() {
            return Ok(());
        }
        let error = format!("model \"{}\" cannot search the web: its API has no such tool", self.name);
        Err(Error::usage(error)
            .hint("OpenAI's Responses API (wire = \"responses\") and Anthropic's have one"))
    }
}
