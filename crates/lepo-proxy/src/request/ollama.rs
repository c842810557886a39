//! Requests to Ollama's chat: messages as in Chat Completions, but with images in a list of their own and options in an
//! object.

use serde_json::{Map, Value};

use super::body::RequestBody;
use super::chat;
use super::content::{file_of_url, items_of, text_of};
use super::message::{MessageItem, ProxyMessage, ProxyRole};
use super::options::ProxyOptions;

/// Reads the body of a request.
pub fn read(body: &Map<String, Value>) -> RequestBody {
    let null = Value::Null;
    let field = |key: &str| body.get(key).unwrap_or(&null);
    let read = ["model", "messages", "tools", "options", "format", "think", "truncate", "shift"];
    let mut options = ProxyOptions::from_body(body, &read);
    for (key, value) in field("options").as_object().into_iter().flatten() {
        options.add(key, value);
    }
    match field("think") {
        Value::String(effort) => options.add("reasoning_effort", &effort.as_str().into()),
        think => options.add("think", think),
    }
    match field("format") {
        Value::String(word) if word == "json" => options.add("json", &true.into()),
        schema @ Value::Object(_) => options.schema = Some(schema.clone()),
        _ => {}
    }
    RequestBody {
        messages: items_of(field("messages")).iter().map(message).collect(),
        tools: items_of(field("tools")).iter().map(chat::tool).collect(),
        options,
        // A request that does not say is streamed.
        is_streamed: field("stream").as_bool().unwrap_or(true),
        answers: 1,
        previous: None,
    }
}

fn message(value: &Value) -> ProxyMessage {
    let mut message = chat::message(value);
    let images = items_of(value.get("images").unwrap_or(&Value::Null)).iter();
    let images = images.filter_map(Value::as_str).map(|image| file_of_url("image", "", image));
    match message.parts.first_mut() {
        // Its results name the tool at most, so each belongs to the call before it.
        Some(MessageItem::Output(output)) if message.role == ProxyRole::Tool => {
            output.call = text_of(value, "tool_call_id").to_string();
            output.files.extend(images.filter_map(|image| match image {
                MessageItem::File(file) => Some(file),
                _ => None,
            }));
        }
        _ => {
            let is_call = |part: &MessageItem| matches!(part, MessageItem::Call(_));
            let at = message.parts.iter().position(is_call).unwrap_or(message.parts.len());
            message.parts.splice(at..at, images);
        }
    }
    message
}
