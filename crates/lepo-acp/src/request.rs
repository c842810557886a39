//! Requests and notifications of a client to an agent, as both sides have them.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::content::ContentBlock;
use super::rpc::{INVALID_PARAMS, RpcError};

/// A request of a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "method", content = "params")]
pub enum ClientRequest {
    /// Negotiate the version; the first request.
    #[serde(rename = "initialize")]
    Initialize(InitializeParams),
    /// Start a session.
    #[serde(rename = "session/new")]
    New(SessionParams),
    /// Load a session and replay its history.
    #[serde(rename = "session/load")]
    Load(ExistingSessionParams),
    /// Reopen a session without its history.
    #[serde(rename = "session/resume")]
    Resume(ExistingSessionParams),
    /// List the sessions; the parameters may be missing.
    #[serde(rename = "session/list")]
    List(Option<ListParams>),
    /// Close a session.
    #[serde(rename = "session/close")]
    Close(SessionIdParams),
    /// Ask a question in a session.
    #[serde(rename = "session/prompt")]
    Prompt(PromptParams),
    /// Set the mode.
    #[serde(rename = "session/set_mode")]
    SetMode(SetModeParams),
    /// Set the value of an option.
    #[serde(rename = "session/set_config_option")]
    SetOption(SetOptionParams),
    /// Start a session that continues a session from its end.
    #[serde(rename = "session/fork")]
    Fork(ExistingSessionParams),
    /// Start a session that continues a session from one of its messages.
    #[serde(rename = "_lepo/fork")]
    ForkAt(ForkParams),
    /// Any other request, if it has no parameters; [`ClientRequest::read`] returns an error for it.
    #[serde(other)]
    Other,
}

/// The version of a client, and what it can do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    pub(crate) protocol_version: u64,
    #[serde(default)]
    pub(crate) client_capabilities: Value,
    #[serde(default)]
    pub(crate) client_info: Value,
}

/// The folder of a session, and the MCP servers that the client configures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionParams {
    /// Absolute path.
    pub cwd: String,
    #[serde(default, deserialize_with = "or_default")]
    mcp_servers: Vec<Value>,
}

/// A session, with its folder and servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct ExistingSessionParams {
    /// Its id.
    #[serde(rename = "sessionId")]
    pub id: String,
    /// Its folder and servers.
    #[serde(flatten)]
    pub folder: SessionParams,
}

impl TryFrom<Value> for ExistingSessionParams {
    type Error = serde_json::Error;

    /// Parses both parts from the same object: to read by `flatten` refuses integers of more than 64 bits.
    fn try_from(params: Value) -> serde_json::Result<ExistingSessionParams> {
        let SessionIdParams { session_id: id } = SessionIdParams::deserialize(&params)?;
        Ok(ExistingSessionParams { id, folder: SessionParams::deserialize(params)? })
    }
}

/// A session's id.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionIdParams {
    /// Its id.
    pub session_id: String,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptParams {
    /// The session's id.
    pub session_id: String,
    /// The parts of the question.
    pub prompt: Vec<ContentBlock>,
}

/// The mode to set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetModeParams {
    /// The session's id.
    pub session_id: String,
    /// The mode's id.
    pub mode_id: String,
}

/// The option to set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetOptionParams {
    /// The session's id.
    pub session_id: String,
    /// The option's id.
    pub config_id: String,
    /// Its new value.
    pub value: String,
}

/// The sessions to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ListParams {
    /// Their folder.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The cursor from which the list continues.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// The message to fork at.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkParams {
    /// The session's id.
    pub session_id: String,
    /// The message's id.
    pub message_id: String,
}

/// A notification of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all_fields = "camelCase")]
pub enum ClientNotification {
    /// Interrupt the turn of a session.
    #[serde(rename = "session/cancel")]
    Cancel {
        /// The session's id.
        session_id: String,
    },
    /// The client no longer waits for a request.
    #[serde(rename = "$/cancel_request")]
    CancelRequest {
        /// The request's id.
        request_id: Value,
    },
    /// Any other notification.
    #[serde(other)]
    Other,
}

fn or_default<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Value>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn message(method: &str, params: Value) -> Value {
    let fields = [("method".to_string(), method.into()), ("params".to_string(), params)];
    Value::Object(Map::from_iter(fields))
}

impl ClientRequest {
    /// Parses a request.
    pub fn read(method: &str, params: Value) -> Result<ClientRequest, RpcError> {
        let read = |params| serde_json::from_value(message(method, params));
        // With parameters, an unknown method is an error like a wrong parameter; without them only it is `Other`.
        if let Ok(ClientRequest::Other) = read(Value::Null) {
            return Err(RpcError::no_method(method));
        }
        read(params).map_err(|error| RpcError::new(INVALID_PARAMS, format!("invalid parameters: {error}")))
    }
}

impl ClientNotification {
    /// Parses a notification.
    pub fn read(method: &str, params: Value) -> ClientNotification {
        serde_json::from_value(message(method, params)).unwrap_or(ClientNotification::Other)
    }
}

/// An MCP server that the client configures, in the format of `mcp.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMcpServer {
    /// Its name.
    pub name: String,
    /// Its entry.
    pub entry: Value,
}

impl SessionParams {
    /// Creates the parameters for a folder, without servers.
    pub fn new(cwd: &str) -> SessionParams {
        SessionParams { cwd: cwd.to_string(), mcp_servers: Vec::new() }
    }

    /// Parses the servers that the client configures.
    pub fn servers(&self) -> Result<Vec<SessionMcpServer>, RpcError> {
        self.mcp_servers.iter().map(server).collect()
    }
}

fn server(value: &Value) -> Result<SessionMcpServer, RpcError> {
    let wrong =
        || RpcError::new(INVALID_PARAMS, "invalid parameters: an entry of `mcpServers` is not a server");
    let name = value["name"].as_str().ok_or_else(wrong)?.to_string();
    let pairs = |key: &str| {
        let pairs = value[key].as_array().map(Vec::as_slice).unwrap_or_default().iter();
        let pair = |pair: &Value| Some((pair["name"].as_str()?.to_string(), pair["value"].as_str()?.into()));
        pairs.map(pair).collect::<Option<Map<String, Value>>>().ok_or_else(wrong)
    };
    let entry = match (value["type"].as_str(), value["command"].as_str(), value["url"].as_str()) {
        (Some(kind @ ("http" | "sse")), _, Some(url)) => {
            json!({ "type": kind, "url": url, "headers": pairs("headers")? })
        }
        (None | Some("stdio"), Some(command), _) => {
            let args: Option<Vec<&str>> = value["args"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .map(Value::as_str)
                .collect();
            json!({ "command": command, "args": args.ok_or_else(wrong)?, "env": pairs("env")? })
        }
        _ => return Err(wrong()),
    };
    Ok(SessionMcpServer { name, entry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::NO_METHOD;

    #[test]
    fn wrong_parameters_are_told_from_wrong_methods() {
        let code = |method: &str, value: Value| {
            ClientRequest::read(method, value).map_or_else(|error| error.code, |_| 0)
        };
        for (method, value, expected) in [
            ("initialize", json!({ "protocolVersion": 1 }), 0),
            ("initialize", json!({ "protocolVersion": "2024-11-05" }), INVALID_PARAMS),
            ("session/new", json!({ "cwd": "/a", "mcpServers": null }), 0),
            ("session/new", json!({ "cwd": 7 }), INVALID_PARAMS),
            ("session/load", json!({ "cwd": "/a", "sessionId": "s", "mcpServers": [] }), 0),
            ("session/load", json!({ "cwd": "/a" }), INVALID_PARAMS),
            ("session/list", Value::Null, 0),
            ("session/list", json!({ "cwd": null, "cursor": null }), 0),
            ("session/prompt", json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "a" }] }), 0),
            ("session/prompt", json!({ "sessionId": "s", "prompt": [7] }), INVALID_PARAMS),
            ("session/set_config_option", json!({ "sessionId": "s", "configId": "model", "value": "m" }), 0),
            ("session/delete", json!({ "sessionId": "s" }), NO_METHOD),
            ("authenticate", json!({ "methodId": "s" }), NO_METHOD),
            ("", json!({}), NO_METHOD),
            ("session/delete", Value::Null, NO_METHOD),
            ("session/new", Value::Null, INVALID_PARAMS),
            ("session/fork", json!({ "cwd": "/a", "sessionId": "s" }), 0),
            ("session/prompt", json!({ "sessionId": "s", "prompt": [{ "type": "text" }] }), INVALID_PARAMS),
            ("session/prompt", json!({ "sessionId": "s", "prompt": [{ "type": "audio", "data": "" }] }), 0),
        ] {
            assert_eq!(code(method, value.clone()), expected, "{method} {value}");
        }
    }

    #[test]
    fn a_notification_is_known_by_its_method_and_its_parameters() {
        let cancel = |session_id: &str| ClientNotification::Cancel { session_id: session_id.into() };
        for (method, params, expected) in [
            ("session/cancel", json!({ "sessionId": "s" }), cancel("s")),
            ("session/cancel", json!({ "sessionId": 7 }), ClientNotification::Other),
            ("session/cancel", Value::Null, ClientNotification::Other),
            (
                "$/cancel_request",
                json!({ "requestId": 7 }),
                ClientNotification::CancelRequest { request_id: json!(7) },
            ),
            ("$/cancel_request", json!({}), ClientNotification::Other),
            ("session/new", json!({ "cwd": "/" }), ClientNotification::Other),
            ("$/new", Value::Null, ClientNotification::Other),
        ] {
            assert_eq!(ClientNotification::read(method, params.clone()), expected, "{method} {params}");
        }
    }

    #[test]
    fn servers_are_entries_of_a_file() {
        let servers = |servers: Value| {
            let params = json!({ "cwd": "/", "mcpServers": servers });
            serde_json::from_value::<SessionParams>(params).unwrap().servers()
        };
        let given = servers(json!([
            { "name": "a", "command": "/bin/a", "args": ["x"], "env": [{ "name": "K", "value": "v" }] },
            { "type": "http", "name": "b", "url": "https://b", "headers": [] },
        ]));
        let entry = |name: &str, entry: Value| SessionMcpServer { name: name.into(), entry };
        assert_eq!(
            given,
            Ok(vec![
                entry("a", json!({ "command": "/bin/a", "args": ["x"], "env": { "K": "v" } })),
                entry("b", json!({ "type": "http", "url": "https://b", "headers": {} })),
            ])
        );
        for wrong in
            [json!([7]), json!([{ "name": "a" }]), json!([{ "name": "a", "command": "a", "args": [1] }])]
        {
            assert!(servers(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
