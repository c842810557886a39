//! Each way to misbehave: the turn ends in time with a clear word, the others go on, and nothing is left.

use std::process::Stdio;

use serde_json::json;

use super::{configure, hostile, is_running, left, no_orphans, texts_below, within};
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, finish, run, until};
use crate::scripted::{openai_calls, openai_sse};

/// Short, so that what hangs is given up soon.
const SETTINGS: &str = "planner = 'off'\ntool_call_mode = 'auto'\nlog_level = 'debug'\n\
    [mcp]\nconnect_timeout = 12\nidle_timeout = 2\ntotal_timeout = 5\n";

const TOKEN: &str = "tok-s3cr3t-1234567890";
const KEY: &str = "sk-lepo-0987654321";

#[test]
fn a_late_answer_to_the_first_request_is_not_that_to_the_second_and_a_server_is_started_once() {
    let home = Home::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/late_server.py");
    let ways = ["named", "unnamed", "result"];
    let servers = ways.map(|how| {
        home.write(&format!("left/{how}/.here"), "");
        let args = json!([script, how, home.path().join("left").join(how)]);
        (how, json!({ "command": "python3", "args": args }))
    });
    configure(&home, &servers);
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for how in ways {
        assert!(ran.out.contains(how), "{}", ran.out);
        assert_eq!(left(&home, how, "starts").len(), 1, "{how}: {}", ran.err);
    }
    assert_eq!(ran.out.matches("echo").count(), 3, "{}", ran.out);
}

#[test]
fn the_last_words_of_a_server_stand_below_the_error() {
    let bot = Bot::openai(SETTINGS, [openai_sse(["Done."])]);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "exit"))]);
    let ran = bot.home.alone(&["do", "--context", "mcp:s/test://x", "q"]);
    let message =
        "error: server s cannot be used: it exited with code 1; the end of its stderr:\n  cannot start";
    assert!(ran.code == 3 && ran.err.contains(message), "{}: {}", ran.code, ran.err);
}

#[test]
fn every_mode_ends_in_time_and_the_others_go_on() {
    // The text of the result, and a text on stderr.
    for (mode, result, said) in [
        ("junk", "echo {}", "note: server s: skipped lines on its stdout that are not messages"),
        ("flood", "echo {}", ""),
        ("malformed-tools", "echo {}", "tool \"odd\" was left out"),
        ("loop", "echo {}", "its list of tools never ends: a page follows itself"),
        ("ansi", "echo {}", ""),
        ("stubborn", "echo {}", ""),
        ("tree", "echo {}", ""),
        ("stubborn-tree", "echo {}", ""),
        ("progress", "echo {}", ""),
        ("blocks", "[a content block of type \"text\" that cannot be read]", ""),
        ("nothing", "error: its answer is not the result of a tool", ""),
        ("die", "error: it exited with code 3", ""),
        ("hang", "error: no answer for 2.0 s", ""),
        ("longer", "error: an answer is longer than 16 MiB", ""),
        ("idless", "error: who are you", ""),
        ("idless-then-answer", "echo {}", ""),
        ("refuse", "error: not like this", ""),
        (
            "exit",
            "server \"s\" is not running: it exited with code 1",
            "warning: server s cannot be used: it exited with code 1; the end of its stderr:\ncannot start: no licence; token [secret]",
        ),
        ("mute", "server \"s\" is not running", "warning: server s cannot be used: no answer for 0.5 s"),
    ] {
        let calls = openai_calls("", &[("t__echo", r#"{"well":1}"#), ("s__echo", "{}")]);
        let bot = Bot::openai(SETTINGS, [calls, openai_sse(["Done."])]);
        let mut server = hostile(&bot.home, "s", mode);
        server["env"] = serde_json::json!({ "MY_TOKEN": TOKEN });
        if mode == "mute" {
            server["startup_timeout_sec"] = 0.5.into();
        }
        configure(&bot.home, &[("s", server), ("t", hostile(&bot.home, "t", "plain"))]);
        let ran = within(60, mode, || bot.home.alone(&["do", "x"]));
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{mode}: {}", ran.err);
        assert!(ran.err.contains(said), "{mode}: {}", ran.err);
        let found = bubbs(&bot.home);
        let results: Vec<&str> =
            found.iter().filter(|bubb| bubb.tag == "t1").map(|bubb| bubb.text.as_str()).collect();
        assert_eq!(results[0], r#"echo {"well": 1}"#, "{mode}");
        assert!(results[1].contains(result), "{mode}: {}", results[1]);
        for name in ["s", "t"] {
            no_orphans(&bot.home, name);
        }
        for (path, text) in texts_below(bot.home.path()) {
            assert!(!text.contains(TOKEN) || path.ends_with("mcp.json"), "{mode}: {path} has the token");
        }
        assert!(!ran.err.contains(TOKEN), "{mode}: {}", ran.err);
    }
}

#[test]
fn secrets_are_nowhere_and_keys_are_not_inherited() {
    let settings = format!(
        "{SETTINGS}\n[[models]]\nname = 'other'\nprovider = 'openai'\nmodel = 'm'\napi_key_env = 'LEPO_TEST_KEY'\n"
    );
    let bot = Bot::openai(&settings, [openai_calls("", &[("s__echo", "{}")]), openai_sse(["Done."])]);
    let mut server = hostile(&bot.home, "s", "secrets");
    server["env"] = serde_json::json!({ "MY_TOKEN": TOKEN });
    configure(&bot.home, &[("s", server)]);
    let mut command = bot.home.detached(&["do", "x"]);
    command.env("LEPO_TEST_KEY", KEY);
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&bot.home)[3].text, "the token is [secret]; key: None");
    let log = texts_below(&bot.home.path().join("state"));
    assert!(log.iter().any(|(_, text)| text.contains("lepo_tool::mcp")), "nothing was logged: {log:?}");
    for (path, text) in texts_below(bot.home.path()) {
        assert!(!text.contains(TOKEN) || path.ends_with("mcp.json"), "{path}");
        assert!(!text.contains(KEY), "{path}");
    }
    assert!(!ran.err.contains(TOKEN) && !ran.err.contains(KEY), "{}", ran.err);
}

#[test]
fn however_lepo_ends_nothing_is_left() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("KILL", 137)] {
        let mode = if signal == "KILL" { "tree" } else { "stubborn-tree" };
        let bot = Bot::openai(SETTINGS, [openai_calls("", &[("s__echo", "{}"), ("h__echo", "{}")])]);
        let two = [("s", hostile(&bot.home, "s", mode)), ("h", hostile(&bot.home, "h", "hang"))];
        configure(&bot.home, &two);
        let mut command = bot.home.command(&["do", "--no-stdin", "x"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        until("the call hangs", || !left(&bot.home, "h", "calls").is_empty());
        let pid = child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args([&format!("-{signal}"), &pid])
                .status()
                .unwrap()
                .success()
        );
        let ran = within(60, signal, || finish(child));
        assert_eq!(ran.code, code, "{signal}: {}", ran.err);
        // Also one in a session of its own.
        let pids = left(&bot.home, "s", "pids");
        for pid in &pids {
            until(&format!("{signal}: {pid} ends"), || !is_running(pid));
        }
        no_orphans(&bot.home, "h");
        for pid in pids {
            let _ = std::process::Command::new("kill").args(["-KILL", &pid]).stderr(Stdio::null()).status();
        }
    }
}

#[test]
fn an_interruption_does_not_wait_for_a_server_that_says_nothing() {
    let settings = SETTINGS.replace("connect_timeout = 12", "connect_timeout = 600");
    let bot = Bot::openai(&settings, []);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "mute"))]);
    let mut command = bot.home.command(&["do", "--no-stdin", "x"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until("it starts", || !left(&bot.home, "s", "pids").is_empty());
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = within(60, "the end", || finish(child));
    assert_eq!(ran.code, 130, "{}", ran.err);
    no_orphans(&bot.home, "s");
}

#[test]
fn a_server_that_was_silent_is_waited_for_briefly_until_it_answers() {
    let home = Home::new().trusting();
    home.write(
        "config/config.toml",
        "planner = 'off'\n[[models]]\nname = 'm'\nprovider = 'cli'\ncommand = ['sh', '-c', 'cat > /dev/null; echo Hi.']\nactive = true\n",
    );
    let server = |mode: &str| {
        let mut server = hostile(&home, "s", mode);
        server["startup_timeout_sec"] = 2.5.into();
        configure(&home, &[("s", server)]);
    };
    server("mute");
    let said = |args: &[&str]| within(60, "an answer", || home.alone(args)).err;
    let first = said(&["do", "x"]);
    assert!(first.contains("server s cannot be used: no answer for 2.5 s\n"), "{first}");
    let second = said(&["do", "x"]);
    let words = "no answer for 2.0 s, as some minutes ago; `lepo do --list-tools` waits longer\n";
    assert!(second.contains(words), "{second}");
    let listed = said(&["do", "--list-tools"]);
    assert!(listed.contains("server s cannot be used: no answer for 2.5 s\n"), "{listed}");
}
