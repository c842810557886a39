//! Tools called by a model's own API, on a side branch beside the answer.

use serde_json::{Value, json};

use super::{configure, hostile, is_running, left, no_orphans, within};
use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::until;
use crate::pty::on_terminal;
use crate::scripted::{Reply, openai_calls, openai_sse};
use crate::secrets::github_token;

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";

fn bot(settings: &str, mode: &str, replies: impl IntoIterator<Item = Reply>) -> Bot {
    let bot = Bot::openai(settings, replies);
    bot.home.write("config/system_prompt.txt", "PROMPT");
    bot.home.write_insts("general = ''");
    configure(&bot.home, &[("s", hostile(&bot.home, "s", mode))]);
    bot
}

#[test]
fn a_call_and_its_result_are_a_side_branch_beside_the_answer() {
    let call = openai_calls("I look.", &[("s__echo", r#"{"b":1,"a":"한글"}"#)]);
    let bot = bot(AUTO, "plain", [call, openai_sse(["Done."]), openai_sse(["Again."])]);
    let ran = bot.home.alone(&["do", "--json", "say it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F a0 B");
    let found = bubbs(&bot.home);
    assert_eq!(found[2].text, "I look.");
    assert_eq!(found[3].text, r#"{"arguments":{"a":"한글","b":1},"name":"echo","server":"s"}"#);
    assert_eq!(found[4].text, r#"echo {"a": "한글", "b": 1}"#);
    for line in ["MCP tool call", "Server: s", "Tool: echo", "  a: 한글", "  b: 1"] {
        assert!(ran.err.contains(line), "{line}: {}", ran.err);
    }
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["tools"][0]["kind"], "mcp");
    assert_eq!(document["tools"][0]["request"]["server"], "s");
    assert_eq!(document["tools"][0]["result"], found[4].id.as_str());
    assert_eq!(document["conv"], json!([found[0].id, found[1].id, found[5].id]));

    let bodies = bot.bodies();
    let offered = &bodies[0]["tools"][0]["function"];
    assert_eq!(
        (offered["name"].as_str(), offered["description"].as_str()),
        (Some("s__echo"), Some("Says what it is told."))
    );
    let sent = bodies[1]["messages"].as_array().unwrap();
    // The words and the call of one answer are one message.
    assert_eq!(sent[2]["tool_calls"][0]["function"]["name"], "s__echo");
    assert_eq!(sent[3]["role"], "tool");
    assert_eq!(sent[3]["tool_call_id"], sent[2]["tool_calls"][0]["id"]);
    // A finished turn leaves its tool chatter out of the next one by the forest's shape alone.
    assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
    let texts: Vec<String> = messages(&bot.bodies()[2]).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["PROMPT", "say it", "Done.", "and?"]);
    no_orphans(&bot.home, "s");
}

#[test]
fn progress_is_told_and_keeps_a_call_alive() {
    // It takes two seconds, half a second a step.
    let settings = format!("{AUTO}\n[mcp]\nidle_timeout = 1\n");
    let bot = bot(&settings, "progress", [openai_calls("", &[("s__echo", "{}")]), openai_sse(["Done."])]);
    let ran = bot.home.alone(&["do", "--events", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    let waits = |event: &Value| event["event"] == "waiting";
    assert_eq!(named("waiting").len(), 2, "one for each request");
    assert!(!events.windows(2).any(|two| two.iter().all(waits)), "{events:?}");
    assert_eq!(named("announce")[0]["description"], "Says what it is told.");
    assert_eq!(named("calling")[0]["request"]["name"], "echo");
    assert!(named("progress").iter().any(|event| event["text"] == "50% step 2"), "{events:?}");
    assert_eq!(events.last().unwrap()["tools"][0]["kind"], "mcp");
}

#[test]
fn a_bare_name_means_the_only_tool_of_that_name() {
    let call = openai_calls("", &[("echo", "{}"), ("hammer", "{}")]);
    let bot = bot(AUTO, "plain", [call, openai_sse(["Done."])]);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    assert_eq!(left(&bot.home, "s", "calls"), ["{}"]);
    assert!(bubbs(&bot.home)[6].text.contains("there is no tool \"hammer\""));

    let call = openai_calls("", &[("echo", "{}")]);
    let bot = Bot::openai(AUTO, [call, openai_sse(["Done."])]);
    let two = ["a", "b"].map(|name| (name, hostile(&bot.home, name, "plain")));
    configure(&bot.home, &two);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    // Two may be meant: both are named.
    let stored = bubbs(&bot.home)[3].text.clone();
    assert!(stored.contains("there is no tool \"echo\"") && stored.contains("a__echo, b__echo"), "{stored}");
}

#[test]
fn the_same_call_is_not_made_twice_and_one_session_serves_all() {
    let calls = [("s__echo", r#"{"a":1,"b":2}"#), ("s__echo", r#"{"b":2,"a":1}"#), ("s__echo", r#"{"a":2}"#)];
    let bot = bot(AUTO, "plain", [openai_calls("", &calls), openai_sse(["Done."])]);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    assert_eq!(left(&bot.home, "s", "calls").len(), 2);
    assert_eq!(left(&bot.home, "s", "starts").len(), 1);
    assert!(bubbs(&bot.home)[6].text.contains("carried out before"));
}

#[test]
fn a_result_that_says_error_is_a_result_and_a_failed_call_ends_tool_use() {
    let call = || openai_calls("", &[("s__echo", "{}"), ("s__echo", r#"{"a":1}"#)]);
    let bot_one = bot(AUTO, "is-error", [call(), openai_sse(["Done."])]);
    assert_eq!(bot_one.home.alone(&["do", "x"]).code, 0);
    assert_eq!(left(&bot_one.home, "s", "calls").len(), 2);
    assert_eq!(bubbs(&bot_one.home)[4].text, "the tool reports an error:\nthe disk is full");
    assert!(bot_one.bodies()[1]["tools"].is_array());

    let bot_two = bot(AUTO, "refuse", [call(), openai_sse(["Done."])]);
    assert_eq!(bot_two.home.alone(&["do", "x"]).code, 0);
    assert_eq!(forest(&bot_two.home), "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F s1 E / G a0 B");
    assert_eq!(bubbs(&bot_two.home)[4].text, "error: not like this");
    assert_eq!(bot_two.bodies()[1]["tool_choice"], "none");
}

#[test]
fn rounds_of_calls_are_limited() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let settings = format!("{AUTO}\nmax_rounds = 2");
    let bot = bot(&settings, "plain", [call(1), call(2), openai_sse(["Done."])]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(ran.err.contains("note: no more tools in this turn: max_rounds (2) is reached"), "{}", ran.err);
    assert_eq!(left(&bot.home, "s", "calls").len(), 2);
    assert_eq!(bot.bodies()[2]["tool_choice"], "none");
    assert_eq!(bot.bodies()[2]["tools"], bot.bodies()[0]["tools"]);
}

#[test]
fn a_server_that_is_gone_is_started_again_and_nothing_is_sent_twice() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let bot = bot(AUTO, "die-once", [call(1), openai_sse(["Lost."]), call(2), openai_sse(["Found."])]);
    let steps = [("> ", "a\n"), ("Lost.", ""), ("> ", "b\n"), ("Found.", ""), ("> ", "\n")];
    let ran = on_terminal(bot.home.command(&["do"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(left(&bot.home, "s", "calls"), [r#"{"n": 1}"#, r#"{"n": 2}"#]);
    assert_eq!(left(&bot.home, "s", "starts").len(), 2);
    assert!(bubbs(&bot.home)[3].text.contains("exited with code 3"), "{}", bubbs(&bot.home)[3].text);
    no_orphans(&bot.home, "s");
}

#[test]
fn a_server_that_ends_again_and_again_is_started_twice_a_turn() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let turn = |n| [call(n), call(n + 1).held(), call(n + 2).held(), openai_sse(["Done."])];
    let bot = bot(AUTO, "die-after", [turn(1), turn(4)].concat());
    let steps = [("> ", "a\n"), ("Done.", ""), ("> ", "b\n"), ("Done.", ""), ("> ", "\n")];
    // The model calls again once the server has ended: a call that reaches it before is lost with it.
    let starts = bot.home.path().join("left/s/starts");
    let has_ended = |nth: usize| {
        let pids = std::fs::read_to_string(&starts).unwrap_or_default();
        pids.lines().nth(nth).is_some_and(|pid| !is_running(pid))
    };
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            for nth in 0..4 {
                until("the server's end", || has_ended(nth));
                bot.server().release();
            }
        });
        on_terminal(bot.home.command(&["do"]), &steps)
    });
    assert_eq!(ran.code, 0, "{}", ran.out);
    // The next turn may start it anew, once: it was there at the turn's begin, as far as lepo knew.
    let starts = left(&bot.home, "s", "starts").len();
    assert_eq!((left(&bot.home, "s", "calls").len(), starts), (4, 4), "{}", ran.out);
    let stored = bubbs(&bot.home).into_iter().filter(|bubb| bubb.text.contains("at most 2 times per turn"));
    assert_eq!(stored.count(), 2);
    no_orphans(&bot.home, "s");
}

#[test]
fn a_command_leaves_the_servers_alone() {
    let command = ("run_command", r#"{"access":"full","command":"echo hi; sleep 0.5"}"#);
    let replies =
        [openai_calls("", &[command]), openai_calls("", &[("s__echo", "{}")]), openai_sse(["Done."])];
    let bot = bot("planner = 'native'", "plain", replies);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    // The servers start while the command runs, whose tree is ended after it.
    let ran = bot.home.alone(&["do", "--tools", "auto", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(left(&bot.home, "s", "starts").len(), 2);
    assert_eq!(bubbs(&bot.home)[5].text, "echo {}");
    no_orphans(&bot.home, "s");
}

#[test]
fn one_session_serves_the_turns_of_a_conversation() {
    let call = |n: u8| openai_calls("", &[("s__echo", &format!(r#"{{"n":{n}}}"#))]);
    let bot = bot(AUTO, "plain", [call(1), openai_sse(["One."]), call(2), openai_sse(["Two."])]);
    let steps = [("> ", "a\n"), ("One.", ""), ("> ", "b\n"), ("Two.", ""), ("> ", "\n")];
    let ran = on_terminal(bot.home.command(&["do"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!((left(&bot.home, "s", "calls").len(), left(&bot.home, "s", "starts").len()), (2, 1));
    no_orphans(&bot.home, "s");
}

#[test]
fn four_servers_start_at_the_same_time() {
    let bot = Bot::saying(AUTO, &["Done."]);
    let four = ["a", "b", "c", "d"].map(|name| (name, hostile(&bot.home, name, "together")));
    configure(&bot.home, &four);
    // None of them answers before all four are there.
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    assert_eq!(bot.bodies()[0]["tools"].as_array().unwrap().len(), 4);
    for (name, _) in four {
        no_orphans(&bot.home, name);
    }
}

#[test]
fn off_starts_nothing() {
    let bot = bot("planner = 'off'", "plain", [openai_sse(["Done."])]);
    assert_eq!(bot.home.alone(&["do", "--tools", "off", "x"]).code, 0);
    assert!(left(&bot.home, "s", "starts").is_empty());
    assert!(bot.bodies()[0]["tools"].is_null());
}

#[test]
fn long_text_and_bytes_are_blobs() {
    let call = openai_calls("", &[("s__echo", "{}")]);
    let large = bot(AUTO, "large", [call.clone(), openai_sse(["Done."])]);
    within(60, "a large result", || assert_eq!(large.home.alone(&["do", "x"]).code, 0));
    let text = &bubbs(&large.home)[3].text;
    assert!(text.len() < 60_000 && text.starts_with("begin xxx"), "{}", text.len());
    assert!(
        text.contains("bytes left out …]") && text.contains("xxx end\n[15,728,650 bytes: _blobs/"),
        "{}",
        text.len()
    );

    let blocks = bot(AUTO, "blocks", [call, openai_sse(["Done."])]);
    assert_eq!(blocks.home.alone(&["do", "x"]).code, 0);
    let text = &bubbs(&blocks.home)[3].text;
    assert!(text.contains("[image/png]\ngood\n[5 bytes: _blobs/2cf24dba5fb0a30e"), "{text}");
    assert_eq!(blocks.home.ok(&["fsck"]), "");
}

#[test]
fn a_blob_that_is_text_has_masks_for_tokens_and_for_values_of_servers() {
    let call = openai_calls("", &[("s__echo", "{}")]);
    let bot = bot(AUTO, "text-blob", [call, openai_sse(["Done."])]);
    let (token, value) = (github_token(1), "Hunter2-of-the-server");
    let mut server = hostile(&bot.home, "s", "text-blob");
    server["env"] = json!({ "SERVICE_API_KEY": value });
    configure(&bot.home, &[("s", server)]);
    bot.home.write("left/s/secret", format!("token {token}\nkey {value}\n"));
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = &bubbs(&bot.home)[3].text;
    let hash = text.split("_blobs/").nth(1).unwrap().trim_end_matches(']');
    let blob = bot.home.read(&format!("work/.lepo/_blobs/{hash}"));
    assert!(
        blob.starts_with("token [secret: github-token ") && blob.contains("key [secret: config-key "),
        "{blob}"
    );
    assert!(ran.err.contains("(config-key, github-token)"), "{}", ran.err);
}

#[test]
fn an_integer_beyond_64_bits_keeps_its_digits_where_it_is_shown_stored_and_sent() {
    const NUMBER: &str = "123456789012345678901234567890";
    let arguments = format!(r#"{{"n":{NUMBER},"m":-{NUMBER},"f":0.1}}"#);
    let call = openai_calls("", &[("s__echo", &arguments)]);
    let bot = bot(AUTO, "plain", [call, openai_sse(["Done."])]);
    let ran = bot.home.alone(&["do", "--json", "say it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(&format!("  n: {NUMBER}\n")), "{}", ran.err);
    let request =
        format!(r#"{{"arguments":{{"f":0.1,"m":-{NUMBER},"n":{NUMBER}}},"name":"echo","server":"s"}}"#);
    assert!(bubbs(&bot.home).iter().any(|bubb| bubb.text == request), "{}", forest(&bot.home));
    assert!(ran.out.contains(&format!("\"n\":{NUMBER}")), "{}", ran.out);
    assert!(left(&bot.home, "s", "calls")[0].contains(&format!("\"n\": {NUMBER}")));
    let sent = bot.bodies()[1].to_string();
    assert!(sent.contains(&format!("-{NUMBER}")), "{sent}");
}
