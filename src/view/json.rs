//! Parts of JSON documents that several commands print.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use lepo_base::error::Error;
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;

/// The id of a message: a ULID in upper case.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "id")]
pub struct IdText(#[schemars(with = "String", regex(pattern = r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$"))] pub BubbId);

/// The speaker.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "kind", extend("enum" = Role::ALL.map(Role::as_str)))]
pub struct KindWord(&'static str);

impl From<Role> for KindWord {
    fn from(role: Role) -> KindWord {
        KindWord(role.as_str())
    }
}

#[derive(Serialize, JsonSchema)]
pub struct NameFields {
    pub id: IdText,
    pub kind: KindWord,
    pub hidden: bool,
    pub prev: Option<IdText>,
    /// Milliseconds since 1970, from the id.
    pub time: u64,
    /// The file, as the user would type it.
    pub path: String,
}

impl NameFields {
    pub fn new(store: &Store, name: &BubbName) -> NameFields {
        NameFields {
            id: IdText(name.id),
            kind: name.role.into(),
            hidden: name.hidden,
            prev: name.prev.map(IdText),
            time: name.id.time(),
            path: store.bubb_path(name).to_string_lossy().into_owned(),
        }
    }
}

/// Tokens as counted by the provider, or null.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "usage")]
pub struct UsageFields {
    pub input: Option<u64>,
    pub output: Option<u64>,
}

/// The failure of a command or of a turn.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "error")]
pub struct ErrorFields {
    /// nothing, usage, remote, overflow, budget, not-recorded, pending, store or interrupted; corresponds to the exit
    /// code.
    kind: &'static str,
    message: String,
    /// A suggested remedy.
    hint: Option<String>,
}

impl ErrorFields {
    pub fn new(error: &Error, at: HintTarget<'_>) -> ErrorFields {
        ErrorFields { kind: error.kind.as_str(), message: error.whole_message(), hint: error.hint_for(at) }
    }
}

/// The document printed if a command fails before any other output.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "failure")]
pub struct FailureDocument {
    error: ErrorFields,
}

impl FailureDocument {
    pub fn new(error: &Error, at: HintTarget<'_>) -> FailureDocument {
        FailureDocument { error: ErrorFields::new(error, at) }
    }
}

/// A request: a command, a tool call, or the user's own command.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "request")]
pub struct RequestFields(#[schemars(schema_with = "request_schema")] pub Value);

fn request_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "access": { "type": "string" },
            "command": { "type": "string" },
            "why": { "type": "string" },
            "server": { "type": "string" },
            "name": { "type": "string" },
            "arguments": { "type": "object" },
        },
        "anyOf": [{ "required": ["command"] }, { "required": ["server", "name", "arguments"] }],
    })
}
