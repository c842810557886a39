//! Command line options that change settings.

use std::path::PathBuf;

use super::money::Money;
use lepo_model::ModelOptions;
use lepo_tool::ToolMode;

/// Command line options that change settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config FILE`: replaces the user's file.
    pub config: Option<PathBuf>,
    /// `-m NAME`, if given once.
    pub model: Option<String>,
    /// `--tools`.
    pub tools: Option<ToolMode>,
    /// Tools are off by default, because this is a replay: an agent's own requests still need consent.
    pub asks_for_agents: bool,
    /// `--orchestrator NAME`.
    pub orchestrator: Option<String>,
    /// `--participants A,B`, or `-m` given more than once.
    pub participants: Option<Vec<String>>,
    /// `--no-agents`: false.
    pub agents: Option<bool>,
    /// The folder in which lepo was started, whose repository provides instructions and skills. `None` means
    /// neither.
    pub dir: Option<PathBuf>,
    /// `--system`: the system prompt of new convs, instead of the user's file.
    pub system_prompt: Option<String>,
    /// `--temperature`, `--effort`, `--max-tokens`: override each model's configured options.
    pub options: ModelOptions,
    /// `--max-cost`.
    pub max_cost: Option<Money>,
    /// `--max-tokens-total`.
    pub max_tokens_total: Option<u64>,
    /// `--recorded=only`: sends no requests.
    pub sends_nothing: bool,
    /// `--dry-run`: writes nothing.
    pub writes_nothing: bool,
}
