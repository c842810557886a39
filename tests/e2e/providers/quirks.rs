//! A parameter that a model does not take is learned from its refusal, said once, and remembered.

use serde_json::{Value, json};

use super::super::scripted::{Asked, Reply, Server, openai_sse};
use super::{TIMEOUTS, hear, openai, opened, run};
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ChatRequest, Model, ModelNotice, Schema};

fn refused(message: &str) -> Reply {
    Reply::new(400, json!({"error": {"message": message}}).to_string())
}

fn conversation() -> Vec<ChatMessage> {
    vec![
        ChatMessage::new(Role::System, "root"),
        ChatMessage::new(Role::User, "a"),
        ChatMessage::new(Role::User, "b"),
        ChatMessage::new(Role::System, "general"),
    ]
}

/// Asks twice, with a fresh model each time but one state directory; gives the notices of each.
fn ask_twice(server: &Server, schema: Option<&Schema>) -> [Vec<ModelNotice>; 2] {
    let state = tempfile::tempdir().unwrap();
    let messages = conversation();
    let request = ChatRequest { messages: &messages, schema, ..ChatRequest::default() };
    [(); 2].map(|()| {
        run(async {
            let mut model = Model::new(&openai(server), TIMEOUTS, state.path(), opened(), None).unwrap();
            let heard = hear(&mut model, request).await;
            assert_eq!(heard.text(), "ok", "{:?}", heard.error);
            heard.notices
        })
    })
}

#[test]
fn a_refused_field_is_left_out_from_then_on() {
    let schema = Schema { name: "s".into(), schema: json!({"type": "object"}) };
    for field in ["temperature", "response_format", "stream_options"] {
        let refusal = refused(&format!("Unsupported value: '{field}' is not supported with this model."));
        let server = Server::start([refusal, openai_sse(["ok"]), openai_sse(["ok"])]);
        let [first, second] = ask_twice(&server, Some(&schema));
        let [ModelNotice::Learned(model, says)] = first.as_slice() else { panic!("{first:?}") };
        assert_eq!(
            (model.as_str(), *says),
            ("mine", &*format!("does not accept `{field}`: retrying without it"))
        );
        assert_eq!(second, [], "it is remembered");
        let sent: Vec<bool> = server.asked().iter().map(|asked| asked.json().get(field).is_some()).collect();
        assert_eq!(sent, [true, false, false], "{field}");
    }
}

#[test]
fn several_fields_are_learned_one_after_the_other() {
    let server = Server::start([
        refused("no temperature"),
        refused("no stream_options"),
        openai_sse(["ok"]),
        openai_sse(["ok"]),
    ]);
    let [first, second] = ask_twice(&server, None);
    assert_eq!((first.len(), second.len()), (2, 0));
}

#[test]
fn a_refused_order_of_roles_becomes_the_system_first_form() {
    let server = Server::start([
        refused("Conversation roles must alternate user/assistant/user/assistant/..."),
        openai_sse(["ok"]),
        openai_sse(["ok"]),
    ]);
    let [first, second] = ask_twice(&server, None);
    assert_eq!((first.len(), second.len()), (1, 0));
    let messages: Vec<Value> = server.asked().iter().map(|asked| asked.json()["messages"].clone()).collect();
    assert_eq!(messages[0].as_array().map(Vec::len), Some(4));
    let merged = json!([
        {"role": "system", "content": "root"},
        {"role": "user", "content": "a\n\nb\n\n[system]\ngeneral"},
    ]);
    assert_eq!([&messages[1], &messages[2]], [&merged, &merged]);
}

#[test]
fn a_model_without_system_messages_gets_them_in_the_question() {
    for words in [
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "System role not supported",
        "Only user and assistant roles are supported!",
    ] {
        let refused = || refused(words);
        let has_system = |asked: &Asked| {
            asked.json()["messages"].as_array().unwrap().iter().any(|message| message["role"] == "system")
        };
        let refusal = refused();
        let server = Server::judging(
            move |_, asked| if has_system(asked) { refusal.clone() } else { openai_sse(["ok"]) },
        );
        let [first, second] = ask_twice(&server, None);
        assert_eq!(
            first.last().unwrap(),
            &ModelNotice::Learned(
                "mine".into(),
                "does not accept system messages: retrying with it in the question"
            )
        );
        assert_eq!(second, [], "it is remembered");
        let sent = server.asked().last().unwrap().json()["messages"].clone();
        let content = "[system]\nroot\n\na\n\nb\n\n[system]\ngeneral";
        assert_eq!(sent, json!([{"role": "user", "content": content}]), "{words}");
    }
}

#[test]
fn a_refusal_that_stays_is_final_and_teaches_nothing() {
    let state = tempfile::tempdir().unwrap();
    let server = Server::start([refused("temperature"), refused("temperature"), openai_sse(["ok"])]);
    let messages = [ChatMessage::new(Role::User, "a")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    run(async {
        let mut model = Model::new(&openai(&server), TIMEOUTS, state.path(), opened(), None).unwrap();
        let heard = hear(&mut model, request).await;
        assert!(heard.failure().contains("refused the request"));
        assert_eq!(hear(&mut model, request).await.text(), "ok");
    });
    assert_eq!(server.asked()[2].json()["temperature"], json!(0.1));
}
