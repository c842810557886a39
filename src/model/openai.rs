//! OpenAI's chat completions: what is sent. What comes back is read in `openai_answer`.
//! <https://platform.openai.com/docs/api-reference/chat>

use serde::Serialize;
use serde_json::{Value, json};

use super::message::{Message, Request, ToolCall};
use super::quirks::{Quirk, Quirks};

/// Where the requests go, under `base_url`.
pub(super) const PATH: &[&str] = &["chat", "completions"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

/// The JSON of a request to `model`, without what it does not take.
pub(super) fn body(model: &str, request: Request<'_>, quirks: &Quirks) -> Vec<u8> {
    let takes = |quirk| !quirks.contains(&quirk);
    let schema = request.schema.filter(|_| takes(Quirk::ResponseFormat));
    let body = Body {
        model,
        messages: request.messages.iter().map(said).collect(),
        stream: true,
        stream_options: takes(Quirk::StreamOptions).then(|| json!({"include_usage": true})),
        temperature: takes(Quirk::Temperature).then_some(super::TEMPERATURE),
        response_format: schema.map(|s| {
            json!({"type": "json_schema", "json_schema": {"name": s.name, "strict": true, "schema": s.schema}})
        }),
        tools: request
            .tools
            .iter()
            .map(|t| {
                let function = json!({"name": t.name, "description": t.description, "parameters": t.schema});
                json!({"type": "function", "function": function})
            })
            .collect(),
    };
    super::json_bytes(&body)
}

fn said(message: &Message) -> Said<'_> {
    Said {
        role: message.role.word(),
        content: &message.text,
        tool_calls: message.calls.iter().map(called).collect(),
        tool_call_id: message.call_id.as_deref(),
    }
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
    use super::super::message::{Role, Schema, ToolSpec};
    use super::*;

    fn sent(request: Request<'_>, quirks: &Quirks) -> Value {
        serde_json::from_slice(&body("m", request, quirks)).unwrap()
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
            sent(request, &Quirks::new()),
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
        let quirks = [Quirk::Temperature, Quirk::ResponseFormat, Quirk::StreamOptions].into();
        assert_eq!(
            sent(request, &quirks),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true})
        );
    }
}
