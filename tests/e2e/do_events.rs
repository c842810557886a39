//! `lepo do --events`: what a program that is built on lepo reads.

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::scripted::Reply;

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn named<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn every_step_of_a_turn_is_a_line() {
    let writer = r#"{"command":"echo out; echo 말 >&2","access":"read"}"#;
    let bot = Bot::saying(
        "tool_call_mode = \"auto\"",
        &[r#"{"tool":"command"}"#, writer, r#"{"tool":"none"}"#, "파리, 그것이다."],
    );
    let ran = bot.lepo(&["do", "--events", "--run", "echo mine", "수도?"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let all_events = events(&ran.out);

    // Every bubb in its order, each with what it says; the answer's text came in pieces before.
    let written = named(&all_events, "bubb");
    let stored = bubbs(&bot.home);
    let ids = |bubbs: &[&Value]| bubbs.iter().map(|bubb| bubb["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&written), stored.iter().map(|bubb| json!(bubb.id)).collect::<Vec<_>>());
    for (event, bubb) in written.iter().zip(&stored) {
        assert_eq!(event["prev"].as_str().unwrap_or("head"), bubb.prev, "{event}");
    }
    let (answer, before) = written.split_last().unwrap();
    assert!(before.iter().all(|bubb| bubb["text"].is_string()), "{before:?}");
    assert_eq!(
        (&answer["kind"], &answer["hidden"], &answer["text"]),
        (&json!("assistant"), &json!(false), &Value::Null)
    );
    let pieces: String =
        named(&all_events, "text").iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert_eq!(pieces, "파리, 그것이다.");

    assert_eq!(named(&all_events, "running")[0]["command"], "echo mine");
    assert!(named(&all_events, "stderr").iter().any(|event| event["text"] == "말\n"), "{all_events:?}");
    assert!(!named(&all_events, "waiting").is_empty());
    // The question is durable before anything is waited for.
    let at = |is: &dyn Fn(&Value) -> bool| all_events.iter().position(is).unwrap();
    assert!(
        at(&|event| event["kind"] == "user") < at(&|event| event["event"] == "waiting"),
        "{all_events:?}"
    );
    let end = all_events.last().unwrap();
    assert_eq!(
        (&end["event"], &end["answer"]["text"], &end["error"]),
        (&json!("end"), &json!("파리, 그것이다."), &Value::Null)
    );
    assert_eq!(end["answer"]["id"], answer["id"]);
}

#[test]
fn a_request_nobody_can_be_asked_about_is_told_and_waits() {
    let writer = r#"{"command":"touch x","access":"write","why":"to see"}"#;
    let bot = Bot::saying("", &[r#"{"tool":"command"}"#, writer]);
    let ran = bot.lepo(&["do", "--events", "q"]);
    assert_eq!(ran.code, 4);
    let all_events = events(&ran.out);
    let ask = named(&all_events, "ask")[0];
    assert_eq!(ask["request"], json!({"access": "write", "command": "touch x", "why": "to see"}));
    let end = all_events.last().unwrap();
    assert_eq!((&end["event"], &end["error"]["kind"]), (&json!("end"), &json!("pending")));
    assert_eq!(end["pending"], json!(bubbs(&bot.home).last().unwrap().id));
}

#[test]
fn the_text_of_a_note_does_not_say_that_it_is_one() {
    let length = json!({"choices": [{"index": 0, "delta": {"content": "cut"}, "finish_reason": "length"}]});
    let bot =
        Bot::openai("planner = \"off\"", [Reply::new(200, format!("data: {length}\n\ndata: [DONE]\n\n"))]);
    let ran = bot.lepo(&["do", "--events", "q"]);
    let all_events = events(&ran.out);
    let text = named(&all_events, "note")[0]["text"].as_str().unwrap();
    assert!(text.starts_with("the answer was cut off at"), "{text}");
}

#[test]
fn a_failure_has_its_last_line_too() {
    for (args, code, kind) in [
        (&["do", "--events", "q"][..], 3, "remote"),
        (&["do", "--events", " "], 2, "usage"),
        (&["do", "--events", "--no-such"], 2, "usage"),
        (&["do", "--events", "--json", "q"], 2, "usage"),
    ] {
        let bot = Bot::openai("planner = \"off\"", [Reply::new(401, "no")]);
        let ran = bot.lepo(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        let all_events = events(&ran.out);
        let end = all_events.last().unwrap();
        assert_eq!((&end["event"], &end["error"]["kind"]), (&json!("end"), &json!(kind)), "{args:?}");
        assert_eq!(named(&all_events, "end").len(), 1);
    }
}
