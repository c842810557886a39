//! Ollama's chat API: JSON lines. Tool schemas never go into its `tools`: they stand in the prompt.
//! <https://github.com/ollama/ollama/blob/main/docs/api.md>

mod answer;

use serde_json::{Value, json};

use super::answer::AnswerReader;
use super::media::{Accepts, IMAGES};
use super::message::{Message, ToolCall};
use super::payload::{Object, Payload, list};
use super::quirks::{SYSTEM_FIRST, TEMPERATURE};
use super::send::Asking;
use super::spec::{HttpSpec, PathForm, ProviderSpec, ToolWire};
use crate::config::Planner;

/// An Ollama server.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolWire::Prompt,
    planner: Planner::Chooser,
    path: PathForm::Prompted,
    attachments: Accepts::any(IMAGES),
    http: Some(&HttpSpec {
        name: "ollama",
        path: &["api", "chat"],
        body,
        reader,
        quirks: &[&TEMPERATURE, &SYSTEM_FIRST],
        missing,
    }),
};

fn missing(model: &str) -> String {
    format!("`ollama pull {model}` fetches it, `ollama list` names what is there")
}

fn reader(_: bool) -> Box<dyn AnswerReader> {
    Box::<answer::Reader>::default()
}

/// The JSON of a request, without what the model does not take.
fn body(asking: &mut Asking<'_>) -> Payload {
    let none = serde_json::Map::new();
    let mut object = Object::new(&none);
    object.field("model", asking.config.model.as_str());
    list(object.key("messages"), asking.request.messages, said);
    object.field("stream", true);
    object.maybe("format", asking.request.schema.map(|schema| schema.schema.clone()));
    if asking.takes(&TEMPERATURE) {
        object.field("options", json!({"temperature": super::TEMPERATURE}));
    }
    object.end()
}

fn said(payload: &mut Payload, message: &Message) {
    let called = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": call.arguments}});
    payload.raw("{\"role\":");
    payload.json(message.role.word());
    payload.raw(",\"content\":");
    payload.text(&message.text);
    if !message.files.is_empty() {
        payload.raw(",\"images\":");
        list(payload, &message.files, |payload, file| payload.file("", file));
    }
    if !message.calls.is_empty() {
        payload.raw(",\"tool_calls\":");
        payload.json(&message.calls.iter().map(called).collect::<Vec<Value>>());
    }
    payload.raw("}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelConfig, Provider};
    use crate::model::message::{Request, Role, Schema, ToolSpec};
    use crate::model::quirks::Quirks;

    #[test]
    fn tools_never_go_into_the_request() {
        let schema = Schema { name: "n".into(), schema: json!({"type": "object"}) };
        let tool = ToolSpec { name: "t".into(), description: String::new(), schema: json!({}) };
        let messages = [Message::new(Role::User, "hi")];
        let request = Request { messages: &messages, schema: Some(&schema), tools: &[tool] };
        let config = ModelConfig { model: "m".into(), ..ModelConfig::new("m", Provider::Ollama) };
        let quirks = Quirks::default();
        let sent = body(&mut Asking::new(&config, request, &quirks)).to_vec();
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(
            sent,
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
                   "format": {"type": "object"}, "options": {"temperature": 0.1}})
        );
    }
}
