//! What the rest of the program may know of a provider: its capabilities, never its name.
//!
//! A provider is a file or folder of this room with one [`ProviderSpec`], and one line in [`spec`].

use super::answer::AnswerReader;
use super::media::Accepts;
use super::payload::Payload;
use super::quirks::Quirk;
use super::send::Asking;
use super::{cli, embedded, ollama, openai};
use crate::config::{ModelConfig, Planner, Provider};

/// The capabilities of a provider.
pub struct ProviderSpec {
    /// How a model is told of tools.
    pub tools: ToolWire,
    /// Which planner suits it where the configuration leaves the choice.
    pub planner: Planner,
    /// The form in which it takes a conversation.
    pub path: PathForm,
    /// The files that it takes.
    pub attachments: Accepts,
    /// Its HTTP API; none for a program.
    pub(super) http: Option<&'static HttpSpec>,
}

/// How a model is told of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolWire {
    /// In fields of the API.
    Native,
    /// In the words of the prompt.
    Prompt,
}

/// The form in which a provider takes a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathForm {
    /// One message a bubb, and the instruction last.
    Messages,
    /// As messages, with tools told in words at the end of the system prompt.
    Prompted,
    /// For a program with a system prompt of its own: without lepo's, and the question alone where
    /// nothing visible came before it.
    Program,
    /// Roles in turns and no system message at all.
    Plain,
}

/// An HTTP API.
pub(super) struct HttpSpec {
    /// Its word in what is remembered of models.
    pub name: &'static str,
    /// Where requests go, under `base_url`.
    pub path: &'static [&'static str],
    /// Writes the body of a request.
    pub body: fn(&mut Asking<'_>) -> Payload,
    /// A reader of one answer; `true` if what has calls must be kept to be sent back.
    pub reader: fn(bool) -> Box<dyn AnswerReader>,
    /// What its models may turn out not to take.
    pub quirks: &'static [&'static Quirk],
    /// The hint for a model that is not there.
    pub missing: fn(&str) -> String,
}

/// The capabilities of the provider of a model.
pub fn spec(config: &ModelConfig) -> &'static ProviderSpec {
    match config.provider {
        Provider::Openai => &openai::SPEC,
        Provider::Ollama => &ollama::SPEC,
        Provider::Cli => &cli::SPEC,
        Provider::Embedded => &embedded::SPEC,
    }
}

/// The usual hint for a model that is not there.
pub(super) fn check_model(_: &str) -> String {
    "check `model` and `base_url`".to_owned()
}
