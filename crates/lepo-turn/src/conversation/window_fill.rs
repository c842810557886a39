//! The part of a model's window that a conversation fills, if both are known.

use std::time::Duration;

use tokio::time::timeout;

use crate::TurnEnv;
use lepo_base::error::Result;
use lepo_model::ModelConfig;
use lepo_model::{Gate, known_window};
use lepo_store::bubb::BubbId;
use lepo_store::conv::Forest;

/// Tokens of a conversation below which the server is not asked for its window.
const SHORT: u64 = 3000;

/// Time limit for a server to return the window of its model.
const PATIENCE: Duration = Duration::from_secs(2);

/// Approximate bytes of text per token.
const BYTES: u64 = 4;

/// The tokens of a conversation and of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowFill {
    pub tokens: u64,
    pub window: u64,
}

impl WindowFill {
    pub fn percent(self) -> u64 {
        self.tokens.saturating_mul(100) / self.window.max(1)
    }

    /// Whether too little room remains for the answer: less than a tenth of the window.
    pub fn is_full(self) -> bool {
        self.percent() > 90
    }
}

/// Returns the fill of the conv that ends in `tail`, with a question of `more` bytes. `None` if the window is
/// not known, and either the conv is short or the server does not return it.
async fn fill_of(
    env: &TurnEnv,
    config: &ModelConfig,
    forest: &Forest,
    tail: BubbId,
    more: usize,
) -> Result<Option<WindowFill>> {
    let tokens = tokens(env, forest, tail)? + more as u64 / BYTES;
    let window = match known_window(config, &env.configured.paths.state) {
        Some(window) => Some(window),
        None if tokens < SHORT => None,
        None => {
            let gate = Gate::new();
            gate.open();
            let mut model = env.configured.model(config, env.settings().http_idle, gate)?;
            model.facts().await.context
        }
    };
    Ok(window.map(|window| WindowFill { tokens, window }))
}

/// Like `fill_of`, but `None` on errors, or if the server does not answer in time.
pub async fn fill_in_time(
    env: &TurnEnv,
    config: &ModelConfig,
    forest: &Forest,
    tail: BubbId,
    more: usize,
) -> Option<WindowFill> {
    timeout(PATIENCE, fill_of(env, config, forest, tail, more)).await.ok()?.ok()?
}

/// Returns the tokens of a conv: the model's last count, and an estimate for later bubbs.
fn tokens(env: &TurnEnv, forest: &Forest, tail: BubbId) -> Result<u64> {
    let facts = env.store.journal().index();
    let path = forest.find(tail).map(|ix| forest.conv(ix).path).unwrap_or_default();
    let mut bytes = 0;
    for ix in path.into_iter().rev() {
        let name = forest.name(ix);
        if let Some(fact) = facts.get(name.id)
            && let Some(input) = fact.input
        {
            return Ok(input + fact.output.unwrap_or_default() + bytes / BYTES);
        }
        bytes += env.store.text(&name)?.len() as u64;
    }
    Ok(bytes / BYTES)
}
