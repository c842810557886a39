//! A recorded answer in the form of each wire: what a client of the wire reads of it is the answer.

use serde_json::{Value, json};

use super::render;
use crate::answer::{AnswerUpdate, ProxyAnswerReader, TokenCounts};
use crate::cassette::reply::{RecordedReply, ReplyCall, ReplyPart};
use crate::request::{MessageItem, ProxyRequest};
use crate::wire::ProxyWire;
use lepo_store::bubb::BubbId;

const WIRES: [ProxyWire; 4] = [ProxyWire::Chat, ProxyWire::Responses, ProxyWire::Messages, ProxyWire::Ollama];

const ANSWER: &[u8] = b"01M80QW3N3DDGKXDE279QNWF38";
const CALL: &[u8] = b"01M80QW3N3DDGKXDE279QNWF39";

fn reply(parts: Vec<ReplyPart>) -> RecordedReply {
    let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call(_)));
    RecordedReply {
        answer: BubbId::parse(ANSWER).unwrap(),
        parts,
        finish: if has_calls { crate::FinishWord::Tools } else { crate::FinishWord::Stop },
        counts: TokenCounts { input: Some(9), cached: Some(3), cache_write: None, output: Some(4) },
        has_masks: false,
    }
}

fn request(wire: ProxyWire, is_streamed: bool) -> ProxyRequest {
    let messages = json!([{ "role": "user", "content": "a" }]);
    let body = json!({ "model": "m", "stream": is_streamed, "messages": messages, "input": "a",
        "stream_options": { "include_usage": true } });
    ProxyRequest::read(wire, "/v1", body.to_string().as_bytes()).unwrap()
}

/// What a client reads of the bytes: texts, calls with their ids, the end.
fn read(reply: &RecordedReply, wire: ProxyWire, is_streamed: bool) -> String {
    let (media, bytes) = render(reply, &request(wire, is_streamed));
    let mut reader = ProxyAnswerReader::new(wire, is_streamed, Some(media), None);
    let mut updates = reader.feed(&bytes);
    updates.extend(reader.finish());
    let (mut text, mut calls, mut end) = (String::new(), Vec::<[String; 3]>::new(), String::new());
    let (mut counts, mut known) = (TokenCounts::default(), Vec::<String>::new());
    for update in updates {
        match update {
            AnswerUpdate::Text(_, more) => text.push_str(&more),
            AnswerUpdate::Call(_, call) => match known.iter().position(|key| *key == call.key) {
                Some(at) if call.is_whole => calls[at][2] = call.input,
                Some(at) => calls[at][2].push_str(&call.input),
                None => {
                    known.push(call.key);
                    calls.push([call.id, call.name, call.input]);
                }
            },
            AnswerUpdate::Finish(_, finish) => end.push_str(finish.as_str()),
            AnswerUpdate::Usage(more) => counts.merge(more),
            AnswerUpdate::End => end.push_str(" end"),
            _ => {}
        }
    }
    let count = |count: Option<u64>| count.map_or("-".to_string(), |count| count.to_string());
    let calls = calls.iter().map(|call| call.join(" ")).collect::<Vec<_>>().join(", ");
    format!("{text} | {calls} | {end} | {} {}", count(counts.input), count(counts.output))
}

#[test]
fn a_client_reads_the_recorded_answer_on_every_wire() {
    let text = "It is 24 h, as a cache needs no more than one day; 한국어도 그대로.\n";
    let call = |input: &str| {
        ReplyPart::Call(ReplyCall {
            bubb: BubbId::parse(CALL).unwrap(),
            name: "get".into(),
            input: input.into(),
        })
    };
    let id = "01M80QW3N3DDGKXDE279QNWF39";
    for wire in WIRES {
        for is_streamed in [false, true] {
            let read = |parts| read(&reply(parts), wire, is_streamed);
            let words = vec![ReplyPart::Text(text.into())];
            assert_eq!(read(words), format!("{text} |  | stop end | 9 4"), "{wire:?} {is_streamed}");
            let prefix = if wire == ProxyWire::Messages { "toolu" } else { "call" };
            let both = vec![ReplyPart::Text("wait".into()), call("{\"a\":1}")];
            let expected = format!("wait | {prefix}_{id} get {{\"a\":1}} | tools end | 9 4");
            assert_eq!(read(both), expected, "{wire:?} {is_streamed}");
            let expected = format!(" | {prefix}_{id} get {{\"a\":1}} | tools end | 9 4");
            assert_eq!(read(vec![call("{\"a\":1}")]), expected, "{wire:?} {is_streamed}");
        }
    }
}

#[test]
fn the_same_answer_has_the_same_bytes() {
    for wire in WIRES {
        for is_streamed in [false, true] {
            let again = || render(&reply(vec![ReplyPart::Text("a b".into())]), &request(wire, is_streamed));
            assert_eq!(again(), again());
        }
    }
}

#[test]
fn a_whole_answer_has_the_fields_that_clients_need() {
    for (wire, pointers) in [
        (
            ProxyWire::Chat,
            &[
                ("/id", json!("chatcmpl-01M80QW3N3DDGKXDE279QNWF38")),
                ("/object", json!("chat.completion")),
                ("/choices/0/finish_reason", json!("stop")),
                ("/usage/total_tokens", json!(13)),
            ][..],
        ),
        (
            ProxyWire::Responses,
            &[
                ("/id", json!("resp_01M80QW3N3DDGKXDE279QNWF38")),
                ("/status", json!("completed")),
                ("/output/0/content/0/text", json!("a")),
                ("/usage/input_tokens_details/cached_tokens", json!(3)),
            ],
        ),
        (
            ProxyWire::Messages,
            &[
                ("/id", json!("msg_01M80QW3N3DDGKXDE279QNWF38")),
                ("/stop_reason", json!("end_turn")),
                ("/usage/input_tokens", json!(6)),
                ("/usage/cache_read_input_tokens", json!(3)),
            ],
        ),
        (
            ProxyWire::Ollama,
            &[
                ("/done", json!(true)),
                ("/done_reason", json!("stop")),
                ("/eval_count", json!(4)),
                ("/created_at", json!("2026-11-22T04:22:48.227Z")),
            ],
        ),
    ] {
        let (_, bytes) = render(&reply(vec![ReplyPart::Text("a".into())]), &request(wire, false));
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(whole["model"], "m");
        for (pointer, expected) in pointers {
            assert_eq!(whole.pointer(pointer), Some(expected), "{wire:?} {pointer}: {whole}");
        }
    }
}

#[test]
fn a_call_names_the_namespace_of_its_tool_as_the_request_offers_it() {
    let call = json!({ "type": "function_call", "call_id": "c", "namespace": "mcp__a", "name": "get",
        "arguments": "{}" });
    let inner = json!({ "type": "function", "name": "get", "parameters": {} });
    let body = json!({ "model": "m", "input": [{ "role": "user", "content": "a" }, call],
        "tools": [{ "type": "namespace", "name": "mcp__a", "tools": [inner] }] });
    let request = ProxyRequest::read(ProxyWire::Responses, "/v1", body.to_string().as_bytes()).unwrap();
    let MessageItem::Call(sent) = &request.messages()[1].parts[0] else { panic!("{request:?}") };
    assert_eq!(sent.name, "mcp__a.get");
    for (name, expected) in [("mcp__a.get", ["mcp__a", "get"]), ("get", ["", "get"])] {
        let call = ReplyCall { bubb: BubbId::parse(CALL).unwrap(), name: name.into(), input: "{}".into() };
        let (_, bytes) = render(&reply(vec![ReplyPart::Call(call)]), &request);
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        let fields = ["namespace", "name"].map(|key| whole["output"][0][key].as_str().unwrap_or_default());
        assert_eq!(fields, expected, "{whole}");
    }
}

#[test]
fn a_tool_of_words_has_its_own_form() {
    let call =
        ReplyCall { bubb: BubbId::parse(CALL).unwrap(), name: "patch".into(), input: "*** Begin".into() };
    let reply = reply(vec![ReplyPart::Call(call)]);
    let whole = |wire| -> Value { serde_json::from_slice(&render(&reply, &request(wire, false)).1).unwrap() };
    assert_eq!(whole(ProxyWire::Responses)["output"][0]["type"], "custom_tool_call");
    assert_eq!(whole(ProxyWire::Responses)["output"][0]["input"], "*** Begin");
    assert_eq!(
        whole(ProxyWire::Chat)["choices"][0]["message"]["tool_calls"][0]["custom"]["input"],
        "*** Begin"
    );
    assert_eq!(whole(ProxyWire::Messages)["content"][0]["input"], json!({ "input": "*** Begin" }));
}
