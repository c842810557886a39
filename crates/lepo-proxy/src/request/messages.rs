//! Requests to Anthropic's Messages.

use serde_json::{Map, Value};

use super::body::RequestBody;
use super::content::{items_of, items_of_content, joined_content, output_of, text_of};
use super::message::{MessageItem, ProxyCall, ProxyMessage, ProxyRole, ProxyTool};
use super::options::ProxyOptions;

/// Reads the body of a request.
pub fn read(body: &Map<String, Value>) -> RequestBody {
    let null = Value::Null;
    let field = |key: &str| body.get(key).unwrap_or(&null);
    let read = ["model", "system", "messages", "tools", "output_config", "output_format", "tool_choice"];
    let mut options = ProxyOptions::from_body(body, &read);
    for (key, value) in field("output_config").as_object().into_iter().flatten() {
        match key.as_str() {
            "format" => options.add_format(value),
            "effort" => options.add("effort", value),
            _ => options.add(key, value),
        }
    }
    options.add_format(field("output_format"));
    let choice = field("tool_choice");
    options.add("tool_choice", choice);
    if choice.get("disable_parallel_tool_use").and_then(Value::as_bool) == Some(true) {
        options.add("parallel_tool_calls", &false.into());
    }
    let system = joined_content(field("system"));
    let system = (!system.is_empty()).then(|| ProxyMessage::text(ProxyRole::System, system));
    RequestBody {
        messages: system.into_iter().chain(items_of(field("messages")).iter().map(message)).collect(),
        tools: items_of(field("tools")).iter().map(tool).collect(),
        options,
        is_streamed: field("stream").as_bool().unwrap_or_default(),
        answers: 1,
        previous: None,
    }
}

/// Reads a tool. A tool of the server has a type and settings instead of a schema.
fn tool(tool: &Value) -> ProxyTool {
    let name = Some(text_of(tool, "name")).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| text_of(tool, "type")).to_string();
    let schema = tool.get("input_schema").cloned().unwrap_or_else(|| {
        let mut settings = tool.as_object().cloned().unwrap_or_default();
        settings.remove("cache_control");
        Value::Object(settings)
    });
    ProxyTool { name, namespace: None, schema }
}

fn message(value: &Value) -> ProxyMessage {
    let role = ProxyRole::parse(text_of(value, "role"));
    let null = Value::Null;
    let content = value.get("content").unwrap_or(&null);
    let parts = match content {
        content if role == ProxyRole::System => vec![MessageItem::Text(joined_content(content))],
        Value::Array(blocks) => blocks.iter().flat_map(block).collect(),
        content => items_of_content(content),
    };
    ProxyMessage { role, parts }
}

/// Reads a block of a message.
pub fn block(block: &Value) -> Vec<MessageItem> {
    match text_of(block, "type") {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let input = block.get("input").filter(|input| !input.is_null());
            vec![MessageItem::Call(ProxyCall {
                id: text_of(block, "id").to_string(),
                name: text_of(block, "name").to_string(),
                input: input.map(Value::to_string).unwrap_or_default(),
            })]
        }
        kind if kind.ends_with("tool_result") => {
            let content = block.get("content").unwrap_or(&Value::Null);
            vec![MessageItem::Output(output_of(text_of(block, "tool_use_id"), content))]
        }
        _ => items_of_content(&Value::Array(vec![block.clone()])),
    }
}
