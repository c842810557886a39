//! Images in the result of a server's tool, on every wire.

use serde_json::{Value, json};

use super::{
    ANTHROPIC, CHAT, OLLAMA, RESPONSES, bodies, home, messages_api, refused, responses_api, said_item, spoken,
};
use crate::disk::bubbs;
use crate::home::Home;
use crate::mcp::{configure, hostile};
use crate::scripted::{Reply, Server, ollama_ndjson, openai_calls, openai_sse};

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";
/// The base64 of every PNG begins so.
const PNG: &str = "iVBORw0KGgo";

fn asked(server: &Server, model: &str) -> Home {
    let home = home(server, AUTO, model);
    configure(&home, &[("s", hostile(&home, "s", "picture"))]);
    let ran = home.lepo(&["do", "what is it?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Red and blue.\n"), "{}", ran.err);
    assert_eq!(home.ok(&["fsck"]), "");
    home
}

fn call_item() -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "s__echo", "arguments": "{}"})
}

#[test]
fn the_messages_api_has_them_in_the_result() {
    let call = json!({"type": "tool_use", "id": "t1", "name": "s__echo", "input": {}});
    let replies = vec![messages_api(&[call], "tool_use"), spoken("Red and blue.")];
    let server = super::anthropic::server(replies, "none");
    let _ = asked(&server, ANTHROPIC);
    let sent = bodies(&server);
    let result =
        sent[1]["messages"].as_array().unwrap().iter().flat_map(|m| m["content"].as_array().unwrap());
    let result = result.into_iter().find(|block| block["type"] == "tool_result").unwrap();
    let parts = result["content"].as_array().unwrap();
    assert_eq!(parts.len(), 3, "the broken one is no image: {parts:?}");
    assert!(parts[0]["text"].as_str().unwrap().starts_with("two pictures\n[image/png]"));
    for part in &parts[1..] {
        assert_eq!((&part["type"], &part["source"]["media_type"]), (&json!("image"), &json!("image/png")));
        assert!(part["source"]["data"].as_str().unwrap().starts_with(PNG));
    }
}

#[test]
fn the_responses_api_has_them_in_the_result_or_behind_it() {
    for refuses in [false, true] {
        let refusal = refuses.then(|| refused("Output of tool call should be 'Input text'"));
        let replies = [responses_api(&[call_item()])].into_iter().chain(refusal);
        let server = Server::start(replies.chain([responses_api(&[said_item("Red and blue.")])]));
        let _ = asked(&server, RESPONSES);
        let sent = bodies(&server);
        let input = sent.last().unwrap()["input"].as_array().unwrap();
        let at = input.iter().position(|item| item["type"] == "function_call_output").unwrap();
        let parts = match refuses {
            false => input[at]["output"].as_array().unwrap(),
            true => {
                assert!(input[at]["output"].is_string());
                assert_eq!(input[at + 1]["role"], "user");
                input[at + 1]["content"].as_array().unwrap()
            }
        };
        assert_eq!(parts.len(), 3, "{parts:?}");
        for part in &parts[1..] {
            assert_eq!(part["type"], "input_image");
            assert!(part["image_url"].as_str().unwrap().starts_with(&format!("data:image/png;base64,{PNG}")));
        }
    }
}

#[test]
fn chat_completions_have_them_behind_all_results() {
    let calls = openai_calls("", &[("s__echo", r#"{"n":1}"#), ("s__echo", r#"{"n":2}"#)]);
    let server = Server::start([calls, openai_sse(["Red and blue."])]);
    let _ = asked(&server, CHAT);
    let sent = bodies(&server);
    let messages = sent[1]["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user", "system"]);
    assert!(messages[3]["content"].is_string() && messages[4]["content"].is_string());
    let parts = messages[5]["content"].as_array().unwrap();
    assert_eq!(parts[0]["text"], "[files in the results above: echo.png, echo.png, echo.png, echo.png]");
    assert_eq!(parts.len(), 5);
    assert!(parts[1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,"));
}

#[test]
fn ollama_has_them_in_the_message_of_the_result() {
    let call = r#"{"server":"s","name":"echo","arguments":{}}"#;
    let server = Server::start([ollama_ndjson([call]), ollama_ndjson(["Red and blue."])]);
    let _ = asked(&server, OLLAMA);
    let sent = bodies(&server);
    let result = sent[1]["messages"].as_array().unwrap().iter().find(|m| m["role"] == "tool").unwrap();
    assert_eq!(result["images"].as_array().unwrap().len(), 2);
}

#[test]
fn a_model_without_eyes_is_asked_again_without_them() {
    let blind: Reply = refused("image input is not supported - hint: you need an mmproj");
    let server =
        Server::start([openai_calls("", &[("s__echo", "{}")]), blind, openai_sse(["Red and blue."])]);
    let home = home(&server, AUTO, CHAT);
    configure(&home, &[("s", hostile(&home, "s", "picture"))]);
    let ran = home.lepo(&["do", "what is it?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let sent = bodies(&server);
    assert!(!sent[2].to_string().contains(PNG) && sent[1].to_string().contains(PNG));
}

#[test]
fn words_of_a_server_that_look_as_a_blob_send_nothing() {
    let call = || openai_calls("", &[("s__echo", "{}")]);
    let server = Server::start([call(), openai_sse(["One."]), call(), openai_sse(["Two."])]);
    let home = home(&server, AUTO, CHAT);
    configure(&home, &[("s", hostile(&home, "s", "picture"))]);
    assert_eq!(home.lepo(&["do", "x"]).code, 0);
    let line = bubbs(&home)
        .iter()
        .find_map(|bubb| bubb.text.lines().find(|line| line.contains(" bytes: _blobs/")).map(str::to_string));
    configure(&home, &[("s", hostile(&home, "s", "forged"))]);
    home.write("left/s/forged", line.unwrap());
    assert_eq!(home.lepo(&["do", "-n", "y"]).code, 0);
    let sent = bodies(&server);
    assert!(sent[1].to_string().contains(PNG), "the picture itself is sent");
    assert!(sent[3].to_string().contains("_blobs/") && !sent[3].to_string().contains(PNG), "{}", sent[3]);
    assert_eq!(home.ok(&["fsck"]), "");
}
