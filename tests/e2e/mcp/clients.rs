//! Configurations as other clients have them: each key does what it does there, or is named.

use serde_json::{Value, json};

use super::remote::Remote;
use super::{configure, hostile, left, no_orphans, within};
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{openai_calls, openai_sse};

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";
const KEY: &str = "sk-canary-of-lepo-0123456789";

/// A server that misbehaves as `mode` says, with more keys in its entry.
fn with(home: &Home, mode: &str, keys: Value) -> Value {
    let mut server = hostile(home, "s", mode);
    for (key, value) in keys.as_object().unwrap() {
        server[key] = value.clone();
    }
    server
}

fn calling(tool: &str) -> Bot {
    Bot::openai(AUTO, [openai_calls("", &[(tool, "{}")]), openai_sse(["Done."])])
}

#[test]
fn tools_that_are_not_wanted_are_not_offered_and_not_called() {
    for (keys, offered) in [
        (json!({ "includeTools": ["a", "b"] }), vec!["s__a", "s__b"]),
        (json!({ "excludeTools": ["b"] }), vec!["s__a", "s__c"]),
        (json!({ "includeTools": ["a", "b"], "disabledTools": ["b"] }), vec!["s__a"]),
    ] {
        let bot = calling(if offered.contains(&"s__b") { "s__c" } else { "s__b" });
        configure(&bot.home, &[("s", with(&bot.home, "several", keys))]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!((ran.code, ran.err.contains("warning")), (0, false), "{}", ran.err);
        let tools = bot.bodies()[0]["tools"].clone();
        let names: Vec<&str> =
            tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, offered);
        assert!(left(&bot.home, "s", "calls").is_empty());
    }
}

#[test]
fn a_server_starts_in_its_directory() {
    let bot = calling("s__echo");
    bot.home.write("work/sub/.here", "");
    configure(&bot.home, &[("s", with(&bot.home, "where", json!({ "cwd": "sub" })))]);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    assert!(bubbs(&bot.home)[3].text.ends_with("/work/sub"), "{}", bubbs(&bot.home)[3].text);

    let bot = calling("s__echo");
    configure(&bot.home, &[("s", with(&bot.home, "where", json!({ "cwd": "gone" })))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert!(ran.err.contains("server s cannot be used") && ran.err.contains("`cwd`"), "{}", ran.err);
}

#[test]
fn time_limits_of_a_server_are_its_own() {
    let bot = calling("s__echo");
    configure(&bot.home, &[("s", with(&bot.home, "hang", json!({ "timeout": 1 })))]);
    let ran = within(60, "a call", || bot.home.alone(&["do", "x"]));
    assert_eq!(bubbs(&bot.home)[3].text, "error: no answer for 1.0 s");
    assert_eq!(ran.err.matches("a `timeout` under 1,000 is taken as seconds").count(), 1, "{}", ran.err);

    let bot = calling("s__echo");
    configure(&bot.home, &[("s", with(&bot.home, "hang", json!({ "timeout": 1500 })))]);
    let ran = within(60, "a call", || bot.home.alone(&["do", "x"]));
    assert_eq!(bubbs(&bot.home)[3].text, "error: no answer for 1.5 s");
    assert!(!ran.err.contains("seconds"), "{}", ran.err);

    let home = Home::new();
    configure(&home, &[("s", with(&home, "mute", json!({ "startup_timeout_sec": 0.5 })))]);
    let ran = within(60, "the start", || home.alone(&["do", "--list-tools"]));
    assert!(ran.err.contains("no answer for 0.5 s"), "{}", ran.err);
    no_orphans(&home, "s");
}

#[test]
fn what_is_not_honoured_or_not_known_is_named_and_the_server_runs() {
    let bot = calling("s__echo");
    configure(&bot.home, &[("s", with(&bot.home, "plain", json!({ "trust": true, "disabledd": true })))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for told in ["MCP server \"s\": `trust` is not supported", "MCP server \"s\": unknown key \"disabledd\""]
    {
        assert_eq!(ran.err.matches(told).count(), 1, "{told}: {}", ran.err);
    }
    assert_eq!(left(&bot.home, "s", "calls").len(), 1);
}

#[test]
fn the_file_of_vs_code_is_read_with_its_comments() {
    let home = Home::new();
    let server = hostile(&home, "s", "plain");
    home.write("config/mcp.json", format!("// mine\n{{ \"servers\": {{ \"s\": {server}, /* more */ }} }}"));
    let ran = home.alone(&["do", "--list-tools"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{}", ran.err);
}

#[test]
fn variables_are_put_in_and_one_without_a_value_leaves_its_server_out() {
    let bot = calling("s__echo");
    let remote = Remote::start(&bot.home, "s", "http-plain");
    let url = remote.url.replace("/mcp", "/${PLACE:-mcp}");
    let entry = json!({ "url": url, "type": "http", "headers": { "X-Key": "Bearer ${MY_TOKEN}" } });
    let other = json!({ "command": "x", "args": ["${NOT_THERE}"] });
    configure(&bot.home, &[("s", entry), ("t", other)]);
    let mut lepo = bot.home.detached(&["do", "x"]);
    lepo.env("MY_TOKEN", "t0ken-of-mine-12345");
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bubbs(&bot.home)[3].text, "echo {}");
    let headers = left(&bot.home, "s", "headers");
    assert!(headers.iter().all(|line| line.contains("Bearer t0ken-of-mine-12345")), "{headers:?}");
    let message = "warning: MCP server \"t\" is left out: ${NOT_THERE} is not set";
    assert_eq!(ran.err.matches(message).count(), 1, "{}", ran.err);
    assert!(!ran.err.contains("t0ken"), "{}", ran.err);
}

#[test]
fn a_repository_names_variables_in_the_open_and_gets_no_key_of_lepos() {
    let model =
        "\n[[models]]\nname = 'other'\nprovider = 'openai'\nmodel = 'm'\napi_key_env = 'LEPO_TEST_KEY'\n";
    let bot = Bot::openai(&format!("{AUTO}{model}"), [openai_sse(["Done."])]);
    assert_eq!(bot.home.lepo(&["init"]).code, 0);
    let mut server = hostile(&bot.home, "s", "secrets");
    server["env"] = json!({ "MY_TOKEN": "${REGION:-here}", "STOLEN": "${LEPO_TEST_KEY}" });
    let remote = json!({ "url": "http://127.0.0.1:9/${ALIAS}" });
    let file = json!({ "mcpServers": { "s": server, "r": remote } });
    bot.home.write("work/.lepo/_mcp.json", file.to_string());
    let trusted = on_terminal(bot.home.command(&["trust"]), &[("(y/N): ", "y\n")]);
    assert_eq!(trusted.code, 0, "{}", trusted.out);
    // Its lines are folded where the terminal ends.
    let shown: String = trusted.out.split_whitespace().filter(|word| *word != "+").collect();
    for told in
        ["puts your REGION into env \"MY_TOKEN\"", "LEPO_TEST_KEY into env \"STOLEN\"", "ALIAS into `url`"]
    {
        let compact = told.replace(' ', "");
        assert!(shown.contains(&compact), "{compact}: {shown}");
    }
    let mut lepo = bot.home.detached(&["do", "x"]);
    lepo.env("LEPO_TEST_KEY", KEY).env("ALIAS", KEY);
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for (server, variable) in [("s", "LEPO_TEST_KEY"), ("r", "ALIAS")] {
        let text = format!("MCP server {server:?} is left out: ${{{variable}}} holds a key of lepo's");
        assert!(ran.err.contains(&text), "{}", ran.err);
    }
    assert!(left(&bot.home, "s", "starts").is_empty());
    assert!(!ran.err.contains(KEY), "{}", ran.err);
}

#[test]
fn an_address_alone_is_found_out_and_remembered() {
    for (keys, first) in [(json!({}), "/mcp"), (json!({ "env": { "X-Key": "k" } }), "/messages")] {
        let bot = Bot::openai(
            AUTO,
            [
                openai_calls("", &[("s__echo", "{}")]),
                openai_sse(["One."]),
                openai_calls("", &[("s__echo", "{}")]),
                openai_sse(["Two."]),
            ],
        );
        let remote = Remote::start(&bot.home, "s", "sse-plain");
        let mut entry = keys;
        entry["url"] = json!(remote.url);
        configure(&bot.home, &[("s", entry)]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!((ran.code, ran.err.contains("warning")), (0, false), "{}", ran.err);
        let posts = left(&bot.home, "s", "posts");
        assert_eq!((posts[0].as_str(), posts.last().unwrap().as_str()), (first, "/messages"));
        assert_eq!(bot.home.alone(&["do", "y"]).code, 0);
        let again = left(&bot.home, "s", "posts").split_off(posts.len());
        assert!(again.iter().all(|path| path == "/messages"), "{again:?}");
        assert_eq!(left(&bot.home, "s", "calls").len(), 2);
    }
}

#[test]
fn an_address_with_env_that_speaks_streamable_http_is_found_out_too() {
    let bot = calling("s__echo");
    let remote = Remote::start(&bot.home, "s", "http-plain");
    configure(&bot.home, &[("s", json!({ "url": remote.url, "env": { "X-Key": "k" } }))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, ran.err.contains("warning")), (0, false), "{}", ran.err);
    assert_eq!(left(&bot.home, "s", "calls").len(), 1);
}

#[test]
fn a_transport_that_is_configured_is_taken_at_its_word() {
    let bot = Bot::saying(AUTO, &["Done."]);
    let remote = Remote::start(&bot.home, "s", "sse-plain");
    configure(&bot.home, &[("s", json!({ "url": remote.url, "type": "http" }))]);
    let ran = bot.home.alone(&["do", "x"]);
    assert!(ran.err.contains("server s cannot be used"), "{}", ran.err);
    assert!(left(&bot.home, "s", "gets").is_empty());
}

#[test]
fn a_server_that_is_not_up_is_named_as_that() {
    for name in ["s__echo", "hammer"] {
        let bot = calling(name);
        let other = hostile(&bot.home, "t", "plain");
        configure(&bot.home, &[("s", hostile(&bot.home, "s", "exit")), ("t", other)]);
        assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
        let message = match name {
            "hammer" => "error: there is no tool \"hammer\"; there are: t__echo",
            _ => "error: server \"s\" is not running: it exited with code 1",
        };
        assert_eq!(bubbs(&bot.home)[3].text, message);
    }
    let call = r#"{"server":"s","name":"echo","arguments":{}}"#;
    let bot = Bot::ollama(AUTO, &[call, "Then not."]);
    let other = hostile(&bot.home, "t", "plain");
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "exit")), ("t", other)]);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    assert_eq!(bubbs(&bot.home)[3].text, "error: server \"s\" is not running: it exited with code 1");
}

#[test]
fn a_server_that_ends_and_then_ends_at_once_is_started_twice() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let bot = Bot::openai(AUTO, [call(1), call(2).held(), openai_sse(["Done."])]);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "die-for-good"))]);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let starts = || left(&bot.home, "s", "starts");
            crate::home::until("its end", || starts().first().is_some_and(|pid| !super::is_running(pid)));
            bot.server().release();
        });
        bot.home.alone(&["do", "x"])
    });
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(left(&bot.home, "s", "starts").len(), 2);
    no_orphans(&bot.home, "s");
}

#[test]
fn a_server_of_very_many_tools_is_cut_and_that_is_said() {
    let home = Home::new();
    configure(&home, &[("s", hostile(&home, "s", "thousands"))]);
    let ran = within(60, "the list", || home.alone(&["do", "--list-tools"]));
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1001), "{}", ran.err);
    assert!(
        ran.err.contains("note: server s: it has more than 1000 tools: only the first 1000 are used"),
        "{}",
        ran.err
    );

    let home = Home::new();
    configure(&home, &[("s", hostile(&home, "s", "long-list"))]);
    let ran = within(60, "the list", || home.alone(&["do", "--list-tools"]));
    assert!(ran.err.contains("server s cannot be used: an answer is longer than 4 MiB"), "{}", ran.err);
}
