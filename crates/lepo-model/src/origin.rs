//! The origin of a replay.

use super::config::ModelConfig;
use super::registry::spec;

/// The origin of a message for replay, which is sent back to this server and model only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayOrigin {
    /// Name of the API whose format it has.
    pub provider: &'static str,
    /// Address of the server.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
}

impl ReplayOrigin {
    /// Returns the origin of this model's answers; `None` for a program.
    pub fn from_config(config: &ModelConfig) -> Option<ReplayOrigin> {
        let api = spec(config).http?;
        Some(ReplayOrigin {
            provider: api.name,
            base_url: config.base_url.clone(),
            model: config.model.clone(),
        })
    }
}
