//! The Messages API by tables: requests, and answers split anywhere.

use serde_json::{Value, json};

use super::*;
use crate::event::{ChatEvent, EventQueue, FinishReason, Usage};
use crate::message::{ChatMessage, ChatRequest, Schema, ToolCall};
use crate::quirks::Quirks;
use crate::replay::ProviderMessage;
use crate::sse_answer::Decoder;
use crate::{CacheLife, ModelConfig, ModelOptions, Provider};
use lepo_base::role::Role;

fn config() -> ModelConfig {
    ModelConfig { model: "claude-x".into(), ..ModelConfig::new("m", Provider::Anthropic) }
}

fn sent(config: &ModelConfig, request: ChatRequest<'_>, facts: &ModelFacts, quirks: &Quirks) -> Value {
    serde_json::from_slice(&body(&mut BodyContext::new(config, request, facts, quirks)).to_vec()).unwrap()
}

fn inst(text: &str) -> ChatMessage {
    ChatMessage { instruction: true, ..ChatMessage::new(Role::System, text) }
}

/// Renders a conversation, a message per line: the role, then its texts, with `*` at marked blocks.
fn shape(body: &Value) -> Vec<String> {
    let block = |block: &Value| {
        let mark = if block["cache_control"].is_null() { "" } else { "*" };
        let text = ["text", "thinking", "content", "id"].iter().find_map(|key| block[*key].as_str());
        format!("{}:{}{mark}", block["type"].as_str().unwrap(), text.unwrap_or_default().replace('\n', "/"))
    };
    let content = |content: &Value| match content {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().map(block).collect::<Vec<_>>().join(" "),
    };
    let mut lines: Vec<String> =
        body["system"].as_array().into_iter().flatten().map(|b| format!("top {}", block(b))).collect();
    for message in body["messages"].as_array().unwrap() {
        lines.push(format!("{} {}", message["role"].as_str().unwrap(), content(&message["content"])));
    }
    lines
}

#[test]
fn a_request_has_all_that_is_asked_for() {
    let options = ModelOptions {
        max_tokens: Some(4096),
        effort: Some("high".into()),
        stop: vec!["END".into()],
        ..ModelOptions::default()
    };
    let extra = json!({"metadata": {"user_id": "u"}}).as_object().cloned().unwrap();
    let config = ModelConfig { options, extra, ..config() };
    let schema = Schema { name: "n".into(), schema: json!({"type": "object"}) };
    let tool = ToolSpec { name: "t".into(), description: "d".into(), schema: json!({"properties": {}}) };
    let messages = [ChatMessage::new(Role::User, "hi")];
    let request = ChatRequest {
        messages: &messages,
        schema: Some(&schema),
        tools: &[tool],
        tools_ended: true,
        ..ChatRequest::default()
    };
    let facts = ModelFacts { capabilities: vec!["thinking.adaptive".into()], ..ModelFacts::default() };
    assert_eq!(
        sent(&config, request, &facts, &Quirks::default()),
        json!({
            "model": "claude-x",
            "tools": [{"name": "t", "description": "d", "input_schema": {"properties": {}, "type": "object"}}],
            "messages": [{"role": "user", "content":
                [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}],
            "max_tokens": 4096,
            "stream": true,
            "tool_choice": {"type": "none"},
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}},
            "stop_sequences": ["END"],
            "metadata": {"user_id": "u"},
        })
    );
    let plain = sent(
        &self::config(),
        ChatRequest { messages: &messages, ..ChatRequest::default() },
        &ModelFacts::default(),
        &Quirks::default(),
    );
    let hour = sent(
        &ModelConfig { cache: CacheLife::Hour, ..self::config() },
        ChatRequest { messages: &messages, ..ChatRequest::default() },
        &ModelFacts::default(),
        &Quirks::default(),
    );
    let mark = &hour["messages"][0]["content"][0]["cache_control"];
    assert_eq!(*mark, json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(plain["max_tokens"], 8192);
    assert!(plain["temperature"].is_null() && plain["thinking"].is_null(), "{plain}");
}

#[test]
fn the_conversation_is_in_turns_and_marked_in_three_places() {
    let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: json!({"a": 1}) };
    let result =
        |id: &str| ChatMessage { call_id: Some(id.into()), ..ChatMessage::new(Role::Tool, format!("r{id}")) };
    let asked =
        ChatMessage { calls: vec![call("1"), call("2")], ..ChatMessage::new(Role::Assistant, "both") };
    let received = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig=="},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}}]});
    let replayed = ChatMessage {
        replay: Some(ProviderMessage::new(received.clone())),
        calls: vec![call("t1")],
        ..ChatMessage::new(Role::Assistant, "")
    };
    let user = |text: &str| ChatMessage::new(Role::User, text);
    let folded: Quirks = [&SYSTEM_ROLE].into_iter().collect();
    for (messages, quirks, expected) in [
        (
            vec![
                ChatMessage::new(Role::System, "P"),
                ChatMessage::new(Role::System, "Q"),
                user("hi"),
                inst("INST"),
            ],
            Quirks::default(),
            vec!["top text:P", "top text:Q*", "user text:hi*", "system INST"],
        ),
        (
            vec![ChatMessage::new(Role::System, "P"), user("hi"), inst("INST")],
            folded.clone(),
            vec!["top text:P*", "user text:hi* text:[system]/INST"],
        ),
        (
            vec![user("a"), ChatMessage::new(Role::Assistant, "b"), inst("SUM")],
            Quirks::default(),
            vec!["user text:a", "assistant text:b*", "user text:[system]/SUM"],
        ),
        (
            vec![user("a"), asked, result("1"), result("2"), inst("INST")],
            folded.clone(),
            vec![
                "user text:a*",
                "assistant text:both tool_use:1 tool_use:2",
                "user tool_result:r1 tool_result:r2* text:[system]/INST",
            ],
        ),
        (
            vec![user("a"), replayed.clone(), result("t1")],
            folded.clone(),
            vec!["user text:a*", "assistant thinking:hm tool_use:t1", "user tool_result:rt1*"],
        ),
        (
            vec![
                user("a"),
                replayed,
                ChatMessage::new(Role::System, " \n"),
                user("b"),
                ChatMessage::new(Role::System, "ran"),
            ],
            folded,
            vec!["user text:a*", "assistant thinking:hm tool_use:t1", "user text:b text:[system]/ran*"],
        ),
    ] {
        let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
        let body = sent(&config(), request, &ModelFacts::default(), &quirks);
        assert_eq!(shape(&body), expected);
        if let Some(message) =
            body["messages"].as_array().unwrap().iter().find(|m| m["content"][0]["type"] == "thinking")
        {
            assert_eq!(message, &received);
        }
    }
}

/// The stream of an answer with thinking, text, and two calls.
const STREAM: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let "}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"me"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/=="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"secret"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I "}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"look"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":".\n"}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"b\": 1,"}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":" \"a\": [2]}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"g","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"content_block_start","index":5,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_stop","index":5}"#,
    r#"{"type":"from_the_future","x":1}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42}}"#,
    r#"{"type":"message_stop"}"#,
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

fn joined(events: &[ChatEvent]) -> Vec<ChatEvent> {
    let mut joined: Vec<ChatEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(ChatEvent::Text(all)), ChatEvent::Text(text)) => all.push_str(text),
            (Some(ChatEvent::Thinking(all)), ChatEvent::Thinking(text)) => all.push_str(text),
            (_, event) => joined.push(event.clone()),
        }
    }
    joined
}

#[test]
fn a_stream_is_understood_wherever_reads_end() {
    let call = |id: &str, name: &str, arguments: Value| {
        ChatEvent::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
    };
    let expected = vec![
        ChatEvent::Thinking("let me".into()),
        ChatEvent::Text("I look.\n".into()),
        ChatEvent::Replay(ProviderMessage::new(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "let me", "signature": "EqQB+/=="},
            {"type": "redacted_thinking", "data": "secret"},
            {"type": "text", "text": "I look.\n"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1, "a": [2]}},
            {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
        ]}))),
        call("toolu_1", "f", json!({"b": 1, "a": [2]})),
        call("toolu_2", "g", json!({})),
        ChatEvent::Usage(Usage {
            input: Some(105),
            output: Some(42),
            cached: Some(90),
            cache_write: Some(5),
            web: None,
        }),
        ChatEvent::Done(FinishReason::ToolCalls),
    ];
    let stream = stream(STREAM);
    for size in [1, 7, 100, stream.len()] {
        let (events, error) = read(stream.as_bytes().chunks(size));
        assert_eq!((joined(&events), error), (expected.clone(), None), "by {size}");
    }
}

#[test]
fn a_pause_gives_what_was_said_with_the_input_of_the_servers_own_calls() {
    let stream = stream(&[
        STREAM[0],
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\": \"x\"}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":42}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let (events, error) = read([stream.as_bytes()]);
    let message = json!({"role": "assistant", "content": [
        {"type": "text", "text": "I look."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    ]});
    assert_eq!(error, None);
    assert_eq!(events.last(), Some(&ChatEvent::Paused(ProviderMessage::new(message.clone()))));
    assert!(
        !events.iter().any(|event| matches!(event, ChatEvent::ToolCall(_) | ChatEvent::Replay(_))),
        "{events:?}"
    );

    let paused =
        ChatMessage { replay: Some(ProviderMessage::new(message)), ..ChatMessage::new(Role::Assistant, "") };
    let messages = [ChatMessage::new(Role::User, "hi"), inst("INST"), paused];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    let folded: Quirks = [&SYSTEM_ROLE].into_iter().collect();
    for (quirks, expected) in [
        (
            Quirks::default(),
            vec!["user text:hi*", "system INST", "assistant text:I look. server_tool_use:s1"],
        ),
        (folded, vec!["user text:hi* text:[system]/INST", "assistant text:I look. server_tool_use:s1"]),
    ] {
        assert_eq!(shape(&sent(&config(), request, &ModelFacts::default(), &quirks)), expected);
    }
}

#[test]
fn a_refused_schema_is_not_taken_for_a_refused_form() {
    for (words, expected) in [
        (
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be false",
            vec!["schema"],
        ),
        ("Schema is too complex for compilation.", vec!["schema"]),
        ("output_config.format: This model does not support structured outputs.", vec!["output_format"]),
    ] {
        let found = crate::quirks::quirks_named_in(400, words, SPEC.http.unwrap().quirks);
        assert_eq!(found.names().collect::<Vec<_>>(), expected, "{words}");
        assert_eq!(found.lasting().count(), usize::from(expected != ["schema"]), "{words}");
    }
}

#[test]
fn what_is_no_whole_answer_is_a_failure() {
    for (stream, expected) in [
        (
            stream(&STREAM[..STREAM.len() - 2]),
            "the answer was cut off: the stream ended without `message_stop`",
        ),
        (
            stream(&[r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#]),
            "the model failed: Overloaded",
        ),
        (
            stream(&[
                r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"not this"}}}"#,
                r#"{"type":"message_stop"}"#,
            ]),
            "the model refused to answer: cyber: not this",
        ),
        (
            r#"{"type":"error","error":{"type":"api_error","message":"oops"}}"#.to_owned(),
            "the model failed: oops",
        ),
        ("<html>no</html>".to_owned(), "unexpected response: not an answer of the Messages API: no"),
        (String::new(), "the answer was empty"),
    ] {
        assert_eq!(read([stream.as_bytes()]).1.as_deref(), Some(expected), "{stream}");
    }
    // A finish reason ends an answer, with or without the mark.
    let (events, error) = read([stream(&STREAM[..STREAM.len() - 1]).as_bytes()]);
    assert_eq!((events.last(), error), (Some(&ChatEvent::Done(FinishReason::ToolCalls)), None));
    let whole = r#"{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let usage = Usage { input: Some(1), output: Some(2), ..Usage::default() };
    assert_eq!(
        read([whole.as_bytes()]),
        (
            vec![ChatEvent::Text("hi".into()), ChatEvent::Usage(usage), ChatEvent::Done(FinishReason::Stop)],
            None
        )
    );
}

#[test]
fn what_is_kept_of_an_answer_has_an_end() {
    let text = |length: usize| "x".repeat(length);
    let start = |index: usize, text: String| {
        let block = json!({"type": "redacted_thinking", "data": text});
        json!({"type": "content_block_start", "index": index, "content_block": block}).to_string()
    };
    let signed = |_: usize| {
        let delta = json!({"type": "signature_delta", "signature": text(8 << 20)});
        json!({"type": "content_block_delta", "index": 0, "delta": delta}).to_string()
    };
    let large = |index: usize| start(index, text(8 << 20));
    let small = |index: usize| start(index, String::new());
    let too_large = "exceed 64 MiB";
    for (event, most, expected) in [
        (&large as &dyn Fn(usize) -> String, 7, too_large),
        (&signed, 7, too_large),
        (&small, 9_999, "10000 blocks"),
    ] {
        let (mut state, mut events) = (answer::MessagesDecoder::new(&[]), EventQueue::default());
        state.data(small(0).as_bytes(), &mut events).unwrap();
        let ended = (0..20_000).find_map(|i| Some((i, state.data(event(i).as_bytes(), &mut events).err()?)));
        let (taken, error) = ended.unwrap();
        assert_eq!((taken, error.kind.exit_code()), (most, 3), "{}", error.message);
        assert!(error.message.contains(expected), "{}", error.message);
    }
}
