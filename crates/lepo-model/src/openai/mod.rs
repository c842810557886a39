//! OpenAI's chat completions: requests. The module `answer` decodes answers.
//!
//! <https://platform.openai.com/docs/api-reference/chat>

mod answer;
mod chunk;

use serde_json::{Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::call_layout::{AFTER_RESULTS, BLANK_TEXT, CALL_IDS, OWN_THINKING, is_blank};
use super::field_quirks::{NO_LIMIT, REASONING_EFFORT, SEED, STOP, TOOL_CHOICE, TOP_P, UNSUPPORTED_SCHEMA};
use super::media::{FileSupport, IMAGES_AND_PDF, MediaFile};
use super::message::{ChatMessage, ToolCall, ToolSpec};
use super::message_layout::{arguments_text, move_result_files};
use super::openai_catalog::CATALOG;
use super::payload::Payload;
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat, check_model};
use super::quirks::{
    BEGINS_THINKING, FILES, MALFORMED, NO_SYSTEM, Quirk, SCHEMA_ALONE, STREAM, STRICT, SYSTEM_FIRST,
    TEMPERATURE, TOOLS,
};
use super::slots::{Slots, compact, with_field};
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
            &UNSUPPORTED_SCHEMA,
            &SCHEMA_ALONE,
            &STRICT,
            &STREAM_OPTIONS,
            &MAX_COMPLETION_TOKENS,
            &NO_LIMIT,
            &TOP_P,
            &SEED,
            &STOP,
            &REASONING_EFFORT,
            &TOOL_CHOICE,
            &TOOLS,
            &SYSTEM_FIRST,
            &NO_SYSTEM,
            &CALL_IDS,
            &AFTER_RESULTS,
            &BLANK_TEXT,
            &OWN_THINKING,
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
    notice: "does not accept `response_format`: retrying without it",
};

static STREAM_OPTIONS: Quirk = Quirk {
    word: "stream_options",
    status: MALFORMED,
    named: &[&["stream_options"]],
    notice: "does not accept `stream_options`: retrying without it",
};

/// Only a model that does not reason accepts tools (OpenAI's chat completions since gpt-5.4).
static EFFORT_NONE: Quirk = Quirk {
    word: "effort_none",
    status: MALFORMED,
    named: &[&["reasoning_effort"], &["tool"]],
    notice: "accepts tools only with `reasoning_effort` \"none\": retrying with that; `wire = \"responses\"` \
        supports both",
};

/// Calls need a signature (Gemini). A received message has one; a rebuilt message gets a placeholder.
static THOUGHT_SIGNATURE: Quirk = Quirk {
    word: "thought_signature",
    status: MALFORMED,
    named: &[&["thought_signature", "thoughtsignature"]],
    notice: "needs a signature with each call: retrying with a placeholder",
};

/// Calls need the thinking before them (DeepSeek). In a rebuilt message it is empty.
static REASONING_CONTENT: Quirk = Quirk {
    word: "reasoning_content",
    status: MALFORMED,
    // Groq refuses the same field with "the following must be satisfied … unsupported".
    named: &[
        &["reasoning_content"],
        &["missing", "passed back", "required", "must be p", "must include", "must contain", "must have"],
    ],
    notice: "needs `reasoning_content` with each call: retrying with an empty one",
};

static MAX_COMPLETION_TOKENS: Quirk = Quirk {
    word: "max_completion_tokens",
    status: MALFORMED,
    named: &[&["max_tokens"], &["max_completion_tokens"]],
    notice: "needs `max_completion_tokens` instead of `max_tokens`: retrying with that",
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
    let rebuilt =
        request.messages.iter().any(|message| !message.calls.is_empty() && message.replay.is_none());
    let marks = Marks {
        signature: rebuilt && asking.has(&THOUGHT_SIGNATURE),
        reasoning: rebuilt && asking.has(&REASONING_CONTENT),
        blank: request.messages.iter().any(is_blank) && asking.has(&BLANK_TEXT),
    };
    let mut slots = Slots::new();
    let messages = move_result_files(request.messages);
    let messages: Vec<Value> =
        messages.iter().map(|message| message_json(&mut slots, message, &marks)).collect();
    let streams = asking.accepts(&STREAM);
    let stream_options = streams && asking.accepts(&STREAM_OPTIONS);
    let temperature = asking.accepts(&TEMPERATURE).then(|| config.temperature());
    let has_tools = !request.tools.is_empty();
    if has_tools {
        asking.has(&TOOLS);
    }
    let no_choice = has_tools && request.tools_ended && asking.accepts(&TOOL_CHOICE);
    let effort = match has_tools && asking.has(&EFFORT_NONE) {
        true => Some("none"),
        false => options.effort.as_deref(),
    };
    let effort = effort.filter(|_| asking.accepts(&REASONING_EFFORT));
    let limit = options.max_tokens.filter(|_| asking.accepts(&NO_LIMIT));
    let limit_name = match options.max_tokens.is_some() && asking.has(&MAX_COMPLETION_TOKENS) {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty() && asking.accepts(&STOP));
    let schema =
        request.schema.filter(|_| asking.accepts(&RESPONSE_FORMAT) & asking.accepts(&UNSUPPORTED_SCHEMA));
    let format = schema.map(|schema| {
        let form = json!({"name": schema.name, "strict": asking.accepts(&STRICT), "schema": schema.schema});
        json!({"type": "json_schema", "json_schema": form})
    });
    let body = json!({
        "model": config.model,
        "tools": compact(request.tools.iter().map(tool).collect()),
        "messages": null,
        "stream": streams,
        "stream_options": stream_options.then(|| json!({"include_usage": true})),
        "temperature": temperature,
        "tool_choice": no_choice.then_some("none"),
        "reasoning_effort": effort,
        limit_name: limit,
        "top_p": options.top_p.as_ref().filter(|_| asking.accepts(&TOP_P)),
        "seed": options.seed.filter(|_| asking.accepts(&SEED)),
        "stop": stop,
        "response_format": format,
    });
    slots.into_payload(with_field(body, "messages", messages), &config.extra)
}

/// The fields that a model requires in calls whose received form is missing.
struct Marks {
    signature: bool,
    reasoning: bool,
    /// Whether a text may not be blank.
    blank: bool,
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

fn message_json(slots: &mut Slots, message: &ChatMessage, marks: &Marks) -> Value {
    if let Some(replay) = &message.replay {
        return slots.received(replay.json());
    }
    let mut calls: Value = message.calls.iter().map(call_object).collect();
    let has_calls = !message.calls.is_empty();
    if has_calls && marks.signature {
        calls[0]["extra_content"] =
            json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
    }
    let is_unsaid = has_calls && marks.blank && is_blank(message);
    compact(json!({
        "role": message.role.as_str(),
        "content": (!is_unsaid).then(|| content(slots, message)),
        "tool_calls": compact(calls),
        "reasoning_content": (has_calls && marks.reasoning).then_some(""),
        "tool_call_id": message.call_id,
    }))
}

/// Returns a text alone, or parts: the text, then the files.
fn content(slots: &mut Slots, message: &ChatMessage) -> Value {
    let text = slots.text("", &message.text);
    if message.files.is_empty() {
        return text;
    }
    let text = json!({"type": "text", "text": text});
    std::iter::once(text).chain(message.files.iter().map(|file| part(slots, file))).collect()
}

fn part(slots: &mut Slots, file: &MediaFile) -> Value {
    let data = slots.file(&format!("data:{};base64,", file.media.mime()), file);
    match file.media.is_image() {
        true => json!({"type": "image_url", "image_url": {"url": data}}),
        false => json!({"type": "file", "file": {"filename": file.name, "file_data": data}}),
    }
}

/// Returns a call in the form of the API: the arguments are JSON within a string.
fn call_object(call: &ToolCall) -> Value {
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
