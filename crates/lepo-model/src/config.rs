//! One configured model, as plain values.

use serde_json::{Map, Value};

use lepo_base::error::{Error, Result};
use lepo_base::hint::{Command, Hint};
use lepo_base::secret::Secret;

use crate::agents::AgentSandbox;
use crate::options::Options;
use crate::price::Price;
use crate::provider::{Provider, Wire};

/// The temperature of every request that says none.
const TEMPERATURE: f64 = 0.1;

/// A model's key, and where it was looked for (for the message when it is missing or refused).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key {
    /// The key, if there was one.
    pub value: Option<Secret>,
    /// `OPENAI_API_KEY in the environment`, `api_key of model "gpt" in …/config.toml`; empty if none is configured.
    pub looked_for: String,
    /// The key is sent as a bearer token, also where the API has a header of its own for keys.
    pub bearer: bool,
    /// A program that prints it, run when the model is first asked; nothing of it is logged.
    pub command: Vec<String>,
}

/// The form of the answer in the output of a `cli` model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// All of stdout, as it comes.
    #[default]
    Text,
    /// stdout is one JSON document; the answer is the string at this JSON pointer (RFC 6901).
    Json(String),
    /// stdout is JSON lines; the answer is the string at this pointer in the last line that has one.
    Jsonl(String),
    /// stdout is the events of `codex exec --json`; the answer is the text of the last
    /// `item.completed` whose item is an `agent_message`: other items have texts too.
    AgentMessage,
}

/// A model as configured: complete, checked, with its key looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfig {
    /// Name for `-m` and `/set-model`.
    pub name: String,
    /// Provider of the model.
    pub provider: Provider,
    /// The provider's own name for it; empty for `cli`.
    pub model: String,
    /// The address (`openai`, `ollama`); no trailing slash; empty for `cli` and `embedded`.
    pub base_url: String,
    /// The key that is sent to `base_url` and nowhere else.
    pub key: Key,
    /// The program and its arguments (`cli`); `{prompt}` stands for the question, else it goes to stdin.
    pub command: Vec<String>,
    /// The place of the answer in its output (`cli`).
    pub answer: AnswerForm,
    /// The sandbox that the program is started in (`acp`).
    pub sandbox: Option<AgentSandbox>,
    /// The model takes a system message only as the first one (`system = "first"`).
    pub system_first: bool,
    /// The price of its tokens.
    pub price: Option<Price>,
    /// The API of its server that is used; none if that depends on the address.
    pub wire: Option<Wire>,
    /// The options of every request.
    pub options: Options,
    /// Fields that go into the body of every request as they are.
    pub extra: Map<String, Value>,
    /// Window in tokens, where the configuration says it.
    pub context: Option<u64>,
    /// The one that is used when nothing else is said.
    pub active: bool,
}

impl ModelConfig {
    /// The temperature that it is asked with.
    pub(crate) fn temperature(&self) -> serde_json::Value {
        self.options.temperature.clone().map_or_else(|| TEMPERATURE.into(), serde_json::Value::Number)
    }

    /// A model of this name, with nothing configured yet.
    pub fn new(name: impl Into<String>, provider: Provider) -> ModelConfig {
        ModelConfig {
            name: name.into(),
            provider,
            model: String::new(),
            base_url: String::new(),
            key: Key::default(),
            command: Vec::new(),
            answer: AnswerForm::Text,
            sandbox: None,
            system_first: false,
            price: None,
            wire: None,
            options: Options::default(),
            extra: Map::new(),
            context: None,
            active: false,
        }
    }

    /// Exit 2 if a key was looked for and not found: says where.
    pub fn require_key(&self) -> Result<()> {
        if self.key.value.is_some() || self.key.looked_for.is_empty() || !self.key.command.is_empty() {
            return Ok(());
        }
        let (name, place) = (&self.name, &self.key.looked_for);
        Err(Error::usage(format!("model \"{name}\" has no key: looked for {place}")).hint(
            Hint::from("set that variable, or choose another model with ").command(Command::OtherModel),
        ))
    }
}
