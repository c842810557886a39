//! OpenAI's chat completions: requests. The module `answer` decodes answers.
//!
//! <https://platform.openai.com/docs/api-reference/chat>

mod answer;
mod chunk;

use serde_json::{Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::media::{FileSupport, IMAGES_AND_PDF, MediaFile};
use super::message::{ChatMessage, ToolCall, ToolSpec};
use super::message_layout::{arguments_text, move_result_files};
use super::openai_catalog::CATALOG;
use super::payload::{JsonObjectWriter, Payload, list};
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat, check_model};
use super::quirks::{
    BEGINS_THINKING, FILES, MALFORMED, NO_SYSTEM, Quirk, SCHEMA_ALONE, STREAM, STRICT, SYSTEM_FIRST,
    TEMPERATURE, TOOLS,
};
use super::sse_answer::SseAnswer;
use crate::Planner;

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Native,
    planner: Planner::Native,
    path: ConversationFormat::Messages,
    attachments: FileSupport::any(IMAGES_AND_PDF),
    own_tools: false,
    http: Some(&HttpSpec {
        name: "openai",
        path: &["chat", "completions"],
        body,
        reader,
        auth: Auth::Bearer,
        headers: &[],
        quirks: &[
            &FILES,
            &STREAM,
            &BEGINS_THINKING,
            &EFFORT_NONE,
            &THOUGHT_SIGNATURE,
            &REASONING_CONTENT,
            &TEMPERATURE,
            &RESPONSE_FORMAT,
            &SCHEMA_ALONE,
            &STRICT,
            &STREAM_OPTIONS,
            &MAX_COMPLETION_TOKENS,
            &TOOL_CHOICE,
            &TOOLS,
            &SYSTEM_FIRST,
            &NO_SYSTEM,
        ],
        missing: check_model,
        catalog: CATALOG,
        prefill: |_, _| false,
        root_key: false,
        web: false,
    }),
};

static RESPONSE_FORMAT: Quirk = Quirk {
    word: "response_format",
    status: MALFORMED,
    named: &[&["response_format"]],
    says: "does not accept `response_format`: retrying without it",
};

static STREAM_OPTIONS: Quirk = Quirk {
    word: "stream_options",
    status: MALFORMED,
    named: &[&["stream_options"]],
    says: "does not accept `stream_options`: retrying without it",
};

/// Only a model that does not reason accepts tools (OpenAI's chat completions since gpt-5.4).
static EFFORT_NONE: Quirk = Quirk {
    word: "effort_none",
    status: MALFORMED,
    named: &[&["reasoning_effort"], &["tool"]],
    says: "accepts tools only with `reasoning_effort` \"none\": retrying with that; `wire = \"responses\"` \
        supports both",
};

/// Calls need a signature (Gemini). A received message has one; a rebuilt message gets a placeholder.
static THOUGHT_SIGNATURE: Quirk = Quirk {
    word: "thought_signature",
    status: MALFORMED,
    named: &[&["thought_signature", "thoughtsignature"]],
    says: "needs a signature with each call: retrying with a placeholder",
};

/// Calls need the thinking before them (DeepSeek). In a rebuilt message it is empty.
static REASONING_CONTENT: Quirk = Quirk {
    word: "reasoning_content",
    status: MALFORMED,
    named: &[&["reasoning_content"]],
    says: "needs `reasoning_content` with each call: retrying with an empty one",
};

static MAX_COMPLETION_TOKENS: Quirk = Quirk {
    word: "max_completion_tokens",
    status: MALFORMED,
    named: &[&["max_tokens"], &["max_completion_tokens"]],
    says: "needs `max_completion_tokens` instead of `max_tokens`: retrying with that",
};

static TOOL_CHOICE: Quirk = Quirk {
    word: "tool_choice",
    status: MALFORMED,
    named: &[&["tool_choice"]],
    says: "does not accept `tool_choice`: retrying without it",
};

fn reader(tools: &[ToolSpec]) -> Box<dyn AnswerReader> {
    Box::new(SseAnswer::new(answer::ChatDecoder::new(tools)))
}

/// Returns the JSON of a request, without fields that the model rejects.
fn body(asking: &mut BodyContext<'_>) -> Payload {
    let (mut request, config) = (asking.request, asking.config);
    if request.schema.is_some() && !request.tools.is_empty() && asking.has(&SCHEMA_ALONE) {
        request.tools = &[];
    }
    let options = &config.options;
    let mut object = JsonObjectWriter::new(&config.extra);
    object.field("model", config.model.as_str());
    if !request.tools.is_empty() {
        object.field("tools", request.tools.iter().map(tool).collect::<Vec<Value>>());
    }
    let rebuilt =
        request.messages.iter().any(|message| !message.calls.is_empty() && message.replay.is_none());
    let marks = Marks {
        signature: rebuilt && asking.has(&THOUGHT_SIGNATURE),
        reasoning: rebuilt && asking.has(&REASONING_CONTENT),
    };
    let messages = &*move_result_files(request.messages);
    list(object.key("messages"), messages, |payload, message| write_message(payload, message, &marks));
    let streams = asking.takes(&STREAM);
    object.field("stream", streams);
    if streams && asking.takes(&STREAM_OPTIONS) {
        object.field("stream_options", json!({"include_usage": true}));
    }
    if asking.takes(&TEMPERATURE) {
        object.field("temperature", config.temperature());
    }
    if !request.tools.is_empty() {
        asking.has(&TOOLS);
        if request.tools_ended && asking.takes(&TOOL_CHOICE) {
            object.field("tool_choice", "none");
        }
    }
    match &options.effort {
        _ if !request.tools.is_empty() && asking.has(&EFFORT_NONE) => {
            object.field("reasoning_effort", "none")
        }
        Some(effort) => object.field("reasoning_effort", effort.as_str()),
        None => {}
    }
    if let Some(limit) = options.max_tokens {
        let name = if asking.has(&MAX_COMPLETION_TOKENS) { "max_completion_tokens" } else { "max_tokens" };
        object.field(name, limit);
    }
    object.optional_field("top_p", options.top_p.clone());
    object.optional_field("seed", options.seed);
    if !options.stop.is_empty() {
        object.field("stop", options.stop.clone());
    }
    if let Some(schema) = request.schema.filter(|_| asking.takes(&RESPONSE_FORMAT)) {
        let strict = asking.takes(&STRICT);
        let form = json!({"name": schema.name, "strict": strict, "schema": schema.schema});
        object.field("response_format", json!({"type": "json_schema", "json_schema": form}));
    }
    object.finish()
}

/// The fields that a model requires in calls whose received form is missing.
struct Marks {
    signature: bool,
    reasoning: bool,
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

/// Writes a text alone, or parts: the text, then the files.
fn content(payload: &mut Payload, message: &ChatMessage) {
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

fn write_message(payload: &mut Payload, message: &ChatMessage, marks: &Marks) {
    if let Some(replay) = &message.replay {
        return payload.json(replay.json());
    }
    payload.raw("{\"role\":");
    payload.json(message.role.as_str());
    payload.raw(",\"content\":");
    content(payload, message);
    if !message.calls.is_empty() {
        payload.raw(",\"tool_calls\":");
        let mut calls: Vec<Value> = message.calls.iter().map(called).collect();
        if let Some(first) = calls.first_mut().filter(|_| marks.signature) {
            first["extra_content"] =
                json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
        }
        payload.json(&calls);
        if marks.reasoning {
            payload.raw(",\"reasoning_content\":\"\"");
        }
    }
    if let Some(id) = &message.call_id {
        payload.raw(",\"tool_call_id\":");
        payload.json(id);
    }
    payload.raw("}");
}

/// Returns a call in the form of the API: the arguments are JSON within a string.
fn called(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": arguments_text(call)});
    json!({"id": call.id, "type": "function", "function": function})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ChatRequest, Schema};
    use crate::model_facts::ModelFacts;
    use crate::quirks::Quirks;
    use crate::{ModelConfig, Provider};
    use lepo_base::role::Role;

    fn sent(request: ChatRequest<'_>, quirks: &Quirks) -> Value {
        let config = ModelConfig { model: "m".into(), ..ModelConfig::new("m", Provider::Openai) };
        let facts = ModelFacts::default();
        serde_json::from_slice(&body(&mut BodyContext::new(&config, request, &facts, quirks)).to_vec())
            .unwrap()
    }

    #[test]
    fn a_request_has_all_that_is_asked_for() {
        let schema = Schema { name: "choice".into(), schema: json!({"type": "object"}) };
        let tool =
            ToolSpec { name: "s__t".into(), description: "d".into(), schema: json!({"type": "object"}) };
        let call = ToolCall { id: "c1".into(), name: "s__t".into(), arguments: json!({"a": 1}) };
        let messages = [
            ChatMessage::new(Role::User, "hi"),
            ChatMessage { calls: vec![call], ..ChatMessage::new(Role::Assistant, "") },
            ChatMessage { call_id: Some("c1".into()), ..ChatMessage::new(Role::Tool, "r") },
        ];
        let request = ChatRequest {
            messages: &messages,
            schema: Some(&schema),
            tools: &[tool],
            ..ChatRequest::default()
        };
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
        let messages = [ChatMessage::new(Role::User, "hi")];
        let request = ChatRequest { messages: &messages, schema: Some(&schema), ..ChatRequest::default() };
        let quirks = [&TEMPERATURE, &RESPONSE_FORMAT, &STREAM_OPTIONS].into_iter().collect();
        assert_eq!(
            sent(request, &quirks),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true})
        );
    }

    #[test]
    fn what_is_kept_of_an_answer_has_an_end() {
        let delta = json!({"reasoning_details": [{"data": "x".repeat(8 << 20)}]});
        let event = format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
        let tool = ToolSpec { name: "t".into(), description: String::new(), schema: json!({}) };
        for (keep, taken) in [(vec![tool], Some(8)), (vec![], None)] {
            let (mut reader, mut events) = (reader(&keep), Default::default());
            let ended = (0..10).find(|_| reader.read(event.as_bytes(), &mut events).is_err());
            assert_eq!(ended, taken.map(|events| events - 1), "{keep:?}");
        }
    }
}
