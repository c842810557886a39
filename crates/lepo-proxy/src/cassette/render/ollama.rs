//! A recorded answer in Ollama's chat (<https://docs.ollama.com/api/chat>).

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::reply::{RecordedReply, text_pieces};
use crate::answer::FinishWord;
use crate::request::ProxyRequest;

/// Returns the whole answer.
pub fn full_answer(reply: &RecordedReply, request: &ProxyRequest) -> Value {
    let mut message = json!({ "role": "assistant", "content": reply.joined_text() });
    add_calls(reply, &mut message);
    let mut answer = line(reply, request, message);
    add_end(reply, &mut answer);
    answer
}

/// Returns the lines of a stream, an object each; the last one has the reason of the end and the tokens.
pub fn lines(reply: &RecordedReply, request: &ProxyRequest) -> Vec<u8> {
    let mut lines = String::new();
    for piece in text_pieces(&reply.joined_text()) {
        let message = json!({ "role": "assistant", "content": piece });
        lines.push_str(&format!("{}\n", line(reply, request, message)));
    }
    if reply.calls().next().is_some() {
        let mut message = json!({ "role": "assistant", "content": "" });
        add_calls(reply, &mut message);
        lines.push_str(&format!("{}\n", line(reply, request, message)));
    }
    let mut end = line(reply, request, json!({ "role": "assistant", "content": "" }));
    add_end(reply, &mut end);
    lines.push_str(&format!("{end}\n"));
    lines.into_bytes()
}

fn line(reply: &RecordedReply, request: &ProxyRequest, message: Value) -> Value {
    let created = i64::try_from(reply.answer.time()).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    json!({
        "model": request.model(),
        "created_at": created.unwrap_or_default().to_string(),
        "message": message,
        "done": false,
    })
}

fn add_calls(reply: &RecordedReply, message: &mut Value) {
    let calls = reply.calls().map(|call| {
        let function = json!({ "name": call.name, "arguments": call.input_object() });
        json!({ "id": format!("call_{}", call.bubb), "function": function })
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
}

fn add_end(reply: &RecordedReply, answer: &mut Value) {
    answer["done"] = true.into();
    answer["done_reason"] = if reply.finish == FinishWord::Length { "length" } else { "stop" }.into();
    answer["total_duration"] = 0.into();
    for (field, count) in [("prompt_eval_count", reply.counts.input), ("eval_count", reply.counts.output)] {
        if let Some(count) = count {
            answer[field] = count.into();
        }
    }
}
