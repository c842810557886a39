//! The capabilities of a provider: all that the rest of the program may know of it; never its name.
//!
//! A provider is a file or folder beside this one with one [`ProviderSpec`], and one line in `registry`.

use super::asking::Asking;
use super::facts::Catalog;
use super::media::Accepts;
use super::message::ToolSpec;
use super::payload::Payload;
use super::planner::Planner;
use super::quirks::Quirk;
use super::reader::AnswerReader;

/// The capabilities of a provider.
pub struct ProviderSpec {
    /// The way a model is told of tools.
    pub tools: ToolForm,
    /// The planner that suits it where the configuration leaves the choice.
    pub planner: Planner,
    /// The form in which it takes a conversation.
    pub path: PathForm,
    /// The files that it takes.
    pub attachments: Accepts,
    /// It has tools of its own, which it runs itself: lepo offers none, and plans nothing.
    pub own_tools: bool,
    /// HTTP API of the provider; none for a program.
    pub(super) http: Option<&'static HttpSpec>,
}

/// The way a model is told of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolForm {
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
    /// Word in what is remembered of models.
    pub name: &'static str,
    /// The path of requests, under `base_url`.
    pub path: &'static [&'static str],
    /// The way the key is sent.
    pub auth: Auth,
    /// Headers of every request.
    pub headers: &'static [(&'static str, &'static str)],
    /// Writes the body of a request.
    pub body: fn(&mut Asking<'_>) -> Payload,
    /// A reader of one answer to a request with these tools: with any, what has calls must be kept to be sent back.
    pub reader: fn(&[ToolSpec]) -> Box<dyn AnswerReader>,
    /// The quirks that its models may have.
    pub quirks: &'static [&'static Quirk],
    /// The hint for a model that is not there.
    pub missing: fn(&str) -> String,
    /// The endpoint that lists its models.
    pub catalog: Catalog,
    /// Requests name the root of their conversation, for the server's cache.
    pub root_key: bool,
    /// Its servers search the web for a model.
    pub web: bool,
}

/// The way a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Auth {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// In a header of its own.
    Header(&'static str),
}

impl HttpSpec {
    /// True if its models may have this quirk.
    pub fn may_have(&self, quirk: &Quirk) -> bool {
        self.quirks.iter().any(|possible| possible.word == quirk.word)
    }
}

impl ProviderSpec {
    /// True if its servers can search the web for a model.
    pub fn has_web(&self) -> bool {
        self.http.is_some_and(|api| api.web)
    }

    /// True if requests are to name the root of their conversation.
    pub fn names_root(&self) -> bool {
        self.http.is_some_and(|api| api.root_key)
    }
}

/// The usual hint for a model that is not there.
pub(super) fn check_model(_: &str) -> String {
    "check `model` and `base_url`".to_owned()
}
