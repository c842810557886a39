//! Sessions of an editor: listed, taken up after a restart, forked, several at once, with MCP servers of their own.

use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::{bubbs, forest, journal, put};
use crate::scripted::{Piece, Reply, end, openai_calls, openai_sse, said};

const OFF: &str = "planner = \"off\"";
const NATIVE: &str = "planner = \"native\"";
const ECHO: &str = r#"{"access":"full","command":"echo 한글 | tee -a ran"}"#;

fn load(bot: &Bot, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] })
}

/// The sessions of a list: each its id and title.
fn listed(client: &mut Client, bot: &Bot) -> Vec<(String, String)> {
    let reply = client.call("session/list", json!({ "cwd": bot.home.work() }));
    let text = |session: &Value, key: &str| session[key].as_str().unwrap_or_default().to_string();
    let sessions = reply["sessions"].as_array().unwrap().iter();
    sessions.map(|session| (text(session, "sessionId"), text(session, "title"))).collect()
}

/// Texts with their speakers and the ids of the messages.
fn replayed(client: &Client, session: &str) -> Vec<(String, String, Option<String>)> {
    let chunk = |(of, update): &(String, Value)| {
        let kind = update["sessionUpdate"].as_str()?.strip_suffix("_message_chunk")?;
        let text = update["content"]["text"].as_str()?.to_string();
        let id = update["messageId"].as_str().map(str::to_string);
        (of == session).then(|| (kind.to_string(), text, id))
    };
    client.updates.iter().filter_map(chunk).collect()
}

#[test]
fn a_session_is_listed_and_taken_up_after_a_restart() {
    let bot = Bot::saying(OFF, &["One.", "Two.", "Three."]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    client.asks(&session, "first");
    client.asks(&session, "second");
    client.leave();

    let mut client = Client::start(&bot.home, &[]);
    assert_eq!(listed(&mut client, &bot), [(session.clone(), "first".to_string())]);
    client.call("session/load", load(&bot, &session));
    let found = bubbs(&bot.home);
    let message = |kind: &str, at: usize| (kind.into(), found[at].text.clone(), Some(found[at].id.clone()));
    let expected = [message("user", 1), message("agent", 2), message("user", 3), message("agent", 4)];
    assert_eq!(replayed(&client, &session), expected);
    client.asks(&session, "third");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F u0 E / G a0 F");
    client.leave();

    // Resumed, nothing is told again; and what others added at its end belongs to it.
    bot.home.add(&["--kind", "user"], "from the shell");
    let mut client = Client::start(&bot.home, &[]);
    client.call("session/resume", load(&bot, &session));
    assert_eq!(replayed(&client, &session), []);
    assert_eq!(listed(&mut client, &bot).len(), 1);
    let gone = client.fail("session/load", load(&bot, "s-none"));
    assert_eq!((&gone["code"], &gone["data"]["kind"]), (&json!(-32002), &json!("nothing")));
}

#[test]
fn tool_calls_are_told_again_where_they_were_made() {
    let echo = || openai_calls("", &[("run_command", ECHO)]);
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Said."]), openai_sse(["Again."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    let asked = client.question();
    client.choose(&asked, "allow_once");
    client.end(id).unwrap();
    client.asks(&session, "and again");
    client.leave();
    let mut client = Client::start(&bot.home, &[]);
    client.call("session/load", load(&bot, &session));
    let kinds: Vec<&str> =
        client.updates.iter().filter_map(|(_, update)| update["sessionUpdate"].as_str()).collect();
    let expected = [
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "user_message_chunk",
        "agent_message_chunk",
    ];
    assert_eq!(kinds[..6], expected);
    assert_eq!(client.of_kind("tool_call_update")[0]["status"], "completed");
}

#[test]
fn conversations_of_the_shell_are_listed_by_branch_or_tail_and_go_on_there() {
    let bot = Bot::saying(OFF, &["One.", "Two.", "Three.", "Four."]);
    bot.home.ok(&["do", "shell one"]);
    bot.home.ok(&["branch", "topic"]);
    bot.home.ok(&["do", "-n", "shell two"]);
    let tail = bubbs(&bot.home).last().unwrap().id.clone();
    let mut client = Client::start(&bot.home, &[]);
    let expected = [(tail.clone(), "shell two".to_string()), ("topic".to_string(), "shell one".to_string())];
    assert_eq!(listed(&mut client, &bot), expected);
    client.call("session/load", load(&bot, "topic"));
    client.asks("topic", "more of one");
    client.call("session/load", load(&bot, &tail));
    client.asks(&tail, "more of two");
    let found = bubbs(&bot.home);
    let (one, two) = (&found[found.len() - 3].id, &found[found.len() - 1].id);
    assert!(bot.home.ok(&["branch"]).contains(one.as_str()), "the branch moves on");
    let ids: Vec<String> = listed(&mut client, &bot).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [two.clone(), "topic".to_string()]);
    // The id that it was loaded by still leads to its newest tail.
    client.call("session/resume", load(&bot, &tail));
}

#[test]
fn a_fork_begins_at_its_message_and_its_origin_goes_on_without_it() {
    let bot = Bot::saying(OFF, &["One.", "Two.", "Forked.", "Three."]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    client.asks(&session, "first");
    client.asks(&session, "second");
    let found = bubbs(&bot.home);
    let fork = client.call("_lepo/fork", json!({ "sessionId": session, "messageId": found[2].id }));
    let fork = fork["sessionId"].as_str().unwrap().to_string();
    let wrong = client.fail("_lepo/fork", json!({ "sessionId": session, "messageId": "x" }));
    assert_eq!(wrong["code"], -32602);
    // Listed before anything is written in it.
    let ids: Vec<String> = listed(&mut client, &bot).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [session.clone(), fork.clone()]);
    // It can be prompted at once.
    client.asks(&fork, "elsewhere");
    for cursor in ["x", "", "x y", &format!("{} ", found[2].id)] {
        let wrong = client.fail("session/list", json!({ "cwd": bot.home.work(), "cursor": cursor }));
        assert_eq!(wrong["code"], -32602, "{cursor}: {wrong}");
    }
    let whole = client.call("session/fork", load(&bot, &session));
    let whole = whole["sessionId"].as_str().unwrap().to_string();
    client.asks(&whole, "third");
    assert_eq!(
        forest(&bot.home),
        "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F u0 C / G a0 F / H u0 E / I a0 H"
    );
    client.leave();
    let mut client = Client::start(&bot.home, &[]);
    client.call("session/load", load(&bot, &session));
    let texts: Vec<String> = replayed(&client, &session).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["first", "One.", "second", "Two."]);
    let mut ids: Vec<String> = listed(&mut client, &bot).into_iter().map(|(id, _)| id).collect();
    ids.sort();
    let mut expected = [session, fork, whole];
    expected.sort();
    assert_eq!(ids, expected);
}

#[test]
fn an_empty_session_is_there_after_a_restart() {
    let bot = Bot::saying(OFF, &["One."]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    assert_eq!(listed(&mut client, &bot), []);
    client.leave();
    let mut client = Client::start(&bot.home, &[]);
    client.call("session/load", load(&bot, &session));
    client.asks(&session, "first");
    assert_eq!(listed(&mut client, &bot), [(session, "first".into())]);
    // The answer keeps its own facts in the journal.
    let ls = bot.home.ok(&["ls", "-l"]);
    assert!(ls.contains(" test "), "{ls}");
    assert!(journal(&bot.home).iter().any(|line| line["what"] == "session" && line["bubb"].is_null()));
}

#[test]
fn two_sessions_are_answered_at_once() {
    let held = |text: &str| {
        Reply::pieces([said(text), Piece::Wait, said("."), end()]).header("content-type", "text/event-stream")
    };
    let bot = Bot::openai(OFF, [held("One"), held("Two")]);
    let mut client = Client::start(&bot.home, &[]);
    let (one, two) = (client.session(&bot.home), client.session(&bot.home));
    let first = client.ask(&one, "one");
    client.until("the first", |client| (client.said(&one, "agent_message_chunk") == "One").then_some(()));
    let second = client.ask(&two, "two");
    client.until("the second", |client| (client.said(&two, "agent_message_chunk") == "Two").then_some(()));
    bot.server.as_ref().unwrap().release();
    bot.server.as_ref().unwrap().release();
    for id in [first, second] {
        assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    }
    assert_eq!(client.said(&one, "agent_message_chunk"), "One.");
    assert_eq!(client.said(&two, "agent_message_chunk"), "Two.");
    client.call("session/close", json!({ "sessionId": one }));
    let gone = client.begin("session/prompt", json!({ "sessionId": one, "prompt": [] }));
    assert_eq!(client.end(gone).unwrap_err()["code"], -32002);
}

#[test]
fn a_long_list_comes_in_pages() {
    let bot = Bot::saying(OFF, &[]);
    bot.home.ok(&["init"]);
    for i in 0..60 {
        put(&bot.home, 1_760_599_230_000 + i, "u0", "head", &format!("question {i}"));
    }
    let mut client = Client::start(&bot.home, &[]);
    let (mut titles, mut cursor) = (Vec::new(), Value::Null);
    loop {
        // Without a folder it is that of the process.
        let page = client.call("session/list", json!({ "cursor": cursor }));
        let sessions = page["sessions"].as_array().unwrap();
        assert!(sessions.len() <= 50);
        titles.extend(sessions.iter().map(|session| session["title"].as_str().unwrap().to_string()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<String> = (0..60).rev().map(|i| format!("question {i}")).collect();
    assert_eq!(titles, expected);
    let nowhere = client.call("session/list", json!({ "cwd": "/" }));
    assert_eq!(nowhere["sessions"], json!([]));
}

/// An MCP server with one tool, `hello`.
const SERVER: &str = r#"#!/usr/bin/env python3
import json, sys
open("started", "a").write("x")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "hello there"}]},
    }.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn servers_of_the_editor_count_only_after_a_yes_and_always_is_kept_for_exactly_them() {
    let call = || openai_calls("", &[("greet__hello", "{}")]);
    let answers = [openai_sse(["None."]), call(), openai_sse(["One."]), call(), openai_sse(["Two."])];
    let bot = Bot::openai(NATIVE, answers);
    bot.home.trust_work();
    let program = bot.home.write_program("server.py", SERVER);
    let given = |args: &[&str]| {
        json!({ "cwd": bot.home.work(), "mcpServers": [
            { "name": "greet", "command": program, "args": args, "env": [{ "name": "K", "value": "v" }] },
        ] })
    };
    let mut client = Client::start(&bot.home, &[]);
    let new = |client: &mut Client, args: &[&str]| {
        let reply = client.call("session/new", given(args));
        reply["sessionId"].as_str().unwrap().to_string()
    };
    // Refused, it is not started, and not asked about again in this session.
    let session = new(&mut client, &[]);
    let id = client.ask(&session, "zero");
    let asked = client.question();
    let words = asked["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(words.contains("server \"greet\": runs [") && words.contains("with env K"), "{words}");
    client.choose(&asked, "reject_once");
    client.end(id).unwrap();
    assert_eq!(bot.home.read("work/started"), "");
    // Always: kept, and its tools are there.
    let session = new(&mut client, &[]);
    let id = client.ask(&session, "one");
    let asked = client.question();
    client.choose(&asked, "allow_always");
    let asked = client.question();
    assert!(asked["params"]["toolCall"]["title"].as_str().unwrap().contains("hello"), "{asked}");
    client.choose(&asked, "allow_once");
    client.end(id).unwrap();
    assert!(bot.home.read("work/started").starts_with("x"));
    client.leave();
    // The very same is not asked about again; another one is.
    let mut client = Client::start(&bot.home, &[]);
    let session = new(&mut client, &[]);
    let id = client.ask(&session, "two");
    let asked = client.question();
    assert!(asked["params"]["toolCall"]["title"].as_str().unwrap().contains("hello"), "{asked}");
    client.choose(&asked, "allow_once");
    client.end(id).unwrap();
    let session = new(&mut client, &["other"]);
    client.ask(&session, "three");
    let asked = client.question();
    assert_eq!(asked["params"]["options"][1]["kind"], "allow_always");
}
