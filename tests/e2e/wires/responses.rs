//! The Responses API, end to end.

use serde_json::{Value, json};

use super::{NATIVE, RESPONSES, bodies, home, refused, responses_api, said_item};
use crate::disk::bubbs;
use crate::scripted::{Asked, Reply, Server};

fn items(name: &str, arguments: &str) -> Vec<Value> {
    vec![
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="}),
        said_item("I try."),
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_x", "name": name,
               "arguments": arguments, "status": "completed"}),
    ]
}

/// Refuses what the real server refuses.
fn validate(body: &Value) -> Result<(), String> {
    let input = body["input"].as_array().ok_or("input: required")?;
    for (i, item) in input.iter().enumerate() {
        if item["type"] == "function_call" {
            let before = i.checked_sub(1).map(|i| &input[i]["type"]);
            if before != Some(&json!("reasoning")) && before != Some(&json!("message")) {
                return Err(
                    "Item of type 'function_call' was provided without its required 'reasoning' item".into(),
                );
            }
            let output = json!("function_call_output");
            if !input.iter().any(|other| other["type"] == output && other["call_id"] == item["call_id"]) {
                return Err("No tool output found for function call".into());
            }
        }
        if item["type"] == "reasoning" && item["encrypted_content"] != "gAAA==" {
            return Err("The encrypted content could not be verified".into());
        }
    }
    if !body["previous_response_id"].is_null() || body["store"] != false {
        return Err("nothing is stored".into());
    }
    Ok(())
}

fn server(answers: Vec<Reply>) -> Server {
    let answers = std::sync::Mutex::new(answers.into_iter());
    Server::judging(move |_, asked: &Asked| match validate(&asked.json()) {
        Ok(()) => answers.lock().unwrap().next().unwrap_or_else(|| Reply::new(410, "over")),
        Err(words) => refused(&words),
    })
}

#[test]
fn a_tool_loop_with_reasoning_goes_back_as_it_came() {
    let bare = json!({"store": false, "input": [{"type": "function_call", "call_id": "x"}]});
    assert!(validate(&bare).unwrap_err().contains("without its required 'reasoning' item"));

    let called = items("hammer", "{\"nail\":1}");
    let server = server(vec![
        responses_api(&called),
        responses_api(&[said_item("Done.")]),
        responses_api(&[said_item("Yes.")]),
    ]);
    let home = home(&server, NATIVE, RESPONSES);
    let ran = home.lepo(&["do", "hit it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I try.\nDone.\n"), "{}", ran.err);
    let bodies = bodies(&server);
    assert_eq!(server.asked()[0].path, "/v1/responses");
    let input = bodies[1]["input"].as_array().unwrap();
    assert_eq!(input[2..5], called[..]);
    assert_eq!((&input[5]["type"], &input[5]["call_id"]), (&json!("function_call_output"), &json!("call_x")));
    assert_eq!(input.last().unwrap(), &json!({"role": "developer", "content": "GENERAL"}));
    let root = bubbs(&home)[0].id.clone();
    let key = bodies[0]["prompt_cache_key"].as_str().unwrap();
    assert!(key.len() == 64 && bodies[1]["prompt_cache_key"] == key, "{key}");
    assert_eq!(bodies[0]["include"], json!(["reasoning.encrypted_content"]));
    assert!(home.read("work/.lepo/_journal.ndjson").contains("\"cached\":64"));
    assert_eq!(home.ok(&["do", "more?"]), "Yes.\n");
    assert_eq!(self::bodies(&server)[2]["prompt_cache_key"], root.as_str(), "continued, it is the root");
}

#[test]
fn approved_later_the_reasoning_is_still_there() {
    let called = items("run_command", r#"{"command":"true","access":"full"}"#);
    let server = server(vec![responses_api(&called), responses_api(&[said_item("Done.")])]);
    let home = home(&server, NATIVE, RESPONSES);
    assert_eq!(home.alone(&["do", "go"]).code, 4);
    let id = bubbs(&home).pop().unwrap().id;
    let ran = home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(bodies(&server)[1]["input"].as_array().unwrap()[2..5], called[..]);
}

#[test]
fn what_a_model_without_reasoning_refuses_is_learned() {
    let server = Server::judging(|_, asked: &Asked| {
        let body = asked.json();
        if !body["reasoning"].is_null() {
            return refused("Unsupported parameter: 'reasoning.summary' is not supported with this model.");
        }
        if !body["include"].is_null() {
            return refused("Encrypted content is not supported with this model.");
        }
        responses_api(&[said_item("Hi.")])
    });
    let home = home(&server, "planner = 'off'", RESPONSES);
    assert_eq!(home.ok(&["do", "hi"]), "Hi.\n");
    assert_eq!(home.ok(&["do", "again"]), "Hi.\n");
    assert_eq!(bodies(&server).len(), 4);
}

#[test]
fn new_conversations_with_the_same_tools_and_prompt_share_a_key() {
    let server = server((0..4).map(|_| responses_api(&[said_item("Yes.")])).collect());
    let home = home(&server, NATIVE, RESPONSES);
    for args in [
        &["-n", "one"][..],
        &["-n", "two"],
        &["-n", "-S", "Other.", "three"],
        &["-n", "--tools", "off", "four"],
    ] {
        home.ok(&[&["do"], args].concat());
    }
    let bodies = bodies(&server);
    let key = |at: usize| bodies[at]["prompt_cache_key"].as_str().unwrap();
    assert_eq!(key(0), key(1));
    assert!(key(0) != key(2) && key(0) != key(3), "another prompt, and no tools");
}
