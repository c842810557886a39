//! A recorded answer in OpenAI's Chat Completions
//! (<https://platform.openai.com/docs/api-reference/chat/object>).

use serde_json::{Value, json};

use super::super::reply::{RecordedReply, ReplyCall, text_pieces};
use crate::answer::FinishWord;
use crate::request::ProxyRequest;

/// Returns the whole answer.
pub fn full_answer(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    let text = reply.joined_text();
    let calls: Vec<Value> = reply.calls().map(call).collect();
    let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        if text.is_empty() {
            message["content"] = Value::Null;
        }
    }
    let choice =
        json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish(reply.finish) });
    let mut answer = head(reply, request, "chat.completion");
    answer["choices"] = json!([choice]);
    answer["usage"] = usage(reply);
    answer
}

/// Returns the events of a stream. Its end has the tokens, if the request wants them.
pub fn events(reply: &RecordedReply, request: &ProxyRequest) -> Vec<u8> {
    let mut events = String::new();
    let mut push = |delta: Value, finish: Value| {
        let mut chunk = head(reply, request, "chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        if request.wants_usage() {
            chunk["usage"] = Value::Null;
        }
        events.push_str(&format!("data: {chunk}\n\n"));
    };
    push(json!({ "role": "assistant", "content": "", "refusal": null }), Value::Null);
    for piece in text_pieces(&reply.joined_text()) {
        push(json!({ "content": piece }), Value::Null);
    }
    for (index, recorded) in reply.calls().enumerate() {
        let mut call = call(recorded);
        call["index"] = index.into();
        push(json!({ "tool_calls": [call] }), Value::Null);
    }
    push(json!({}), finish(reply.finish).into());
    if request.wants_usage() {
        let mut chunk = head(reply, request, "chat.completion.chunk");
        chunk["choices"] = json!([]);
        chunk["usage"] = usage(reply);
        events.push_str(&format!("data: {chunk}\n\n"));
    }
    events.push_str("data: [DONE]\n\n");
    events.into_bytes()
}

fn head(reply: &RecordedReply, request: &ProxyRequest, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{}", reply.answer),
        "object": object,
        "created": reply.seconds(),
        "model": request.model(),
    })
}

fn call(call: &ReplyCall) -> Value {
    let id = format!("call_{}", call.bubb);
    match call.has_object() {
        true => json!({ "id": id, "type": "function",
            "function": { "name": call.name, "arguments": call.input } }),
        false => json!({ "id": id, "type": "custom", "custom": { "name": call.name, "input": call.input } }),
    }
}

fn usage(reply: &RecordedReply) -> Value {
    let counts = reply.counts;
    let (input, output) = (counts.input.unwrap_or_default(), counts.output.unwrap_or_default());
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": counts.cached.unwrap_or_default() },
    })
}

fn finish(finish: FinishWord) -> &'static str {
    match finish {
        FinishWord::Stop => "stop",
        FinishWord::Length => "length",
        FinishWord::Tools => "tool_calls",
        FinishWord::Filter | FinishWord::Refusal => "content_filter",
    }
}
