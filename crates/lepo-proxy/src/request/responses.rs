//! Requests to OpenAI's Responses: a list of items, of which some are messages.

use serde_json::{Map, Value};

use super::body::RequestBody;
use super::content::{bytes_line, items_of, items_of_content, joined_content, output_of, text_of};
use super::message::{MessageItem, ProxyCall, ProxyMessage, ProxyRole, ProxyTool};
use super::options::ProxyOptions;

/// Reads the body of a request.
pub fn read(body: &Map<String, Value>) -> RequestBody {
    let null = Value::Null;
    let field = |key: &str| body.get(key).unwrap_or(&null);
    let read = ["model", "input", "instructions", "tools", "text", "reasoning", "previous_response_id"];
    let mut options = ProxyOptions::from_body(body, &read);
    for (key, value) in field("text").as_object().into_iter().flatten() {
        match key.as_str() {
            "format" => options.add_format(value),
            _ => options.add(key, value),
        }
    }
    for (key, value) in field("reasoning").as_object().into_iter().flatten() {
        options.add(if key == "effort" { key } else { "reasoning" }, value);
    }
    let mut messages = Vec::new();
    if let Some(text) = field("instructions").as_str().filter(|text| !text.is_empty()) {
        messages.push(ProxyMessage::text(ProxyRole::System, text));
    }
    let mut tools: Vec<ProxyTool> = items_of(field("tools")).iter().flat_map(tool).collect();
    match field("input") {
        Value::String(text) => messages.push(ProxyMessage::text(ProxyRole::User, text.as_str())),
        input => {
            for item in items_of(input) {
                tools.extend(items_of(item.get("tools").unwrap_or(&null)).iter().flat_map(tool));
                add_item(&mut messages, item);
            }
        }
    }
    let previous = field("previous_response_id").as_str().filter(|id| !id.is_empty());
    RequestBody {
        messages,
        tools,
        options,
        is_streamed: field("stream").as_bool().unwrap_or_default(),
        answers: 1,
        previous: previous.map(str::to_string),
    }
}

/// Reads a tool, or the tools of a namespace.
fn tool(tool: &Value) -> Vec<ProxyTool> {
    if let Some(tools) = tool.get("tools").and_then(Value::as_array) {
        let in_namespace = |inner: &Value| named_tool(text_of(tool, "name"), inner);
        return tools.iter().map(in_namespace).collect();
    }
    vec![named_tool("", tool)]
}

fn named_tool(namespace: &str, tool: &Value) -> ProxyTool {
    let name = Some(text_of(tool, "name")).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| text_of(tool, "type"));
    let (name, namespace) = (full_name(namespace, name), Some(namespace).filter(|space| !space.is_empty()));
    let schema = match text_of(tool, "type") {
        "function" => tool.get("parameters").cloned().unwrap_or(Value::Null),
        "custom" => tool.get("format").cloned().unwrap_or(Value::Null),
        _ => tool.clone(),
    };
    ProxyTool { name, namespace: namespace.map(str::to_string), schema }
}

/// Returns the name of a tool with its namespace, so that tools of two servers are two.
fn full_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

/// Returns the name of the tool that a call names.
pub fn called_name(item: &Value) -> String {
    full_name(text_of(item, "namespace"), text_of(item, "name"))
}

/// Adds an item: a message, or a part of the assistant's message that the items before it began.
fn add_item(messages: &mut Vec<ProxyMessage>, item: &Value) {
    let kind = text_of(item, "type");
    let role = text_of(item, "role");
    if kind == "message" || (kind.is_empty() && !role.is_empty()) {
        let role = ProxyRole::parse(role);
        let content = item.get("content").unwrap_or(&Value::Null);
        let parts = match role {
            ProxyRole::System => vec![MessageItem::Text(joined_content(content))],
            _ => items_of_content(content),
        };
        return match last_answer(messages).filter(|_| role == ProxyRole::Assistant) {
            Some(last) if last.parts.iter().all(|part| matches!(part, MessageItem::Thinking(_))) => {
                last.parts.extend(parts);
            }
            _ => messages.push(ProxyMessage { role, parts }),
        };
    }
    match assistant_item(item) {
        Some(MessageItem::Output(output)) => {
            let parts = vec![MessageItem::Output(output)];
            messages.push(ProxyMessage { role: ProxyRole::Tool, parts });
        }
        Some(MessageItem::Call(call)) => match last_answer(messages) {
            Some(last) => last.parts.push(MessageItem::Call(call)),
            None => {
                let parts = vec![MessageItem::Call(call)];
                messages.push(ProxyMessage { role: ProxyRole::Assistant, parts });
            }
        },
        Some(other) => messages.push(ProxyMessage { role: ProxyRole::Assistant, parts: vec![other] }),
        None => {}
    }
}

fn last_answer(messages: &mut [ProxyMessage]) -> Option<&mut ProxyMessage> {
    messages.last_mut().filter(|last| last.role == ProxyRole::Assistant)
}

/// Reads an item that is not a message: thinking, a call, a result. An item of tools and one of marks alone have none;
/// another one is a line.
pub fn assistant_item(item: &Value) -> Option<MessageItem> {
    let kind = text_of(item, "type");
    let id = [text_of(item, "call_id"), text_of(item, "id")].into_iter().find(|id| !id.is_empty());
    let id = id.unwrap_or_default();
    if kind == "reasoning" {
        let texts = [item.get("summary"), item.get("content")].into_iter().flatten().flat_map(items_of);
        let texts: Vec<&str> =
            texts.map(|part| text_of(part, "text")).filter(|text| !text.is_empty()).collect();
        return (!texts.is_empty()).then(|| MessageItem::Thinking(texts.join("\n\n")));
    }
    if kind.ends_with("_output") {
        let output = ["output", "tools"].into_iter().find_map(|key| item.get(key));
        let output = output.unwrap_or(&Value::Null);
        return Some(MessageItem::Output(match output {
            Value::String(_) | Value::Array(_) | Value::Null => output_of(id, output),
            object => output_of(id, &Value::String(object.to_string())),
        }));
    }
    if kind.ends_with("_call") {
        let input = ["arguments", "input", "action", "code"].into_iter().find_map(|key| item.get(key));
        let input = match input.unwrap_or(item) {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let name = Some(called_name(item)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| kind.trim_end_matches("_call").to_string());
        return Some(MessageItem::Call(ProxyCall { id: id.to_string(), name, input }));
    }
    match kind {
        "additional_tools" | "compaction_trigger" => None,
        "item_reference" => Some(MessageItem::Text(format!("[item: {id}]"))),
        "" => None,
        kind => Some(MessageItem::Text(bytes_line(kind, item.to_string().as_bytes()))),
    }
}
