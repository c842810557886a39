//! What one place says about the settings, each of which it may leave open. A file, the environment
//! and the flags all come down to this, so that putting one over the other is one function.

use std::path::PathBuf;
use std::time::Duration;

use super::Env;
use super::source::{Set, Source};
use super::word::{AutoAccess, LogLevel, Planner, ToolMode, Word, list_words, read_word};
use crate::error::{Error, Result};

/// The rounds a turn or a debate may be told to have.
pub const ROUNDS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Settings, each said or left open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// `log_level`
    pub log_level: Option<Set<LogLevel>>,
    /// `tool_call_mode`
    pub tool_call_mode: Option<Set<ToolMode>>,
    /// `auto_access`
    pub auto_access: Option<Set<AutoAccess>>,
    /// `planner`
    pub planner: Option<Set<Planner>>,
    /// `max_rounds`
    pub max_rounds: Option<Set<u32>>,
    /// `command_timeout`
    pub command_timeout: Option<Set<Duration>>,
    /// `output_limit`, bytes
    pub output_limit: Option<Set<u32>>,
    /// `[http] connect_timeout`
    pub http_connect: Option<Set<Duration>>,
    /// `[http] idle_timeout`
    pub http_idle: Option<Set<Duration>>,
    /// `[mcp] connect_timeout`
    pub mcp_connect: Option<Set<Duration>>,
    /// `[mcp] idle_timeout`
    pub mcp_idle: Option<Set<Duration>>,
    /// `[mcp] total_timeout`
    pub mcp_total: Option<Set<Duration>>,
    /// `[sandbox] read_only`
    pub read_only: Option<Set<Vec<PathBuf>>>,
    /// `[many] orchestrator`
    pub orchestrator: Option<Set<String>>,
    /// `[many] participants`
    pub participants: Option<Set<Vec<String>>>,
    /// `[many] max_rounds`
    pub many_rounds: Option<Set<u32>>,
    /// `[many] timeout`
    pub many_timeout: Option<Set<Duration>>,
    /// `LEPO_MODEL` or `-m`: no file has it, there it is `active`.
    pub model: Option<Set<String>>,
}

impl Layer {
    /// This one, and what it leaves open from the one `below`.
    pub fn over(self, below: Layer) -> Layer {
        Layer {
            log_level: self.log_level.or(below.log_level),
            tool_call_mode: self.tool_call_mode.or(below.tool_call_mode),
            auto_access: self.auto_access.or(below.auto_access),
            planner: self.planner.or(below.planner),
            max_rounds: self.max_rounds.or(below.max_rounds),
            command_timeout: self.command_timeout.or(below.command_timeout),
            output_limit: self.output_limit.or(below.output_limit),
            http_connect: self.http_connect.or(below.http_connect),
            http_idle: self.http_idle.or(below.http_idle),
            mcp_connect: self.mcp_connect.or(below.mcp_connect),
            mcp_idle: self.mcp_idle.or(below.mcp_idle),
            mcp_total: self.mcp_total.or(below.mcp_total),
            read_only: self.read_only.or(below.read_only),
            orchestrator: self.orchestrator.or(below.orchestrator),
            participants: self.participants.or(below.participants),
            many_rounds: self.many_rounds.or(below.many_rounds),
            many_timeout: self.many_timeout.or(below.many_timeout),
            model: self.model.or(below.model),
        }
    }

    /// What the environment says. A variable that is wrong: exit 2, with its name and what is allowed.
    pub fn from_env(env: &Env) -> Result<Layer> {
        Ok(Layer {
            log_level: word(env, "LEPO_LOG_LEVEL", LogLevel::ALL)?,
            tool_call_mode: word(env, "LEPO_TOOL_CALL_MODE", ToolMode::LASTING)?,
            auto_access: word(env, "LEPO_AUTO_ACCESS", AutoAccess::ALL)?,
            planner: word(env, "LEPO_PLANNER", Planner::ALL)?,
            max_rounds: rounds(env, "LEPO_MAX_ROUNDS")?,
            model: text(env, "LEPO_MODEL")?,
            ..Layer::default()
        })
    }
}

fn text(env: &Env, name: &'static str) -> Result<Option<Set<String>>> {
    let text = env.text(name)?.map(str::to_string);
    Ok(text.map(|value| Set { value, source: Source::Env(name) }))
}

fn word<T: Word>(env: &Env, name: &'static str, allowed: &[T]) -> Result<Option<Set<T>>> {
    let Some(text) = text(env, name)? else {
        return Ok(None);
    };
    match read_word(&text.value, allowed) {
        Some(value) => Ok(Some(text.map(|_| value))),
        None => Err(Error::usage(format!("{name} cannot be \"{}\"", text.value))
            .hint(format!("allowed: {}", list_words(allowed)))),
    }
}

fn rounds(env: &Env, name: &'static str) -> Result<Option<Set<u32>>> {
    let Some(text) = text(env, name)? else {
        return Ok(None);
    };
    match text.value.parse() {
        Ok(value) if ROUNDS.contains(&value) => Ok(Some(text.map(|_| value))),
        _ => Err(Error::usage(format!("{name} cannot be \"{}\"", text.value)).hint(format!(
            "it is a whole number from {} to {}",
            ROUNDS.start(),
            ROUNDS.end()
        ))),
    }
}
