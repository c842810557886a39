//! The tools of a conversation stay as they were: with tools off for a question, and where a server fails.

use std::fs;

use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, RESPONSES, bodies, chat_said, home, responses_api, said_item, spoken};
use crate::bots::{Bot, messages};
use crate::home::Home;
use crate::mcp::{configure, hostile, left};
use crate::scripted::{Reply, Server, openai_calls, openai_sse};

const AUTO: &str = "planner = 'native'\ntool_call_mode = 'auto'";

fn answer_on(model: &str, words: &str) -> Reply {
    match model {
        RESPONSES => responses_api(&[said_item(words)]),
        ANTHROPIC => spoken(words),
        _ => chat_said(words),
    }
}

fn telling(home: &Home) {
    configure(home, &[("s", hostile(home, "s", "from-file"))]);
    home.write("left/s/tools", json!({ "echo": "Says a word." }).to_string());
}

fn ask(home: &Home, args: &[&str]) -> String {
    let ran = home.alone(&[&["do"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran.out
}

#[test]
fn with_tools_off_for_a_question_they_are_listed_as_before_and_none_may_be_called() {
    for model in [CHAT, RESPONSES, ANTHROPIC] {
        let server = Server::start((0..12).map(|_| answer_on(model, "Yes.")));
        let home = home(&server, AUTO, model);
        telling(&home);
        ask(&home, &["one"]);
        ask(&home, &["--tools", "off", "two"]);
        ask(&home, &["three"]);
        let sent = bodies(&server);
        assert_eq!(sent[0]["tools"].as_array().unwrap().len(), 2, "{model}");
        assert!(sent.iter().all(|body| body["tools"] == sent[0]["tools"]), "{model}");
        let choices: Vec<Value> = sent.iter().map(|body| body["tool_choice"].clone()).collect();
        let none = if model == ANTHROPIC { json!({"type": "none"}) } else { json!("none") };
        assert_eq!(choices, [Value::Null, none, Value::Null], "{model}");
        // Only the first question asked the server for its tools.
        assert_eq!(left(&home, "s", "starts").len(), 1, "{model}");
        // A new conversation has nothing to lose, and neither has one that never had tools.
        ask(&home, &["-n", "--tools", "off", "four"]);
        ask(&home, &["--tools", "off", "five"]);
        let sent = bodies(&server);
        assert!(sent[3..].iter().all(|body| body["tools"].is_null()), "{model}");
    }
}

#[test]
fn an_answer_with_tools_off_is_found_by_a_look_up_with_tools_off_alone() {
    let server = Server::start((0..2).map(|_| answer_on(CHAT, "Yes.")));
    let home = home(&server, AUTO, CHAT);
    ask(&home, &["one"]);
    let tail = home.ok(&["resolve", "@"]).trim().to_string();
    ask(&home, &["--tools", "off", "two"]);
    let look_up = |args: &[&str]| {
        let common = ["do", "--recorded=only", "--tail", &tail, "two"];
        home.alone(&[&common[..], args].concat()).code
    };
    assert_eq!(look_up(&["--tools", "off"]), 0);
    assert_ne!(look_up(&[]), 0, "with tools the model could have called one");
}

#[test]
fn a_failing_server_keeps_its_list_for_the_conversation_and_its_call_gets_the_error() {
    let replies: [Reply; 5] = [
        openai_sse(["One."]),
        openai_calls("", &[("s__echo", "{}")]),
        openai_sse(["It failed."]),
        openai_sse(["Three."]),
        openai_sse(["Four."]),
    ];
    let bot = Bot::openai(AUTO, replies);
    telling(&bot.home);
    ask(&bot.home, &["one"]);
    // The list is of an age at which the server is asked again, and that fails.
    for entry in fs::read_dir(bot.home.path().join("state/lepo/mcp-tools")).unwrap() {
        let path = entry.unwrap().path();
        let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        list["asked"] = json!(1_000_000_000);
        fs::write(&path, list.to_string()).unwrap();
    }
    bot.home.write("left/s/tools", "{");
    ask(&bot.home, &["two"]);
    let bodies = bot.bodies();
    assert!(bodies[0]["tools"].to_string().contains("s__echo"));
    assert!(bodies[1..].iter().all(|body| body["tools"] == bodies[0]["tools"]));
    let result = messages(&bodies[2]).into_iter().rev().find(|(role, _)| role == "tool").unwrap().1;
    assert!(result.starts_with("error"), "{result}");
    // A new conversation did not have it.
    ask(&bot.home, &["-n", "three"]);
    assert!(!bot.bodies()[3]["tools"].to_string().contains("s__echo"));
}
