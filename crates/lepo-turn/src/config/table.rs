//! The settings: each row of the table is a setting. [`Settings`], which files and the environment are read into,
//! options and `lepo config` are generated from it; a new setting is a new row.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::Flags;
use super::alias::Alias;
use super::ambient::Ambient;
use super::money::{Budgets, Money};
use super::pager_setting::PagerChoice;
use super::price::{PriceEntry, Prices};
use super::setting_enums::{
    AttentionSignal, AutoCompact, CallHistory, EditKeys, EmptyLine, LogLevel, MathNotation, NewConversation,
    SecretsMode, ThinkingShown,
};
use super::setting_value::{SettingValue, WholeNumber};
use super::source::SettingSource;
use super::tidy::{RemovedSpan, Tidy};
use lepo_model::ModelConfig;
use lepo_model::Planner;
use lepo_tool::{AutoAccess, ToolMode};

/// Generates [`Settings`] from the rows: field, its type with its limits, its name in files and in `lepo config`, its
/// default; then the option (a field of [`Flags`]) and the variable that also set it, if any.
macro_rules! settings {
    ($($(#[$about:meta])* $field:ident: $type:ty, file $name:literal, $default:expr
        $(, option $flag:ident $option:literal)? $(, variable $variable:literal)?;)*) => {
        /// The settings in effect, read-only. Durations have the unit of their type.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(default)]
        pub struct Settings {
            $($(#[$about])* #[serde(rename = $name, deserialize_with = "SettingValue::read")] pub $field: $type,)*
            /// The model that answers; overrides the active one.
            #[serde(skip)]
            pub requested_model: Option<String>,
            /// The configured models, the user's first; at most one is active.
            #[serde(skip)]
            pub models: Vec<ModelConfig>,
            /// The user's aliases.
            #[serde(skip)]
            pub aliases: Vec<Alias>,
            #[serde(skip)]
            pub(super) price_table: Vec<PriceEntry>,
            /// The file that `model use` and `/set-model` change.
            #[serde(skip)]
            pub file: PathBuf,
            #[serde(skip)]
            pub(super) ambient: Ambient,
            #[serde(skip)]
            pub(super) sources: BTreeMap<String, SettingSource>,
            #[serde(skip)]
            pub(super) key_variables: Vec<String>,
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings {
                    $($field: $default,)*
                    requested_model: None,
                    models: Vec::new(),
                    aliases: Vec::new(),
                    price_table: Vec::new(),
                    file: PathBuf::new(),
                    ambient: Ambient::default(),
                    sources: BTreeMap::new(),
                    key_variables: Vec::new(),
                }
            }
        }

        impl Settings {
            /// Applies the options.
            pub(super) fn set_flags(&mut self, flags: &Flags) {
                $($(if let Some(value) = flags.$flag.clone() {
                    self.$field = value.into();
                    self.sources.insert($name.to_string(), SettingSource::Flag($option));
                })?)*
            }

            /// Returns each setting's name, value and allowed values, in the order of the table.
            pub(super) fn values(&self) -> Vec<(&'static str, String, Option<String>)> {
                vec![$(($name, self.$field.to_display(), <$type as SettingValue>::allowed()),)*]
            }
        }

        pub(super) const NAMES: &[&str] = &[$($name,)*];

        /// Settings that a variable sets too, each with the variable.
        pub(super) const VARIABLES: &[(&str, &str)] = &[$($(($name, $variable),)?)*];
    };
}

/// Rounds of a turn or a debate.
type Rounds = WholeNumber<1, 1000>;

settings! {
    /// Minimum level of log records.
    log_level: LogLevel, file "log_level", LogLevel::Info, variable "LEPO_LOG_LEVEL";
    /// How tool requests get consent.
    tool_call_mode: ToolMode, file "tool_call_mode", ToolMode::Manual,
        option tools "--tools", variable "LEPO_TOOL_CALL_MODE";
    /// The most that `auto` runs without asking.
    auto_access: AutoAccess, file "auto_access", AutoAccess::Read, variable "LEPO_AUTO_ACCESS";
    /// Where the calls and results of a turn are once it has its answer.
    tool_history: CallHistory, file "tool_history", CallHistory::Turn;
    /// Automatic compaction of a conversation that exceeds its window.
    compact: AutoCompact, file "compact", AutoCompact::Off;
    /// Questions that start a new conversation automatically.
    new: NewConversation, file "new", NewConversation::Never;
    /// How lepo decides that a command is needed; see [`Settings::planner_or`].
    planner: Planner, file "planner", Planner::Auto, variable "LEPO_PLANNER";
    /// Rounds of tool requests per turn.
    max_rounds: Rounds, file "max_rounds", Rounds::new(8), variable "LEPO_MAX_ROUNDS";
    /// Time limit of a command.
    command_timeout: Duration, file "command_timeout", Duration::from_secs(120);
    /// Maximum bytes of a command's output that the model receives.
    output_limit: WholeNumber<1_000, 50_000_000>, file "output_limit", WholeNumber::new(50_000);
    /// Maximum bubbs in `.lepo/` itself; above it, the bubbs of past days move to folders.
    tidy: Tidy, file "tidy", Tidy::default(), variable "LEPO_TIDY";
    /// How long removed messages can be brought back; allowed in the user's own file only.
    keep_removed: RemovedSpan, file "keep_removed", RemovedSpan::default();
    /// Maximum bytes of an answer; a longer answer is interrupted, and its text is saved.
    max_answer: WholeNumber<1_000, { u32::MAX }>, file "max_answer", WholeNumber::new(268_435_456);
    /// Maximum cost of a turn.
    budget_turn: Option<Money>, file "budget.turn", None;
    /// Maximum cost of a local day, per store.
    budget_day: Option<Money>, file "budget.day", None;
    /// Treatment of secrets in writes to the store; allowed in the user's own file only.
    secrets: SecretsMode, file "secrets", SecretsMode::Mask;
    /// Whether questions include the instructions of the repository, `AGENTS.md`.
    agents: bool, file "agents", true, option agents "--no-agents";
    /// Whether models are offered skills, and skills are found by name.
    skills: bool, file "skills", true, option agents "--no-agents";
    /// Whether a terminal shows a line with tokens and time after an answer.
    term_usage: bool, file "term.usage", true;
    /// The part of a model's thinking that a terminal shows.
    term_thinking: ThinkingShown, file "term.thinking", ThinkingShown::Show;
    /// How a terminal shows the formulas of an answer.
    term_math: MathNotation, file "term.math", MathNotation::Unicode;
    /// Which commands show long output in a pager.
    term_pager: PagerChoice, file "term.pager", PagerChoice::default();
    /// How the terminal calls the user after a long wait; by default a bell in a session, nothing in `do`.
    term_notify: Option<AttentionSignal>, file "term.notify", None;
    /// The effect of an empty line at the prompt.
    empty_line: EmptyLine, file "repl.empty_line", EmptyLine::Leave;
    /// Key bindings of the prompt.
    repl_keys: EditKeys, file "repl.keys", EditKeys::Emacs;
    /// Time limit for connecting to a model server.
    http_connect: Duration, file "http.connect_timeout", Duration::from_secs(10);
    /// Maximum time without data from a model.
    http_idle: Duration, file "http.idle_timeout", Duration::from_secs(120);
    /// Time limit for starting an MCP server.
    mcp_connect: Duration, file "mcp.connect_timeout", Duration::from_secs(30);
    /// Maximum time without data during an MCP call.
    mcp_idle: Duration, file "mcp.idle_timeout", Duration::from_secs(60);
    /// Time limit of an MCP call.
    mcp_total: Duration, file "mcp.total_timeout", Duration::from_secs(600);
    /// Additional directories that are visible in the sandbox, read-only; absolute.
    sandbox_read_only: Vec<PathBuf>, file "sandbox.read_only", Vec::new();
    /// Variables that sandboxed commands inherit, although their names look secret.
    sandbox_env: Vec<String>, file "sandbox.env", Vec::new();
    /// The model that leads a debate.
    many_orchestrator: Option<String>, file "many.orchestrator", None,
        option orchestrator "--orchestrator";
    /// The models that `--parallel` and `--debate` ask.
    many_participants: Vec<String>, file "many.participants", Vec::new(),
        option participants "--participants";
    /// Rounds of a debate.
    many_rounds: Rounds, file "many.max_rounds", Rounds::new(10);
    /// Time limit of a reply in a group turn.
    many_timeout: Duration, file "many.timeout", Duration::from_secs(300);
    /// Names and patterns of texts that do not count where the proxy compares requests with recorded ones.
    recorded_ignore: Vec<String>, file "recorded.ignore", Vec::new();
}

impl Settings {
    /// Returns the limits in effect.
    pub fn budgets(&self, flags: &Flags) -> Budgets {
        let (max_cost, max_tokens_total) = (flags.max_cost, flags.max_tokens_total);
        Budgets { turn: self.budget_turn, day: self.budget_day, max_cost, max_tokens_total }
    }

    /// Returns the prices of tokens.
    pub fn prices(&self) -> Prices {
        Prices { table: self.price_table.clone(), models: self.models.clone() }
    }

    /// Returns the models' keys, to be masked elsewhere.
    pub fn keys(&self) -> Vec<String> {
        self.models.iter().filter_map(|model| Some(model.key.value.as_ref()?.reveal().to_string())).collect()
    }

    /// Whether a model may request commands.
    pub fn may_command(&self, config: &ModelConfig) -> bool {
        self.planner_or(lepo_model::spec(config).planner) != Planner::Off
    }

    /// Returns the planner in effect; `fitting` is the answering model's default. Without tools it is
    /// [`Planner::Off`], as there is nothing to decide.
    pub fn planner_or(&self, fitting: Planner) -> Planner {
        match self.tool_call_mode {
            ToolMode::Off => Planner::Off,
            ToolMode::Manual | ToolMode::Auto => self.planner_with_tools(fitting),
        }
    }

    /// Returns the planner that is in effect as soon as tools are on.
    pub fn planner_with_tools(&self, fitting: Planner) -> Planner {
        match self.planner {
            Planner::Auto => fitting,
            planner => planner,
        }
    }

    /// Returns the variables that contain keys: no command and no MCP server may inherit them.
    pub fn key_variables(&self) -> &[String] {
        &self.key_variables
    }

    /// Returns the source of a setting (`max_rounds`, `http.idle_timeout`) or a model (`models.NAME`).
    pub fn source(&self, name: &str) -> &SettingSource {
        self.sources.get(name).unwrap_or(&SettingSource::Default)
    }
}
