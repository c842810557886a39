//! The documents of `lepo do --json`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ui::{GroupDocument, TurnDocument};
use crate::view::{IdText, KindWord};

/// A single document: a turn; with --parallel, an array of turns, each with its name; with --debate, a turn with its
/// speeches; with --list-tools, the servers; with --dry-run, the request.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DoDocument<'d> {
    Turn(&'d TurnDocument<'d>),
    Group(&'d GroupDocument<'d>),
    /// With --replay, one per line.
    Replay(Vec<ReplayFields<'d>>),
    Servers {
        servers: Vec<ServerOffers<'d>>,
    },
    Request(&'d DryRunFields<'d>),
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReplayFields<'d> {
    /// The model.
    pub name: &'d str,
    /// The end of the new line.
    pub tail: Option<IdText>,
    pub turns: Vec<TurnDocument<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "server")]
pub struct ServerOffers<'d> {
    pub name: &'d str,
    pub description: Option<&'d str>,
    /// up or failed.
    pub state: &'static str,
    pub tools: Vec<OfferedTool<'d>>,
    pub resources: Vec<OfferedResource<'d>>,
    pub prompts: Vec<OfferedPrompt<'d>>,
    pub error: Option<&'d str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OfferedTool<'d> {
    pub name: &'d str,
    /// The name used by models.
    pub call: String,
    pub description: &'d str,
    pub schema: &'d Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OfferedResource<'d> {
    pub uri: &'d str,
    pub template: bool,
    pub name: &'d str,
    pub description: &'d str,
    pub mime: Option<&'d str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OfferedPrompt<'d> {
    pub name: &'d str,
    pub description: &'d str,
    pub arguments: Vec<OfferedArgument<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OfferedArgument<'d> {
    pub name: &'d str,
    pub description: &'d str,
    pub required: bool,
}

/// With --dry-run, the first request that would be sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "dry_run")]
pub struct DryRunFields<'d> {
    pub model: &'d str,
    pub provider: &'static str,
    /// The other fields of the body, which depend on the provider.
    pub fields: &'d Map<String, Value>,
    pub messages: Vec<DryRunMessage<'d>>,
    pub tools: Vec<DryRunTool<'d>>,
    /// MCP servers that would be asked for their tools first.
    pub not_asked: &'d [String],
    /// The share of the last request of the conversation that this one begins with, in percent, and the first
    /// difference; null where there was none.
    pub prefix: Option<PrefixFields<'d>>,
    /// Whether a text of `general` that you wrote goes along, as it does in every request.
    pub own_general: bool,
    /// The format of the answer, or null.
    pub schema: Option<&'d Value>,
    pub bytes: usize,
    /// A quarter of the bytes.
    pub tokens: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DryRunMessage<'d> {
    pub role: KindWord,
    pub text: &'d str,
    pub bytes: usize,
    /// A quarter of the bytes.
    pub tokens: usize,
    pub calls: Vec<DryRunCall<'d>>,
    pub files: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DryRunCall<'d> {
    pub name: &'d str,
    pub arguments: &'d Value,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DryRunTool<'d> {
    pub name: &'d str,
    pub description: &'d str,
    pub schema: &'d Value,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PrefixFields<'d> {
    #[schemars(range(max = 100))]
    pub percent: u8,
    pub difference: Option<&'d str>,
}
