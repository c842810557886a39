//! Requests to Chat Completions.

use serde_json::{Map, Value};

use super::body::RequestBody;
use super::content::{items_of, items_of_content, joined_content, output_of, text_of};
use super::message::{MessageItem, ProxyCall, ProxyMessage, ProxyRole, ProxyTool};
use super::options::ProxyOptions;

/// Reads the body of a request.
pub fn read(body: &Map<String, Value>) -> RequestBody {
    let null = Value::Null;
    let field = |key: &str| body.get(key).unwrap_or(&null);
    let read = ["model", "messages", "tools", "functions", "response_format", "n"];
    let mut options = ProxyOptions::from_body(body, &read);
    options.add_format(field("response_format"));
    let tools = items_of(field("tools")).iter().chain(items_of(field("functions")));
    RequestBody {
        messages: items_of(field("messages")).iter().map(message).collect(),
        tools: tools.map(tool).collect(),
        options,
        is_streamed: field("stream").as_bool().unwrap_or_default(),
        answers: field("n").as_u64().unwrap_or(1),
        previous: None,
    }
}

/// Reads a tool, which Ollama writes alike.
pub fn tool(tool: &Value) -> ProxyTool {
    let function = ["function", "custom"].into_iter().find_map(|key| tool.get(key));
    let function = function.filter(|function| function.is_object()).unwrap_or(tool);
    let schema = ["parameters", "format"].into_iter().find_map(|key| function.get(key));
    let schema = schema.cloned().unwrap_or(Value::Null);
    ProxyTool { name: text_of(function, "name").to_string(), namespace: None, schema }
}

/// Reads a message. Calls come after the text, as in Chat Completions they have no order among it.
pub fn message(value: &Value) -> ProxyMessage {
    let role = ProxyRole::parse(text_of(value, "role"));
    let null = Value::Null;
    let content = value.get("content").unwrap_or(&null);
    let mut parts = Vec::new();
    match role {
        ProxyRole::Tool => {
            parts.push(MessageItem::Output(output_of(text_of(value, "tool_call_id"), content)));
        }
        ProxyRole::System => parts.push(MessageItem::Text(joined_content(content))),
        ProxyRole::User => parts.extend(items_of_content(content)),
        ProxyRole::Assistant => {
            let thoughts = ["reasoning_content", "reasoning", "thinking"].map(|key| text_of(value, key));
            let thought = thoughts.into_iter().find(|thought| !thought.is_empty());
            parts.extend(thought.map(|thought| MessageItem::Thinking(thought.to_string())));
            parts.extend(items_of_content(content));
            let refusal = Some(text_of(value, "refusal")).filter(|refusal| !refusal.is_empty());
            parts.extend(refusal.map(|refusal| MessageItem::Text(refusal.to_string())));
            let calls = items_of(value.get("tool_calls").unwrap_or(&null)).iter().map(call);
            parts.extend(calls.map(MessageItem::Call));
            let older = value.get("function_call").filter(|function| function.is_object());
            parts.extend(older.map(|function| MessageItem::Call(call(function))));
        }
    }
    ProxyMessage { role, parts }
}

/// Reads a call; its arguments are a text, or with Ollama an object.
pub fn call(call: &Value) -> ProxyCall {
    let function = ["function", "custom"].into_iter().find_map(|key| call.get(key)).unwrap_or(call);
    let input = ["arguments", "input"].into_iter().find_map(|key| function.get(key));
    let input = match input {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let id = text_of(call, "id").to_string();
    ProxyCall { id, name: text_of(function, "name").to_string(), input }
}
