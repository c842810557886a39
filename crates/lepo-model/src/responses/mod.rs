//! OpenAI's Responses API: requests. The module `answer` decodes answers.
//!
//! <https://platform.openai.com/docs/api-reference/responses>

mod answer;
mod items;

use serde_json::{Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::media::{FileSupport, IMAGES_AND_PDF, MediaFile};
use super::message::{ChatMessage, ToolSpec};
use super::message_layout::{arguments_text, has_result_files, move_result_files};
use super::openai_catalog::CATALOG;
use super::payload::{JsonObjectWriter, Payload};
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat, check_model};
use super::quirks::{
    BEGINS_THINKING, FILES, MALFORMED, Quirk, SCHEMA_ALONE, STREAM, STRICT, TEMPERATURE, TOOLS,
};
use super::sse_answer::SseAnswer;
use crate::Planner;
use lepo_base::role::Role;

/// OpenAI's own server, and others that speak Responses.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Native,
    planner: Planner::Native,
    path: ConversationFormat::Messages,
    attachments: FileSupport::any(IMAGES_AND_PDF),
    own_tools: false,
    http: Some(&HttpSpec {
        name: "responses",
        path: &["responses"],
        auth: Auth::Bearer,
        headers: &[],
        body,
        reader,
        quirks: &[
            &FILES,
            &STREAM,
            &BEGINS_THINKING,
            &TOOLS,
            &TEMPERATURE,
            &SUMMARY,
            &REASONING,
            &ENCRYPTED,
            &CACHE_KEY,
            &TEXT_FORMAT,
            &SCHEMA_ALONE,
            &STRICT,
            &RESULT_FILES,
        ],
        missing: check_model,
        catalog: CATALOG,
        prefill: |_, _| false,
        root_key: true,
        web: true,
    }),
};

/// Reasoning summaries are not available for every account. Refusals say "summary" and "summaries".
static SUMMARY: Quirk = Quirk {
    word: "reasoning_summary",
    status: MALFORMED,
    named: &[&["reasoning.summary", "reasoning summar"]],
    says: "does not provide reasoning summaries: retrying without them",
};

static REASONING: Quirk = Quirk {
    word: "reasoning",
    status: MALFORMED,
    named: &[&[
        "'reasoning'",
        "`reasoning`",
        "\"reasoning\"",
        "reasoning.effort",
        "reasoning is not supported",
    ]],
    says: "does not accept `reasoning`: retrying without it",
};

static ENCRYPTED: Quirk = Quirk {
    word: "encrypted_reasoning",
    status: MALFORMED,
    named: &[&[
        "encrypted content is not supported",
        "encrypted_content is not supported",
        "'include'",
        "include[",
    ]],
    says: "does not provide encrypted reasoning: retrying without it",
};

/// A tool's result may only contain text.
static RESULT_FILES: Quirk = Quirk {
    word: "result_files",
    status: MALFORMED,
    named: &[&["output"], &["input text", "input_text", "input_image", "input_file", "string"]],
    says: "does not accept files in tool results: retrying with them after the result",
};

static CACHE_KEY: Quirk = Quirk {
    word: "prompt_cache_key",
    status: MALFORMED,
    named: &[&["prompt_cache_key"]],
    says: "does not accept `prompt_cache_key`: retrying without it",
};

static TEXT_FORMAT: Quirk = Quirk {
    word: "text_format",
    status: MALFORMED,
    named: &[&["text.format", "json_schema"]],
    says: "does not accept `text.format`: retrying without it",
};

fn reader(tools: &[ToolSpec]) -> Box<dyn AnswerReader> {
    Box::new(SseAnswer::new(answer::ResponsesDecoder::new(tools)))
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
    let own = request.tools.iter().map(tool);
    let web = (request.web && options.web).then(|| json!({"type": "web_search"}));
    let tools: Vec<Value> = own.chain(web).collect();
    if !tools.is_empty() {
        object.field("tools", tools);
    }
    let payload = object.key("input");
    payload.raw("[");
    let mut first = true;
    let messages = match has_result_files(request.messages) && !asking.takes(&RESULT_FILES) {
        true => move_result_files(request.messages),
        false => request.messages.into(),
    };
    for message in &*messages {
        items(payload, message, &mut first);
    }
    payload.raw("]");
    let streams = asking.takes(&STREAM);
    object.field("stream", streams);
    object.field("store", false);
    if asking.takes(&ENCRYPTED) {
        object.field("include", json!(["reasoning.encrypted_content"]));
    }
    let mut reasoning = serde_json::Map::new();
    if asking.takes(&REASONING) {
        if let Some(effort) = &options.effort {
            reasoning.insert("effort".to_owned(), effort.as_str().into());
        }
        if asking.takes(&SUMMARY) {
            reasoning.insert("summary".to_owned(), "auto".into());
        }
    }
    if !reasoning.is_empty() {
        object.field("reasoning", reasoning);
    }
    if !request.tools.is_empty() {
        asking.has(&TOOLS);
    }
    if request.tools_ended && !request.tools.is_empty() {
        object.field("tool_choice", "none");
    }
    if let Some(key) = request.cache_key.filter(|_| asking.takes(&CACHE_KEY)) {
        object.field("prompt_cache_key", key);
    }
    if let Some(schema) = request.schema.filter(|_| asking.takes(&TEXT_FORMAT)) {
        let strict = asking.takes(&STRICT);
        let form =
            json!({"type": "json_schema", "name": schema.name, "strict": strict, "schema": schema.schema});
        object.field("text", json!({"format": form}));
    }
    if asking.takes(&TEMPERATURE) {
        object.field("temperature", config.temperature());
    }
    object.optional_field("top_p", options.top_p.clone());
    object.optional_field("max_output_tokens", options.max_tokens);
    object.finish()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "name": tool.name, "description": tool.description,
           "parameters": tool.schema, "strict": false})
}

fn items(payload: &mut Payload, message: &ChatMessage, first: &mut bool) {
    let mut next = |payload: &mut Payload| {
        if !std::mem::take(first) {
            payload.raw(",");
        }
    };
    if let Some(replay) = &message.replay {
        for item in replay.json().as_array().into_iter().flatten() {
            next(payload);
            payload.json(item);
        }
        return;
    }
    if let (Role::Tool, Some(id)) = (message.role, &message.call_id) {
        next(payload);
        payload.raw("{\"type\":\"function_call_output\",\"call_id\":");
        payload.json(id);
        payload.raw(",\"output\":");
        content(payload, "", message);
        return payload.raw("}");
    }
    if message.role == Role::Assistant && (message.calls.is_empty() || !message.text.is_empty()) {
        // The complete form of the API: llama.cpp rejects a shorter one.
        next(payload);
        payload.raw("{\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":");
        payload.raw("[{\"type\":\"output_text\",\"text\":");
        payload.text(&message.text);
        payload.raw(",\"annotations\":[]}]}");
    }
    let (role, label) = match message.role {
        Role::System => ("developer", ""),
        Role::User => ("user", ""),
        Role::Assistant => return calls(payload, message, &mut next),
        Role::Tool => ("user", "[tool]\n"),
    };
    next(payload);
    payload.raw("{\"role\":");
    payload.json(role);
    payload.raw(",\"content\":");
    content(payload, label, message);
    payload.raw("}");
}

/// Writes the calls of a message without a received form.
fn calls(payload: &mut Payload, message: &ChatMessage, next: &mut dyn FnMut(&mut Payload)) {
    for call in &message.calls {
        next(payload);
        payload.json(&json!({"type": "function_call", "call_id": call.id, "name": call.name,
                             "arguments": arguments_text(call)}));
    }
}

/// Writes a text alone, or parts: the text, then the files.
fn content(payload: &mut Payload, label: &str, message: &ChatMessage) {
    if message.files.is_empty() {
        return payload.labelled_text(label, &message.text);
    }
    payload.raw("[{\"type\":\"input_text\",\"text\":");
    payload.labelled_text(label, &message.text);
    payload.raw("}");
    for file in &message.files {
        payload.raw(",");
        part(payload, file);
    }
    payload.raw("]");
}

fn part(payload: &mut Payload, file: &MediaFile) {
    if file.media.is_image() {
        payload.raw("{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":");
    } else {
        payload.raw("{\"type\":\"input_file\",\"filename\":");
        payload.json(&file.name);
        payload.raw(",\"file_data\":");
    }
    payload.file(&format!("data:{};base64,", file.media.mime()), file);
    payload.raw("}");
}

#[cfg(test)]
mod tests;
