//! One configured model, as plain values.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::{Options, Price, Provider, Wire};

/// A text that must never be printed: its `Debug` and `Display` show nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text into keeping.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the secret, also where the text has only the beginning of it, as a shortened message does.
    /// A secret of fewer than [`SHORTEST`] bytes stays: it is a word or a part of words.
    pub fn hide_in<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.len() < SHORTEST {
            return Cow::Borrowed(text);
        }
        let known = (self.0.len() * 2 / 3).clamp(SHORTEST, TELLING);
        let (head, tail) = self.0.split_at(self.0.floor_char_boundary(known));
        let (mut hidden, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(head) {
            hidden.push_str(before);
            hidden.push_str("[secret]");
            let same = after.chars().zip(tail.chars()).take_while(|(one, other)| one == other);
            rest = after.split_at(same.map(|(c, _)| c.len_utf8()).sum()).1;
        }
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(hidden + rest)
    }
}

/// The shortest secret that is taken out of texts, in bytes: a shorter one ("none", "lm") is a word.
const SHORTEST: usize = 8;
/// So many bytes of the beginning of a long secret are taken for the secret.
const TELLING: usize = 16;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

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
            system_first: false,
            price: None,
            wire: None,
            options: Options::default(),
            extra: Map::new(),
            context: None,
            active: false,
        }
    }
}
