//! Parameters that a server turns out not to take, learned once, said once.

use serde_json::json;

use super::{CHAT, NATIVE, OLLAMA, bodies, chat, chat_said, home, refused};
use crate::disk::bubbs;
use crate::scripted::{Asked, Reply, Server, ollama_ndjson};

#[test]
fn tools_with_reasoning_are_asked_for_with_effort_none() {
    // OpenAI's chat completions since gpt-5.4, whether an effort was sent or not.
    let server = Server::judging(|_, asked: &Asked| {
        let body = asked.json();
        if !body["tools"].is_null() && body["reasoning_effort"] != "none" {
            return refused(
                "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. \
                 Please use /v1/responses or set reasoning_effort to 'none'.",
            );
        }
        chat_said("Hi.")
    });
    let home = home(&server, NATIVE, CHAT);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert!(ran.err.contains("wire = \"responses\""), "{}", ran.err);
    assert_eq!(home.lepo(&["do", "again"]).err.matches("reasoning_effort").count(), 0);
    assert_eq!(bodies(&server).len(), 3);
}

#[test]
fn a_server_without_native_tools_gets_a_chooser_from_then_on() {
    let server = Server::judging(|_, asked: &Asked| {
        let body = asked.json();
        if !body["tools"].is_null() {
            return refused("registry.example/m does not support tools");
        }
        if body["response_format"].is_null() { chat_said("Hi.") } else { chat_said(r#"{"tool":"none"}"#) }
    });
    // As by default.
    let home = home(&server, "", CHAT);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert!(ran.err.contains("does not support native tools"), "{}", ran.err);
    assert_eq!(bodies(&server).len(), 3, "refused, chooser, answer");
    let ran = home.lepo(&["do", "again"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert!(!ran.err.contains("native"), "it was said once: {}", ran.err);
    assert_eq!(bodies(&server).len(), 5, "chooser, answer");
}

#[test]
fn ollamas_calls_without_any_tools_get_a_result() {
    let call = json!({"message": {"content": "", "thinking": "hm", "tool_calls": [{"function": {"name": "look", "arguments": {"at": "x"}}}]},
                      "done": true, "done_reason": "stop"});
    let server = Server::start([Reply::new(200, format!("{call}\n")), ollama_ndjson(["In words."])]);
    let home = home(&server, "planner = 'off'", OLLAMA);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "In words.\n"), "{}", ran.err);
    let body = &bodies(&server)[1];
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], json!({"at": "x"}));
    assert_eq!(body["messages"][2]["thinking"], "hm");
    assert_eq!(body["messages"][3]["role"], "tool");
    assert!(body["messages"][3]["content"].as_str().unwrap().contains("there are no tools here"));
    assert_eq!((&body["truncate"], &body["shift"]), (&json!(false), &json!(false)));
}

#[test]
fn thinking_in_the_answer_is_thinking_on_every_wire() {
    let answer = "<think>\nI wonder\n</think>\n\nHello.";
    let chat_server = Server::start([chat([json!({"content": answer})])]);
    let ollama_server = Server::start([ollama_ndjson(["<th", "ink>\nI wonder\n</think>\n\nHel", "lo."])]);
    for (server, model) in [(chat_server, CHAT), (ollama_server, OLLAMA)] {
        let home = home(&server, "planner = 'off'", model);
        assert_eq!(home.ok(&["do", "hi"]), "Hello.\n");
        assert_eq!(bubbs(&home).pop().unwrap().text, "Hello.");
    }
}

#[test]
fn options_and_extra_go_into_each_wires_own_fields() {
    let options = "options = { temperature = 0.5, max_tokens = 64, effort = \"low\", top_p = 0.9, seed = 7, stop = [\"END\"] }\n\
                   extra = { top_k = 20, options = { mirostat = 1 } }";
    let server = Server::start([chat_said("a"), chat_said("b")]);
    let chat_home = home(&server, "planner = 'off'", &format!("{CHAT}\n{options}"));
    chat_home.ok(&["do", "hi"]);
    let body = &bodies(&server)[0];
    for (field, value) in [
        ("temperature", json!(0.5)),
        ("max_tokens", json!(64)),
        ("reasoning_effort", json!("low")),
        ("top_p", json!(0.9)),
        ("seed", json!(7)),
        ("stop", json!(["END"])),
        ("top_k", json!(20)),
    ] {
        assert_eq!(body[field], value, "{field}");
    }
    chat_home.ok(&["do", "--temperature", "1", "--effort", "high", "--max-tokens", "9", "hi"]);
    let body = &bodies(&server)[1];
    assert_eq!(
        (&body["temperature"], &body["reasoning_effort"], &body["max_tokens"]),
        (&json!(1.0), &json!("high"), &json!(9))
    );

    let server = Server::start([ollama_ndjson(["a"])]);
    let home = home(&server, "planner = 'off'", &format!("{OLLAMA}\ncontext = 8192\n{options}"));
    home.ok(&["do", "hi"]);
    let body = &bodies(&server)[0];
    assert_eq!(
        body["options"],
        json!({"temperature": 0.5, "num_predict": 64, "top_p": 0.9, "seed": 7, "stop": ["END"], "num_ctx": 8192, "mirostat": 1})
    );
    assert_eq!((&body["think"], &body["top_k"]), (&json!("low"), &json!(20)));
}

#[test]
fn a_key_may_come_from_a_program_and_is_in_no_log() {
    let server = Server::start([chat_said("a")]);
    let model = format!("{CHAT}\napi_key_command = [\"sh\", \"-c\", \"echo sk-printed; echo more\"]");
    let home = home(&server, "planner = 'off'\nlog_level = 'debug'", &model);
    home.write(
        "config/config.toml",
        home.read("config/config.toml").replace("api_key = \"sk-canary\"\n", ""),
    );
    home.ok(&["do", "hi"]);
    assert_eq!(server.asked()[0].header("authorization"), Some("Bearer sk-printed"));
    let found = home.shell("grep -r sk-printed .. --include=*.log || true").output().unwrap();
    assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
}
