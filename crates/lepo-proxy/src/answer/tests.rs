//! Answers of the four wires, as servers send them, in pieces of any size.

use serde_json::{Value, json};

use super::reader::ProxyAnswerReader;
use super::update::{AnswerUpdate, TokenCounts};
use crate::wire::ProxyWire;

/// Formats what an answer adds, without the ends of its items; pieces of one text or one call are joined.
fn read(wire: ProxyWire, media: &str, body: &[u8], size: usize) -> String {
    let mut reader = ProxyAnswerReader::new(wire, media != "application/json", Some(media), None);
    let mut updates = Vec::new();
    for piece in body.chunks(size) {
        updates.extend(reader.feed(piece));
    }
    updates.extend(reader.finish());
    let (mut lines, mut counts, mut response) =
        (Vec::<(String, String)>::new(), TokenCounts::default(), None);
    for update in updates {
        let (label, text) = match update {
            AnswerUpdate::Text(choice, text) => (format!("text {choice}"), text),
            AnswerUpdate::Thinking(choice, text) => (format!("thinking {choice}"), text),
            AnswerUpdate::Call(choice, call) => {
                let is_begun = !call.id.is_empty() || !call.name.is_empty();
                let label = format!("call {choice} {}", call.key);
                let is_known = lines.iter().any(|(known, _)| *known == label);
                match (is_begun, is_known) {
                    // A whole call at its end adds nothing to the pieces before it.
                    (true, true) if call.is_whole => continue,
                    (true, _) => (label, format!("{} {} {}", call.id, call.name, call.input)),
                    (false, _) => (label, call.input),
                }
            }
            AnswerUpdate::Output(_, call, text) => (format!("output {call}"), text),
            AnswerUpdate::Finish(choice, finish) => (format!("finish {choice}"), finish.as_str().to_string()),
            AnswerUpdate::Failed(text) => ("failed".to_string(), text),
            AnswerUpdate::End => ("end".to_string(), String::new()),
            AnswerUpdate::NewText(_) => continue,
            AnswerUpdate::Usage(more) => {
                counts.merge(more);
                continue;
            }
            AnswerUpdate::Response(id) => {
                response.get_or_insert(id);
                continue;
            }
        };
        match lines.iter_mut().find(|(known, _)| *known == label) {
            Some((_, line)) if !label.starts_with("finish") => line.push_str(&text),
            _ => lines.push((label, text)),
        }
    }
    let lines: Vec<String> = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    let count = |count: Option<u64>| count.map_or("-".to_string(), |count| count.to_string());
    let response = response.unwrap_or_default();
    format!(
        "{} | {response} {} {} {}",
        lines.join(" | "),
        count(counts.input),
        count(counts.cached),
        count(counts.output)
    )
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

const EVENTS: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";

fn check(wire: ProxyWire, media: &str, body: &str, expected: &str) {
    for size in [1, 5, 1 << 20] {
        assert_eq!(read(wire, media, body.as_bytes(), size), expected, "by {size}: {body}");
    }
}

#[test]
fn chat_completions() {
    let delta =
        |delta: Value| json!({"id": "c-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let stream = events(&[
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "h"})),
        delta(json!({"reasoning_content": "m"})),
        delta(json!({"content": "wa"})),
        delta(json!({"content": "it"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "get", "arguments": ""}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]})),
        json!({"id": "c-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 3}}}),
    ]) + "data: [DONE]\n\n";
    let end = "thinking 0: hm | text 0: wait | call 0 0: c1 get {\"a\":1} | finish 0: tools | c-1 9 3 4";
    check(ProxyWire::Chat, EVENTS, &stream, end);
    let whole = json!({"id": "c-1", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "reasoning_content": "hm", "content": "wait", "tool_calls": [{"id": "c1", "type": "function",
            "function": {"name": "get", "arguments": "{\"a\":1}"}}]}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}});
    check(ProxyWire::Chat, JSON, &whole.to_string(), &end.replace("call 0 0", "call 0 whole 2"));
    // A server that sends no index sends each call whole.
    let calls = events(&[delta(json!({"tool_calls": [
        {"id": "x", "function": {"name": "f", "arguments": "{}"}},
        {"id": "y", "function": {"name": "g", "arguments": "{}"}}]}))]);
    check(ProxyWire::Chat, EVENTS, &calls, "call 0 x: x f {} | call 0 y: y g {} | c-1 - - -");
    let failed = events(&[json!({"error": {"message": "overloaded", "code": 503}})]);
    check(ProxyWire::Chat, EVENTS, &failed, "failed: overloaded |  - - -");
}

#[test]
fn messages() {
    let stream = events(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 3,
            "cache_read_input_tokens": 4, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "wait"}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "redacted_thinking", "data": "x"}}),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "more"}}),
        json!({"type": "content_block_start", "index": 4, "content_block":
            {"type": "tool_use", "id": "c1", "name": "get", "input": {}}}),
        json!({"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": "{\"a\""}}),
        json!({"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": ":1}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 8}}),
        json!({"type": "message_stop"}),
    ]);
    let end =
        "thinking 0: hm | text 0: wait\n\nmore | call 0 4: c1 get {\"a\":1} | finish 0: tools | msg_1 7 4 8";
    check(ProxyWire::Messages, EVENTS, &stream, end);
    let whole = json!({"type": "message", "id": "msg_1", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "wait"},
        {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "more"},
        {"type": "tool_use", "id": "c1", "name": "get", "input": {"a": 1}}],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 8}});
    check(ProxyWire::Messages, JSON, &whole.to_string(), end);
    let error = events(&[json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})]);
    check(ProxyWire::Messages, EVENTS, &error, "failed: busy |  - - -");
    let refused = json!({"type": "message", "id": "m", "stop_reason": "refusal", "content": []});
    check(ProxyWire::Messages, JSON, &refused.to_string(), "finish 0: refusal | m - - -");
}

#[test]
fn responses() {
    let items = json!([
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "wait"}]},
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "get", "arguments": "{\"a\":1}"},
    ]);
    let done = |item: &Value, index: u64| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let response = json!({"id": "resp_1", "status": "completed", "output": items,
        "usage": {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 3}}});
    let stream = events(&[
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
        done(&items[0], 0),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message"}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "wa"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "it"}),
        done(&items[1], 1),
        json!({"type": "response.output_item.added", "output_index": 2, "item":
            {"type": "function_call", "call_id": "c1", "name": "get", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\":1}"}),
        done(&items[2], 2),
        json!({"type": "response.completed", "response": response}),
    ]);
    let end = "thinking 0: hm | text 0: wait | call 0 2: c1 get {\"a\":1} | finish 0: tools | resp_1 9 3 4";
    check(ProxyWire::Responses, EVENTS, &stream, end);
    check(ProxyWire::Responses, JSON, &response.to_string(), end);
    // Items alone, without the pieces before their ends.
    let bare = events(&[
        done(&items[0], 0),
        done(&items[1], 1),
        done(&items[2], 2),
        json!({"type": "response.completed", "response": response}),
    ]);
    check(ProxyWire::Responses, EVENTS, &bare, end);
    for (status, reason, expected) in [
        ("incomplete", "max_output_tokens", "text 0: a | finish 0: length | r - - -"),
        ("incomplete", "content_filter", "text 0: a | finish 0: filter | r - - -"),
        ("failed", "", "text 0: a | failed: the response failed | r - - -"),
    ] {
        let body = json!({"id": "r", "status": status, "incomplete_details": {"reason": reason}, "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "a"}]}]});
        check(ProxyWire::Responses, JSON, &body.to_string(), expected);
    }
}

#[test]
fn ollama() {
    let lines = [
        json!({"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": false}),
        json!({"message": {"role": "assistant", "content": "wa"}, "done": false}),
        json!({"message": {"role": "assistant", "content": "it"}, "done": false}),
        json!({"message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "get", "arguments": {"a": 1}}}]}, "done": false}),
        json!({"message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "put", "arguments": {}}}]}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 9, "eval_count": 4}),
    ];
    let stream: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let end = "thinking 0: hm | text 0: wait | call 0 0:  get {\"a\":1} | call 0 1:  put {} | finish 0: tools |  9 - 4";
    check(ProxyWire::Ollama, "application/x-ndjson", &stream, end);
    let whole =
        json!({"message": {"role": "assistant", "content": "hi"}, "done": true, "done_reason": "length"});
    check(ProxyWire::Ollama, JSON, &whole.to_string(), "text 0: hi | finish 0: length |  - - -");
    check(ProxyWire::Ollama, "application/x-ndjson", "{\"error\":\"gone\"}\n", "failed: gone |  - - -");
}

#[test]
fn an_answer_that_cannot_be_read_says_why() {
    for (media, encoding, body, fault) in [
        (EVENTS, Some("zip"), "x", Some("its encoding is not known")),
        (EVENTS, Some("gzip"), "no gzip at all, though it says so", Some("it cannot be unpacked")),
        (JSON, None, "{", Some("it is not JSON")),
        (JSON, None, "{}", None),
        (EVENTS, None, "data: {\n\n: x\n\nnonsense", None),
    ] {
        let mut reader = ProxyAnswerReader::new(ProxyWire::Chat, true, Some(media), encoding);
        let mut updates = reader.feed(body.as_bytes());
        updates.extend(reader.finish());
        assert_eq!((updates, reader.fault()), (vec![], fault), "{media} {encoding:?} {body}");
    }
}
