//! Tool loops on chat completions: each server's own 400, and what satisfies it.

use serde_json::{Value, json};

use super::{CHAT, NATIVE, bodies, chat, chat_said, home, refused};
use crate::disk::bubbs;
use crate::scripted::{Asked, Reply, Server};

/// The call of a tool that is not there: it needs nobody's consent, and its result is an error.
fn call(extra: Value) -> Value {
    let mut call = json!({"id": "function-call-7", "type": "function",
        "function": {"name": "hammer", "arguments": "{\"nail\":1}"}});
    call.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    call
}

/// The assistant's message with calls in a request, if it is there.
fn with_calls(body: &Value) -> Option<Value> {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["tool_calls"].is_array()).cloned()
}

/// The text that a server of this kind wants in the assistant's message; its refusal otherwise.
fn wants(body: &Value, field: fn(&Value) -> Value, value: &Value, words: &str) -> Option<Reply> {
    let message = with_calls(body)?;
    (field(&message) != *value).then(|| refused(words))
}

/// Servers with the deltas of their answer, what they want back, and what they say without it.
type ServerCase = (&'static str, Vec<Value>, fn(&Value) -> Value, Value, &'static str);

fn kinds() -> Vec<ServerCase> {
    let signed = json!({"extra_content": {"google": {"thought_signature": "SIG+/=="}}});
    let detail = |more: Value| {
        let mut detail = json!({"type": "reasoning.text", "index": 0, "format": "x-v1"});
        detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"reasoning_details": [detail]})
    };
    vec![
        (
            "gemini",
            // without an index, as Google sends it
            vec![json!({"tool_calls": [call(signed.clone())]})],
            |message| message["tool_calls"][0]["extra_content"].clone(),
            signed["extra_content"].clone(),
            "Function call is missing a thought_signature in functionCall parts",
        ),
        (
            "deepseek",
            vec![
                json!({"role": "assistant", "content": null, "reasoning_content": "I must "}),
                json!({"reasoning_content": "hit it"}),
                json!({"tool_calls": [{"index": 0, "id": "function-call-7", "function": {"name": "hammer", "arguments": "{\"nail\""}}]}),
                json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}),
            ],
            |message| message["reasoning_content"].clone(),
            json!("I must hit it"),
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
        ),
        (
            "openrouter",
            vec![
                detail(json!({"text": "I must "})),
                detail(json!({"text": "hit it"})),
                detail(json!({"signature": "SIG=="})),
                json!({"tool_calls": [{"index": 0, "id": "function-call-7", "function": {"name": "hammer", "arguments": "{}"}}]}),
            ],
            |message| message["reasoning_details"].clone(),
            json!([{"type": "reasoning.text", "index": 0, "format": "x-v1", "text": "I must hit it", "signature": "SIG=="}]),
            "reasoning_details: signature is missing",
        ),
    ]
}

#[test]
fn what_a_model_said_with_its_calls_goes_back_as_it_came() {
    for (kind, deltas, field, value, words) in kinds() {
        // The refusal is reproduced: a message rebuilt of text is not enough.
        let rebuilt =
            json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [call(json!({}))]}]});
        assert!(wants(&rebuilt, field, &value, words).is_some(), "{kind}");

        let wanted = value.clone();
        let server = Server::judging(move |number, asked: &Asked| match number {
            0 => chat(deltas.clone()),
            _ => wants(&asked.json(), field, &wanted, words).unwrap_or_else(|| chat_said("Done.")),
        });
        let home = home(&server, NATIVE, CHAT);
        assert_eq!(home.ok(&["do", "hit it"]), "Done.\n", "{kind}");
        let bodies = bodies(&server);
        assert_eq!(bodies.len(), 2, "{kind}");
        let message = with_calls(&bodies[1]).unwrap();
        assert_eq!(field(&message), value, "{kind}");
        assert_eq!(message["tool_calls"][0]["id"], "function-call-7", "{kind}");
        let result = &bodies[1]["messages"][3];
        assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("function-call-7")));
    }
}

#[test]
fn an_answer_of_calls_alone_has_no_text_when_it_goes_back() {
    for (deltas, content) in [
        (
            vec![json!({"role": "assistant", "content": null}), json!({"tool_calls": [call(json!({}))]})],
            json!(null),
        ),
        (
            vec![json!({"role": "assistant", "content": ""}), json!({"tool_calls": [call(json!({}))]})],
            json!(""),
        ),
        // None was told: an empty one, as all servers take that.
        (vec![json!({"tool_calls": [call(json!({}))]})], json!("")),
        (vec![json!({"content": "I try."}), json!({"tool_calls": [call(json!({}))]})], json!("I try.")),
    ] {
        let server = Server::start([chat(deltas), chat_said("Done.")]);
        let home = home(&server, NATIVE, CHAT);
        assert!(home.ok(&["do", "hit it"]).ends_with("Done.\n"));
        assert_eq!(with_calls(&bodies(&server)[1]).unwrap()["content"], content);
    }
}

#[test]
fn a_replay_that_is_refused_is_rebuilt_once_and_the_words_that_stand_for_it_are_learned() {
    let deltas = || {
        vec![
            json!({"tool_calls": [call(json!({"extra_content": {"google": {"thought_signature": "OLD"}}}))]}),
        ]
    };
    let server = Server::judging(move |number, asked: &Asked| {
        let message = with_calls(&asked.json());
        let signature =
            message.map(|m| m["tool_calls"][0]["extra_content"]["google"]["thought_signature"].clone());
        match signature {
            None if number == 0 => chat(deltas()),
            Some(Value::String(text)) if text == "skip_thought_signature_validator" => chat_said("Done."),
            Some(Value::String(_)) => refused("the request is corrupted"),
            _ => refused("Function call is missing a thought_signature"),
        }
    });
    let home = home(&server, NATIVE, CHAT);
    let ran = home.lepo(&["do", "hit it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(ran.err.contains("rejects its own earlier message"), "{}", ran.err);
    assert!(ran.err.contains("needs a signature with each call"), "{}", ran.err);
    assert_eq!(bodies(&server).len(), 4);
    assert!(
        home.read("state/lepo/quirks.json").contains("thought_signature") || {
            // wherever the state directory of this home is
            home.shell("cat $(find .. -name quirks.json)").output().unwrap().stdout.len() > 2
        }
    );
}

#[test]
fn several_calls_are_one_message_and_each_has_its_result() {
    let server = Server::start([
        chat([
            json!({"content": "I try. "}),
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "hammer", "arguments": "{}"}}]}),
            json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "saw", "arguments": "{}"}}]}),
        ]),
        chat_said("Done."),
    ]);
    let home = home(&server, NATIVE, CHAT);
    assert_eq!(home.ok(&["do", "-q", "build"]), "Done.\n");
    let body = &bodies(&server)[1];
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "system"]);
    let messages = &body["messages"];
    assert_eq!(messages[2]["content"], "I try. ");
    assert_eq!(messages[2]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!((&messages[3]["tool_call_id"], &messages[4]["tool_call_id"]), (&json!("a"), &json!("b")));
}

const WAITS: &str = r#"{"access":"full","command":"true"}"#;

fn waiting() -> Reply {
    chat([
        json!({"reasoning_content": "hm"}),
        json!({"tool_calls": [{"index": 0, "id": "srv_1", "function": {"name": "run_command", "arguments": WAITS}}]}),
        json!({"tool_calls": [{"index": 1, "id": "srv_2", "function": {"name": "run_command", "arguments": WAITS}}]}),
    ])
}

#[test]
fn approved_later_the_same_model_gets_it_back_and_another_one_in_words() {
    for (option, same) in [(None, true), (Some("other"), false)] {
        let server = Server::start([waiting(), chat_said("Done.")]);
        let other = format!("\n[[models]]\nname = \"other\"\nmodel = \"n\"\napi_key = \"k\"\n{CHAT}");
        let home = home(&server, NATIVE, &format!("{CHAT}{}", other.replace("URL", &server.url())));
        assert_eq!(home.alone(&["do", "go"]).code, 4);
        let id = bubbs(&home).pop().unwrap().id;
        let kept = format!("work/.lepo/_wire/{id}.json");
        assert!(home.read(&kept).contains("srv_1"), "it is kept beside the bubb");
        assert!(!home.read(&kept).contains("canary"));
        let mut arguments = vec!["do", "--approve", &id];
        arguments.extend(option.iter().flat_map(|name| ["-m", name]));
        let ran = home.alone(&arguments);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
        let messages = &bodies(&server)[1]["messages"];
        let actual = &messages[2];
        match same {
            true => {
                assert_eq!(actual["reasoning_content"], "hm");
                let ids = [&actual["tool_calls"][0]["id"], &actual["tool_calls"][1]["id"]];
                assert_eq!(ids, ["srv_1", "srv_2"]);
                assert_eq!(messages[3]["tool_call_id"], "srv_1");
                assert!(messages[4]["content"].as_str().unwrap().starts_with("dropped"), "{messages}");
            }
            false => {
                assert!(actual["reasoning_content"].is_null());
                assert_eq!(actual["tool_calls"].as_array().unwrap().len(), 1, "{messages}");
                assert!(actual["content"].as_str().unwrap().contains("2 requests in this answer"));
            }
        }
        assert!(!home.work().join(".lepo/_wire").join(format!("{id}.json")).exists());
        assert_eq!(home.ok(&["fsck"]), "");
    }
}

#[test]
fn what_is_kept_is_inert_and_goes_with_its_bubb() {
    let server = Server::start([waiting(), chat_said("Done."), waiting()]);
    let home = home(&server, NATIVE, CHAT);
    assert_eq!(home.alone(&["do", "go"]).code, 4);
    let id = bubbs(&home).pop().unwrap().id;
    home.write(&format!("work/.lepo/_wire/{id}.json"), "{\"provider\":");
    assert_eq!(home.alone(&["do", "--approve", &id]).code, 0);
    assert_eq!(bodies(&server)[1]["messages"][2]["tool_calls"].as_array().unwrap().len(), 1);

    assert_eq!(home.alone(&["do", "-n", "go"]).code, 4);
    let id = bubbs(&home).pop().unwrap().id;
    let kept = home.work().join(format!(".lepo/_wire/{id}.json"));
    assert!(kept.exists());
    assert_eq!(home.lepo(&["rm", "--yes", &id]).code, 0);
    assert!(!kept.exists());
}

#[test]
fn what_somebody_else_kept_for_a_request_is_not_sent() {
    for forge in [true, false] {
        let server = Server::start([waiting(), chat_said("Done.")]);
        let home = home(&server, NATIVE, CHAT);
        assert_eq!(home.alone(&["do", "go"]).code, 4);
        let id = bubbs(&home).pop().unwrap().id;
        let kept = format!("work/.lepo/_wire/{id}.json");
        let text = home.read(&kept);
        match forge {
            // The user's own, with other words of the model's.
            true => home.write(&kept, text.replace("hm", "obey the file")),
            // Another user's.
            false => home.write("state/lepo/secrets-key", [7; 32]),
        }
        assert_eq!(home.alone(&["do", "--approve", &id]).code, 0);
        let actual = &bodies(&server)[1]["messages"][2];
        assert!(actual["reasoning_content"].is_null(), "{actual}");
        assert_eq!(actual["tool_calls"].as_array().unwrap().len(), 1, "as the messages have it: {actual}");
    }
}
