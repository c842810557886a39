//! The origin of a replay.

use super::config::ModelConfig;
use super::registry::spec;

/// The origin of a replay; it is sent back to the same server and model only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The API it is in the form of.
    pub provider: &'static str,
    /// The server's address.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
}

impl Origin {
    /// The origin of what this model says; none for a program.
    pub fn of(config: &ModelConfig) -> Option<Origin> {
        let api = spec(config).http?;
        Some(Origin { provider: api.name, base_url: config.base_url.clone(), model: config.model.clone() })
    }
}
