//! `config.toml`, the user's or a trusted repository's: bytes in, a [`Layer`] and models out, or
//! the first mistake with its line. Opens nothing but what [`read_if_there`] is asked to.

use std::path::Path;

use super::document::Document;
use super::entry::{KeyEntry, ModelEntry, read_entry};
use super::field::Field;
use super::layer::{Layer, ROUNDS};
use super::reader::Section;
use super::word::{AutoAccess, LogLevel, Planner, ToolMode};
use crate::error::{Error, Result};

/// How many bytes of a command's output the model may be given.
const OUTPUT: std::ops::RangeInclusive<u32> = 1_000..=50_000_000;

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its settings.
    pub layer: Layer,
    /// Its models, in order; names differ, at most one is active.
    pub models: Vec<ModelEntry>,
}

impl ConfigFile {
    /// Reads the text of a file. `path` is what mistakes are reported against (exit 2).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<ConfigFile> {
        let document = Document::new(path, bytes)?;
        let mut root = Section::root(&document)?;
        let mut http = root.section("http")?;
        let mut mcp = root.section("mcp")?;
        let mut sandbox = root.section("sandbox")?;
        let mut many = root.section("many")?;
        let layer = Layer {
            log_level: root.read("log_level", |field| field.word(LogLevel::ALL))?,
            tool_call_mode: root.read("tool_call_mode", |field| field.word(ToolMode::LASTING))?,
            auto_access: root.read("auto_access", |field| field.word(AutoAccess::ALL))?,
            planner: root.read("planner", |field| field.word(Planner::ALL))?,
            max_rounds: root.read("max_rounds", |field| field.number(ROUNDS))?,
            command_timeout: root.read("command_timeout", Field::seconds)?,
            output_limit: root.read("output_limit", |field| field.number(OUTPUT))?,
            http_connect: http.read("connect_timeout", Field::seconds)?,
            http_idle: http.read("idle_timeout", Field::seconds)?,
            mcp_connect: mcp.read("connect_timeout", Field::seconds)?,
            mcp_idle: mcp.read("idle_timeout", Field::seconds)?,
            mcp_total: mcp.read("total_timeout", Field::seconds)?,
            read_only: sandbox.read("read_only", Field::paths)?,
            orchestrator: many.read("orchestrator", Field::text)?,
            participants: many.read("participants", Field::texts)?,
            many_rounds: many.read("max_rounds", |field| field.number(ROUNDS))?,
            many_timeout: many.read("timeout", Field::seconds)?,
            model: None,
        };
        for section in [http, mcp, sandbox, many] {
            section.end()?;
        }

        let mut models: Vec<ModelEntry> = Vec::new();
        for section in root.sections("models")? {
            let at = section.at;
            let entry = read_entry(section)?;
            if let Some(twin) = models.iter().find(|other| other.name == entry.name) {
                let what = format!("model \"{}\" is there twice, first at {}", entry.name, twin.source);
                return Err(document.error(at, what, "give each model a name of its own"));
            }
            if let Some(other) = models.iter().find(|other| other.active && entry.active) {
                let (a, b) = (&other.name, &entry.name);
                let what = format!("two active models, \"{a}\" and \"{b}\"");
                return Err(document.error(at, what, "leave active = true in one model at most"));
            }
            models.push(entry);
        }
        root.end()?;
        Ok(ConfigFile { layer, models })
    }
}

impl ConfigFile {
    /// The variables that its models' keys are in.
    pub fn key_variables(&self) -> impl Iterator<Item = String> {
        self.models.iter().filter_map(|model| match &model.key {
            KeyEntry::Env(name) => Some(name.clone()),
            KeyEntry::None | KeyEntry::Literal(_) => None,
        })
    }
}

/// A file's bytes; `None` if there is no such file. Anything else that goes wrong: exit 2.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::usage(format!("cannot read {}", path.display()))
            .because(error)
            .hint("make it a file that you may read, or move it away")),
    }
}
