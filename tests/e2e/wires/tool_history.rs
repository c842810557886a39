//! `tool_history = "keep"`: calls and results are on the path of the conversation, and later turns send them as before.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{
    ANTHROPIC, CHAT, NATIVE, OLLAMA, RESPONSES, bodies, chat, chat_said, home, messages_api, responses_api,
    said_item, spoken,
};
use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::home::Home;
use crate::mcp::serving::Session;
use crate::mcp::{configure, hostile};
use crate::scripted::{Asked, Piece, Reply, Server, ollama_ndjson, openai_calls, openai_event, openai_sse};
use crate::secrets::github_token;

const KEEP: &str = "planner = 'native'\ntool_history = 'keep'";

/// The messages of a request, without the marks of a cache.
fn sent(body: &Value) -> Vec<Value> {
    let list = if body["input"].is_array() { &body["input"] } else { &body["messages"] };
    let text = list.to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    let text = text.replace("\"cache_control\":{\"type\":\"ephemeral\"},", "");
    serde_json::from_str(&text).unwrap()
}

/// An Ollama answer with a call in its field.
fn ollama_call() -> Reply {
    let call = json!({"function": {"name": "hammer", "arguments": {"nail": 1}}});
    let line = json!({"message": {"content": "I try. ", "tool_calls": [call]}, "done": true});
    Reply::new(200, format!("{line}\n")).header("content-type", "application/x-ndjson")
}

fn scripts() -> Vec<(&'static str, &'static str, &'static str, Vec<Reply>)> {
    let item =
        json!({"type": "function_call", "id": "f", "call_id": "c", "name": "hammer", "arguments": "{}"});
    let reasoning =
        json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gAAAAABo+/=="});
    let thinking = json!({"type": "thinking", "thinking": "I must hit it", "signature": "SIG+/=="});
    let block = json!({"type": "tool_use", "id": "t", "name": "hammer", "input": {}});
    let call =
        json!({"tool_calls": [{"index": 0, "id": "x9", "function": {"name": "hammer", "arguments": "{}"}}]});
    vec![
        (
            "chat",
            CHAT,
            NATIVE,
            vec![
                chat([json!({"reasoning_content": "hm"}), call]),
                chat_said("One."),
                chat_said("Two."),
                chat_said("Three."),
            ],
        ),
        (
            "responses",
            RESPONSES,
            NATIVE,
            [
                vec![reasoning, item],
                vec![said_item("One.")],
                vec![said_item("Two.")],
                vec![said_item("Three.")],
            ]
            .iter()
            .map(|items| responses_api(items))
            .collect(),
        ),
        (
            "anthropic",
            ANTHROPIC,
            NATIVE,
            vec![
                messages_api(&[thinking, block], "tool_use"),
                spoken("One."),
                spoken("Two."),
                spoken("Three."),
            ],
        ),
        (
            "ollama",
            OLLAMA,
            "planner = 'off'",
            vec![ollama_call(), ollama_ndjson(["One."]), ollama_ndjson(["Two."]), ollama_ndjson(["Three."])],
        ),
    ]
}

fn serving(answers: Vec<Reply>) -> Server {
    let answers = Mutex::new(answers.into_iter());
    Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
        "GET" => Reply::new(404, "{}"),
        _ => answers.lock().unwrap().next().unwrap(),
    })
}

#[test]
fn later_turns_send_the_calls_of_a_turn_as_it_sent_them() {
    for (name, model, settings, answers) in scripts() {
        let server = serving(answers);
        let home = home(&server, &format!("{settings}\ntool_history = 'keep'"), model);
        home.write_insts("general = ''");
        for question in ["first", "second", "third"] {
            assert_eq!(home.alone(&["do", "-q", question]).code, 0, "{name}");
        }
        let bodies: Vec<Value> =
            bodies(&server).into_iter().filter(|body| !body["stream"].is_null()).collect();
        let sent: Vec<Vec<Value>> = bodies.iter().map(sent).collect();
        assert_eq!(sent.len(), 4, "{name}");
        for pair in sent.windows(2) {
            assert_eq!(pair[1][..pair[0].len()], pair[0][..], "{name}");
        }
        assert!(bodies.iter().all(|body| body["tools"] == bodies[0]["tools"]), "{name}");
        let last = Value::from(sent[3].clone()).to_string();
        for text in ["hammer", "first", "One.", "second", "Two.", "third"] {
            assert!(last.contains(text), "{name}: {text} in {last}");
        }
        assert_eq!(
            forest(&home),
            match name {
                "ollama" => {
                    "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F a0 E / G u0 F / H a0 G / I u0 H / J a0 I"
                }
                _ => "A s1 head / B u0 A / C a1 B / D t1 C / E a0 D / F u0 E / G a0 F / H u0 G / I a0 H",
            },
            "{name}"
        );
        assert_eq!(home.ok(&["fsck"]), "", "{name}");
    }
}

#[test]
fn the_default_leaves_them_out_and_another_model_gets_them_rebuilt() {
    for (settings, model, roles) in [
        (NATIVE, "test", "system user assistant user"),
        (KEEP, "test", "system user assistant tool assistant user"),
        (KEEP, "other", "system user assistant tool assistant user"),
    ] {
        let (.., answers) = scripts().remove(0);
        let server = serving(answers);
        let other = format!("\n[[models]]\nname = \"other\"\nmodel = \"n\"\napi_key = \"k\"\n{CHAT}");
        let home = home(&server, settings, &format!("{CHAT}{}", other.replace("URL", &server.url())));
        home.write_insts("general = ''");
        home.ok(&["do", "-q", "first"]);
        home.ok(&["do", "-q", "-m", model, "second"]);
        let messages = sent(&bodies(&server)[2]);
        let found: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(found.join(" "), roles, "{settings} {model}");
        let call = &messages[2]["tool_calls"][0];
        assert_eq!(
            call["id"].as_str(),
            (settings == KEEP).then_some(if model == "test" { "x9" } else { "call_2" })
        );
        // Without tools the calls are text.
        home.ok(&["do", "-q", "--no-agents", "--tools", "off", "-m", "test", "third"]);
    }
}

fn in_words() -> (Bot, Vec<Value>) {
    let call = r#"{"server": "s", "name": "echo", "arguments": {"a": "}"}}"#;
    let bot = Bot::ollama(
        "planner = 'off'\ntool_call_mode = 'auto'\ntool_history = 'keep'",
        &[&format!("I will look.\n{call}\n"), "Done.", "Again."],
    );
    bot.home.write_insts("general = ''");
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
    bot.home.ok(&["do", "-q", "say it"]);
    bot.home.ok(&["do", "-q", "and?"]);
    let bodies = bot.bodies();
    (bot, bodies)
}

#[test]
fn where_tools_are_in_words_the_calls_are_words_too() {
    let (bot, bodies) = in_words();
    let sent: Vec<Vec<Value>> = bodies.iter().map(sent).collect();
    for pair in sent.windows(2) {
        assert_eq!(pair[1][..pair[0].len()], pair[0][..]);
    }
    let roles: Vec<&str> = sent[2].iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "assistant", "tool", "assistant", "user"]);
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

/// A conversation of two turns, the first with words and a call.
fn talk(more: impl IntoIterator<Item = Reply>) -> Bot {
    let replies = [openai_calls("I look. ", &[("hammer", "{}")]), openai_sse(["One."]), openai_sse(["Two."])];
    let bot = Bot::openai(KEEP, replies.into_iter().chain(more));
    bot.home.write_insts("general = ''");
    bot.home.ok(&["do", "-q", "first"]);
    bot.home.ok(&["do", "-q", "second"]);
    bot
}

fn last(bot: &Bot) -> String {
    Value::from(sent(bot.bodies().last().unwrap())).to_string()
}

#[test]
fn readers_leave_them_out_unless_they_show_hidden_messages() {
    let bot = talk([]);
    let formats = "markdown json session html messages chatgpt openwebui pi handoff claude-code codex";
    let exports = formats.split(' ').map(|format| vec!["export", "--format", format]);
    for args in exports.chain([vec!["show"], vec!["show", "--json"], vec!["log"], vec!["ls", "--pending"]]) {
        let out = bot.home.ok(&args);
        assert!(!out.contains("hammer") && !out.contains("I look."), "{args:?}: {out}");
    }
    for args in [&["show", "-a"][..], &["export", "-a"], &["log", "-a"]] {
        assert!(bot.home.ok(args).contains("hammer"), "{args:?}");
    }
    let mut session = Session::open(&bot.home, &[]);
    let tail = bubbs(&bot.home).pop().unwrap().id;
    let shown = session.text("show", json!({ "address": tail }));
    assert!(shown.contains("One.") && !shown.contains("hammer") && !shown.contains("I look."), "{shown}");
}

#[test]
fn an_editor_and_a_rebase_have_each_call_where_it_was_made() {
    let bot = talk([openai_sse(["Three."])]);
    let mut client = Client::start(&bot.home, &[]);
    let tail = bubbs(&bot.home).pop().unwrap().id;
    client.call("session/load", json!({ "sessionId": tail, "cwd": bot.home.work(), "mcpServers": [] }));
    let kinds: Vec<&str> =
        client.updates.iter().filter_map(|(_, update)| update["sessionUpdate"].as_str()).collect();
    let expected = "user_message_chunk agent_message_chunk tool_call tool_call_update agent_message_chunk";
    assert_eq!(kinds[..5].join(" "), expected);
    client.leave();
    let text = bot.home.ok(&["rebase", "--print"]);
    assert_eq!(text.matches("%% hidden assistant").count(), 2, "{text}");
    assert!(!text.contains("hammer"), "{text}");
    bot.home.ok(&["rebase", "@", "--root", "--redate"]);
    bot.home.ok(&["do", "-q", "third"]);
    assert!(last(&bot).contains("hammer"), "{}", last(&bot));
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn a_secret_in_a_call_is_in_no_file_of_the_store() {
    let secret = github_token(1);
    let call = json!({ "token": secret }).to_string();
    let replies = [openai_calls("", &[("hammer", &call)]), openai_sse(["One."]), openai_sse(["Two."])];
    let bot = Bot::openai(KEEP, replies);
    bot.home.ok(&["do", "-q", "first"]);
    bot.home.ok(&["do", "-q", "second"]);
    assert!(bot.bodies()[1].to_string().contains(&secret));
    let last = last(&bot);
    assert!(last.contains("hammer") && !last.contains(&secret), "{last}");
    let found = bot.home.shell(&format!("grep -rl {secret} .lepo")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn an_answer_that_is_stopped_after_its_calls_is_followed_with_them() {
    let part = openai_event(json!({"content": "Half an ans"}), None);
    let stopped = Reply::pieces([Piece::Bytes(part.into_bytes()), Piece::Close]);
    let bot = Bot::openai(KEEP, [openai_calls("", &[("hammer", "{}")]), stopped, openai_sse(["Done."])]);
    bot.home.write_insts("general = ''");
    assert_eq!(bot.home.alone(&["do", "-q", "first"]).code, 3);
    bot.home.ok(&["do", "-q", "go on"]);
    let sent: Vec<Vec<Value>> = bot.bodies().iter().map(sent).collect();
    assert_eq!(sent[2][..sent[1].len()], sent[1][..]);
    let roles: Vec<&str> = sent[2].iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    let shown = bot.home.ok(&["show"]);
    assert!(shown.contains("Half an ans") && !shown.contains("hammer"), "{shown}");
}

#[test]
fn an_answer_that_does_not_fit_its_schema_is_beside_the_path_even_then() {
    let texts = [openai_sse(["no"]), openai_sse(["{\"a\":1}"]), openai_sse(["Two."])];
    let call = openai_calls("", &[("hammer", "{}")]);
    let bot = Bot::openai(KEEP, [call].into_iter().chain(texts));
    bot.home.write_insts("general = ''");
    bot.home
        .write("work/a.json", r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#);
    bot.home.ok(&["do", "-q", "--schema", "a.json", "first"]);
    bot.home.ok(&["do", "-q", "second"]);
    let last = sent(&bot.bodies()[3]);
    let roles: Vec<&str> = last.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "system", "user", "assistant", "tool", "assistant", "user"], "{last:?}");
    let shown = bot.home.ok(&["show"]);
    assert!(!shown.contains("stopped") && !shown.contains("hammer"), "{shown}");
}

#[test]
fn a_decision_in_another_process_leaves_its_call_on_the_path() {
    let call = openai_calls("", &[("run_command", r#"{"access":"full","command":"true"}"#)]);
    let bot = Bot::openai(KEEP, [call, openai_sse(["One."]), openai_sse(["Two."])]);
    bot.home.write_insts("general = ''");
    assert_eq!(bot.home.alone(&["do", "-q", "first"]).code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    bot.home.ok(&["do", "-q", "--deny", &id]);
    bot.home.ok(&["do", "-q", "second"]);
    let sent: Vec<Vec<Value>> = bot.bodies().iter().map(sent).collect();
    assert_eq!(sent[2][..sent[1].len()], sent[1][..]);
    assert_eq!(sent[2][2]["tool_calls"][0]["id"], "x0");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 D / F u0 E / G a0 F");
}

#[test]
fn a_question_answered_again_follows_the_question_and_its_calls_are_its_own() {
    let bot = talk([openai_calls("", &[("saw", "{}")]), openai_sse(["Other."]), openai_sse(["Yes."])]);
    let first = bubbs(&bot.home)[1].id.clone();
    bot.home.ok(&["do", "-q", "--retry", "--tail", &first]);
    assert!(!last(&bot).contains("hammer"), "{}", last(&bot));
    bot.home.ok(&["do", "-q", "third"]);
    assert!(last(&bot).contains("saw") && !last(&bot).contains("hammer"), "{}", last(&bot));
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn compaction_leaves_the_calls_out() {
    let bot = talk([openai_sse(["Three."]), openai_sse(["A summary."]), openai_sse(["Four."])]);
    // Nothing to summarise: only the calls are left out, and no model is asked.
    let asked = bot.bodies().len();
    bot.home.ok(&["do", "--compact"]);
    assert_eq!(bot.bodies().len(), asked);
    let texts = |home: &Home| home.ok(&["show", "-a"]);
    assert!(!texts(&bot.home).contains("hammer"), "{}", texts(&bot.home));
    bot.home.ok(&["do", "-q", "third"]);
    assert!(last(&bot).contains("One.") && !last(&bot).contains("hammer"), "{}", last(&bot));
    bot.home.ok(&["do", "--compact", "--keep", "1"]);
    bot.home.ok(&["do", "-q", "fourth"]);
    assert!(last(&bot).contains("A summary.") && last(&bot).contains("Three."), "{}", last(&bot));
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn a_recorded_answer_with_calls_is_found_and_a_removal_is_taken_back() {
    let bot = talk([]);
    let (asked, found) = (bot.bodies().len(), bubbs(&bot.home));
    assert_eq!(bot.home.ok(&["do", "-q", "-n", "--recorded=only", "first"]), "One.\n");
    let first = found[5].id.clone();
    assert_eq!(bot.home.ok(&["do", "-q", "--recorded=only", "--tail", &first, "second"]), "Two.\n");
    assert_eq!((bot.bodies().len(), bubbs(&bot.home).len()), (asked, found.len()));
    let ran = bot.home.alone(&["rm", "--yes", "@"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains("approved"), "{}", ran.err);
    assert!(bubbs(&bot.home).len() < found.len());
    bot.home.ok(&["undo"]);
    assert_eq!(bubbs(&bot.home).len(), found.len());
    assert_eq!(bot.home.ok(&["fsck"]), "");
}
