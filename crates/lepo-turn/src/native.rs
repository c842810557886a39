//! Tools in fields of a model's API: their specifications, and the conversion of calls to bubbs and back.

use serde_json::{Value, json};

use super::body::{Body, call_text};
use super::message::Message;
use lepo_model::{ToolCall, ToolSpec};
use lepo_tool::mcp::{CallRequest, Servers};
use lepo_tool::{Access, CommandRequest, ToolRequest, lenient_json};

/// Name of the shell command as a tool.
pub const RUN_COMMAND: &str = "run_command";

const DESCRIPTION: &str = "Runs one shell command by `sh -c` in the user's working directory, without a \
    terminal and without stdin, with a time limit, in a sandbox that allows only what `access` says: \
    read: read the working directory and the programs of the system; the home directory, /run and /tmp are \
    empty; no network. write: and change files in the working directory, but not in .git and not in .lepo. \
    net: and use the network. full: no sandbox, for what changes .git, such as `git add` and `git commit`, \
    and for files elsewhere; the person is always asked. Ask for the least that works. A non-zero exit code \
    is a result, not an error.";

/// Returns the specification of the shell command for the model.
pub fn run_command() -> ToolSpec {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let access = json!({ "type": "string", "enum": Access::names() });
    let why = text("one short sentence for the person who allows it, in the user's language");
    ToolSpec {
        name: RUN_COMMAND.to_string(),
        description: DESCRIPTION.to_string(),
        schema: json!({
            "type": "object",
            "properties": { "command": text("the line for sh -c"), "access": access, "why": why },
            "required": ["command"],
        }),
    }
}

/// Returns the command of a call, if it is valid.
pub fn command_of(call: &ToolCall) -> Option<CommandRequest> {
    (call.name == RUN_COMMAND).then(|| CommandRequest::from_json(&call.arguments)).flatten()
}

/// Returns the request of a native call, if it is valid and its tool exists.
pub fn request_of(servers: &Servers, call: &ToolCall) -> Option<ToolRequest> {
    if let Some(request) = command_of(call) {
        return Some(ToolRequest::Command(request));
    }
    let (server, tool) = servers.by_name(&call.name)?;
    let arguments = call.arguments.as_object()?.clone();
    Some(ToolRequest::Call(CallRequest {
        server: server.config.name.clone(),
        tool: tool.name.clone(),
        arguments,
    }))
}

/// Normalises call arguments: null becomes `{}`; a string with (lenient) JSON is parsed.
pub fn sound_arguments(arguments: Value) -> Value {
    match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::String(text) => lenient_json(&text).filter(Value::is_object).unwrap_or(Value::String(text)),
        arguments => arguments,
    }
}

/// Whether a message was written for this call.
pub fn is_message_of(call: &ToolCall, message: &Message) -> bool {
    if let Some(command) = command_of(call) {
        return command.canonical() == *message.text;
    }
    match message.body.request() {
        Some(ToolRequest::Call(request)) => {
            let named = call.name == request.native_name() || call.name == request.tool;
            named && call.arguments.as_object() == Some(&request.arguments)
        }
        _ => call_text(&call.name, &call.arguments) == *message.text,
    }
}

/// Returns the call of a message. Its id is derived from its index, so that every request has the same id for
/// it.
pub fn call_of(body: &Body, index: usize) -> Option<ToolCall> {
    let (name, arguments) = match body {
        Body::Request(request) => match &**request {
            ToolRequest::Command(request) => (RUN_COMMAND.to_string(), request.to_json()),
            ToolRequest::Call(request) => (request.native_name(), Value::Object(request.arguments.clone())),
        },
        Body::Call { name, arguments } => (name.clone(), arguments.clone()),
        _ => return None,
    };
    Some(ToolCall { id: format!("call_{index}"), name, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::role::Role;

    #[test]
    fn a_call_is_a_bubb_and_reads_back() {
        let body = |text: &str| Body::read(Role::Assistant, true, text);
        let call =
            |name: &str, arguments: Value| ToolCall { id: "call_3".into(), name: name.into(), arguments };
        for (called, text, request) in [
            (
                call(RUN_COMMAND, json!({"command": "ls", "access": "read"})),
                r#"{"access":"read","command":"ls"}"#,
                true,
            ),
            (call("hammer", json!({"nail": 1})), r#"{"arguments":{"nail":1},"name":"hammer"}"#, false),
            (call(RUN_COMMAND, json!("ls -l")), r#"{"arguments":"ls -l","name":"run_command"}"#, false),
        ] {
            let written = command_of(&called).map(|request| request.canonical());
            assert_eq!(written.is_some(), request, "{text}");
            assert_eq!(written.unwrap_or_else(|| call_text(&called.name, &called.arguments)), text);
            let read = call_of(&body(text), 3).unwrap();
            assert_eq!((read.id.as_str(), &read.name), ("call_3", &called.name));
        }
        for text in ["hello", "{}", r#"{"name":"x"}"#, r#"{"name":"x","arguments":{}}"#, r#"[1]"#] {
            assert_eq!(call_of(&body(text), 0), None, "{text}");
        }
    }
}
