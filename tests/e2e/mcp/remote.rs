//! Servers at an address, of our own: headers, redirects, sessions that are forgotten.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{configure, left, texts_below};
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::do_logs::assert_lepos_own;
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{Piece, Reply, Server, openai_calls, openai_sse};

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";
const TOKEN: &str = "tok-s3cr3t-1234567890";

/// A hostile server over HTTP, until it is dropped.
pub struct Remote {
    child: Child,
    pub url: String,
}

impl Remote {
    pub fn start(home: &Home, name: &str, mode: &str) -> Remote {
        home.write(&format!("left/{name}/.here"), "");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hostile.py");
        let place = home.path().join("left").join(name);
        let mut child = Command::new("python3")
            .args([script, mode, place.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Remote { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()) }
    }

    fn config(&self) -> Value {
        json!({ "url": format!("{}?token={TOKEN}", self.url), "transport": "http", "env": { "Authorization": format!("Bearer {TOKEN}") } })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn calls(n: u8) -> Bot {
    let call = openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    Bot::openai(AUTO, [call, openai_sse(["Done."])])
}

#[test]
fn entries_of_env_are_headers_and_are_in_no_message() {
    let call = openai_calls("", &[("s__echo", r#"{"n":1}"#)]);
    let bot = Bot::openai(&format!("{AUTO}\nlog_level = 'debug'"), [call, openai_sse(["Done."])]);
    let remote = Remote::start(&bot.home, "s", "http-plain");
    configure(&bot.home, &[("s", remote.config())]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&bot.home)[3].text, r#"echo {"n": 1}"#);
    let headers = left(&bot.home, "s", "headers");
    assert!(
        !headers.is_empty() && headers.iter().all(|line| line.to_lowercase().contains(TOKEN)),
        "{headers:?}"
    );
    let files = [texts_below(&bot.home.path().join("state")), texts_below(&bot.home.work())].concat();
    assert!(files.iter().any(|(_, text)| text.contains("lepo_tool::mcp")), "nothing was logged: {files:?}");
    for (path, text) in files {
        assert!(!text.contains(TOKEN), "{path}");
        if path.contains("application-lepo-") {
            assert_lepos_own(&text);
        }
    }
    assert!(!ran.err.contains(TOKEN), "{}", ran.err);
}

#[test]
fn no_proxy_stands_before_this_machine() {
    let bot = calls(1);
    let proxy = Server::start([]);
    let remote = Remote::start(&bot.home, "s", "http-plain");
    configure(&bot.home, &[("s", remote.config())]);
    let mut lepo = bot.home.detached(&["do", "x"]);
    lepo.env("http_proxy", proxy.url()).env("all_proxy", proxy.url());
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&bot.home)[3].text, r#"echo {"n": 1}"#);
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn no_message_goes_where_another_origin_wants_it() {
    for place in ["{}/messages", "//{}/messages"] {
        let bot = Bot::saying(AUTO, &["Done."]);
        let elsewhere = Server::start([]);
        let host = elsewhere.url();
        let host = if place.starts_with('/') { host.trim_start_matches("http://") } else { &host };
        let event = format!("event: endpoint\ndata: {}\n\n", place.replace("{}", host));
        let stream = Reply::pieces([Piece::Bytes(event.into_bytes()), Piece::Wait]);
        let server = Server::start([stream.header("content-type", "text/event-stream")]);
        let headers = json!({ "Authorization": format!("Bearer {TOKEN}") });
        configure(&bot.home, &[("s", json!({ "url": server.url(), "type": "sse", "headers": headers }))]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("it wants messages sent to another origin"), "{}", ran.err);
        assert_eq!((server.asked().len(), elsewhere.connections()), (1, 0));
    }
}

#[test]
fn a_session_that_the_server_forgot_is_begun_anew_and_the_call_made_once() {
    let bot = calls(1);
    let remote = Remote::start(&bot.home, "s", "http-forget");
    configure(&bot.home, &[("s", remote.config())]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&bot.home)[3].text, r#"echo {"n": 1}"#);
    assert_eq!(left(&bot.home, "s", "calls").len(), 1);
}

#[test]
fn a_server_that_was_started_anew_is_greeted_anew_by_the_next_call() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let replies =
        [call(1), openai_sse(["One."]), call(2), openai_sse(["Two."]), call(3), openai_sse(["Three."])];
    let bot = Bot::openai(AUTO, replies);
    // As server-everything does it: HTTP 400, and an error that names no request.
    let remote = Remote::start(&bot.home, "s", "http-restart");
    configure(&bot.home, &[("s", remote.config())]);
    let steps = [
        ("> ", "a\n"),
        ("One.", ""),
        ("> ", "b\n"),
        ("Two.", ""),
        ("> ", "c\n"),
        ("Three.", ""),
        ("> ", "\n"),
    ];
    let ran = on_terminal(bot.home.command(&["do"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(left(&bot.home, "s", "calls"), [r#"{"n": 1}"#, r#"{"n": 3}"#]);
    assert!(bubbs(&bot.home).iter().any(|bubb| bubb.text == "error: no valid session"));
}

#[test]
fn no_header_follows_a_redirect_to_another_origin() {
    for transport in ["http", "sse"] {
        let bot = Bot::saying(AUTO, &["Done."]);
        let elsewhere = Remote::start(&bot.home, "elsewhere", "http-plain");
        bot.home.write("left/s/elsewhere", &elsewhere.url);
        let remote = Remote::start(&bot.home, "s", "http-redirect");
        let mut config = remote.config();
        config["transport"] = json!(transport);
        configure(&bot.home, &[("s", config)]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("warning: server s cannot be used"), "{}", ran.err);
        assert!(!ran.err.contains(TOKEN), "{}", ran.err);
        assert!(left(&bot.home, "elsewhere", "headers").is_empty());
    }
}

#[test]
fn a_server_of_the_other_kind_of_http_says_which_it_may_be() {
    let bot = Bot::saying(AUTO, &["Done."]);
    let remote = Remote::start(&bot.home, "s", "http-plain");
    configure(&bot.home, &[("s", json!({ "url": remote.url, "transport": "sse" }))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert!(
        ran.err.contains("HTTP 405; if it speaks streamable HTTP, its `transport` is \"http\""),
        "{}",
        ran.err
    );
}

#[test]
fn nobody_there_is_said_without_the_address_secrets() {
    let bot = Bot::saying(AUTO, &["Done."]);
    let url = format!("http://127.0.0.1:9/mcp?token={TOKEN}");
    configure(&bot.home, &[("s", json!({ "url": url, "transport": "http" })), ("e", json!({ "url": url }))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for name in ["s", "e"] {
        assert!(
            ran.err
                .contains(&format!("server {name} cannot be used: it cannot be reached: connection refused")),
            "{}",
            ran.err
        );
    }
    assert!(!ran.err.contains(TOKEN), "{}", ran.err);
}
