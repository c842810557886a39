//! The Responses API by tables: requests, and answers split anywhere.

use serde_json::{Value, json};

use super::*;
use crate::event::{ChatEvent, EventQueue, FinishReason, Usage};
use crate::message::{ChatRequest, Schema, ToolCall};
use crate::model_facts::ModelFacts;
use crate::quirks::Quirks;
use crate::replay::ProviderMessage;
use crate::sse_answer::Decoder;
use crate::{ModelConfig, ModelOptions, Provider};

fn sent(config: &ModelConfig, request: ChatRequest<'_>, quirks: &Quirks) -> Value {
    let facts = ModelFacts::default();
    serde_json::from_slice(&body(&mut BodyContext::new(config, request, &facts, quirks)).to_vec()).unwrap()
}

#[test]
fn a_request_has_all_that_is_asked_for() {
    let options =
        ModelOptions { max_tokens: Some(99), effort: Some("low".into()), ..ModelOptions::default() };
    let config = ModelConfig { model: "gpt-x".into(), options, ..ModelConfig::new("m", Provider::Openai) };
    let schema = Schema { name: "n".into(), schema: json!({"type": "object"}) };
    let tool = ToolSpec { name: "t".into(), description: "d".into(), schema: json!({"type": "object"}) };
    let received = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="},
        {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "t", "arguments": "{}"},
    ]);
    let call = |id: &str| ToolCall { id: id.into(), name: "t".into(), arguments: json!({"a": 1}) };
    let messages = [
        ChatMessage::new(Role::System, "P"),
        ChatMessage::new(Role::User, "hi"),
        ChatMessage {
            replay: Some(ProviderMessage::new(received.clone())),
            calls: vec![call("call_a")],
            ..ChatMessage::new(Role::Assistant, "")
        },
        ChatMessage { call_id: Some("call_a".into()), ..ChatMessage::new(Role::Tool, "r") },
        ChatMessage { calls: vec![call("call_3")], ..ChatMessage::new(Role::Assistant, "again") },
        ChatMessage { call_id: Some("call_3".into()), ..ChatMessage::new(Role::Tool, "s") },
        ChatMessage::new(Role::System, "INST"),
    ];
    let request = ChatRequest {
        messages: &messages,
        schema: Some(&schema),
        tools: &[tool],
        tools_ended: true,
        web: true,
        agent: Default::default(),
        cache_key: Some("01ROOT"),
    };
    assert_eq!(
        sent(&config, request, &Quirks::default()),
        json!({
            "model": "gpt-x",
            "tools": [{"type": "function", "name": "t", "description": "d", "parameters": {"type": "object"}, "strict": false}],
            "input": [
                {"role": "developer", "content": "P"},
                {"role": "user", "content": "hi"},
                received[0], received[1],
                {"type": "function_call_output", "call_id": "call_a", "output": "r"},
                {"type": "message", "role": "assistant", "status": "completed", "content":
                    [{"type": "output_text", "text": "again", "annotations": []}]},
                {"type": "function_call", "call_id": "call_3", "name": "t", "arguments": "{\"a\":1}"},
                {"type": "function_call_output", "call_id": "call_3", "output": "s"},
                {"role": "developer", "content": "INST"},
            ],
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
            "tool_choice": "none",
            "prompt_cache_key": "01ROOT",
            "text": {"format": {"type": "json_schema", "name": "n", "strict": true, "schema": {"type": "object"}}},
            "temperature": 0.1,
            "max_output_tokens": 99,
        })
    );
    let quirks =
        [&SUMMARY, &REASONING, &ENCRYPTED, &CACHE_KEY, &TEXT_FORMAT, &TEMPERATURE].into_iter().collect();
    let request = ChatRequest { messages: &messages[1..2], ..request };
    let plain = sent(&config, request, &quirks);
    for gone in ["include", "reasoning", "prompt_cache_key", "text", "temperature"] {
        assert!(plain[gone].is_null(), "{gone}");
    }
}

const STREAM: &[&str] = &[
    r#"{"type":"response.created","response":{"id":"resp_1","status":"in_progress"},"sequence_number":0}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"partial"}}"#,
    r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","summary_index":0,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","summary_index":0,"delta":"one"}"#,
    r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","summary_index":1,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","summary_index":1,"delta":"two"}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"}],"encrypted_content":"gAAA=="}}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"I ","sequence_number":7}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"look.\n","sequence_number":8}"#,
    r#"{"type":"response.output_text.done","item_id":"msg_1","text":"I look.\n"}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look.\n"}]}}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"a\""}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"f","arguments":"{\"a\":1}"}}"#,
    r#"{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":9}}}"#,
];

fn stream(data: &[&str]) -> String {
    data.iter().map(|data| format!("event: x\ndata: {data}\n\n")).collect()
}

fn read<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<ChatEvent>, Option<String>) {
    let (mut reader, mut events) = (reader(&[]), EventQueue::new());
    let read = pieces
        .into_iter()
        .try_for_each(|piece| reader.read(piece, &mut events))
        .and_then(|()| reader.finish(&mut events));
    (events.into(), read.err().map(|error| error.message))
}

#[test]
fn a_stream_is_understood_wherever_reads_end() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "one"}], "encrypted_content": "gAAA=="},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "I look.\n"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "f", "arguments": "{\"a\":1}"},
    ]);
    let call = ToolCall { id: "call_a".into(), name: "f".into(), arguments: json!({"a": 1}) };
    let usage = Usage { input: Some(100), output: Some(9), cached: Some(64), cache_write: None, web: None };
    let expected = vec![
        ChatEvent::Thinking("one".into()),
        ChatEvent::Thinking("\n\ntwo".into()),
        ChatEvent::Text("I look.\n".into()),
        ChatEvent::Replay(ProviderMessage::new(items)),
        ChatEvent::ToolCall(call),
        ChatEvent::Usage(usage),
        ChatEvent::Done(FinishReason::ToolCalls),
    ];
    let stream = stream(STREAM);
    for size in [1, 7, 100, stream.len()] {
        assert_eq!(read(stream.as_bytes().chunks(size)), (expected.clone(), None), "by {size}");
    }
}

#[test]
fn each_end_is_told_from_the_others() {
    let text = r#"{"type":"response.output_text.delta","delta":"a"}"#;
    let incomplete =
        r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#;
    for (data, finish, error) in [
        (vec![text, incomplete], Some(FinishReason::Length), None),
        (vec![text, r#"{"type":"response.completed","response":{}}"#], Some(FinishReason::Stop), None),
        (vec![text], None, Some("the answer was cut off: the stream ended without `response.completed`")),
        (
            vec![
                text,
                r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"oops"}}}"#,
            ],
            None,
            Some("the model failed: oops"),
        ),
        (
            vec![r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#],
            None,
            Some("the model failed: slow"),
        ),
    ] {
        let (events, failed) = read([stream(&data).as_bytes()]);
        let found = events.into_iter().find_map(|event| match event {
            ChatEvent::Done(finish) => Some(finish),
            _ => None,
        });
        assert_eq!((found, failed.as_deref()), (finish, error), "{data:?}");
    }
    // Items that come only at the end, with and without their text before.
    let message = r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}"#;
    for data in [vec![message], vec![text, message]] {
        let events = vec![ChatEvent::Text("a".into()), ChatEvent::Done(FinishReason::Stop)];
        assert_eq!(read([stream(&data).as_bytes()]), (events, None), "{data:?}");
    }
    let whole = r#"{"object":"response","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":1,"output_tokens":2}}"#;
    assert_eq!(read([whole.as_bytes()]).0[0], ChatEvent::Text("hi".into()));
}

#[test]
fn items_without_end_are_ended() {
    let item = json!({"type": "reasoning", "encrypted_content": "x".repeat(8 << 20)});
    let data = json!({"type": "response.output_item.done", "item": item}).to_string();
    let (mut state, mut events) = (answer::ResponsesDecoder::new(&[]), EventQueue::default());
    let ended = (0..100).find_map(|i| state.data(data.as_bytes(), &mut events).err().map(|e| (i, e)));
    let (items, error) = ended.unwrap();
    assert_eq!((items, error.kind.exit_code()), (7, 3), "{}", error.message);
}

#[test]
fn an_account_without_credit_is_no_busy_server() {
    for (code, status) in [("insufficient_quota", 402), ("rate_limit_exceeded", 429)] {
        let data = json!({"type": "response.failed", "response": {"error": {"code": code, "message": "no"}}});
        let (mut reader, mut events) = (reader(&[]), EventQueue::default());
        assert!(reader.read(format!("data: {data}\n\n").as_bytes(), &mut events).is_err());
        assert_eq!(reader.refusal().map(|refused| refused.status), Some(status), "{code}");
    }
}
