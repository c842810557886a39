//! Ollama's chat API: JSON lines. Tool schemas never go into its `tools`; they are part of the prompt.
//! <https://github.com/ollama/ollama/blob/main/docs/api.md>

mod answer;

use std::time::Duration;

use reqwest::redirect;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::media::{FileSupport, IMAGES};
use super::message::{ChatMessage, ToolCall, ToolSpec};
use super::model_facts::{CatalogSpec, LookupMethod, ModelFacts};
use super::payload::{JsonObjectWriter, Payload, list};
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat};
use super::quirks::{BEGINS_THINKING, FILES, MALFORMED, NO_SYSTEM, Quirk, STREAM, SYSTEM_FIRST, TEMPERATURE};
use crate::Planner;

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Prompt,
    planner: Planner::Chooser,
    path: ConversationFormat::Prompted,
    attachments: FileSupport::any(IMAGES),
    own_tools: false,
    http: Some(&HttpSpec {
        name: "ollama",
        path: &["api", "chat"],
        body,
        reader,
        auth: Auth::Bearer,
        headers: &[],
        quirks: &[&FILES, &STREAM, &BEGINS_THINKING, &TEMPERATURE, &THINK, &SYSTEM_FIRST, &NO_SYSTEM],
        missing,
        catalog: CatalogSpec {
            path: &["api", "tags"],
            one: LookupMethod::Post(&["api", "show"], shown_facts),
            needed: false,
            read: listed_facts,
            running: &[],
        },
        prefill: |_, _| false,
        root_key: false,
        web: false,
    }),
};

fn missing(model: &str) -> String {
    format!("`ollama pull {model}` fetches it, `ollama list` names what is there")
}

static THINK: Quirk = Quirk {
    word: "think",
    status: MALFORMED,
    named: &[&["think"]],
    says: "does not accept `think`: retrying without it",
};

fn reader(tools: &[ToolSpec]) -> Box<dyn AnswerReader> {
    Box::new(answer::OllamaReader::new(tools))
}

/// Builds the JSON of a request, without options that the model does not accept.
fn body(asking: &mut BodyContext<'_>) -> Payload {
    let config = asking.config;
    let mut object = JsonObjectWriter::new(&config.extra);
    object.field("model", config.model.as_str());
    list(object.key("messages"), asking.request.messages, write_message);
    let streams = asking.takes(&STREAM);
    object.field("stream", streams);
    // A conversation that is too long is then refused, instead of being silently cut at its start.
    object.field("truncate", false);
    object.field("shift", false);
    object.optional_field("format", asking.request.schema.map(|schema| schema.schema.clone()));
    let wished = &config.options;
    let mut options = Map::new();
    if asking.takes(&TEMPERATURE) {
        options.insert("temperature".to_owned(), config.temperature());
    }
    let others = [
        ("num_predict", wished.max_tokens.map(Value::from)),
        ("top_p", wished.top_p.clone().map(Value::from)),
        ("seed", wished.seed.map(Value::from)),
        ("stop", (!wished.stop.is_empty()).then(|| wished.stop.clone().into())),
        ("num_ctx", config.context.map(Value::from)),
    ];
    options.extend(others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    if !options.is_empty() {
        object.field("options", options);
    }
    if let Some(effort) = wished.effort.as_deref().filter(|_| asking.takes(&THINK)) {
        let think = match effort {
            "none" => Value::Bool(false),
            "low" | "medium" | "high" => effort.into(),
            _ => Value::Bool(true),
        };
        object.field("think", think);
    }
    object.finish()
}

fn write_message(payload: &mut Payload, message: &ChatMessage) {
    if let Some(replay) = &message.replay {
        return payload.json(replay.json());
    }
    let called = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": call.arguments}});
    payload.raw("{\"role\":");
    payload.json(message.role.as_str());
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

/// Parses a model of `/api/tags`.
fn listed_facts(model: &Value) -> Option<ModelFacts> {
    let mut facts = shown_facts(model).unwrap_or_default();
    facts.id = model["name"].as_str().or(model["model"].as_str())?.to_owned();
    facts.size = model["size"].as_u64();
    facts.context = facts.context.or(model.pointer("/details/context_length").and_then(Value::as_u64));
    Some(facts)
}

/// Parses the answer of `/api/show`.
fn shown_facts(model: &Value) -> Option<ModelFacts> {
    let info = model["model_info"].as_object().into_iter().flatten();
    let mut context = info.filter(|(key, _)| key.ends_with(".context_length")).map(|(_, tokens)| tokens);
    let words = model["capabilities"].as_array().into_iter().flatten();
    Some(ModelFacts {
        context: context.next().and_then(Value::as_u64),
        capabilities: words.filter_map(|word| Some(word.as_str()?.to_owned())).collect(),
        ..ModelFacts::default()
    })
}

/// Time limit, short because the server is expected on this machine.
const LIMIT: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

/// Returns the first model of the Ollama server at `base_url`, if it answers and has a model.
pub async fn first_ollama_model(base_url: &str) -> Option<String> {
    let builder =
        lepo_net::client::client().redirect(redirect::Policy::none()).http1_only().timeout(LIMIT).no_proxy();
    let builder = if base_url.starts_with("http:") { builder.tls_certs_only([]) } else { builder };
    let response = builder.build().ok()?.get(format!("{base_url}/api/tags")).send().await.ok()?;
    let body = response.error_for_status().ok()?.bytes().await.ok()?;
    let tags: Tags = serde_json::from_slice(&body).ok()?;
    tags.models.into_iter().next().map(|tag| tag.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ChatRequest, Schema, ToolSpec};
    use crate::quirks::Quirks;
    use crate::{ModelConfig, Provider};
    use lepo_base::role::Role;

    #[test]
    fn tools_never_go_into_the_request() {
        let schema = Schema { name: "n".into(), schema: json!({"type": "object"}) };
        let tool = ToolSpec { name: "t".into(), description: String::new(), schema: json!({}) };
        let messages = [ChatMessage::new(Role::User, "hi")];
        let request = ChatRequest {
            messages: &messages,
            schema: Some(&schema),
            tools: &[tool],
            ..ChatRequest::default()
        };
        let config = ModelConfig { model: "m".into(), ..ModelConfig::new("m", Provider::Ollama) };
        let quirks = Quirks::default();
        let sent = body(&mut BodyContext::new(&config, request, &ModelFacts::default(), &quirks)).to_vec();
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(
            sent,
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
                   "truncate": false, "shift": false, "format": {"type": "object"}, "options": {"temperature": 0.1}})
        );
    }
}
