//! The settings in force: defaults < user file < trusted repo file < environment < flags, resolved
//! once and read-only from then on. Whoever needs one is lent it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::ambient::Ambient;
use super::file::{ConfigFile, read_if_there};
use super::layer::Layer;
use super::models::{complete, merge};
use super::source::{Set, Source};
use super::word::{AutoAccess, LogLevel, Planner, ToolMode};
use super::{Env, ModelConfig, Paths};
use crate::error::{Error, Result};

/// What the command line says about settings; a flag that is not given says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config FILE`: instead of the user's file.
    pub config: Option<PathBuf>,
    /// `-m NAME`, if given once.
    pub model: Option<String>,
    /// `--tools`.
    pub tools: Option<ToolMode>,
    /// `--orchestrator NAME`.
    pub orchestrator: Option<String>,
    /// `--participants A,B`, or `-m` given more than once.
    pub participants: Option<Vec<String>>,
}

/// The settings in force. Times are as long as they say; `output_limit` is in bytes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the log holds.
    pub log_level: LogLevel,
    /// How a tool request gets its consent.
    pub tool_call_mode: ToolMode,
    /// The most that `auto` runs without asking.
    pub auto_access: AutoAccess,
    /// Rounds of tool requests in one turn.
    pub max_rounds: u32,
    /// A command may run this long.
    pub command_timeout: Duration,
    /// The most of a command's output that the model is given, in bytes.
    pub output_limit: usize,
    /// A connection to a model server may take this long.
    pub http_connect: Duration,
    /// A model may be silent this long.
    pub http_idle: Duration,
    /// An MCP server may take this long to start.
    pub mcp_connect: Duration,
    /// An MCP call may be silent this long.
    pub mcp_idle: Duration,
    /// An MCP call may take this long in all.
    pub mcp_total: Duration,
    /// Directories that the sandbox shows besides its own, read-only; absolute.
    pub sandbox_read_only: Vec<PathBuf>,
    /// `[many]`.
    pub many: Many,
    /// The configured models, the user's first; at most one is active.
    pub models: Vec<ModelConfig>,
    /// The file that `model use` and `/set-model` change.
    pub file: PathBuf,
    /// `-m` or `LEPO_MODEL`, which win over the active one.
    pub(super) wanted: Option<String>,
    pub(super) planner: Option<Planner>,
    pub(super) ambient: Ambient,
    pub(super) sources: BTreeMap<String, Source>,
    key_variables: Vec<String>,
}

/// Parallel asking and debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Many {
    /// The model that leads a debate.
    pub orchestrator: Option<String>,
    /// The models that are asked.
    pub participants: Vec<String>,
    /// Rounds of a debate.
    pub max_rounds: u32,
    /// One reply may take this long.
    pub timeout: Duration,
}

impl Settings {
    /// Reads the user's file (or `--config`) and puts everything over it. `repo` is a trusted
    /// `.lepo/_config.toml`: its path and bytes. Any mistake: exit 2.
    pub fn load(
        paths: &Paths,
        env: &Env,
        repo: Option<(PathBuf, Vec<u8>)>,
        flags: &Flags,
    ) -> Result<Settings> {
        let file = flags.config.clone().unwrap_or_else(|| paths.config_file());
        let user = match read_if_there(&file)? {
            Some(bytes) => ConfigFile::parse(&file, &bytes)?,
            None if flags.config.is_none() => ConfigFile::default(),
            None => {
                let what = format!("no configuration file {}", file.display());
                return Err(Error::usage(what).hint("name one that exists after --config"));
            }
        };
        let repo = match repo {
            Some((path, bytes)) => ConfigFile::parse(&path, &bytes)?,
            None => ConfigFile::default(),
        };
        // Of every file, also of one that another stands in for now: a key is no command's, whoever uses it.
        let mut keys: Vec<String> = user.key_variables().chain(repo.key_variables()).collect();
        if flags.config.is_some()
            && let Some(bytes) = read_if_there(&paths.config_file())?
            && let Ok(usual) = ConfigFile::parse(&paths.config_file(), &bytes)
        {
            keys.extend(usual.key_variables());
        }
        let settings = Settings::resolve(paths, env, file, user, repo, flags)?;
        keys.insert(0, "OPENAI_API_KEY".to_string());
        Ok(Settings { key_variables: keys, ..settings })
    }

    fn resolve(
        paths: &Paths,
        env: &Env,
        file: PathBuf,
        user: ConfigFile,
        repo: ConfigFile,
        flags: &Flags,
    ) -> Result<Settings> {
        let ambient = Ambient::from_env(env)?;
        let entries = merge(user.models, repo.models);
        let layer = flag_layer(flags).over(Layer::from_env(env)?).over(repo.layer).over(user.layer);

        let mut sources = Sources::default();
        let mut models = Vec::new();
        for entry in entries {
            sources.0.insert(format!("models.{}", entry.name), entry.source.clone());
            models.push(complete(entry, env, &ambient)?);
        }
        let home = |path: PathBuf| match (path.strip_prefix("~"), &paths.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        };
        let seconds = Duration::from_secs;
        Ok(Settings {
            log_level: sources.or("log_level", layer.log_level, LogLevel::Info),
            tool_call_mode: sources.or("tool_call_mode", layer.tool_call_mode, ToolMode::Manual),
            auto_access: sources.or("auto_access", layer.auto_access, AutoAccess::Read),
            max_rounds: sources.or("max_rounds", layer.max_rounds, 8),
            command_timeout: sources.or("command_timeout", layer.command_timeout, seconds(120)),
            output_limit: sources.or("output_limit", layer.output_limit, 50_000) as usize,
            http_connect: sources.or("http.connect_timeout", layer.http_connect, seconds(10)),
            http_idle: sources.or("http.idle_timeout", layer.http_idle, seconds(120)),
            mcp_connect: sources.or("mcp.connect_timeout", layer.mcp_connect, seconds(30)),
            mcp_idle: sources.or("mcp.idle_timeout", layer.mcp_idle, seconds(60)),
            mcp_total: sources.or("mcp.total_timeout", layer.mcp_total, seconds(600)),
            sandbox_read_only: sources
                .or("sandbox.read_only", layer.read_only, Vec::new())
                .into_iter()
                .map(home)
                .filter(|path| path.is_absolute())
                .collect(),
            many: Many {
                orchestrator: sources.maybe("many.orchestrator", layer.orchestrator),
                participants: sources.or("many.participants", layer.participants, Vec::new()),
                max_rounds: sources.or("many.max_rounds", layer.many_rounds, 10),
                timeout: sources.or("many.timeout", layer.many_timeout, seconds(300)),
            },
            models,
            file,
            wanted: sources.maybe("model", layer.model),
            planner: sources.maybe("planner", layer.planner),
            ambient,
            sources: sources.0,
            key_variables: Vec::new(),
        })
    }

    /// Who decides about commands; `fitting` is what suits the model that answers. Without tools there is
    /// nothing to decide, and a model that no planner suits has none unless the configuration names one.
    pub fn planner_or(&self, fitting: Planner) -> Planner {
        match (self.tool_call_mode, self.planner, fitting) {
            (ToolMode::Off, _, _) => Planner::Off,
            (_, Some(planner), _) => planner,
            (_, None, Planner::Off) => Planner::Off,
            (_, None, _) => Planner::Chooser,
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

/// Collects where each setting comes from while its value is taken.
#[derive(Default)]
struct Sources(BTreeMap<String, Source>);

impl Sources {
    fn maybe<T>(&mut self, name: &str, set: Option<Set<T>>) -> Option<T> {
        let set = set?;
        self.0.insert(name.to_string(), set.source);
        Some(set.value)
    }

    fn or<T>(&mut self, name: &str, set: Option<Set<T>>, default: T) -> T {
        self.maybe(name, set).unwrap_or(default)
    }
}

fn flag_layer(flags: &Flags) -> Layer {
    fn set<T: Clone>(value: &Option<T>, flag: &'static str) -> Option<Set<T>> {
        let source = Source::Flag(flag);
        value.clone().map(|value| Set { value, source })
    }
    Layer {
        model: set(&flags.model, "--model"),
        tool_call_mode: set(&flags.tools, "--tools"),
        orchestrator: set(&flags.orchestrator, "--orchestrator"),
        participants: set(&flags.participants, "--participants"),
        ..Layer::default()
    }
}
