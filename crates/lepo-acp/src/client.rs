//! Requests from the client's side: builds requests, and parses an agent's answers.

use serde_json::{Value, json};

use super::VERSION;
use super::content::ContentBlock;
use super::request::{
    ClientNotification, ClientRequest, ExistingSessionParams, InitializeParams, PromptParams, SessionParams,
};
use super::rpc;

/// The error code of an agent whose user must sign in.
pub const SIGN_IN: i64 = -32000;

/// The capabilities of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentCapabilities {
    /// The protocol version that it speaks.
    pub version: u64,
    /// Whether it accepts images.
    pub image: bool,
    /// Whether it can fork sessions.
    pub fork: bool,
    load: bool,
    resume: bool,
}

impl AgentCapabilities {
    /// Parses the answer to [`hello`].
    pub fn read(reply: &Value) -> AgentCapabilities {
        let can = &reply["agentCapabilities"];
        AgentCapabilities {
            version: reply["protocolVersion"].as_u64().unwrap_or_default(),
            image: can["promptCapabilities"]["image"].as_bool().unwrap_or_default(),
            fork: can["sessionCapabilities"]["fork"].is_object(),
            load: can["loadSession"].as_bool().unwrap_or_default(),
            resume: can["sessionCapabilities"]["resume"].is_object(),
        }
    }

    /// Builds the request that reopens a session; `None` if the agent has none.
    pub fn reopen(&self, session: &str, cwd: &str) -> Option<ClientRequest> {
        match (self.resume, self.load) {
            (true, _) => Some(ClientRequest::Resume(old_session(session, cwd))),
            (false, true) => Some(ClientRequest::Load(old_session(session, cwd))),
            (false, false) => None,
        }
    }
}

/// Builds the first request, without access to the client's files and terminals.
pub fn hello(name: &str, version: &str) -> ClientRequest {
    ClientRequest::Initialize(InitializeParams {
        protocol_version: VERSION,
        client_capabilities: json!({
            "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false,
        }),
        client_info: json!({ "name": name, "title": name, "version": version }),
    })
}

/// Builds the request for a new session.
pub fn new_session(cwd: &str) -> ClientRequest {
    ClientRequest::New(SessionParams::new(cwd))
}

/// Builds the request for a session that continues another one.
pub fn fork(session: &str, cwd: &str) -> ClientRequest {
    ClientRequest::Fork(old_session(session, cwd))
}

fn old_session(session: &str, cwd: &str) -> ExistingSessionParams {
    ExistingSessionParams { id: session.to_string(), folder: SessionParams::new(cwd) }
}

/// Returns the id in the answer to a new session.
pub fn session_id(reply: &Value) -> Option<String> {
    reply["sessionId"].as_str().filter(|id| !id.is_empty()).map(str::to_string)
}

/// Returns the models that an agent lists with a new session.
pub fn models(reply: &Value) -> Vec<String> {
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_string);
    let options = reply["configOptions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_model = options.iter().filter(|option| option["category"] == "model" || option["id"] == "model");
    let values =
        of_model.flat_map(|option| option["options"].as_array().map(Vec::as_slice).unwrap_or_default());
    // Some are in groups.
    let flat = values.flat_map(|value| match value["options"].as_array() {
        Some(group) => group.iter().collect::<Vec<_>>(),
        None => vec![value],
    });
    let mut models: Vec<String> = flat.filter_map(|value| text(value, "value")).collect();
    // Agents listed models here before the protocol had options.
    let older = reply["models"]["availableModels"].as_array().map(Vec::as_slice).unwrap_or_default();
    if models.is_empty() {
        models.extend(older.iter().filter_map(|model| text(model, "modelId")));
    }
    models
}

/// Builds a prompt.
pub fn prompt(session: &str, prompt: Vec<ContentBlock>) -> ClientRequest {
    ClientRequest::Prompt(PromptParams { session_id: session.to_string(), prompt })
}

/// Builds the line that interrupts the turn of a session.
pub fn cancel(session: &str) -> String {
    rpc::notification_line(&ClientNotification::Cancel { session_id: session.to_string() })
}

/// Returns the agent's reason for the end of a turn.
pub fn stop_reason(reply: &Value) -> String {
    reply["stopReason"].as_str().unwrap_or("end_turn").chars().take(100).collect()
}

/// Returns the text in the data of an error.
pub fn error_detail(data: &Value) -> Option<String> {
    let nested = ["details", "message", "detail", "error"].iter().find_map(|key| data[*key].as_str());
    data.as_str().or(nested).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_wherever_an_agent_tells_of_them() {
        let select = |options: Value| json!({ "configOptions": [{ "id": "m", "category": "model", "options": options }] });
        let flat = select(json!([{ "value": "a", "name": "A" }, { "value": "b" }]));
        let grouped = select(json!([{ "group": "g", "options": [{ "value": "c" }] }]));
        let older = json!({ "models": { "availableModels": [{ "modelId": "d" }] } });
        for (reply, expected) in
            [(flat, vec!["a", "b"]), (grouped, vec!["c"]), (older, vec!["d"]), (json!(7), vec![])]
        {
            assert_eq!(models(&reply), expected);
        }
    }

    #[test]
    fn an_old_session_is_taken_up_without_its_words_where_that_can_be() {
        let read =
            |can: Value| AgentCapabilities::read(&json!({ "protocolVersion": 1, "agentCapabilities": can }));
        let way_back = |can: Value| read(can).reopen("s", "/").map(|request| rpc::request_line(1, &request));
        let line = |method: &str| {
            let params = r#"{"sessionId":"s","cwd":"/","mcpServers":[]}"#;
            Some(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#))
        };
        assert_eq!(way_back(json!({ "loadSession": true })), line("session/load"));
        let both = json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } });
        assert_eq!(way_back(both), line("session/resume"));
        assert_eq!(way_back(json!({})), None);
        assert!(read(json!({ "sessionCapabilities": { "fork": {} } })).fork && !read(json!({})).fork);
        assert_eq!(AgentCapabilities::read(&json!("x")).version, 0);
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let blocks = vec![
            ContentBlock::text("a"),
            ContentBlock::Image { mime: "image/png".into(), data: "QQ==".into() },
        ];
        for (request, method, params) in [
            (
                hello("lepo", "1"),
                "initialize",
                r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"lepo","title":"lepo","version":"1"}}"#,
            ),
            (new_session("/a"), "session/new", r#"{"cwd":"/a","mcpServers":[]}"#),
            (fork("s", "/a"), "session/fork", r#"{"sessionId":"s","cwd":"/a","mcpServers":[]}"#),
            (
                prompt("s", blocks),
                "session/prompt",
                r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"QQ=="}]}"#,
            ),
        ] {
            let line = rpc::request_line(1, &request);
            assert_eq!(line, format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
            let read = ClientRequest::read(method, serde_json::from_str(params).unwrap()).unwrap();
            assert_eq!(rpc::request_line(1, &read), line);
        }
        assert_eq!(cancel("s"), r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
        assert_eq!(
            rpc::notification_line(&ClientNotification::CancelRequest { request_id: json!(7) }),
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#
        );
    }
}
