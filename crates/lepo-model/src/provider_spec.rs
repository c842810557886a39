//! The capabilities of a provider: the only facts about it that the rest of the program uses, independent of its
//! name.
//!
//! A provider is a sibling file or folder with one [`ProviderSpec`], and one line in `registry`.

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::config::ModelConfig;
use super::media::FileSupport;
use super::message::ToolSpec;
use super::model_facts::{CatalogSpec, ModelFacts};
use super::payload::Payload;
use super::quirks::Quirk;
use lepo_base::keyword::Keyword;

pub struct ProviderSpec {
    /// The way tools are described to a model.
    pub tools: ToolFormat,
    /// The planner that suits the provider if the configuration does not choose.
    pub planner: Planner,
    /// The form in which the provider accepts a conversation.
    pub path: ConversationFormat,
    pub attachments: FileSupport,
    /// Whether the provider runs its own tools: lepo offers none, and plans nothing.
    pub own_tools: bool,
    /// The HTTP API of the provider; `None` for a program.
    pub(super) http: Option<&'static HttpSpec>,
}

/// The way tools are described to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// In fields of the API.
    Native,
    /// In the text of the prompt.
    Prompt,
}

/// The form in which a provider accepts a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationFormat {
    /// A message for each bubb, and the instruction last.
    Messages,
    /// As messages, with tools described as text at the end of the system prompt.
    Prompted,
    /// For a program with its own system prompt: without lepo's, and only the question if it has no visible message
    /// above it.
    Program,
    /// Alternating roles without any system message.
    Plain,
}

pub(super) struct HttpSpec {
    /// The provider's name in cached facts and quirks.
    pub name: &'static str,
    /// The path of requests, below `base_url`.
    pub path: &'static [&'static str],
    /// The way the key is sent.
    pub auth: Auth,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: fn(&mut BodyContext<'_>) -> Payload,
    /// Creates the reader of an answer to a request with these tools. If there are any, the received form of a
    /// message with calls must be stored for later requests.
    pub reader: fn(&[ToolSpec]) -> Box<dyn AnswerReader>,
    /// The quirks that its models may have.
    pub quirks: &'static [&'static Quirk],
    /// Returns the hint for an unknown model.
    pub missing: fn(&str) -> String,
    /// The endpoint that lists its models.
    pub catalog: CatalogSpec,
    /// Whether a model continues an assistant's message at the end of a request, by its name and its facts.
    pub prefill: fn(&ModelConfig, &ModelFacts) -> bool,
    /// Whether requests have the id of their conversation's root, for the server's cache.
    pub root_key: bool,
    /// Whether its servers search the web for a model.
    pub web: bool,
}

/// The way a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Auth {
    /// `Authorization: Bearer KEY`
    Bearer,
    Header(&'static str),
}

impl HttpSpec {
    /// Whether its models may have this quirk.
    pub fn may_have(&self, quirk: &Quirk) -> bool {
        self.quirks.iter().any(|possible| possible.word == quirk.word)
    }
}

impl ProviderSpec {
    /// Whether its servers can search the web for a model.
    pub fn has_web(&self) -> bool {
        self.http.is_some_and(|api| api.web)
    }

    /// Whether requests should have the id of their conversation's root.
    pub fn names_root(&self) -> bool {
        self.http.is_some_and(|api| api.root_key)
    }
}

/// Returns the usual hint for an unknown model.
pub(super) fn check_model(_: &str) -> String {
    "check `model` and `base_url`".to_owned()
}

/// How lepo decides whether a command is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// The planner that suits the model (the default): native if its API carries tools, else the chooser, and off for
    /// the embedded model.
    Auto,
    /// A tool chooser decides, and a command writer writes the command.
    Chooser,
    /// The model itself decides: the command is one of its native tools.
    Native,
    /// Nothing decides: the answer comes at once.
    Off,
}

impl Planner {
    /// All planners.
    pub const ALL: &[Planner] = &[Planner::Auto, Planner::Chooser, Planner::Native, Planner::Off];
}

impl Keyword for Planner {
    fn as_str(self) -> &'static str {
        match self {
            Planner::Auto => "auto",
            Planner::Chooser => "chooser",
            Planner::Native => "native",
            Planner::Off => "off",
        }
    }
}
