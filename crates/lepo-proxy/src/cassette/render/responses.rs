//! A recorded answer in OpenAI's Responses (<https://platform.openai.com/docs/api-reference/responses/object>,
//! <https://platform.openai.com/docs/api-reference/responses-streaming>).

use serde_json::{Value, json};

use super::super::reply::{RecordedReply, ReplyCall, ReplyPart, text_pieces};
use super::messages::named_event;
use crate::answer::FinishWord;
use crate::request::ProxyRequest;
use crate::tree::RESPONSE;

/// Returns the whole answer.
pub fn full_answer(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    let mut response = head(reply, request);
    let reason = match reply.finish {
        FinishWord::Stop | FinishWord::Tools | FinishWord::Refusal => None,
        FinishWord::Length => Some("max_output_tokens"),
        FinishWord::Filter => Some("content_filter"),
    };
    response["status"] = if reason.is_some() { "incomplete" } else { "completed" }.into();
    response["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({ "reason": reason }));
    response["output"] =
        reply.parts.iter().enumerate().map(|(index, part)| item(reply, request, index, part, true)).collect();
    let counts = reply.counts;
    let (input, output) = (counts.input.unwrap_or_default(), counts.output.unwrap_or_default());
    response["usage"] = json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": counts.cached.unwrap_or_default() },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    });
    response
}

/// Returns the events of a stream, numbered.
pub fn events(reply: &RecordedReply, request: &ProxyRequest) -> Vec<u8> {
    let mut stream = ResponseEvents::default();
    let begun = head(reply, request);
    stream.push("response.created", json!({ "response": begun }));
    stream.push("response.in_progress", json!({ "response": begun }));
    for (index, part) in reply.parts.iter().enumerate() {
        stream.push_part(reply, request, index, part);
    }
    let response = full_answer(reply, request);
    let end = if response["status"] == "completed" { "response.completed" } else { "response.incomplete" };
    stream.push(end, json!({ "response": response }));
    stream.events.into_bytes()
}

/// The events so far.
#[derive(Default)]
struct ResponseEvents {
    events: String,
    count: u64,
}

impl ResponseEvents {
    fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = kind.into();
        data["sequence_number"] = self.count.into();
        self.count += 1;
        self.events.push_str(&named_event(&data));
    }

    fn push_part(&mut self, reply: &RecordedReply, request: &ProxyRequest, index: usize, part: &ReplyPart) {
        let [begun, whole] = [false, true].map(|is_whole| item(reply, request, index, part, is_whole));
        let id = whole["id"].clone();
        self.push("response.output_item.added", json!({ "output_index": index, "item": begun }));
        match part {
            ReplyPart::Text(text) => {
                let position = |mut data: Value| {
                    data["item_id"] = id.clone();
                    data["output_index"] = index.into();
                    data["content_index"] = 0.into();
                    data
                };
                self.push("response.content_part.added", position(json!({ "part": text_part("") })));
                for piece in text_pieces(text) {
                    let delta = position(json!({ "delta": piece, "logprobs": [] }));
                    self.push("response.output_text.delta", delta);
                }
                let done = position(json!({ "text": text, "logprobs": [] }));
                self.push("response.output_text.done", done);
                self.push("response.content_part.done", position(json!({ "part": text_part(text) })));
            }
            ReplyPart::Call(call) => {
                let (kind, field) = match call.has_object() {
                    true => ("response.function_call_arguments", "arguments"),
                    false => ("response.custom_tool_call_input", "input"),
                };
                let delta = json!({ "item_id": id, "output_index": index, "delta": call.input });
                self.push(&format!("{kind}.delta"), delta);
                let mut done = json!({ "item_id": id, "output_index": index });
                done[field] = call.input.as_str().into();
                self.push(&format!("{kind}.done"), done);
            }
        }
        self.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    }
}

fn head(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    json!({
        "id": format!("{RESPONSE}{}", reply.answer),
        "object": "response",
        "created_at": reply.seconds(),
        "status": "in_progress",
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": request.model(),
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": request.previous_response(),
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": null,
    })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// Returns a part as an item; in a stream it begins empty.
fn item(
    reply: &RecordedReply,
    request: &ProxyRequest,
    index: usize,
    part: &ReplyPart,
    is_whole: bool,
) -> Value {
    let status = if is_whole { "completed" } else { "in_progress" };
    match part {
        ReplyPart::Text(text) => json!({
            "id": format!("msg_{}_{index}", reply.answer),
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": if is_whole { json!([text_part(text)]) } else { json!([]) },
        }),
        ReplyPart::Call(call) => call_item(call, request, status, is_whole),
    }
}

fn call_item(call: &ReplyCall, request: &ProxyRequest, status: &str, is_whole: bool) -> Value {
    let (kind, prefix, field) = match call.has_object() {
        true => ("function_call", "fc", "arguments"),
        false => ("custom_tool_call", "ctc", "input"),
    };
    let mut item = json!({
        "id": format!("{prefix}_{}", call.bubb),
        "type": kind,
        "call_id": format!("call_{}", call.bubb),
        "name": call.name,
        "status": status,
    });
    if let Some((namespace, name)) = request.namespace_of(&call.name) {
        item["namespace"] = namespace.into();
        item["name"] = name.into();
    }
    item[field] = if is_whole { call.input.as_str() } else { "" }.into();
    item
}
