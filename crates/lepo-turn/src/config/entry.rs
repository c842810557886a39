//! Reads and checks a `[[models]]` table without using the environment, so that a file has the same meaning
//! everywhere until it is used.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::mistake::Mistake;
use super::options::{OptionKeys, read_extra};
use super::price::AmountKeys;
use super::program::{COMMAND_FORM, read_agent, read_program};
use super::reader::ConfigReader;
use super::setting_value::{SettingValue, WholeNumber};
use super::source::SettingSource;
use super::tree::SettingNode;
use lepo_base::keyword::{Keyword, list_words};
use lepo_base::secret::Secret;
use lepo_model::{
    AgentAccess, AgentSandbox, AnswerFormat, CacheLife, ModelConfig, ModelOptions, Provider, Wire,
};
use lepo_model::{BASE_URL_FORM, ProviderFields, base_url};

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
    /// Checked, and without a trailing slash.
    pub base_url: Option<String>,
    pub key: KeyEntry,
    /// The rest, without the URL and the key, which depend on the environment.
    pub config: ModelConfig,
}

/// The keys of a `[[models]]` table; [`keys_of`] says which of them a provider has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelKeys {
    name: Option<String>,
    #[serde(deserialize_with = "SettingValue::read")]
    provider: Option<Provider>,
    active: bool,
    price: AmountKeys,
    #[serde(deserialize_with = "SettingValue::read")]
    context: Option<WholeNumber<256, { u32::MAX }>>,
    model: Option<String>,
    base_url: Option<String>,
    api_key: Option<String>,
    api_key_env: Option<String>,
    api_key_command: Option<Vec<String>>,
    command: Option<Vec<String>>,
    answer: Option<String>,
    preset: Option<String>,
    #[serde(deserialize_with = "SettingValue::read")]
    sandbox: Option<AgentAccess>,
    #[serde(deserialize_with = "SettingValue::read")]
    sandbox_home: Option<Vec<PathBuf>>,
    #[serde(deserialize_with = "SettingValue::read")]
    wire: Option<Wire>,
    #[serde(deserialize_with = "SettingValue::read")]
    cache: Option<CacheLife>,
    options: OptionKeys,
    web: bool,
    #[serde(deserialize_with = "read_extra")]
    extra: Map<String, Value>,
    system: Option<String>,
}

/// Keys of every model.
const COMMON: &[&str] = &["name", "provider", "active", "price", "context"];

/// Keys of every model of a server.
const ADDRESS: &[&str] = &["model", "base_url", "api_key", "api_key_env", "api_key_command"];
const REQUEST: &[&str] = &["options", "web", "extra", "system"];

/// Returns the keys that a model of the provider can have, in the order in which they are read and told.
fn keys_of(provider: Provider) -> Vec<&'static str> {
    let own: &[&[&str]] = match provider.fields() {
        ProviderFields::Server(facts) if !facts.wires.is_empty() => &[ADDRESS, &["wire"], REQUEST],
        ProviderFields::Server(_) if provider == Provider::Anthropic => &[ADDRESS, &["cache"], REQUEST],
        ProviderFields::Server(_) => &[ADDRESS, REQUEST],
        ProviderFields::Program => &[&["command", "answer", "preset"]],
        ProviderFields::Agent => &[&["sandbox", "sandbox_home", "command", "preset"]],
        ProviderFields::Weights => &[&["model"]],
    };
    [COMMON, &own.concat()].concat()
}

/// Reads a `[[models]]` table, and rejects keys that its provider does not have.
pub fn read_entry(mut reader: ConfigReader<'_>) -> Result<ModelEntry, Mistake> {
    let head: ModelKeys = reader.read(&["name", "provider"])?;
    let preset = reader.node("preset");
    let name = match (head.name, preset.and_then(SettingNode::text)) {
        (Some(name), _) if name.trim() != name || name.contains(',') => {
            return Err(reader.mistake("name", "has a comma, or spaces around it", "choose a plain name"));
        }
        (Some(name), _) => name,
        // A preset without a name is a model of the preset's name.
        (None, Some(preset)) => preset.to_string(),
        (None, None) => {
            let allowed = "add name = \"…\", the name that -m takes";
            return Err(reader.whole_mistake("a model without a name", allowed));
        }
    };
    let provider = match head.provider {
        Some(provider) => provider,
        // A preset implies the provider `cli`.
        None if preset.is_some() => Provider::Cli,
        None => {
            let words: Vec<String> = Provider::ALL.iter().map(|p| format!("\"{}\"", p.as_str())).collect();
            let allowed = format!("add provider = {}, or preset = \"claude\"", words.join(" | "));
            let what = format!("model \"{name}\" has no provider");
            return Err(reader.slip("provider").unwrap_or_else(|| reader.whole_mistake(what, allowed)));
        }
    };
    reader.title = format!(" in a model with provider = \"{}\"", provider.as_str());
    let keys: ModelKeys = reader.read(&keys_of(provider))?;
    reader.finish()?;
    let at_price = reader.node("price").map_or(&reader.source, |node| &node.source);
    let url = keys.base_url.map(|text| base_url(&text)).transpose();
    let (command, answer) = match provider.fields() {
        ProviderFields::Program => read_program(&name, keys.preset, keys.command, keys.answer, &reader)?,
        ProviderFields::Agent => {
            (read_agent(&name, keys.preset, keys.command, &reader)?, AnswerFormat::default())
        }
        ProviderFields::Server(_) | ProviderFields::Weights => Default::default(),
    };
    let sandbox = match (keys.sandbox, keys.sandbox_home) {
        (None, None) => None,
        (None, Some(_)) => {
            let allowed = format!("add sandbox = {}", list_words(AgentAccess::ALL));
            return Err(reader.mistake("sandbox_home", "needs `sandbox`", &allowed));
        }
        (Some(access), home) => Some(AgentSandbox { access, home: home.unwrap_or_default() }),
    };
    if keys.system.as_ref().is_some_and(|word| word != "first") {
        return Err(reader.mistake("system", "is not \"first\"", "allowed: first, or leave the key out"));
    }
    if keys.model.is_none() && provider.server().is_some() {
        let allowed = "add model = \"…\", the server's name for it, like gpt-4o or qwen3:8b";
        return Err(reader.whole_mistake(format!("model \"{name}\" has no `model`"), allowed));
    }
    Ok(ModelEntry {
        base_url: url.map_err(|what| reader.mistake("base_url", what, BASE_URL_FORM))?,
        key: read_key(keys.api_key, keys.api_key_env, keys.api_key_command, &reader)?,
        config: ModelConfig {
            model: keys.model.unwrap_or_default(),
            command,
            answer,
            sandbox,
            system_first: keys.system.is_some(),
            price: keys.price.price(at_price)?,
            wire: keys.wire,
            options: ModelOptions { web: keys.web, ..keys.options.into() },
            extra: keys.extra,
            context: keys.context.map(|number| number.get().into()),
            cache: keys.cache.unwrap_or(CacheLife::FiveMinutes),
            is_active: keys.active,
            ..ModelConfig::new(name, provider)
        },
        source: reader.source,
    })
}

/// Returns the source of a model's key, of which it has one at most.
fn read_key(
    literal: Option<String>,
    variable: Option<String>,
    command: Option<Vec<String>>,
    reader: &ConfigReader<'_>,
) -> Result<KeyEntry, Mistake> {
    let wrong = |key, what, allowed| Err(reader.mistake(key, what, allowed));
    match (literal, variable, command) {
        (Some(_), Some(_), _) => {
            wrong("api_key_env", "cannot be combined with `api_key`", "keep one of the two")
        }
        (None, Some(name), _) if name.contains('=') => {
            wrong("api_key_env", "is not the name of a variable", "name it like OPENAI_API_KEY")
        }
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
            wrong("api_key_command", "cannot be combined with another key", "keep one of them")
        }
        (_, _, Some(command)) if command.is_empty() => wrong("api_key_command", "is empty", COMMAND_FORM),
        (Some(key), _, _) => Ok(KeyEntry::Literal(Secret::new(key))),
        (_, Some(name), _) => Ok(KeyEntry::Env(name)),
        (_, _, Some(command)) => Ok(KeyEntry::Command(command)),
        (None, None, None) => Ok(KeyEntry::None),
    }
}
