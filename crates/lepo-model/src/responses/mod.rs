//! OpenAI's Responses API: requests. The module `answer` decodes answers.
//!
//! <https://platform.openai.com/docs/api-reference/responses>

mod answer;
mod items;

use serde_json::{Value, json};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::call_layout::CALL_IDS;
use super::field_quirks::{NO_LIMIT, STORE, TOOL_CHOICE, TOP_P};
use super::media::{FileSupport, IMAGES_AND_PDF, MediaFile};
use super::message::{ChatMessage, ToolCall, ToolSpec};
use super::message_layout::{arguments_text, has_result_files, move_result_files};
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
            &NO_LIMIT,
            &TOP_P,
            &STORE,
            &TOOL_CHOICE,
            &DEVELOPER,
            &TOOL_STRICT,
            &SYSTEM_FIRST,
            &NO_SYSTEM,
            &CALL_IDS,
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
    notice: "does not provide reasoning summaries: retrying without them",
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
    notice: "does not accept `reasoning`: retrying without it",
};

/// Chat templates of other servers know the role as `system`.
static DEVELOPER: Quirk = Quirk {
    word: "developer_role",
    status: &[400, 422, 500],
    named: &[
        &["role", "'developer'"],
        &["developer", "unexpected message role", "incorrect role", "unknown role", "invalid role"],
    ],
    notice: "does not accept the role `developer`: retrying with `system`",
};

/// Without the field, OpenAI's own server is strict; other servers may not know it.
static TOOL_STRICT: Quirk = Quirk {
    word: "tool_strict",
    status: MALFORMED,
    named: &[
        &["strict"],
        &["tools"],
        &["extra inputs", "unknown", "unrecognized", "unsupported", "not support", "additional propert"],
    ],
    notice: "does not accept `strict` of a tool: retrying without it",
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
    notice: "does not provide encrypted reasoning: retrying without it",
};

/// A tool's result may only contain text.
static RESULT_FILES: Quirk = Quirk {
    word: "result_files",
    status: MALFORMED,
    named: &[&["output"], &["input text", "input_text", "input_image", "input_file", "string"]],
    notice: "does not accept files in tool results: retrying with them after the result",
};

static CACHE_KEY: Quirk = Quirk {
    word: "prompt_cache_key",
    status: MALFORMED,
    named: &[&["prompt_cache_key"]],
    notice: "does not accept `prompt_cache_key`: retrying without it",
};

static TEXT_FORMAT: Quirk = Quirk {
    word: "text_format",
    status: MALFORMED,
    named: &[&["text.format", "json_schema"]],
    notice: "does not accept `text.format`: retrying without it",
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
    let strict = (!request.tools.is_empty() && asking.accepts(&TOOL_STRICT)).then_some(false);
    let own = request.tools.iter().map(|spec| tool(spec, strict));
    let web = (request.web && options.web).then(|| json!({"type": "web_search"}));
    let messages = match has_result_files(request.messages) && !asking.accepts(&RESULT_FILES) {
        true => move_result_files(request.messages),
        false => request.messages.into(),
    };
    let mut slots = Slots::new();
    let has_system = messages.iter().any(|message| message.role == Role::System);
    let system = if has_system && asking.has(&DEVELOPER) { "system" } else { "developer" };
    let input = messages.iter().flat_map(|message| items(&mut slots, message, system)).collect::<Vec<_>>();
    let streams = asking.accepts(&STREAM);
    let include = asking.accepts(&ENCRYPTED).then_some(["reasoning.encrypted_content"]);
    let reasons = asking.accepts(&REASONING);
    let summary = (reasons && asking.accepts(&SUMMARY)).then_some("auto");
    let effort = options.effort.as_deref().filter(|_| reasons);
    let has_tools = !request.tools.is_empty();
    if has_tools {
        asking.has(&TOOLS);
    }
    let no_choice = has_tools && request.tools_ended && asking.accepts(&TOOL_CHOICE);
    let cache_key = request.cache_key.filter(|_| asking.accepts(&CACHE_KEY));
    let schema = request.schema.filter(|_| asking.accepts(&TEXT_FORMAT));
    let text = schema.map(|schema| {
        let strict = asking.accepts(&STRICT);
        json!({"format": {"type": "json_schema", "name": schema.name, "strict": strict, "schema": schema.schema}})
    });
    let body = json!({
        "model": config.model,
        "tools": compact(own.chain(web).collect()),
        "input": null,
        "stream": streams,
        "store": asking.accepts(&STORE).then_some(false),
        "include": include,
        "reasoning": compact(json!({"effort": effort, "summary": summary})),
        "tool_choice": no_choice.then_some("none"),
        "prompt_cache_key": cache_key,
        "text": text,
        "temperature": asking.accepts(&TEMPERATURE).then(|| config.temperature()),
        "top_p": options.top_p.as_ref().filter(|_| asking.accepts(&TOP_P)),
        "max_output_tokens": options.max_tokens.filter(|_| asking.accepts(&NO_LIMIT)),
    });
    slots.into_payload(with_field(body, "input", input), &config.extra)
}

fn tool(tool: &ToolSpec, strict: Option<bool>) -> Value {
    compact(json!({"type": "function", "name": tool.name, "description": tool.description,
                   "parameters": tool.schema, "strict": strict}))
}

/// Returns the items of a message; `system` is the role of system messages.
fn items(slots: &mut Slots, message: &ChatMessage, system: &'static str) -> Vec<Value> {
    if let Some(replay) = &message.replay {
        return replay.json().as_array().into_iter().flatten().map(|item| slots.received(item)).collect();
    }
    let (role, label) = match (message.role, &message.call_id) {
        (Role::Tool, Some(id)) => {
            let output = content(slots, "", message);
            return vec![json!({"type": "function_call_output", "call_id": id, "output": output})];
        }
        (Role::Assistant, _) => {
            let has_text = message.calls.is_empty() || !message.text.is_empty();
            let text = has_text.then(|| answer(slots, message));
            return text.into_iter().chain(message.calls.iter().map(call_item)).collect();
        }
        (Role::System, _) => (system, ""),
        (Role::User, _) => ("user", ""),
        (Role::Tool, None) => ("user", "[tool]\n"),
    };
    vec![json!({"role": role, "content": content(slots, label, message)})]
}

/// Returns the complete form of an assistant's message: llama.cpp rejects a shorter one.
fn answer(slots: &mut Slots, message: &ChatMessage) -> Value {
    let part = json!({"type": "output_text", "text": slots.text("", &message.text), "annotations": []});
    json!({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
}

fn call_item(call: &ToolCall) -> Value {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments_text(call)})
}

/// Returns a text alone, or parts: the text, then the files.
fn content(slots: &mut Slots, label: &str, message: &ChatMessage) -> Value {
    let text = slots.text(label, &message.text);
    if message.files.is_empty() {
        return text;
    }
    let text = json!({"type": "input_text", "text": text});
    std::iter::once(text).chain(message.files.iter().map(|file| part(slots, file))).collect()
}

fn part(slots: &mut Slots, file: &MediaFile) -> Value {
    let data = slots.file(&format!("data:{};base64,", file.media.mime()), file);
    match file.media.is_image() {
        true => json!({"type": "input_image", "detail": "auto", "image_url": data}),
        false => json!({"type": "input_file", "filename": file.name, "file_data": data}),
    }
}

#[cfg(test)]
mod tests;
