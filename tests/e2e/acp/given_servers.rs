//! MCP servers that an editor gives: what the question shows, and for which folder a yes for good holds.

use std::path::Path;

use lepo_turn::config::{FolderTrust, work_folder};
use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::secrets::github_token;

const OFF: &str = "planner = \"off\"";

/// The question about the server of a new session in this folder; none if it is agreed to.
fn question(bot: &Bot, folder: &Path, server: &Value, choice: &str) -> Option<Value> {
    let mut client = Client::start(&bot.home, &[]);
    let reply = client.call("session/new", json!({ "cwd": folder, "mcpServers": [server] }));
    let session = reply["sessionId"].as_str().unwrap().to_string();
    let id = client.ask(&session, "hello");
    let asked = client.until("a question or an answer", |client| match client.asked.pop() {
        Some(asked) => Some(Some(asked)),
        None => (!client.said(&session, "agent_message_chunk").is_empty()).then_some(None),
    });
    if let Some(asked) = &asked {
        client.choose(asked, choice);
    }
    client.end(id).unwrap();
    client.leave();
    asked
}

fn words(asked: &Value) -> String {
    asked["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap().to_string()
}

fn option(asked: &Value) -> &str {
    asked["params"]["options"][1]["name"].as_str().unwrap()
}

#[test]
fn the_whole_definition_is_shown_but_for_what_looks_like_a_secret() {
    let token = github_token(1);
    let bot = Bot::saying(OFF, &["One.", "Two."]);
    let server = json!({ "name": "s", "command": "/bin/false", "args": ["--token", token], "env": [
        { "name": "LD_PRELOAD", "value": "./evil.so" },
        { "name": "NODE_OPTIONS", "value": "--require ./evil.js" },
        { "name": "PATH", "value": "./bin:/usr/bin" },
        { "name": "MY_API_KEY", "value": "canary-5f3a-canary" },
    ] });
    let asked = words(&question(&bot, &bot.home.work(), &server, "reject_once").unwrap());
    for shown in [
        "runs [\"/bin/false\"",
        "LD_PRELOAD=\"./evil.so\"",
        "NODE_OPTIONS=\"--require ./evil.js\"",
        "PATH=\"./bin:/usr/bin\"",
        "MY_API_KEY=(hidden: it looks like a secret)",
    ] {
        assert!(asked.contains(shown), "{shown}: {asked}");
    }
    assert!(!asked.contains("canary") && !asked.contains(&token), "{asked}");
    let server = json!({ "name": "s", "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": [
        { "name": "Authorization", "value": "Bearer canary-5f3a" },
        { "name": "X-Mode", "value": "all" },
    ] });
    let asked = words(&question(&bot, &bot.home.work(), &server, "reject_once").unwrap());
    assert!(asked.contains("X-Mode=\"all\"") && asked.contains("Authorization=(hidden"), "{asked}");
    assert!(!asked.contains("canary"), "{asked}");
}

#[test]
fn a_server_in_a_new_folder_is_one_question_and_a_yes_trusts_the_folder() {
    for (choice, says) in [("allow_once", "~/work is trusted"), ("reject_once", "~/work is not trusted yet")]
    {
        let bot = Bot::saying(OFF, &["One."]);
        bot.home.ok(&["init"]);
        bot.home.write("config/mcp.json", "{}");
        let mut client = Client::start(&bot.home, &[]);
        let server = json!({ "name": "s", "command": "python3", "args": ["server.py"], "env": [] });
        let given = json!({ "cwd": bot.home.work(), "mcpServers": [server] });
        let session = client.call("session/new", given)["sessionId"].as_str().unwrap().to_string();
        let id = client.ask(&session, "hello");
        let asked = client.question();
        let shown = words(&asked);
        assert!(shown.contains("runs [\"python3\"") && shown.contains("to trust ~/work"), "{shown}");
        client.choose(&asked, choice);
        // No other question comes before the answer.
        client.until("the answer", |client| {
            assert_eq!(client.asked.pop(), None, "{choice}");
            (!client.said(&session, "agent_message_chunk").is_empty()).then_some(())
        });
        client.end(id).unwrap();
        client.leave();
        let output = bot.home.alone(&["trust"]);
        assert!(output.err.contains(says) || output.out.contains("~/work"), "{choice}: {}", output.err);
        assert_eq!(output.err.contains("~/work is trusted"), choice == "allow_once", "{}", output.err);
    }
}

#[test]
fn always_holds_for_the_definition_and_the_folder() {
    let bot = Bot::saying(OFF, &["1.", "2.", "3.", "4.", "5.", "6.", "7.", "8."]);
    let (work, other) = (bot.home.work(), bot.home.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    let trust = FolderTrust::in_state(&bot.home.path().join("state/lepo"));
    [&work, &other]
        .iter()
        .for_each(|folder| trust.record_answer(&work_folder(folder).unwrap(), true).unwrap());
    for folder in [&work, &other] {
        std::fs::write(folder.join("server.py"), "x").unwrap();
        bot.home.trust_folder(folder);
    }
    let ask = |folder: &Path, server: &Value| question(&bot, folder, server, "allow_always");
    let named =
        |command: &str, args: &[&str]| json!({ "name": "s", "command": command, "args": args, "env": [] });
    for server in [
        // Not an absolute program: `PATH` and the folder decide what it is.
        named("no-such-program", &[]),
        // A file of the folder.
        named("/bin/false", &["server.py"]),
    ] {
        let asked = ask(&work, &server).unwrap();
        assert_eq!(option(&asked), "Always allow exactly this server in this folder");
        assert_eq!(ask(&work, &server), None, "{server}");
        assert!(ask(&other, &server).is_some(), "{server}");
    }
    let server = named("/bin/false", &["--stdio"]);
    let asked = ask(&work, &server).unwrap();
    assert_eq!(option(&asked), "Always allow exactly this server");
    assert_eq!(ask(&other, &server), None);
}
