//! OpenAI's chat completions: what is sent. What comes back is read in `answer`.
//! <https://platform.openai.com/docs/api-reference/chat>

mod answer;
mod chunk;

use serde_json::{Value, json};

use super::answer::AnswerReader;
use super::media::{Accepts, IMAGES_AND_PDF, MediaFile};
use super::message::{Message, ToolCall, ToolSpec};
use super::payload::{Object, Payload, list};
use super::quirks::{MALFORMED, Quirk, STRICT, SYSTEM_FIRST, TEMPERATURE};
use super::send::Asking;
use super::spec::{HttpSpec, PathForm, ProviderSpec, ToolWire, check_model};
use crate::config::Planner;

/// Any server that speaks chat completions.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolWire::Native,
    planner: Planner::Native,
    path: PathForm::Messages,
    attachments: Accepts::any(IMAGES_AND_PDF),
    http: Some(&HttpSpec {
        name: "openai",
        path: &["chat", "completions"],
        body,
        reader,
        quirks: &[&TEMPERATURE, &RESPONSE_FORMAT, &STRICT, &STREAM_OPTIONS, &SYSTEM_FIRST],
        missing: check_model,
    }),
};

static RESPONSE_FORMAT: Quirk = Quirk {
    word: "response_format",
    status: MALFORMED,
    named: &[&["response_format"]],
    says: "does not take `response_format`: asking again without it",
};

static STREAM_OPTIONS: Quirk = Quirk {
    word: "stream_options",
    status: MALFORMED,
    named: &[&["stream_options"]],
    says: "does not take `stream_options`: asking again without it",
};

fn reader(_: bool) -> Box<dyn AnswerReader> {
    Box::<answer::Reader>::default()
}

/// The JSON of a request, without what the model does not take.
fn body(asking: &mut Asking<'_>) -> Payload {
    let request = asking.request;
    let none = serde_json::Map::new();
    let mut object = Object::new(&none);
    object.field("model", asking.config.model.as_str());
    if !request.tools.is_empty() {
        object.field("tools", request.tools.iter().map(tool).collect::<Vec<Value>>());
    }
    list(object.key("messages"), request.messages, said);
    object.field("stream", true);
    if asking.takes(&STREAM_OPTIONS) {
        object.field("stream_options", json!({"include_usage": true}));
    }
    if asking.takes(&TEMPERATURE) {
        object.field("temperature", super::TEMPERATURE);
    }
    if let Some(schema) = request.schema.filter(|_| asking.takes(&RESPONSE_FORMAT)) {
        let strict = asking.takes(&STRICT);
        let form = json!({"name": schema.name, "strict": strict, "schema": schema.schema});
        object.field("response_format", json!({"type": "json_schema", "json_schema": form}));
    }
    object.end()
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

/// A text alone, or parts: the text, then the files.
fn content(payload: &mut Payload, message: &Message) {
    if message.files.is_empty() {
        return payload.text(&message.text);
    }
    payload.raw("[{\"type\":\"text\",\"text\":");
    payload.text(&message.text);
    payload.raw("}");
    for file in &message.files {
        payload.raw(",");
        part(payload, file);
    }
    payload.raw("]");
}

fn part(payload: &mut Payload, file: &MediaFile) {
    let data = format!("data:{};base64,", file.media.mime());
    if file.media.is_image() {
        payload.raw("{\"type\":\"image_url\",\"image_url\":{\"url\":");
        payload.file(&data, file);
    } else {
        payload.raw("{\"type\":\"file\",\"file\":{\"filename\":");
        payload.json(&file.name);
        payload.raw(",\"file_data\":");
        payload.file(&data, file);
    }
    payload.raw("}}");
}

fn said(payload: &mut Payload, message: &Message) {
    payload.raw("{\"role\":");
    payload.json(message.role.word());
    payload.raw(",\"content\":");
    content(payload, message);
    if !message.calls.is_empty() {
        payload.raw(",\"tool_calls\":");
        payload.json(&message.calls.iter().map(called).collect::<Vec<Value>>());
    }
    if let Some(id) = &message.call_id {
        payload.raw(",\"tool_call_id\":");
        payload.json(id);
    }
    payload.raw("}");
}

/// A call that was made, as the API repeats it: its arguments are JSON within a string.
fn called(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelConfig, Provider};
    use crate::model::message::{Request, Role, Schema};
    use crate::model::quirks::Quirks;

    fn sent(request: Request<'_>, quirks: &Quirks) -> Value {
        let config = ModelConfig { model: "m".into(), ..ModelConfig::new("m", Provider::Openai) };
        serde_json::from_slice(&body(&mut Asking::new(&config, request, quirks)).to_vec()).unwrap()
    }

    #[test]
    fn a_request_has_all_that_is_asked_for() {
        let schema = Schema { name: "choice".into(), schema: json!({"type": "object"}) };
        let tool =
            ToolSpec { name: "s__t".into(), description: "d".into(), schema: json!({"type": "object"}) };
        let call = ToolCall { id: "c1".into(), name: "s__t".into(), arguments: json!({"a": 1}) };
        let messages = [
            Message::new(Role::User, "hi"),
            Message { calls: vec![call], ..Message::new(Role::Assistant, "") },
            Message { call_id: Some("c1".into()), ..Message::new(Role::Tool, "r") },
        ];
        let request = Request { messages: &messages, schema: Some(&schema), tools: &[tool] };
        assert_eq!(
            sent(request, &Quirks::default()),
            json!({
                "model": "m",
                "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "", "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "s__t", "arguments": "{\"a\":1}"}}]},
                    {"role": "tool", "content": "r", "tool_call_id": "c1"},
                ],
                "stream": true,
                "stream_options": {"include_usage": true},
                "temperature": 0.1,
                "response_format": {"type": "json_schema", "json_schema":
                    {"name": "choice", "strict": true, "schema": {"type": "object"}}},
                "tools": [{"type": "function", "function":
                    {"name": "s__t", "description": "d", "parameters": {"type": "object"}}}],
            })
        );
    }

    #[test]
    fn what_a_model_does_not_take_is_left_out() {
        let schema = Schema { name: "choice".into(), schema: json!({}) };
        let messages = [Message::new(Role::User, "hi")];
        let request = Request { messages: &messages, schema: Some(&schema), tools: &[] };
        let quirks = [&TEMPERATURE, &RESPONSE_FORMAT, &STREAM_OPTIONS].into_iter().collect();
        assert_eq!(
            sent(request, &quirks),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true})
        );
    }
}
