//! Signing in: with a browser and without, tokens kept and refreshed, and every way to be refused.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::authority::Authority;
use super::{configure, texts_below};
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, Ran, finish, run};
use crate::pty::on_terminal;
use crate::scripted::{Reply, Server, openai_calls, openai_sse};

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'\nlog_level = 'debug'";

/// A browser: it is led astray first, and then goes where the address leads.
const BROWSER: &str = r#"#!/usr/bin/env python3
import sys, urllib.error, urllib.parse, urllib.request
address = sys.argv[1]
back = urllib.parse.parse_qs(urllib.parse.urlparse(address).query)["redirect_uri"][0]
for wrong in ["?code=evil&state=evil", "?code=evil", "/elsewhere"]:
    try:
        urllib.request.urlopen(back + wrong).read()
    except urllib.error.HTTPError:
        pass
urllib.request.urlopen(address).read()
"#;

/// `lepo mcp login s`, with that browser.
fn login(home: &Home, args: &[&str]) -> Ran {
    let browser = home.write_program("bin/browser", BROWSER);
    let mut command = home.command(&[&["mcp", "login", "s"], args].concat());
    command.env("BROWSER", browser);
    run(command, b"")
}

/// A bot that calls the server's tool, signed in unless that fails.
fn signed_in(mode: &'static str) -> (Bot, Authority) {
    let call = || openai_calls("", &[("s__echo", "{}")]);
    let bot = Bot::openai(AUTO, [call(), openai_sse(["Done."]), call(), openai_sse(["Done."])]);
    let authority = Authority::start(mode, "http://127.0.0.1:9");
    authority.configure(&bot.home, json!({}));
    let ran = login(&bot.home, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    (bot, authority)
}

fn files(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path().join("state/lepo/mcp-auth")).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// The result of the tool's call.
fn result(bot: &Bot) -> String {
    bubbs(&bot.home).into_iter().find(|bubb| bubb.tag == "t1").map(|bubb| bubb.text).unwrap_or_default()
}

#[test]
fn a_browser_signs_in_and_the_token_is_in_nothing_but_requests_and_its_file() {
    for mode in ["plain", "secret"] {
        let (bot, authority) = signed_in(mode);
        let files = files(&bot.home);
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(bot.home.ok(&["mcp"]).contains("s  http   on   signed in"), "{}", bot.home.ok(&["mcp"]));
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
        assert_eq!(result(&bot), "you sent Bearer [secret]");
        assert_eq!(authority.state.lock().unwrap().scopes, ["read"]);
        let files = [texts_below(&bot.home.path().join("state")), texts_below(&bot.home.work())].concat();
        for (path, text) in files.iter().filter(|(path, _)| !path.contains("mcp-auth")) {
            assert!(!text.contains("access-s3cret"), "{path}");
        }
        assert!(files.iter().any(|(path, _)| path.contains("application-lepo-")), "there is a log");
        let document: Value = serde_json::from_str(&bot.home.ok(&["mcp", "--json"])).unwrap();
        assert_eq!(document["servers"][0]["signed_in"]["refreshes"], true);
        assert!(!document.to_string().contains("s3cret"));
    }
}

#[test]
fn without_a_browser_the_address_is_printed_and_the_last_one_pasted() {
    let (home, authority) = (Home::new(), Authority::start("plain", ""));
    authority.configure(&home, json!({}));
    let mut lepo = home.command(&["mcp", "login", "s", "--no-browser"]);
    lepo.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = lepo.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.find(|line| line.starts_with("http")).unwrap();
    let curl =
        Command::new("curl").args(["-s", "-o", "/dev/null", "-w", "%{redirect_url}", &address]).output();
    let location = String::from_utf8(curl.unwrap().stdout).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "what?\nhttp://127.0.0.1/callback?code=evil&state=evil\n{location}").unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success(), "{rest:?}");
    assert_eq!(
        rest.iter().filter(|line| line.contains("not the last address of this sign-in")).count(),
        2,
        "{rest:?}"
    );
    assert!(rest.last().unwrap().contains("signed in to s"), "{rest:?}");
    drop(stdin);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((out.as_str(), files(&home).len()), ("", 1));
}

#[test]
fn every_refusal_is_told_and_keeps_nothing() {
    for (mode, words) in [
        ("denied", "access_denied: no, you"),
        ("twice", "has no code, or has it twice"),
        ("wrong-iss", "the answer is from issuer https://other.example"),
        ("no-iss", "does not name the issuer"),
        ("mix-up", "the answer is from issuer https://other.example"),
        ("resource", "is about another server: https://bank.example/mcp"),
        ("http", "http://auth.example/token is not https"),
        ("script", "is not https"),
        ("no-pkce", "does not support PKCE with S256"),
        ("no-code", "does not support response_type code"),
        ("no-registration", "lepo cannot be registered"),
        (
            "register-error",
            "lepo cannot be registered with its authorization server: invalid_redirect_uri: not [2J here",
        ),
        ("register-redirect", "redirects, which is not followed"),
        ("token-redirect", "redirects, which is not followed"),
        ("metadata-redirect", "cannot be read"),
        ("token-error", "gave no token: invalid_grant: it was used"),
        ("mac", "the token cannot be used"),
        ("endless", "answered more than 1 MiB"),
        ("many", "more than 40 requests"),
    ] {
        let elsewhere = Server::start([Reply::new(200, "{}")]);
        let (home, authority) = (Home::new(), Authority::start(mode, &format!("{}/x", elsewhere.url())));
        authority.configure(&home, json!({}));
        let ran = login(&home, &[]);
        assert_eq!(ran.code, 3, "{mode}: {}", ran.err);
        assert!(ran.err.contains(words), "{mode}: {}", ran.err);
        assert!(
            !ran.err.contains('\u{1b}') && ran.err.lines().all(|line| line.len() < 600),
            "{mode}: {}",
            ran.err
        );
        assert_eq!((files(&home).len(), elsewhere.connections()), (0, 0), "{mode}");
    }
}

#[test]
fn a_configured_client_is_used_and_not_registered() {
    for (mode, more, id) in [
        ("plain", json!({ "client_id": "by-hand" }), "by-hand"),
        (
            "document",
            json!({ "client_metadata_url": "https://me.example/lepo.json" }),
            "https://me.example/lepo.json",
        ),
    ] {
        let (home, authority) = (Home::new(), Authority::start(mode, ""));
        authority.configure(&home, more);
        let ran = login(&home, &[]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!authority.paths().contains(&"/register".to_string()));
        let kept: Value = serde_json::from_slice(&std::fs::read(&files(&home)[0]).unwrap()).unwrap();
        assert_eq!(kept["credentials"]["client_id"], id);
    }
}

#[test]
fn a_token_that_is_over_is_refreshed_once_by_many_processes() {
    let (bot, authority) = signed_in("plain");
    // Signed in again, with a token that is over at once.
    authority.state.lock().unwrap().lasts = 1;
    assert_eq!(login(&bot.home, &[]).code, 0);
    let lepo = || {
        bot.home
            .detached(&["do", "--list-tools"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| lepo()).collect();
    for child in children {
        let ran = finish(child);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let state = authority.state.lock().unwrap();
    assert_eq!((state.refreshed, state.burned), (1, 0));
}

#[test]
fn a_token_that_is_refused_is_refreshed_and_the_call_made() {
    let (bot, authority) = signed_in("plain");
    // The token in the file is good no more; its refresh token is.
    let file = files(&bot.home).remove(0);
    let text = std::fs::read_to_string(&file).unwrap().replace("access-s3cret-1", "revoked");
    std::fs::write(&file, text).unwrap();
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(result(&bot), "you sent Bearer [secret]");
    assert_eq!(authority.state.lock().unwrap().refreshed, 1);
}

#[test]
fn a_sign_in_that_is_over_ends_a_turn_that_nobody_watches() {
    let (bot, authority) = signed_in("plain");
    {
        let mut state = authority.state.lock().unwrap();
        (state.number, state.refuses) = (7, true);
    }
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("the sign-in to MCP server s has expired"), "{}", ran.err);
    assert!(ran.err.contains("`lepo mcp login s` signs in again"), "{}", ran.err);
    assert_eq!(bot.times_asked(), 0);
    let ran = on_terminal(bot.home.command(&["do", "x"]), &[("sign in with `lepo mcp login s`", "")]);
    assert!(ran.code == 0 || ran.code == 3, "{}", ran.out);
}

#[test]
fn who_never_signed_in_is_told_how_and_the_turn_goes_on() {
    let bot = Bot::saying(AUTO, &["Done."]);
    let authority = Authority::start("plain", "");
    authority.configure(&bot.home, json!({}));
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("it requires a sign-in (HTTP 401); sign in with `lepo mcp login s`"),
        "{}",
        ran.err
    );
}

#[test]
fn a_right_that_is_missing_is_named_and_asked_for_besides() {
    let (bot, authority) = signed_in("scope");
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(result(&bot).contains("lepo mcp login s --scope write"), "{}", result(&bot));
    assert_eq!(login(&bot.home, &["--scope", "write"]).code, 0);
    assert_eq!(authority.state.lock().unwrap().scopes, ["read", "read write"]);
}

#[test]
fn signing_out_forgets_and_nothing_else_can_be_signed_in_to() {
    let (bot, _authority) = signed_in("plain");
    assert_eq!(bot.home.lepo(&["mcp", "logout", "s"]).code, 0);
    assert_eq!((files(&bot.home).len(), bot.home.lepo(&["mcp", "logout", "s"]).code), (0, 1));
    let home = Home::new();
    assert_eq!(home.lepo(&["init"]).code, 0);
    let repo = json!({ "mcpServers": { "r": { "url": "http://127.0.0.1:9/mcp", "transport": "http" } } });
    home.write("work/.lepo/_mcp.json", repo.to_string());
    let headers = json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer x" } });
    configure(&home, &[("p", json!({ "command": "x" })), ("h", headers)]);
    for (name, words) in [
        ("r", "no MCP server \"r\""),
        ("p", "server p is a program on this machine"),
        ("h", "server h has an Authorization header"),
    ] {
        let ran = home.lepo(&["mcp", "login", name]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    assert_eq!(home.ok(&["mcp", "ls"]).lines().count(), 2);
}
