//! Requests share their beginning, so that servers find it in their cache: at least 95 % of each request is
//! the beginning of the next, within a turn and within a conversation.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{
    ANTHROPIC, CHAT, NATIVE, OLLAMA, RESPONSES, chat, chat_said, home, messages_api, responses_api,
    said_item, spoken,
};
use crate::scripted::{Asked, Reply, Server, ollama_ndjson};

/// A body as a server's cache sees it: without the marks that only say how far to keep.
fn seen(asked: &Asked) -> Vec<u8> {
    let text = String::from_utf8(asked.body.clone()).unwrap();
    text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "").into_bytes()
}

#[test]
fn each_request_begins_with_the_one_before() {
    let item =
        json!({"type": "function_call", "id": "f", "call_id": "c", "name": "hammer", "arguments": "{}"});
    let block = json!({"type": "tool_use", "id": "t", "name": "hammer", "input": {}});
    let delta =
        json!({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "hammer", "arguments": "{}"}}]});
    for (name, model, settings, answers) in [
        ("chat", CHAT, NATIVE, vec![chat([delta]), chat_said("a"), chat_said("b")]),
        (
            "responses",
            RESPONSES,
            NATIVE,
            vec![responses_api(&[item]), responses_api(&[said_item("a")]), responses_api(&[said_item("b")])],
        ),
        ("anthropic", ANTHROPIC, NATIVE, vec![messages_api(&[block], "tool_use"), spoken("a"), spoken("b")]),
        ("ollama", OLLAMA, "planner = 'off'", vec![ollama_ndjson(["a"]), ollama_ndjson(["b"])]),
    ] {
        let answers = Mutex::new(answers.into_iter());
        let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::new(404, "{}"),
            _ => answers.lock().unwrap().next().unwrap(),
        });
        let home = home(&server, settings, model);
        // A conversation of a size at which a cache matters; the instruction is a part that differs.
        home.write("config/system_prompt.txt", "A prompt of some length. ".repeat(2000));
        assert_eq!(home.ok(&["do", "first"]), "a\n");
        assert_eq!(home.ok(&["do", "second"]), "b\n");
        let asked: Vec<Vec<u8>> = server.asked().iter().filter(|a| a.method == "POST").map(seen).collect();
        for pair in asked.windows(2) {
            let shared = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
            let share = shared as f64 / pair[1].len() as f64;
            println!("{name}: {shared} of {} bytes, {:.2} %", pair[1].len(), share * 100.0);
            assert!(share >= 0.95, "{name}: {share}");
        }
        let tools: Vec<Value> =
            server.asked().iter().filter(|a| a.method == "POST").map(|a| a.json()["tools"].clone()).collect();
        assert!(tools.iter().all(|t| *t == tools[0]), "{name}");
    }
}
