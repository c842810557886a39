//! The options of the command line that change settings.

use std::path::PathBuf;

use super::money::Money;
use lepo_model::Options;
use lepo_tool::ToolMode;

/// The options of the command line that change settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config FILE`: instead of the user's file.
    pub config: Option<PathBuf>,
    /// `-m NAME`, if given once.
    pub model: Option<String>,
    /// `--tools`.
    pub tools: Option<ToolMode>,
    /// Tools are off as nobody asked for them, in a replay: what an agent wants to do by itself is still asked.
    pub asks_for_agents: bool,
    /// `--orchestrator NAME`.
    pub orchestrator: Option<String>,
    /// `--participants A,B`, or `-m` given more than once.
    pub participants: Option<Vec<String>>,
    /// `--no-agents`: false.
    pub agents: Option<bool>,
    /// The folder that lepo was started in: instructions and skills of its repository go along. None without it.
    pub dir: Option<PathBuf>,
    /// `--system`: the system prompt of new convs, instead of the user's file.
    pub system_prompt: Option<String>,
    /// `--temperature`, `--effort`, `--max-tokens`: over what each model is configured with.
    pub options: Options,
    /// `--max-cost`.
    pub max_cost: Option<Money>,
    /// `--max-tokens-total`.
    pub max_tokens_total: Option<u64>,
    /// `--recorded=only`: no request leaves.
    pub sends_nothing: bool,
    /// `--dry-run`: nothing is written.
    pub writes_nothing: bool,
}
