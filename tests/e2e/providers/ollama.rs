//! Ollama's wire.

use serde_json::json;

use super::super::scripted::{Reply, Server, ollama_ndjson};
use super::{TIMEOUTS, ask, ask_request, ollama};
use lepo_base::role::Role;
use lepo_model::{ChatEvent, ChatMessage, ChatRequest, FinishReason, Schema, ToolCall, ToolSpec, Usage};

#[test]
fn an_answer_streams_and_says_what_it_cost() {
    let server = Server::start([ollama_ndjson(["Hel", "lo"])]);
    let schema = Schema { name: "s".into(), schema: json!({"type": "object"}) };
    let tool = ToolSpec { name: "t".into(), description: "d".into(), schema: json!({}) };
    let messages = [ChatMessage::new(Role::System, "be brief"), ChatMessage::new(Role::User, "why?")];
    let request =
        ChatRequest { messages: &messages, schema: Some(&schema), tools: &[tool], ..ChatRequest::default() };
    let heard = ask_request(&ollama(&server), TIMEOUTS, request);
    let usage = Usage { input: Some(12), output: Some(34), ..Usage::default() };
    assert_eq!(heard.text(), "Hello");
    let mut events = heard.whole();
    // The text is one event or two, as the reads happen to be.
    events.retain(|event| !matches!(event, ChatEvent::Text(_)));
    assert_eq!(events, [ChatEvent::Usage(usage), ChatEvent::Done(FinishReason::Stop)]);

    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/api/chat");
    let expected = json!({"model": "test-1", "stream": true, "truncate": false, "shift": false, "options": {"temperature": 0.1},
        "format": {"type": "object"}, "messages": [
            {"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}]});
    assert_eq!(asked.json(), expected, "and no `tools`");
}

#[test]
fn lines_may_be_split_anywhere() {
    let lines = "\u{feff}{\"message\":{\"content\":\"안녕\"}}\r\n\r\n{\"message\":{\"content\":\"🙂\"},\"done\":true}";
    for size in [1, 2, 3, 7, 1000] {
        let server = Server::start([Reply::chunks(lines.as_bytes().chunks(size))]);
        let heard = ask(&ollama(&server));
        assert_eq!(heard.text(), "안녕🙂", "{size} bytes at a time");
        assert_eq!(heard.whole().last(), Some(&ChatEvent::Done(FinishReason::Stop)));
    }
}

#[test]
fn thinking_is_heard_in_both_places_and_native_calls_are_accepted() {
    let lines = [
        json!({"message": {"content": "", "thinking": "h"}, "done": false}),
        json!({"thinking": "m", "done": false}),
        json!({"message": {"content": "", "tool_calls": [
            {"function": {"name": "read", "arguments": {"path": "a"}}},
            {"id": "x9", "function": {"name": "list"}}]}, "done": false}),
        json!({"done": true, "done_reason": "length"}),
    ];
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let server = Server::start([Reply::new(200, body)]);
    let heard = ask(&ollama(&server));
    assert_eq!(heard.thinking(), "hm");
    let call = |id: &str, name: &str, arguments| {
        ChatEvent::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
    };
    let expected = [
        call("call_1", "read", json!({"path": "a"})),
        call("x9", "list", json!({})),
        ChatEvent::Done(FinishReason::Length),
    ];
    // Before them comes the message they are in.
    assert_eq!(heard.whole().split_off(2), expected);
}

#[test]
fn what_is_no_answer_is_said_clearly() {
    let begun = "{\"message\":{\"content\":\"a\"},\"done\":false}\n";
    for (what, body, text, words) in [
        ("an error", "{\"error\":\"out of memory\"}".to_owned(), "", "the model failed: out of memory"),
        ("an error midway", format!("{begun}{{\"error\":\"boom\"}}"), "a", "the model failed: boom"),
        ("cut off", begun.to_owned(), "a", "the answer was cut off"),
        ("half a line", format!("{begun}{{\"mess"), "a", "the answer was cut off"),
        ("nothing", String::new(), "", "the answer was empty"),
        ("a page", "<html>\n<h1>hi</h1>".to_owned(), "", "the answer is not valid JSON: an HTML page"),
    ] {
        let server = Server::start([Reply::new(200, body)]);
        let heard = ask(&ollama(&server));
        assert_eq!(heard.text(), text, "{what}: what came before is heard first");
        assert!(heard.failure().contains(words), "{what}: {}", heard.failure());
    }
}

#[test]
fn a_missing_model_is_named_with_the_way_to_get_it() {
    let server = Server::start([Reply::new(404, r#"{"error":"model 'test-1' not found"}"#)]);
    let failure = ask(&ollama(&server)).failure();
    assert!(failure.contains("no model \"test-1\" at http://127.0.0.1:"), "{failure}");
    assert!(failure.contains("ollama pull test-1"), "{failure}");
}
