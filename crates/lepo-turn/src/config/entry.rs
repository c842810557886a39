//! Reads and checks a `[[models]]` table without using the environment, so that a file has the same meaning
//! everywhere until it is used.

use serde_json::{Map, Value};

use super::options::{read_extra, read_options};
use super::price::read_price;
use super::program::{read_agent, read_program, read_sandbox};
use super::setting_value::SettingValue;
use super::source::SettingSource;
use super::table_reader::TableReader;
use lepo_base::error::Result;
use lepo_base::keyword::Keyword;
use lepo_base::secret::Secret;
use lepo_model::Price;
use lepo_model::{AgentSandbox, AnswerFormat, CacheLife, ModelOptions, Provider, Wire};
use lepo_model::{BASE_URL_FORM, base_url};
use lepo_model::{ProviderFields, ServerDefaults};

/// The source of a model's key, as written in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyEntry {
    /// The file does not mention a key.
    None,
    /// `api_key`.
    Literal(Secret),
    /// `api_key_env`: a variable of the environment.
    Env(String),
    /// `api_key_command`: a program that prints it. Allowed in the user's own file only.
    Command(Vec<String>),
}

/// A model as written in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// The line of its `[[models]]`.
    pub source: SettingSource,
    /// Name for `-m`.
    pub name: String,
    pub provider: Provider,
    /// The provider's name for the model; empty if it has none.
    pub model: String,
    /// Checked, and without a trailing slash.
    pub base_url: Option<String>,
    pub key: KeyEntry,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where to find the answer in the program's output.
    pub answer: AnswerFormat,
    /// `sandbox` and `sandbox_home`.
    pub sandbox: Option<AgentSandbox>,
    /// `system = "first"`.
    pub system_first: bool,
    pub price: Option<Price>,
    pub wire: Option<Wire>,
    pub options: ModelOptions,
    pub extra: Map<String, Value>,
    pub context: Option<u64>,
    pub cache: CacheLife,
    /// Used if the user names no model.
    pub is_active: bool,
}

/// Reads a `[[models]]` table, and rejects keys that its provider does not have.
pub fn read_entry(mut section: TableReader) -> Result<ModelEntry> {
    let source = section.source();
    let name = match (section.take_key("name"), section.text_of("preset")) {
        (Some(field), _) => {
            let text = String::from_toml(&field, &())?;
            if text.trim() != text || text.contains(',') {
                return Err(field.error("has a comma, or spaces around it", "choose a plain name"));
            }
            text
        }
        // A preset without a name is a model of the preset's name.
        (None, Some(preset)) => preset,
        (None, None) => {
            return Err(section.error("a model without a name", "add name = \"…\", the name that -m takes"));
        }
    };
    let provider = match section.get("provider", &Provider::ALL)? {
        Some(provider) => provider,
        // A preset implies the provider `cli`.
        None if section.has("preset") => Provider::Cli,
        None => {
            let words: Vec<String> = Provider::ALL.iter().map(|p| format!("\"{}\"", p.as_str())).collect();
            let allowed = format!("add provider = {}, or preset = \"claude\"", words.join(" | "));
            return Err(section.lacks_key("provider", format!("model \"{name}\" has no provider"), allowed));
        }
    };
    section.rename(format!(" in a model with provider = \"{}\"", provider.as_str()));
    let is_active = section.get("active", &())?.unwrap_or(false);
    let mut entry = ModelEntry {
        source,
        name,
        provider,
        model: String::new(),
        base_url: None,
        key: KeyEntry::None,
        command: Vec::new(),
        answer: AnswerFormat::Text,
        sandbox: None,
        system_first: false,
        price: read_price(&mut section)?,
        wire: None,
        options: ModelOptions::default(),
        extra: Map::new(),
        context: section.get::<u32>("context", &(256..=u32::MAX))?.map(u64::from),
        cache: CacheLife::FiveMinutes,
        is_active,
    };
    match provider.fields() {
        ProviderFields::Server(facts) => read_server(&mut entry, &mut section, facts)?,
        ProviderFields::Program => (entry.command, entry.answer) = read_program(&entry.name, &mut section)?,
        ProviderFields::Agent => {
            entry.sandbox = read_sandbox(&mut section)?;
            entry.command = read_agent(&entry.name, &mut section)?;
        }
        ProviderFields::Weights => {
            entry.model = section.get("model", &())?.unwrap_or_default();
        }
    }
    section.finish()?;
    Ok(entry)
}

fn read_server(entry: &mut ModelEntry, section: &mut TableReader, facts: &ServerDefaults) -> Result<()> {
    let model = section.take_key("model");
    if let Some(field) = section.take_key("base_url") {
        let url = base_url(&String::from_toml(&field, &())?);
        entry.base_url = Some(url.map_err(|what| field.error(what, BASE_URL_FORM))?);
    }
    if let Some(key) = section.get::<String>("api_key", &())? {
        entry.key = KeyEntry::Literal(Secret::new(key));
    }
    if let Some(field) = section.take_key("api_key_env") {
        let name = String::from_toml(&field, &())?;
        if entry.key != KeyEntry::None {
            return Err(field.error("cannot be combined with `api_key`", "keep one of the two"));
        }
        if name.contains('=') {
            return Err(field.error("is not the name of a variable", "name it like OPENAI_API_KEY"));
        }
        entry.key = KeyEntry::Env(name);
    }
    if let Some(field) = section.take_key("api_key_command") {
        let command = Vec::<String>::from_toml(&field, &())?;
        if entry.key != KeyEntry::None {
            return Err(field.error("cannot be combined with another key", "keep one of them"));
        }
        if command.is_empty() {
            return Err(field.error("is empty", "it is [\"program\", \"argument\", …]"));
        }
        entry.key = KeyEntry::Command(command);
    }
    if !facts.wires.is_empty() {
        entry.wire = section.get("wire", &facts.wires)?;
    }
    if entry.provider == Provider::Anthropic {
        entry.cache = section.get("cache", &CacheLife::ALL)?.unwrap_or(entry.cache);
    }
    entry.options = read_options(section.section("options")?)?;
    entry.options.web = section.get("web", &())?.unwrap_or(false);
    if let Some(field) = section.take_key("extra") {
        entry.extra = read_extra(field)?;
    }
    if let Some(field) = section.take_key("system") {
        if String::from_toml(&field, &())? != "first" {
            return Err(field.error("is not \"first\"", "allowed: first, or leave the key out"));
        }
        entry.system_first = true;
    }
    let Some(model) = model else {
        let allowed = "add model = \"…\", the server's name for it, like gpt-4o or qwen3:8b";
        return Err(section.lacks(format!("model \"{}\" has no `model`", entry.name), allowed));
    };
    entry.model = String::from_toml(&model, &())?;
    Ok(())
}
