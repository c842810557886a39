//! The Messages API, end to end.

use serde_json::{Value, json};

use super::{ANTHROPIC, NATIVE, bodies, home, messages_api, refused, spoken, sse};
use crate::disk::bubbs;
use crate::scripted::{Asked, Reply, Server};

/// The server's facts about its model.
fn model(thinking: &str) -> Reply {
    let types = json!({"adaptive": {"supported": thinking == "adaptive"}, "enabled": {"supported": thinking == "enabled"}});
    Reply::new(
        200,
        json!({"type": "model", "id": "m", "max_input_tokens": 200_000, "max_tokens": 64_000,
               "capabilities": {"thinking": {"supported": true, "types": types}}})
        .to_string(),
    )
}

fn blocks() -> Vec<Value> {
    vec![
        json!({"type": "thinking", "thinking": "I must hit it", "signature": "EqQB+/=="}),
        json!({"type": "redacted_thinking", "data": "b64=="}),
        json!({"type": "text", "text": "I try."}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "hammer", "input": {"z": 1, "a": "한"}}),
        json!({"type": "tool_use", "id": "toolu_2", "name": "saw", "input": {}}),
    ]
}

/// Refuses what the real server refuses.
fn validate(body: &Value) -> Result<(), String> {
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: Field required".into());
    }
    let mut last = "";
    let messages = body["messages"].as_array().ok_or("messages: Field required")?;
    for (i, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap();
        if role == last {
            return Err(format!("messages.{i}: roles must alternate"));
        }
        let before_assistant = messages.get(i + 1).is_none_or(|next| next["role"] == "assistant");
        if role == "system" && (last != "user" || !before_assistant) {
            return Err(format!("messages.{i}: a system message must follow a user message"));
        }
        let ids = |i: usize, kind: &str, name: &str| -> Vec<Value> {
            let blocks = messages.get(i).and_then(|m| m["content"].as_array().cloned()).unwrap_or_default();
            blocks.iter().filter(|b| b["type"] == kind).map(|b| b[name].clone()).collect()
        };
        let calls = ids(i, "tool_use", "id");
        if calls != ids(i + 1, "tool_result", "tool_use_id") {
            return Err(format!(
                "messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after"
            ));
        }
        if !calls.is_empty() && body["tools"].is_null() {
            return Err("Requests which include `tool_use` blocks must define tools".into());
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "text" && block["text"].as_str().unwrap().trim().is_empty() {
                return Err("text content blocks must be non-empty".into());
            }
            if block["type"] == "thinking" && block["signature"] != "EqQB+/==" {
                return Err("Invalid `signature` in `thinking` block".into());
            }
        }
        last = role;
    }
    Ok(())
}

pub(super) fn server(answers: Vec<Reply>, thinking: &'static str) -> Server {
    let answers = std::sync::Mutex::new(answers.into_iter());
    Server::judging(move |_, asked: &Asked| {
        if asked.method == "GET" {
            return model(thinking);
        }
        match validate(&asked.json()) {
            Ok(()) => answers.lock().unwrap().next().unwrap_or_else(|| Reply::new(410, "over")),
            Err(words) => refused(&words),
        }
    })
}

#[test]
fn a_tool_loop_with_thinking_goes_back_as_it_came() {
    let call = json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}]);
    let broken = json!({"max_tokens": 1, "messages": [{"role": "assistant", "content": call}]});
    assert!(validate(&broken).unwrap_err().contains("without `tool_result`"));

    let server =
        server(vec![messages_api(&blocks(), "tool_use"), spoken("Done."), spoken("Again.")], "adaptive");
    let home = home(&server, NATIVE, ANTHROPIC);
    let ran = home.lepo(&["do", "hit it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I try.\nDone.\n"), "{}", ran.err);
    let asked = server.asked();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("GET", "/v1/models/m"));
    assert_eq!(asked[1].path, "/v1/messages");
    assert_eq!(asked[1].header("x-api-key"), Some("sk-canary"));
    assert_eq!(asked[1].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked[1].header("authorization"), None);

    let bodies = bodies(&server);
    assert_eq!(bodies[0]["max_tokens"], 64_000);
    assert_eq!(bodies[0]["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert!(bodies[0]["temperature"].is_null());
    assert_eq!(bodies[0]["system"][0]["cache_control"]["type"], "ephemeral");
    let messages = &bodies[1]["messages"];
    assert_eq!(messages[1]["content"], Value::Array(blocks()), "byte for byte, ids and order included");
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2, "all results in one message");
    assert_eq!(results[1]["cache_control"]["type"], "ephemeral");
    assert_eq!(messages[3], json!({"role": "system", "content": "GENERAL"}));
    assert_eq!(bodies[0]["tools"], bodies[1]["tools"]);
    let marks = bodies[1].to_string().matches("cache_control").count();
    assert_eq!(marks, 3, "the system prompt, the block before the calls, the last block");

    // A finished turn leaves its calls and their thinking out; cached tokens are in the journal.
    assert_eq!(home.ok(&["do", "and?"]), "Again.\n");
    assert!(!bodies_text(&server, 2).contains("tool_use"));
    let journal = home.read("work/.lepo/_journal.ndjson");
    assert!(journal.contains("\"input\":100,\"cached\":90"), "{journal}");
}

#[test]
fn a_model_that_pauses_is_asked_to_go_on() {
    let searched = [
        json!({"type": "thinking", "thinking": "Where?", "signature": "EqQB+/=="}),
        json!({"type": "text", "text": "I look. "}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "한"}}),
    ];
    let read = [json!({"type": "text", "text": "I read. "})];
    let answers = vec![
        messages_api(&searched, "pause_turn"),
        messages_api(&read, "pause_turn"),
        messages_api(&blocks(), "tool_use"),
        spoken("Found."),
    ];
    let server = server(answers, "adaptive");
    let home = home(&server, NATIVE, ANTHROPIC);
    let ran = home.lepo(&["do", "search"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I look. I read. I try.\nFound.\n"), "{}", ran.err);
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 4);
    let last = |i: usize| bodies[i]["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(last(1), json!(searched));
    assert_eq!(last(2), json!([&searched[..], &read[..]].concat()));
    // The calls that follow go back with all that was said before them.
    let whole = [&searched[..], &read[..], &blocks()[..]].concat();
    assert_eq!(bodies[3]["messages"][1]["content"], json!(whole));
    assert_eq!(bodies[0]["system"], bodies[2]["system"]);

    let endless = server_that_pauses();
    let home = self::home(&endless, "planner = 'off'", ANTHROPIC);
    let ran = home.lepo(&["do", "search"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("paused 10 times"), "{}", ran.err);
    assert_eq!(self::bodies(&endless).len(), 11);
}

fn server_that_pauses() -> Server {
    let pause = messages_api(&[json!({"type": "text", "text": "Hm. "})], "pause_turn");
    Server::judging(move |_, asked: &Asked| if asked.method == "GET" { model("none") } else { pause.clone() })
}

fn bodies_text(server: &Server, at: usize) -> String {
    bodies(server)[at].to_string()
}

#[test]
fn approved_later_the_signature_is_still_there() {
    let call = vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "EqQB+/=="}),
        json!({"type": "tool_use", "id": "toolu_9", "name": "run_command",
               "input": {"command": "true", "access": "full"}}),
    ];
    let server = server(vec![messages_api(&call, "tool_use"), spoken("Done.")], "enabled");
    let home = home(&server, NATIVE, ANTHROPIC);
    assert_eq!(home.alone(&["do", "go"]).code, 4);
    assert_eq!(bodies(&server)[0]["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
    let id = bubbs(&home).pop().unwrap().id;
    let ran = home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(bodies(&server)[1]["messages"][1]["content"], Value::Array(call));
}

#[test]
fn an_instruction_that_may_not_be_a_system_message_is_folded_once_and_for_all() {
    let server = Server::judging(|_, asked: &Asked| {
        if asked.method == "GET" {
            return Reply::new(404, "{}");
        }
        let body = asked.json();
        let system = body["messages"].as_array().unwrap().iter().any(|m| m["role"] == "system");
        if system {
            refused("messages.1: role 'system' is not supported on this model")
        } else {
            spoken("Hi.")
        }
    });
    let home = home(&server, "planner = 'off'", ANTHROPIC);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert!(ran.err.contains("does not accept a system message at the end"), "{}", ran.err);
    let ran = home.lepo(&["do", "again"]);
    assert!(!ran.err.contains("system message"), "{}", ran.err);
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 3);
    let last = bodies[2]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"][1]["text"], "[system]\nGENERAL");
    assert_eq!(bodies[2]["max_tokens"], 8192);
}

#[test]
fn the_longest_answer_is_told_by_the_list_where_a_model_has_no_page_of_its_own() {
    let server = Server::judging(|_, asked: &Asked| match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", path) if path.ends_with("/m") => Reply::new(404, "{}"),
        ("GET", _) => {
            let models = json!([{"id": "other", "max_tokens": 1}, {"id": "m", "max_tokens": 32_000}]);
            Reply::new(200, json!({"data": models, "has_more": false}).to_string())
        }
        _ => spoken("Hi."),
    });
    let home = home(&server, "planner = 'off'", ANTHROPIC);
    assert_eq!(home.ok(&["do", "hi"]), "Hi.\n");
    assert_eq!(bodies(&server)[0]["max_tokens"], 32_000);
}

#[test]
fn errors_after_a_success_are_asked_again_and_a_refusal_is_exit_3() {
    let overloaded =
        || sse([json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})]);
    let server = server(vec![overloaded().header("x", "y"), spoken("At last.")], "none");
    let home = home(&server, "planner = 'off'", ANTHROPIC);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "At last.\n"), "{}", ran.err);
    assert!(ran.err.contains("test failed: Overloaded (overloaded_error): retrying in"), "{}", ran.err);

    let refusal = sse([
        json!({"type": "message_start", "message": {}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "not this"}}}),
        json!({"type": "message_stop"}),
    ]);
    let server = self::server(vec![refusal], "none");
    let home = super::home(&server, "planner = 'off'", ANTHROPIC);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("the model refused to answer: not this"), "{}", ran.err);
}

#[test]
fn once_tool_use_has_ended_tools_stay_and_none_may_be_called() {
    let hammer = || {
        messages_api(&[json!({"type": "tool_use", "id": "t1", "name": "hammer", "input": {}})], "tool_use")
    };
    let saw =
        || messages_api(&[json!({"type": "tool_use", "id": "t2", "name": "saw", "input": {}})], "tool_use");
    let server = server(vec![hammer(), saw(), spoken("Then in words.")], "none");
    let home = home(&server, "planner = 'native'\nmax_rounds = 1", ANTHROPIC);
    let ran = home.lepo(&["do", "hit"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Then in words.\n"), "{}", ran.err);
    let sent = bodies(&server);
    assert!(sent[0]["tool_choice"].is_null());
    assert_eq!(sent[1]["tool_choice"], json!({"type": "none"}));
    assert!(sent.iter().all(|body| body["tools"] == sent[0]["tools"]));
    let last = sent[2]["messages"].as_array().unwrap().iter().rev().find(|m| m["role"] == "user").unwrap();
    assert!(last.to_string().contains("no tool can be called any more"), "{last}");

    let server = self::server(vec![hammer(), saw(), hammer()], "none");
    let home = super::home(&server, "planner = 'native'\nmax_rounds = 1", ANTHROPIC);
    let ran = home.lepo(&["do", "hit"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("keeps calling tools without answering"), "{}", ran.err);
}

#[test]
fn the_rest_of_a_stopped_answer_follows_it_directly_where_the_model_takes_that() {
    for (model, thinking, own, is_direct) in [
        ("claude-sonnet-4-5-20250929", "none", false, true),
        ("claude-sonnet-4-5-20250929", "none", true, false),
        ("claude-sonnet-4-5-20250929", "enabled", false, false),
        ("claude-opus-4-6", "none", false, false),
        ("m", "none", false, false),
    ] {
        let cut = sse([
            json!({"type": "message_start", "message": {}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half an "}}),
        ]);
        let server = server(vec![cut, spoken("answer."), spoken("Yes.")], thinking);
        let home = home(&server, NATIVE, ANTHROPIC);
        home.write(
            "config/config.toml",
            home.read("config/config.toml").replace("\"m\"", &format!("{model:?}")),
        );
        if !own {
            home.write_insts("");
        }
        assert_eq!(home.alone(&["do", "q"]).code, 3);
        let ran = home.alone(&["do", "--continue"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "answer.\n"), "{model}: {}", ran.err);
        assert_eq!(home.alone(&["do", "and?"]).code, 0);
        let sent = bodies(&server);
        let (rest, next) = (&sent[1], &sent[2]);
        let part = &rest["messages"][1]["content"][0]["text"];
        assert_eq!(rest["tools"], sent[0]["tools"]);
        let is_kept = bubbs(&home).iter().any(|bubb| bubb.tag == "u1");
        assert_eq!(is_kept, !is_direct, "{model}");
        if is_direct {
            assert_eq!(rest["messages"].as_array().unwrap().len(), 2);
            assert_eq!((part, &rest["tool_choice"]), (&json!("Half an"), &json!({"type": "none"})));
            assert_eq!(next["messages"][1]["content"].as_array().unwrap().len(), 2, "the part and the rest");
            let shown = home.ok(&["show"]);
            assert!(shown.contains("(stopped)") && shown.contains("Half an") && shown.contains("answer."));
        } else {
            let asked = &rest["messages"][2]["content"][0]["text"];
            assert!(asked.as_str().unwrap().starts_with("Go on exactly where your answer stopped"), "{rest}");
        }
    }
}
