//! `lepo config --import FILE`: converts an old humble-ai-cli `config.json` or `mcp-servers.json` to
//! `config.toml` or `mcp.json`, after a readable plan. Existing entries are never replaced, and each entry
//! that cannot be imported is reported.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Paths;
use super::edit::{NewModel, text_of, with_model, with_setting};
use super::entry::KeyEntry;
use super::file::ConfigFile;
use super::setting_enums::LogLevel;
use super::write::replace;
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;
use lepo_base::keyword::{Keyword, parse_keyword};
use lepo_base::secret::Secret;
use lepo_model::Provider;
use lepo_model::base_url;
use lepo_tool::ToolMode;
use lepo_tool::mcp::config::without_comments;

/// The plan of an import. Not `Debug`, because the new text may contain keys.
pub struct ConfigImport {
    /// The file to write.
    pub target: PathBuf,
    /// The entries to add, one line each, without keys.
    pub added: Vec<String>,
    /// The entries not to add, each with the reason.
    pub left_out: Vec<String>,
    text: String,
}

impl ConfigImport {
    /// Reads `file` and plans its import. Exit 2 if it is neither of the two.
    pub fn make(paths: &Paths, file: &Path) -> Result<ConfigImport> {
        let shown = file.display();
        let Some(bytes) = read_if_there(file)? else {
            return Err(Error::usage(format!("no file {shown}")).hint("name the file to import"));
        };
        let known = "it is humble-ai-cli's config.json or mcp-servers.json";
        let value = serde_json::from_slice(&without_comments(&bytes))
            .map_err(|error| Error::usage(format!("cannot import {shown}")).because(error).hint(known))?;
        match value {
            Value::Object(old) if old.contains_key("mcpServers") => servers(paths, file, old),
            Value::Object(old) if old.contains_key("models") || old.contains_key("provider") => {
                settings(paths, old)
            }
            _ => Err(Error::usage(format!("cannot import {shown}: it has no known setting")).hint(known)),
        }
    }

    /// Writes the planned file, unless there is nothing to add.
    pub fn apply(&self) -> Result<()> {
        match self.added.is_empty() {
            true => Ok(()),
            false => replace(&self.target, self.text.as_bytes()),
        }
    }
}

fn settings(paths: &Paths, mut old: Map<String, Value>) -> Result<ConfigImport> {
    let target = paths.config_file();
    let text = text_of(&target)?;
    let existing = ConfigFile::parse(&target, text.as_bytes())?;
    let mut plan = ConfigImport { target, added: Vec::new(), left_out: Vec::new(), text };

    let level = |word: &str| parse_keyword(word, LogLevel::ALL).is_some();
    let mode = |word: &str| parse_keyword(word, ToolMode::LASTING).is_some();
    let level = (old.remove("logLevel"), "log_level", level as fn(&str) -> bool);
    let mode = (old.remove("toolCallMode"), "tool_call_mode", mode as fn(&str) -> bool);
    for (value, key, allowed) in [level, mode] {
        match value.as_ref().and_then(Value::as_str) {
            None | Some("") => {}
            Some(_) if existing.table.source(key).is_some() => {
                plan.left_out.push(format!("{key}: already set"))
            }
            Some(word) if allowed(word) => {
                plan.text = with_setting(&plan.target, &plan.text, key, word)?;
                plan.added.push(format!("{key} = \"{word}\""));
            }
            Some(_) => plan.left_out.push(format!("{key}: unknown value")),
        }
    }

    let mut has_active = existing.models.iter().any(|model| model.config.is_active);
    let models = match old.remove("models") {
        Some(Value::Array(models)) => models,
        Some(_) => {
            plan.left_out.push("models: not a list".to_string());
            Vec::new()
        }
        // A file without a list has the keys of a single model at the root.
        None => {
            let keys = ["provider", "name", "model", "apiKey", "baseUrl", "active"];
            let found = keys.iter().filter_map(|key| old.remove_entry(*key));
            vec![Value::Object(found.collect())]
        }
    };
    for (index, value) in models.into_iter().enumerate() {
        match model(value, &mut plan.left_out) {
            Ok(model) => plan.add(model, &mut has_active),
            Err(why) => plan.left_out.push(format!("model {}: {why}", index + 1)),
        }
    }
    let rest = old.keys().map(|key| format!("{key}: lepo has no such setting"));
    plan.left_out.extend(rest);
    Ok(plan)
}

impl ConfigImport {
    fn add(&mut self, mut model: NewModel, has_active: &mut bool) {
        let name = model.name.clone();
        if model.is_active && *has_active {
            model.is_active = false;
            self.left_out.push(format!("active of model \"{name}\": another model is active"));
        }
        match with_model(&self.target, &self.text, &model) {
            Ok(Some(text)) => {
                self.text = text;
                *has_active |= model.is_active;
                let key = if model.key != KeyEntry::None { ", with its key" } else { "" };
                let active = if model.is_active { ", active" } else { "" };
                let provider = model.provider.as_str();
                self.added.push(format!("model \"{name}\" ({provider}){key}{active}"));
            }
            Ok(None) => self.left_out.push(format!("model \"{name}\": already exists")),
            Err(error) => self.left_out.push(format!("model \"{name}\": {}", error.message)),
        }
    }
}

/// Converts an old model; the error says why lepo cannot have it.
fn model(value: Value, left_out: &mut Vec<String>) -> std::result::Result<NewModel, String> {
    let Value::Object(mut old) = value else {
        return Err("not an object".to_string());
    };
    let mut text = |key: &str| match old.remove(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_string()),
        _ => None,
    };
    let provider = text("provider").unwrap_or_default();
    let provider = parse_keyword(&provider, &[Provider::Openai, Provider::Ollama])
        .ok_or("its provider is neither openai nor ollama")?;
    let (name, model) = (text("name"), text("model"));
    let name = name.or(model.clone()).ok_or("it has neither name nor model")?;
    let base = text("baseUrl").map(|url| base_url(&url)).transpose();
    let new = NewModel {
        model: Some(model.unwrap_or_else(|| name.clone())),
        provider,
        base_url: base.map_err(|what| format!("its baseUrl {what}"))?,
        key: text("apiKey").map_or(KeyEntry::None, |key| KeyEntry::Literal(Secret::new(key))),
        is_active: old.remove("active") == Some(Value::Bool(true)),
        name,
    };
    let rest = old.keys().map(|key| format!("{key} of model \"{}\": lepo has no such key", new.name));
    left_out.extend(rest);
    Ok(new)
}

fn servers(paths: &Paths, file: &Path, mut old: Map<String, Value>) -> Result<ConfigImport> {
    let target = paths.mcp_file();
    let Some(Value::Object(servers)) = old.remove("mcpServers") else {
        return Err(Error::usage(format!("{}: `mcpServers` is not an object", file.display()))
            .hint("it is {\"NAME\": {\"command\": …} or {\"url\": …}}"));
    };
    let wrong = || {
        Error::usage(format!("{} is not a JSON object of MCP servers", target.display()))
            .hint("fix it or move it away, then import again")
    };
    let mut root = match read_if_there(&target)? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| wrong().because(error))?,
        None => Map::new(),
    };
    let existing = root.entry("mcpServers").or_insert_with(|| Map::new().into());
    let existing = existing.as_object_mut().ok_or_else(wrong)?;
    let (mut added, mut left_out) = (Vec::new(), Vec::new());
    for (name, server) in servers {
        if existing.contains_key(&name) {
            left_out.push(format!("server \"{name}\": already exists"));
        } else if !server.is_object() {
            left_out.push(format!("server \"{name}\": not an object"));
        } else {
            added.push(format!("server \"{name}\""));
            existing.insert(name, server);
        }
    }
    left_out.extend(old.keys().map(|key| format!("{key}: lepo has no such key")));
    let text = format!("{:#}\n", Value::Object(root));
    Ok(ConfigImport { target, added, left_out, text })
}
