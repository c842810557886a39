//! The settings: one row of the table is one setting. Files, environment, options, `lepo config` and
//! [`Settings`] follow from it; a new setting is a new row.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::alias::Alias;
use super::ambient::Ambient;
use super::document::{Set, Source};
use super::form::Form;
use super::money::{Budgets, Money};
use super::price::{PriceEntry, Prices};
use super::reader::Section;
use super::tidy::Tidy;
use super::word::{AutoCompact, EditKeys, EmptyLine, LogLevel, NewConversation, SecretsMode, ThinkingShown};
use super::{Flags, Paths};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_model::ModelConfig;
use lepo_model::Planner;
use lepo_tool::{AutoAccess, ToolMode};

/// Makes [`Settings`] and [`Layer`] of the rows: field, its type, its name in files and in `lepo config`, its
/// limits, its default; then the option (a field of [`Flags`]) and the variable that set it too, if any. A name
/// without a file (`-`) is set by them alone.
macro_rules! settings {
    ($($(#[$about:meta])* $field:ident: $type:ty, $place:tt $name:literal, $limits:expr, $default:expr
        $(, option $flag:ident $option:literal)? $(, variable $variable:literal)?;)*) => {
        /// The settings in force, read-only. Times are as long as they say.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $($(#[$about])* pub $field: $type,)*
            /// The configured models, the user's first; at most one is active.
            pub models: Vec<ModelConfig>,
            /// The user's own words for commands.
            pub aliases: Vec<Alias>,
            pub(super) price_table: Vec<PriceEntry>,
            /// The file that `model use` and `/set-model` change.
            pub file: PathBuf,
            pub(super) ambient: Ambient,
            pub(super) sources: BTreeMap<String, Source>,
            pub(super) key_variables: Vec<String>,
        }

        /// The settings that one place sets: a file, the environment, the options. Each is set or left open.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Layer {
            $(pub $field: Option<Set<$type>>,)*
        }

        impl Layer {
            /// This one, and what it leaves open from the one `below`.
            pub fn over(self, below: Layer) -> Layer {
                Layer { $($field: self.$field.or(below.$field),)* }
            }

            /// Reads the settings of a file; unknown keys in its sections are refused.
            pub fn from_file(root: &mut Section<'_>) -> Result<Layer> {
                let mut sections = Sections::of(root, NAMES)?;
                let layer = Layer { $($field: settings!(@file $place sections, $name, $limits),)* };
                sections.end()?;
                Ok(layer)
            }

            /// Reads the environment. A variable that is wrong: exit 2, with its name and what is allowed.
            pub fn from_env(env: &Env) -> Result<Layer> {
                Ok(Layer { $($field: settings!(@variable env, $type, $limits $(, $variable)?),)* })
            }

            /// The options of the command line.
            pub fn from_flags(flags: &Flags) -> Layer {
                Layer { $($field: settings!(@option flags $(, $flag $option)?),)* }
            }
        }

        impl Settings {
            /// The settings that `layer` sets, and the defaults of the others.
            pub(super) fn of(layer: Layer, paths: &Paths, ambient: Ambient) -> Settings {
                let mut sources = BTreeMap::new();
                $(if let Some(set) = &layer.$field {
                    sources.insert($name.to_string(), set.source.clone());
                })*
                Settings {
                    $($field: layer.$field.map_or_else(|| $default, |set| set.value).settled(paths),)*
                    models: Vec::new(),
                    aliases: Vec::new(),
                    price_table: Vec::new(),
                    file: paths.config_file(),
                    ambient,
                    sources,
                    key_variables: Vec::new(),
                }
            }

            /// Each setting's name, value and allowed values, in the order of the table.
            pub(super) fn values(&self) -> Vec<(&'static str, String, Option<String>)> {
                vec![$(($name, self.$field.shown(), <$type as Form>::allowed(&$limits)),)*]
            }
        }

        /// The names of all settings.
        pub(super) const NAMES: &[&str] = &[$($name,)*];
    };
    (@file file $sections:ident, $name:literal, $limits:expr) => {
        $sections.set($name, &$limits)?
    };
    (@file - $sections:ident, $name:literal, $limits:expr) => { None };
    (@variable $env:ident, $type:ty, $limits:expr) => { None };
    (@variable $env:ident, $type:ty, $limits:expr, $variable:literal) => {
        match $env.text($variable)? {
            Some(text) => Some(Set {
                value: <$type as Form>::of_text($variable, text, &$limits)?,
                source: Source::Env($variable),
            }),
            None => None,
        }
    };
    (@option $flags:ident) => { None };
    (@option $flags:ident, $flag:ident $option:literal) => {
        $flags.$flag.clone().map(|value| Set { value: value.into(), source: Source::Flag($option) })
    };
}

/// The rounds that a turn or a debate may have.
const ROUNDS: std::ops::RangeInclusive<u32> = 1..=1000;

/// The bytes of a command's output that the model may be given.
const OUTPUT: std::ops::RangeInclusive<u32> = 1_000..=50_000_000;

/// The bubbs that `.lepo/` may hold before a tidying.
const TIDY: std::ops::RangeInclusive<u32> = 100..=100_000_000;

/// The bytes that an answer may have.
const ANSWER: std::ops::RangeInclusive<u32> = 1_000..=u32::MAX;

settings! {
    /// The model that answers: it wins over the active one.
    wanted: Option<String>, - "model", (), None, option model "--model", variable "LEPO_MODEL";
    /// The least of what the log holds.
    log_level: LogLevel, file "log_level", LogLevel::ALL, LogLevel::Info, variable "LEPO_LOG_LEVEL";
    /// The way a tool request gets its consent.
    tool_call_mode: ToolMode, file "tool_call_mode", ToolMode::LASTING, ToolMode::Manual,
        option tools "--tools", variable "LEPO_TOOL_CALL_MODE";
    /// The most that `auto` runs without asking.
    auto_access: AutoAccess, file "auto_access", AutoAccess::ALL, AutoAccess::Read,
        variable "LEPO_AUTO_ACCESS";
    /// Automatic compaction of a conversation that outgrows its window.
    compact: AutoCompact, file "compact", AutoCompact::ALL, AutoCompact::Off;
    /// The questions that begin a new conversation by themselves.
    new: NewConversation, file "new", NewConversation::ALL, NewConversation::Never;
    /// The way it is decided that a command is needed; see [`Settings::planner_or`].
    planner: Planner, file "planner", Planner::ALL, Planner::Auto, variable "LEPO_PLANNER";
    /// Rounds of tool requests in one turn.
    max_rounds: u32, file "max_rounds", ROUNDS, 8, variable "LEPO_MAX_ROUNDS";
    /// The time limit of a command.
    command_timeout: Duration, file "command_timeout", (), Duration::from_secs(120);
    /// The most of a command's output that the model is given, in bytes.
    output_limit: u32, file "output_limit", OUTPUT, 50_000;
    /// The most bubbs in `.lepo/` itself; of more, those of days that are over get folders.
    tidy: Tidy, file "tidy", TIDY, Tidy::default(), variable "LEPO_TIDY";
    /// The most bytes of an answer; a longer one is stopped and kept.
    max_answer: u32, file "max_answer", ANSWER, 268_435_456;
    /// The most that a turn may cost.
    budget_turn: Option<Money>, file "budget.turn", (), None;
    /// The most that a local day may cost, in one store.
    budget_day: Option<Money>, file "budget.day", (), None;
    /// The treatment of secrets in what is written to the store; of the user's own file only.
    secrets: SecretsMode, file "secrets", SecretsMode::ALL, SecretsMode::Mask;
    /// The instructions of the repository, `AGENTS.md`, go with questions.
    agents: bool, file "agents", (), true, option agents "--no-agents";
    /// Skills are offered to models, and found by name.
    skills: bool, file "skills", (), true, option agents "--no-agents";
    /// A line about tokens and time follows an answer on a terminal.
    term_usage: bool, file "term.usage", (), true;
    /// The part of a model's thinking that a terminal shows.
    term_thinking: ThinkingShown, file "term.thinking", ThinkingShown::ALL, ThinkingShown::Show;
    /// The effect of an empty line at the prompt.
    empty_line: EmptyLine, file "repl.empty_line", EmptyLine::ALL, EmptyLine::Leave;
    /// The keys of the prompt.
    repl_keys: EditKeys, file "repl.keys", EditKeys::ALL, EditKeys::Emacs;
    /// The time limit of a connection to a model server.
    http_connect: Duration, file "http.connect_timeout", (), Duration::from_secs(10);
    /// The longest silence of a model.
    http_idle: Duration, file "http.idle_timeout", (), Duration::from_secs(120);
    /// The time limit for an MCP server to start.
    mcp_connect: Duration, file "mcp.connect_timeout", (), Duration::from_secs(30);
    /// The longest silence of an MCP call.
    mcp_idle: Duration, file "mcp.idle_timeout", (), Duration::from_secs(60);
    /// The time limit of an MCP call.
    mcp_total: Duration, file "mcp.total_timeout", (), Duration::from_secs(600);
    /// Directories that the sandbox shows besides its own, read-only; absolute.
    sandbox_read_only: Vec<PathBuf>, file "sandbox.read_only", (), Vec::new();
    /// Variables that held commands get, though their names look secret.
    sandbox_env: Vec<String>, file "sandbox.env", (), Vec::new();
    /// The model that leads a debate.
    many_orchestrator: Option<String>, file "many.orchestrator", (), None,
        option orchestrator "--orchestrator";
    /// The models that `--parallel` and `--debate` ask.
    many_participants: Vec<String>, file "many.participants", (), Vec::new(),
        option participants "--participants";
    /// Rounds of a debate.
    many_rounds: u32, file "many.max_rounds", ROUNDS, 10;
    /// The time limit of one reply among many.
    many_timeout: Duration, file "many.timeout", (), Duration::from_secs(300);
}

impl Settings {
    /// The limits that hold.
    pub fn budgets(&self, flags: &Flags) -> Budgets {
        let (max_cost, max_tokens_total) = (flags.max_cost, flags.max_tokens_total);
        Budgets { turn: self.budget_turn, day: self.budget_day, max_cost, max_tokens_total }
    }

    /// Prices of tokens.
    pub fn prices(&self) -> Prices {
        Prices { table: self.price_table.clone(), models: self.models.clone() }
    }

    /// The models' keys themselves, to be kept out of other places.
    pub fn keys(&self) -> Vec<String> {
        self.models.iter().filter_map(|model| Some(model.key.value.as_ref()?.reveal().to_string())).collect()
    }

    /// True if a model may ask for commands.
    pub fn may_command(&self, config: &ModelConfig) -> bool {
        self.planner_or(lepo_model::spec(config).planner) != Planner::Off
    }

    /// The planner in force; `fitting` is the one that suits the model that answers. Without
    /// tools there is nothing to decide.
    pub fn planner_or(&self, fitting: Planner) -> Planner {
        match (self.tool_call_mode, self.planner) {
            (ToolMode::Off, _) => Planner::Off,
            (_, Planner::Auto) => fitting,
            (_, planner) => planner,
        }
    }

    /// The variables that hold keys: no command and no MCP server may inherit them.
    pub fn key_variables(&self) -> &[String] {
        &self.key_variables
    }

    /// The place that said a setting (`max_rounds`, `http.idle_timeout`) or a model (`models.NAME`).
    pub fn source(&self, name: &str) -> &Source {
        self.sources.get(name).unwrap_or(&Source::Default)
    }
}

/// The sections of a file that settings stand in: the root, and the tables that their names begin with.
struct Sections<'s, 'd> {
    root: &'s mut Section<'d>,
    named: Vec<(&'static str, Section<'d>)>,
}

impl<'s, 'd> Sections<'s, 'd> {
    fn of(root: &'s mut Section<'d>, names: &[&'static str]) -> Result<Sections<'s, 'd>> {
        let mut named: Vec<(&'static str, Section<'d>)> = Vec::new();
        for (table, _) in names.iter().filter_map(|name| name.split_once('.')) {
            if named.last().is_none_or(|(last, _)| *last != table) {
                named.push((table, root.section(table)?));
            }
        }
        Ok(Sections { root, named })
    }

    fn set<T: Form>(&mut self, name: &'static str, limits: &T::Limits) -> Result<Option<Set<T>>> {
        let Some((table, key)) = name.split_once('.') else { return self.root.set(name, limits) };
        let section = self.named.iter_mut().find(|(named, _)| *named == table);
        section.map_or(Ok(None), |(_, section)| section.set(key, limits))
    }

    fn end(self) -> Result<()> {
        self.named.into_iter().try_for_each(|(_, section)| section.end())
    }
}
