//! Clients that send rubbish, too much or nothing, and ends in the middle: an error at most, and what came is kept.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::home::until;
use crate::scripted::{Piece, Reply, openai_sse, said};

const OFF: &str = "planner = \"off\"";

#[test]
fn rubbish_is_an_error_and_never_the_end() {
    let bot = Bot::saying(OFF, &["Still here."]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let deep = "[".repeat(100_000) + "\n";
    let deep_params = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"session/new\",\"params\":{}\n",
        "[".repeat(100_000)
    );
    let lines: &[&[u8]] = &[
        b"rubbish\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        b"{}\n",
        b"null\n",
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}]\n",
        deep.as_bytes(),
        deep_params.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"initialize\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"none\"}\n",
    ];
    for line in lines {
        client.raw(line);
        let error = client.end(u64::MAX).unwrap_err();
        let code = error["code"].as_i64().unwrap();
        assert!([-32700, -32600, -32601].contains(&code), "{error}");
    }
    // Answers to nothing, notifications of nothing, blank lines.
    client.raw(b"\n\r\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":7}\n");
    client.notify("session/cancel", json!({ "sessionId": "none" }));
    client.notify("session/cancel", json!(7));
    client.notify("$/cancel_request", json!({ "requestId": { "a": [] } }));
    client.notify("none/such", json!([]));
    for (method, params, code) in [
        ("session/prompt", json!({ "sessionId": "none", "prompt": [] }), -32002),
        ("session/prompt", json!({ "sessionId": session, "prompt": "text" }), -32602),
        ("session/new", json!({ "cwd": "relative", "mcpServers": [] }), -32602),
        ("session/new", json!({ "cwd": "/nowhere at all", "mcpServers": [] }), -32602),
        ("session/new", json!({ "cwd": bot.home.work(), "mcpServers": [{}] }), -32602),
        (
            "session/load",
            json!({ "sessionId": "../../etc", "cwd": bot.home.work(), "mcpServers": [] }),
            -32002,
        ),
        ("initialize", json!({}), -32602),
    ] {
        assert_eq!(client.fail(method, params.clone())["code"], code, "{method} {params}");
    }
    assert_eq!(client.asks(&session, "and now?"), "end_turn");
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_line_over_64_mib_is_an_error_and_one_of_10_is_read() {
    let bot = Bot::saying(OFF, &["Read."]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        client.raw(&piece);
    }
    client.raw(b"\n");
    assert_eq!(client.end(u64::MAX).unwrap_err()["code"], -32700);
    let long = "y".repeat(10 << 20);
    let id = client.begin(
        "session/prompt",
        json!({ "sessionId": session, "prompt": [{ "type": "text", "text": long }] }),
    );
    assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    // Said again it comes in pieces; the client checks the length of each line.
    let load = json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] });
    client.call("session/load", load);
    assert!(client.said(&session, "user_message_chunk") == long);
}

#[test]
fn ids_that_are_used_twice_are_answered_twice() {
    let bot = Bot::saying(OFF, &["One."]);
    let mut client = Client::start(&bot.home, &[]);
    let line = json!({ "jsonrpc": "2.0", "id": 500, "method": "session/list", "params": {} });
    client.known(500, "session/list");
    client.raw(format!("{line}\n{line}\n").as_bytes());
    for _ in 0..2 {
        assert_eq!(client.end(500).unwrap()["sessions"], json!([]));
    }
}

/// A reply that says `text` and then nothing more.
fn begun(text: &str) -> Reply {
    Reply::pieces([said(text), Piece::Wait]).header("content-type", "text/event-stream")
}

fn began(bot: &Bot) -> Client {
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    client.ask(&session, "well?");
    client.until("a part", |client| (!client.said(&session, "agent_message_chunk").is_empty()).then_some(()));
    client
}

fn has_part(bot: &Bot) {
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
    assert_eq!(bubbs(&bot.home)[2].text, "A part");
}

#[test]
fn a_closed_editor_and_signals_keep_what_came() {
    let bot = Bot::openai(OFF, [begun("A part")]);
    assert_eq!(began(&bot).leave(), 0);
    has_part(&bot);

    let bot = Bot::openai(OFF, [begun("A part")]);
    let mut client = began(&bot);
    kill_process(Pid::from_child(client.child()), Signal::TERM).unwrap();
    assert_eq!(client.wait(), 143);
    has_part(&bot);
}

#[test]
fn a_broken_pipe_ends_it_and_keeps_what_came() {
    let more = std::iter::repeat_with(|| [Piece::Wait, said(" and more")]).take(100);
    let reply = Reply::pieces([said("A part")].into_iter().chain(more.flatten()).chain([Piece::Wait]));
    let bot = Bot::openai(OFF, [reply.header("content-type", "text/event-stream")]);
    let mut command = bot.home.detached(&["do", "--acp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut say = |value: Value| stdin.write_all(format!("{value}\n").as_bytes()).unwrap();
    say(json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new",
        "params": { "cwd": bot.home.work(), "mcpServers": [] } }));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let document: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let prompt = json!([{ "type": "text", "text": "well?" }]);
    say(json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt",
        "params": { "sessionId": document["result"]["sessionId"], "prompt": prompt } }));
    assert!(lines.any(|line| line.unwrap().contains("A part")));
    drop(lines);
    // stdin stays open: the pipe alone tells. A process that another test forks has the pipe open until it executes its
    // program, so one write may succeed.
    until("the end", || {
        bot.server.as_ref().unwrap().release();
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
    assert!(bubbs(&bot.home)[2].text.starts_with("A part"));
}

#[test]
fn a_client_that_never_reads_does_not_keep_it_alive() {
    let bot = Bot::openai(OFF, [openai_sse(["x".repeat(1 << 20).as_str()])]);
    let mut command = bot.home.detached(&["do", "--acp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for id in 0..2000 {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": format!("none/{}", "y".repeat(150)) });
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    until("the end", || child.try_wait().unwrap().is_some());
}

#[test]
fn stdout_has_messages_alone_and_options_of_one_question_are_refused() {
    let bot = Bot::saying(OFF, &[]);
    for args in [&["do", "--acp", "a question"][..], &["do", "--acp", "--run", "ls"]] {
        let ran = bot.home.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
    }
    let ran = bot.home.lepo_with(&["do", "--acp"], b"");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}
