//! A recorded answer in Anthropic's Messages (<https://docs.claude.com/en/api/messages>,
//! <https://docs.claude.com/en/docs/build-with-claude/streaming>).

use serde_json::{Value, json};

use super::super::reply::{RecordedReply, ReplyPart, text_pieces};

use crate::answer::FinishWord;
use crate::request::ProxyRequest;

/// Returns the whole answer.
pub fn full_answer(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    let mut message = head(reply, request);
    message["content"] = reply.parts.iter().map(|part| block(part, true)).collect();
    message["stop_reason"] = finish(reply.finish).into();
    message["usage"] = usage(reply, reply.counts.output.unwrap_or_default());
    message
}

/// Returns the events of a stream.
pub fn events(reply: &RecordedReply, request: &ProxyRequest) -> Vec<u8> {
    let mut events = String::new();
    let mut message = head(reply, request);
    message["usage"] = usage(reply, 0);
    events.push_str(&named_event(&json!({ "type": "message_start", "message": message })));
    for (index, part) in reply.parts.iter().enumerate() {
        let start =
            json!({ "type": "content_block_start", "index": index, "content_block": block(part, false) });
        events.push_str(&named_event(&start));
        let deltas: Vec<Value> = match part {
            ReplyPart::Text(text) => {
                let delta = |piece| json!({ "type": "text_delta", "text": piece });
                text_pieces(text).into_iter().map(delta).collect()
            }
            ReplyPart::Call(call) => {
                let input = call.input_object().to_string();
                vec![json!({ "type": "input_json_delta", "partial_json": input })]
            }
        };
        for delta in deltas {
            let event = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            events.push_str(&named_event(&event));
        }
        events.push_str(&named_event(&json!({ "type": "content_block_stop", "index": index })));
    }
    events.push_str(&named_event(&json!({
        "type": "message_delta",
        "delta": { "stop_reason": finish(reply.finish), "stop_sequence": null },
        "usage": { "output_tokens": reply.counts.output.unwrap_or_default() },
    })));
    events.push_str(&named_event(&json!({ "type": "message_stop" })));
    events.into_bytes()
}

fn head(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    json!({
        "id": format!("msg_{}", reply.answer),
        "type": "message",
        "role": "assistant",
        "model": request.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

/// Returns a part as a block; in a stream it begins empty.
fn block(part: &ReplyPart, is_whole: bool) -> Value {
    match part {
        ReplyPart::Text(text) => json!({ "type": "text", "text": if is_whole { text } else { "" } }),
        ReplyPart::Call(call) => json!({
            "type": "tool_use",
            "id": format!("toolu_{}", call.bubb),
            "name": call.name,
            "input": if is_whole { call.input_object() } else { json!({}) },
        }),
    }
}

/// Returns the tokens. On this wire `input_tokens` excludes cached tokens.
fn usage(reply: &RecordedReply, output: u64) -> Value {
    let cached = reply.counts.cached.unwrap_or_default();
    json!({
        "input_tokens": reply.counts.input.unwrap_or_default().saturating_sub(cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
    })
}

fn finish(finish: FinishWord) -> &'static str {
    match finish {
        FinishWord::Stop => "end_turn",
        FinishWord::Length => "max_tokens",
        FinishWord::Tools => "tool_use",
        FinishWord::Filter | FinishWord::Refusal => "refusal",
    }
}

/// Formats a server-sent event with a name, which its data have as `type`.
pub fn named_event(data: &Value) -> String {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}
