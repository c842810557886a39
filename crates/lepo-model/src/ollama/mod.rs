//! Ollama's chat API: JSON lines. Tool schemas never go into its `tools`; they are part of the prompt.
//! <https://github.com/ollama/ollama/blob/main/docs/api.md>

mod answer;

use std::time::Duration;

use reqwest::redirect;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::media::{FileSupport, IMAGES};
use super::message::{ChatMessage, ToolCall, ToolSpec};
use super::model_facts::{CatalogSpec, LookupMethod, ModelFacts};
use super::payload::Payload;
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat};
use super::quirks::{BEGINS_THINKING, FILES, MALFORMED, NO_SYSTEM, Quirk, STREAM, SYSTEM_FIRST, TEMPERATURE};
use super::slots::{Slots, compact, with_field};
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
        missing: missing_model,
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

fn missing_model(model: &str) -> String {
    format!("`ollama pull {model}` fetches it, `ollama list` names what is there")
}

static THINK: Quirk = Quirk {
    word: "think",
    status: MALFORMED,
    named: &[&["think"]],
    notice: "does not accept `think`: retrying without it",
};

fn reader(tools: &[ToolSpec]) -> Box<dyn AnswerReader> {
    Box::new(answer::OllamaReader::new(tools))
}

/// Builds the JSON of a request, without options that the model does not accept.
fn body(asking: &mut BodyContext<'_>) -> Payload {
    let config = asking.config;
    let options = &config.options;
    let mut slots = Slots::new();
    let messages = asking.request.messages.iter();
    let messages: Vec<Value> = messages.map(|message| message_json(&mut slots, message)).collect();
    let streams = asking.accepts(&STREAM);
    let temperature = asking.accepts(&TEMPERATURE).then(|| config.temperature());
    let think = options.effort.as_deref().filter(|_| asking.accepts(&THINK)).map(|effort| match effort {
        "none" => Value::Bool(false),
        "low" | "medium" | "high" => effort.into(),
        _ => Value::Bool(true),
    });
    let body = json!({
        "model": config.model,
        "messages": null,
        "stream": streams,
        // A conversation that is too long is then refused, instead of being silently cut at its start.
        "truncate": false,
        "shift": false,
        "format": asking.request.schema.map(|schema| &schema.schema),
        "options": compact(json!({
            "temperature": temperature,
            "num_predict": options.max_tokens,
            "top_p": options.top_p,
            "seed": options.seed,
            "stop": compact(json!(options.stop)),
            "num_ctx": config.context,
        })),
        "think": think,
    });
    slots.into_payload(with_field(body, "messages", messages), &config.extra)
}

fn message_json(slots: &mut Slots, message: &ChatMessage) -> Value {
    if let Some(replay) = &message.replay {
        return slots.received(replay.json());
    }
    let called = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": call.arguments}});
    compact(json!({
        "role": message.role.as_str(),
        "content": slots.text("", &message.text),
        "images": compact(message.files.iter().map(|file| slots.file("", file)).collect()),
        "tool_calls": compact(message.calls.iter().map(called).collect()),
    }))
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
