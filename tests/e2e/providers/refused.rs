//! Refusals that have a way to go on: what is sent the next time, and what a person is told.

use serde_json::{Value, json};

use super::super::scripted::{Asked, Reply, Server, openai_sse};
use super::{TIMEOUTS, ask, ask_request, openai};
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ChatRequest, ModelNotice, ToolSpec};

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: String::new(), schema: json!({"type": "object"}) }
}

fn refused(words: &str) -> Reply {
    Reply::new(400, json!({"error": {"message": words}}).to_string())
}

#[test]
fn a_tool_whose_schema_is_refused_is_left_out_and_named() {
    let server = Server::judging(|_, asked: &Asked| {
        let body = asked.json();
        let names: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        match names.iter().position(|name| name.starts_with("bad__")) {
            Some(at) => {
                refused(&format!("Invalid 'tools[{at}].function.parameters': schema must have type object"))
            }
            None => openai_sse(["Four."]),
        }
    });
    let messages = [ChatMessage::new(Role::User, "hi")];
    let tools = [tool("run_command"), tool("bad__a"), tool("fs__read"), tool("bad__b")];
    let request = ChatRequest { messages: &messages, tools: &tools, ..ChatRequest::default() };
    let heard = ask_request(&openai(&server), TIMEOUTS, request);
    assert_eq!(heard.text(), "Four.", "{:?}", heard.error);
    let left: Vec<&str> = heard
        .notices
        .iter()
        .filter_map(|notice| match notice {
            ModelNotice::ToolLeftOut(_, tool, _) => Some(tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(left, ["bad__a", "bad__b"]);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_slip_of_the_model_is_asked_again_once_and_shown() {
    let slip = || {
        let tried = "<function=run{\"a\"";
        let error = json!({"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": tried});
        Reply::new(400, json!({"error": error}).to_string())
    };
    let server = Server::start([slip(), openai_sse(["Four."]), slip(), slip()]);
    let heard = ask(&openai(&server));
    assert_eq!(heard.text(), "Four.");
    assert!(
        matches!(heard.notices.as_slice(), [ModelNotice::Slipped(_, tried)] if tried.contains("<function=run"))
    );
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("cannot read") && failure.contains("<function=run"), "{failure}");
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn a_model_that_may_not_stream_answers_whole() {
    let whole = json!({"choices": [{"message": {"content": "Four."}, "finish_reason": "stop"}]}).to_string();
    let server = Server::judging(move |_, asked: &Asked| match asked.json()["stream"] == true {
        true => refused("Your organization must be verified to stream this model."),
        false => Reply::new(200, whole.clone()),
    });
    let heard = ask(&openai(&server));
    assert_eq!(heard.text(), "Four.", "{:?}", heard.error);
    let bodies: Vec<Value> = server.asked().iter().map(Asked::json).collect();
    assert_eq!(bodies[1]["stream"], false);
    assert!(bodies[1]["stream_options"].is_null(), "{}", bodies[1]);
}

#[test]
fn a_limit_a_minute_is_not_asked_again_and_a_wait_of_the_body_is() {
    let over = "Request too large on tokens per minute (TPM): Limit 8000, Requested 9000";
    let error = json!({"error": {"message": over, "code": "rate_limit_exceeded"}}).to_string();
    let server = Server::start([Reply::new(413, error)]);
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("this request alone is over a limit per minute"), "{failure}");
    assert!(failure.contains("; waiting does not help") && server.asked().len() == 1, "{failure}");

    let later = json!([{"error": {"code": 429, "message": "slow", "details": [{"retryDelay": "0.01s"}]}}])
        .to_string();
    let server = Server::start([Reply::new(429, later), openai_sse(["Four."])]);
    let heard = ask(&openai(&server));
    let wait = heard.notices.iter().find_map(|notice| match notice {
        ModelNotice::Retries(retry) => Some(retry.wait),
        _ => None,
    });
    assert_eq!((heard.text().as_str(), wait), ("Four.", Some(std::time::Duration::from_millis(10))));
}

#[test]
fn what_comes_behind_the_end_mark_changes_nothing() {
    let server = Server::start([openai_sse(["Four."]).then(super::super::scripted::Piece::Close)]);
    let heard = ask(&openai(&server));
    assert_eq!((heard.text().as_str(), heard.error.is_none()), ("Four.", true), "{:?}", heard.error);
}
