//! Servers that are strict about roles, ids of calls, empty texts or optional fields: refused once, then remembered. A
//! row is named by the public report from which it is rebuilt.

use serde_json::{Value, json};

use super::{
    ANTHROPIC, CHAT, RESPONSES, bodies, chat, chat_said, home, refused, responses_api, said_item, spoken,
};
use crate::scripted::{Asked, Reply, Server};

const KEEP: &str = "planner = 'native'\ntool_history = 'keep'";
const OFF: &str = "planner = 'off'";

/// Refuses the order of roles as Mistral does.
fn wrong_order(messages: &[Value]) -> Option<Reply> {
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    let pairs = roles.windows(2).map(|pair| (pair[0], pair[1]));
    let wrong = pairs
        .into_iter()
        .find(|pair| pair.1 == "system" || matches!(pair, ("tool", "user") | ("user", "user")));
    wrong.map(|(before, after)| refused(&format!("Unexpected role '{after}' after role '{before}'")))
}

/// Refuses ids of calls in another form than Mistral's.
fn wrong_id(messages: &[Value]) -> Option<Reply> {
    let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let ids = calls.map(|call| &call["id"]).chain(messages.iter().map(|message| &message["tool_call_id"]));
    let is_right = |id: &&str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let wrong = ids.filter_map(Value::as_str).find(|id| !is_right(id))?;
    Some(refused(&format!("Tool call id was {wrong} but must be a-z, A-Z, 0-9, with a length of 9.")))
}

/// Refuses empty texts as Bedrock does.
fn blank_text(messages: &[Value]) -> Option<Reply> {
    let is_blank = |message: &Value| message["content"].as_str().is_some_and(|text| text.trim().is_empty());
    let index = messages.iter().position(is_blank)?;
    Some(refused(&format!(
        "The text field in the ContentBlock object at messages.{index}.content.0 is blank."
    )))
}

/// Refuses thinking that is sent back, as Groq does.
fn own_thinking(messages: &[Value]) -> Option<Reply> {
    let index = messages.iter().position(|message| !message["reasoning"].is_null())?;
    Some(refused(&format!(
        "'messages.{index}' : for 'role:assistant' the following must be satisfied[('messages.{index}' : property \
         'reasoning' is unsupported)]"
    )))
}

#[test]
fn calls_go_to_strict_servers_in_the_form_that_they_accept() {
    for (report, refusal) in [
        ("NousResearch/hermes-agent/issues/20154", wrong_order as fn(&[Value]) -> Option<Reply>),
        ("anomalyco/opencode/issues/1680", wrong_id),
        ("agentjido/jido_ai/pull/215", blank_text),
        ("karthink/gptel/issues/774", own_thinking),
    ] {
        let server = Server::judging(move |_, asked: &Asked| {
            let body = asked.json();
            let messages = body["messages"].as_array().unwrap();
            let called = messages.iter().any(|message| message["role"] == "tool");
            match refusal(messages) {
                Some(refused) => refused,
                None if called => chat_said("Done."),
                None => chat([
                    json!({"role": "assistant", "content": "", "reasoning": "hm"}),
                    json!({"tool_calls": [{"index": 0, "id": "call_0fypS1hVX", "function": {"name": "hammer", "arguments": "{}"}}]}),
                ]),
            }
        });
        let home = home(&server, KEEP, CHAT);
        let ran = home.lepo(&["do", "hit it"]);
        assert_eq!(ran.code, 0, "{report}: {}", ran.err);
        assert!(ran.out.ends_with("Done.\n"), "{report}: {}", ran.out);
        // Another process sends the same calls, rebuilt.
        let before = bodies(&server).len();
        let ran = home.lepo(&["do", "and?"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "Done.\n", ""), "{report}");
        assert_eq!(bodies(&server).len(), before + 1, "{report}");
    }
}

#[test]
fn an_optional_field_that_is_refused_is_left_out_from_then_on() {
    let options = "options = { max_tokens = 9, effort = \"low\", top_p = 0.9, seed = 7, stop = [\"END\"] }";
    for (report, model, field, words) in [
        (
            "langgenius/dify/issues/18971",
            CHAT,
            "stop",
            "Unsupported parameter: 'stop' is not supported with this model.",
        ),
        ("huggingface/smolagents/issues/1765", CHAT, "stop", "Argument not supported on this model: stop"),
        (
            "umputun/tg-spam/issues/304",
            CHAT,
            "reasoning_effort",
            "Unrecognized request argument supplied: reasoning_effort",
        ),
        (
            "a server with another name for it",
            CHAT,
            "seed",
            "[{'loc': ['body', 'seed'], 'msg': 'Extra inputs are not permitted'}]",
        ),
        ("a gateway", CHAT, "top_p", "top_p is not supported"),
        ("a server without limits", CHAT, "max_tokens", "Unsupported parameter: max_tokens"),
        ("a subscription", RESPONSES, "max_output_tokens", "Unsupported parameter: max_output_tokens"),
        ("a server without a store", RESPONSES, "store", "Unknown parameter: 'store'."),
        (
            "earendil-works/pi/issues/7938",
            ANTHROPIC,
            "cache_control",
            "system.0.cache_control: Extra inputs are not permitted",
        ),
        (
            "a gateway of another wire",
            ANTHROPIC,
            "stop_sequences",
            "stop_sequences: Extra inputs are not permitted",
        ),
    ] {
        let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::new(404, "{}"),
            _ if asked.json().to_string().contains(&format!("\"{field}\":")) => refused(words),
            _ if model == ANTHROPIC => spoken("Hi."),
            _ if model == RESPONSES => responses_api(&[said_item("Hi.")]),
            _ => chat_said("Hi."),
        });
        let home = home(&server, OFF, &format!("{model}\n{options}"));
        let ran = home.lepo(&["do", "hi"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{report}: {}", ran.err);
        assert!(ran.err.contains("does not accept"), "{report}: {}", ran.err);
        let ran = home.lepo(&["do", "again"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{report}");
        assert_eq!(bodies(&server).len(), 3, "{report}");
    }
}

#[test]
fn the_role_developer_is_replaced_where_a_template_does_not_know_it() {
    // https://github.com/ggml-org/llama.cpp/pull/20079
    let server = Server::judging(|_, asked: &Asked| {
        let body = asked.json();
        let roles: Vec<&str> =
            body["input"].as_array().unwrap().iter().filter_map(|item| item["role"].as_str()).collect();
        let fails = |words: &str| Reply::new(500, json!({"error": {"message": words}}).to_string());
        match roles.as_slice() {
            roles if roles.contains(&"developer") => fails("Unexpected message role."),
            [_, rest @ ..] if rest.contains(&"system") => fails("System message must be at the beginning."),
            _ => responses_api(&[said_item("Hi.")]),
        }
    });
    let home = home(&server, OFF, RESPONSES);
    assert_eq!(home.ok(&["do", "hi"]), "Hi.\n");
    assert_eq!(bodies(&server).len(), 3);
    assert_eq!(home.ok(&["do", "again"]), "Hi.\n");
    assert_eq!(bodies(&server).len(), 4);
}

#[test]
fn a_default_limit_that_a_model_does_not_allow_is_lowered_once() {
    // https://github.com/continuedev/continue/issues/4225
    let server = Server::judging(|_, asked: &Asked| match asked.method.as_str() {
        "GET" => Reply::new(404, "{}"),
        _ => match asked.json()["max_tokens"].as_u64().unwrap() {
            ..=4096 => spoken("Hi."),
            more => refused(&format!(
                "max_tokens: {more} > 4096, which is the maximum allowed number of output tokens for m"
            )),
        },
    });
    let home = home(&server, OFF, ANTHROPIC);
    assert_eq!(home.ok(&["do", "hi"]), "Hi.\n");
    assert_eq!(home.ok(&["do", "again"]), "Hi.\n");
    assert_eq!(bodies(&server).len(), 3);
    // The user's own limit stays what it is.
    let ran = home.lepo(&["do", "--max-tokens", "5000", "more"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("--max-tokens"), "{}", ran.err);
}

#[test]
fn a_model_of_the_other_api_is_named_with_its_setting() {
    // https://github.com/caozhiyuan/copilot-api/issues/102
    let words = "model \"m\" is not accessible via the /chat/completions endpoint";
    let server = Server::judging(move |_, _: &Asked| refused(words));
    for (model, wire) in [(CHAT, "responses"), (RESPONSES, "chat")] {
        let ran = home(&server, OFF, model).lepo(&["do", "hi"]);
        assert_eq!(ran.code, 3);
        assert!(ran.err.contains(&format!("wire = \"{wire}\"")), "{}", ran.err);
    }
}
