//! The configuration of one model, as plain values.

use std::time::Duration;

use serde_json::{Map, Value};

use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::keyword::Keyword;
use lepo_base::secret::Secret;

use crate::agent_types::AgentSandbox;
use crate::options::ModelOptions;
use crate::provider::{Provider, Wire};

/// The temperature of requests without a configured one.
const TEMPERATURE: f64 = 0.1;

/// A model's key, and where it was looked for (for the message when it is missing or rejected).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiKey {
    /// The key, if one was found.
    pub value: Option<Secret>,
    /// `OPENAI_API_KEY in the environment`, `api_key of model "gpt" in …/config.toml`; empty if none is configured.
    pub looked_for: String,
    /// Whether the key is sent as a bearer token even if the API has its own header for keys.
    pub bearer: bool,
    /// A program that prints the key, run at the first request; its output is never logged.
    pub command: Vec<String>,
}

/// The lifetime of a prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLife {
    /// The default.
    FiveMinutes,
    /// Writing into the cache costs more.
    Hour,
}

impl CacheLife {
    /// Both values, the default first.
    pub const ALL: &[CacheLife] = &[CacheLife::FiveMinutes, CacheLife::Hour];
}

impl Keyword for CacheLife {
    fn as_str(self) -> &'static str {
        match self {
            CacheLife::FiveMinutes => "5m",
            CacheLife::Hour => "1h",
        }
    }
}

/// The format of the output of a `cli` model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// All of stdout, streamed.
    #[default]
    Text,
    /// stdout is one JSON document; the answer is the string at this JSON pointer (RFC 6901).
    Json(String),
    /// stdout is JSON lines; the answer is the string at this pointer in the last line that has one.
    Jsonl(String),
    /// stdout is the events of `codex exec --json`; the answer is the text of the last `item.completed` whose item
    /// is an `agent_message`, because other items have texts, too.
    AgentMessage,
}

/// A model as configured: complete and validated, with its key looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfig {
    /// Name for `-m` and `/set-model`.
    pub name: String,
    /// The provider of the model.
    pub provider: Provider,
    /// The provider's own name for the model; empty for `cli`.
    pub model: String,
    /// The base URL (`openai`, `ollama`), without a trailing slash; empty for `cli` and `embedded`.
    pub base_url: String,
    /// The key, which is sent only to `base_url`.
    pub key: ApiKey,
    /// The program and its arguments (`cli`). The question replaces `{prompt}`, else it goes to stdin.
    pub command: Vec<String>,
    /// The format of the program's output (`cli`).
    pub answer: AnswerFormat,
    /// The program's sandbox (`acp`).
    pub sandbox: Option<AgentSandbox>,
    /// Whether the model accepts a system message only as the first one (`system = "first"`).
    pub system_first: bool,
    /// The price of its tokens.
    pub price: Option<Price>,
    /// The server's API to use; `None` if that depends on the URL.
    pub wire: Option<Wire>,
    /// The options of every request.
    pub options: ModelOptions,
    /// Fields for the body of every request, sent unchanged.
    pub extra: Map<String, Value>,
    /// The configured window in tokens.
    pub context: Option<u64>,
    /// The lifetime of the prompt cache (`anthropic`).
    pub cache: CacheLife,
    /// Whether this model answers by default.
    pub is_active: bool,
}

impl ModelConfig {
    pub(crate) fn temperature(&self) -> serde_json::Value {
        self.options.temperature.clone().map_or_else(|| TEMPERATURE.into(), serde_json::Value::Number)
    }

    /// Creates an empty configuration for a model of this name.
    pub fn new(name: impl Into<String>, provider: Provider) -> ModelConfig {
        ModelConfig {
            name: name.into(),
            provider,
            model: String::new(),
            base_url: String::new(),
            key: ApiKey::default(),
            command: Vec::new(),
            answer: AnswerFormat::Text,
            sandbox: None,
            system_first: false,
            price: None,
            wire: None,
            options: ModelOptions::default(),
            extra: Map::new(),
            context: None,
            cache: CacheLife::FiveMinutes,
            is_active: false,
        }
    }

    /// Fails with exit code 2 if the configured key was not found; the error says where it was looked for.
    pub fn require_key(&self) -> Result<()> {
        if self.key.value.is_some() || self.key.looked_for.is_empty() || !self.key.command.is_empty() {
            return Ok(());
        }
        let (name, sources) = (&self.name, &self.key.looked_for);
        Err(Error::usage(format!("model \"{name}\" has no key: looked for {sources}")).hint(
            Hint::from("set that variable, or choose another model with ").command(HintCommand::OtherModel),
        ))
    }
}

/// Prices of a million tokens, in millionths of the currency, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Price of request tokens.
    pub input: u64,
    /// Price of answer tokens.
    pub output: u64,
    /// Price of request tokens from the provider's cache; by default the price of request tokens.
    pub cached: u64,
}

impl Price {
    /// Returns the cost of tokens, in millionths of a millionth of the currency. `input` includes `cached`.
    pub fn cost(self, input: u64, cached: u64, output: u64) -> u128 {
        let cached = cached.min(input);
        let tokens = [(input - cached, self.input), (cached, self.cached), (output, self.output)];
        tokens.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum()
    }
}

/// Time limits of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For opening a connection.
    pub connect: Duration,
    /// For the first piece of an answer, and between two pieces.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(120) }
    }
}
