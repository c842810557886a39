//! Requests of a client to an agent, and the agent's answers.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::{Map, Value, json};

use super::VERSION;
use super::content::ContentBlock;
use super::rpc::{INVALID_PARAMS, RpcError};

/// The folder of a session, and the MCP servers that the client configures.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionParams {
    /// Absolute path.
    pub cwd: String,
    #[serde(default, deserialize_with = "or_default")]
    mcp_servers: Vec<Value>,
}

/// A request of a client.
#[derive(Debug, Clone)]
pub enum ClientRequest {
    /// Negotiate the version; the first request.
    Initialize,
    /// Start a session.
    New(SessionParams),
    /// Load a session and replay its history.
    Load(String, SessionParams),
    /// Reopen a session without its history.
    Resume(String, SessionParams),
    /// List the sessions, optionally of a folder, from a cursor on.
    List(Option<String>, Option<String>),
    /// Close a session.
    Close(String),
    /// Ask a question in a session.
    Prompt(String, Vec<ContentBlock>),
    /// Set the mode.
    SetMode(String, String),
    /// Set the value of an option.
    SetOption(String, String, String),
    /// Start a session that continues a session from its end.
    Fork(String, SessionParams),
    /// Start a session that continues a session from one of its messages.
    ForkAt(String, String),
}

/// A notification of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientNotification {
    /// Interrupt the turn of a session.
    Cancel(String),
    /// The client no longer waits for a request.
    CancelRequest(Value),
    /// Any other notification.
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionIdParams {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptParams {
    session_id: String,
    prompt: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetModeParams {
    session_id: String,
    mode_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetOptionParams {
    session_id: String,
    config_id: String,
    value: String,
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForkParams {
    session_id: String,
    message_id: String,
}

fn or_default<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Value>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn params<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params)
        .map_err(|error| RpcError::new(INVALID_PARAMS, format!("invalid parameters: {error}")))
}

/// Parses the session's id and its folder, which share an object.
fn placed(value: Value) -> Result<(String, SessionParams), RpcError> {
    let SessionIdParams { session_id } = params(value.clone())?;
    Ok((session_id, params(value)?))
}

impl ClientRequest {
    /// Parses a request.
    pub fn read(method: &str, value: Value) -> Result<ClientRequest, RpcError> {
        Ok(match method {
            "initialize" if value["protocolVersion"].as_u64().is_some() => ClientRequest::Initialize,
            "initialize" => {
                return Err(RpcError::new(
                    INVALID_PARAMS,
                    "invalid parameters: `protocolVersion` must be a whole number",
                ));
            }
            "session/new" => ClientRequest::New(params(value)?),
            "session/load" => placed(value).map(|(id, folder)| ClientRequest::Load(id, folder))?,
            "session/resume" => placed(value).map(|(id, folder)| ClientRequest::Resume(id, folder))?,
            "session/fork" => placed(value).map(|(id, folder)| ClientRequest::Fork(id, folder))?,
            "session/list" => {
                // The parameters may be missing.
                let value = if value.is_null() { Value::Object(Map::new()) } else { value };
                let ListParams { cwd, cursor } = params(value)?;
                ClientRequest::List(cwd, cursor)
            }
            "session/close" => ClientRequest::Close(params::<SessionIdParams>(value)?.session_id),
            "session/prompt" => {
                let PromptParams { session_id, prompt } = params(value)?;
                let block = |value: &Value| {
                    ContentBlock::read(value).ok_or_else(|| {
                        RpcError::new(
                            INVALID_PARAMS,
                            "invalid parameters: a block of `prompt` is not a \
                            content block",
                        )
                    })
                };
                ClientRequest::Prompt(session_id, prompt.iter().map(block).collect::<Result<_, _>>()?)
            }
            "session/set_mode" => {
                let SetModeParams { session_id, mode_id } = params(value)?;
                ClientRequest::SetMode(session_id, mode_id)
            }
            "session/set_config_option" => {
                let SetOptionParams { session_id, config_id, value } = params(value)?;
                ClientRequest::SetOption(session_id, config_id, value)
            }
            "_lepo/fork" => {
                let ForkParams { session_id, message_id } = params(value)?;
                ClientRequest::ForkAt(session_id, message_id)
            }
            other => return Err(RpcError::no_method(other)),
        })
    }
}

impl ClientNotification {
    /// Parses a notification.
    pub fn read(method: &str, value: &Value) -> ClientNotification {
        match (method, value["sessionId"].as_str(), value.get("requestId")) {
            ("session/cancel", Some(session), _) => ClientNotification::Cancel(session.to_string()),
            ("$/cancel_request", _, Some(id)) => ClientNotification::CancelRequest(id.clone()),
            _ => ClientNotification::Other,
        }
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

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete.
    EndTurn,
    /// The client interrupted the turn.
    Cancelled,
}

/// Builds the answer to `initialize`.
pub fn initialized(name: &str, title: &str, version: &str) -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentInfo": { "name": name, "title": title, "version": version },
        "authMethods": [],
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": true, "sse": true },
            "sessionCapabilities": { "list": {}, "resume": {}, "close": {}, "fork": {} },
            "_meta": { "lepo": { "fork": true } },
        },
    })
}

/// Builds the answer to a prompt.
pub fn prompted(stop: StopReason, meta: Value) -> Value {
    let stop = match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::Cancelled => "cancelled",
    };
    json!({ "stopReason": stop, "_meta": meta })
}

/// Builds the list of modes, each with its id, name and description, and the current one.
pub fn modes(current: &str, all: &[(&str, &str, &str)]) -> Value {
    let mode =
        |(id, name, about): &(&str, &str, &str)| json!({ "id": id, "name": name, "description": about });
    json!({ "currentModeId": current, "availableModes": all.iter().map(mode).collect::<Vec<_>>() })
}

/// Builds the options of a session: the choice of a model.
pub fn options(current: &str, models: &[String]) -> Value {
    let option = |name: &String| json!({ "value": name, "name": name });
    let options: Vec<Value> = models.iter().map(option).collect();
    json!([{
        "id": MODEL, "name": "Model", "category": "model", "type": "select", "currentValue": current,
        "options": options,
    }])
}

/// The id of the option for the model.
pub const MODEL: &str = "model";

/// Builds the answer to a request for a session, with its id if it is new.
pub fn session(id: Option<&str>, modes: Value, options: Option<Value>) -> Value {
    let mut session = Map::new();
    session.extend(id.map(|id| ("sessionId".to_string(), id.into())));
    session.insert("modes".into(), modes);
    session.extend(options.map(|options| ("configOptions".to_string(), options)));
    Value::Object(session)
}

/// Builds the answer to a change of an option.
pub fn options_set(options: Value) -> Value {
    json!({ "configOptions": options })
}

/// Builds the answer to a fork from a message.
pub fn forked(id: &str) -> Value {
    json!({ "sessionId": id })
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// The time of its last message, in ISO 8601.
    pub updated: Option<String>,
}

/// Builds a page of the list of sessions; `next` is the cursor of the next page.
pub fn list(sessions: &[SessionInfo], next: Option<String>) -> Value {
    let one = |session: &SessionInfo| {
        let mut one = json!({ "sessionId": session.id, "cwd": session.cwd });
        for (key, value) in [("title", &session.title), ("updatedAt", &session.updated)] {
            if let Some(value) = value {
                one[key] = value.as_str().into();
            }
        }
        one
    };
    let mut list = json!({ "sessions": sessions.iter().map(one).collect::<Vec<_>>() });
    if let Some(next) = next {
        list["nextCursor"] = next.into();
    }
    list
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
        ] {
            assert_eq!(code(method, value.clone()), expected, "{method} {value}");
        }
    }

    #[test]
    fn servers_are_entries_of_a_file() {
        let servers = |servers: Value| {
            params::<SessionParams>(json!({ "cwd": "/", "mcpServers": servers }))
                .and_then(|folder| folder.servers())
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
