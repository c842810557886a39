//! Resources, prompts, questions of a server's own, and notices of cancelled calls.

use serde_json::{Value, json};

use super::{configure, left, no_orphans};
use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::{Home, finish, until};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{openai_calls, openai_sse};

const OFF: &str = "planner = 'off'";
const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";

fn offering(home: &Home, mode: &str) {
    home.write("left/s/.here", "");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/offering.py");
    let args = json!([script, mode, home.path().join("left/s")]);
    let env = json!({ "MY_TOKEN": "s3cr3t-token" });
    configure(home, &[("s", json!({ "command": "python3", "args": args, "env": env }))]);
}

fn bot(settings: &str, mode: &str) -> Bot {
    let bot = Bot::saying(settings, &["Yes."]);
    offering(&bot.home, mode);
    bot
}

/// The tags and texts of the visible bubbs.
fn stored_texts(bot: &Bot) -> Vec<(String, String)> {
    let visible = bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag.ends_with('0'));
    visible.map(|bubb| (bubb.tag, bubb.text)).collect()
}

#[test]
fn what_a_server_offers_is_listed_and_bad_entries_are_not() {
    for mode in ["plain", "circles"] {
        let home = Home::new();
        offering(&home, mode);
        let ran = home.alone(&["do", "--list-tools"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let rows: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
        let has = |words: &str| rows.iter().any(|row| row.join(" ") == words);
        assert!(has("s tool ask Asks back."), "{}", ran.out);
        assert!(has("s resource guide://start start How to begin. (text/markdown)"), "{}", ran.out);
        assert!(has("s prompt explain topic [tone] Explains a topic."), "{}", ran.out);
        assert_eq!(has("s template guide://echo/{word} echo"), mode == "plain", "{}", ran.out);
        no_orphans(&home, "s");
    }
    let home = Home::new();
    offering(&home, "plain");
    let document: Value = serde_json::from_str(&home.alone(&["do", "--list-tools", "--json"]).out).unwrap();
    let server = &document["servers"][0];
    assert_eq!(server["state"], "up");
    assert_eq!(server["resources"].as_array().unwrap().len(), 5);
    assert_eq!(server["resources"][4]["template"], true);
    assert_eq!(server["prompts"][0]["arguments"][0]["required"], true);
}

#[test]
fn a_resource_is_a_visible_bubb_before_the_question() {
    let bot = bot(OFF, "plain");
    let ran = bot.home.alone(&["do", "--context", "mcp:s/guide://start", "how?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{}", ran.err);
    let actual = stored_texts(&bot);
    let text = "mcp:s/guide://start, text/markdown:\n````\n# Begin\n```\ncode\n```\nnot a blob: [1 bytes: _blobs/0]\n````";
    assert_eq!(actual[0], ("s0".to_string(), text.to_string()));
    assert_eq!(actual[1], ("u0".to_string(), "how?".to_string()));
    let sent = messages(&bot.bodies()[0]);
    assert!(sent.iter().any(|(_, words)| words.contains("# Begin")), "{sent:?}");
    assert!(ran.err.contains("read mcp:s/guide://start: "), "{}", ran.err);
    no_orphans(&bot.home, "s");
}

#[test]
fn what_is_long_or_no_text_is_a_blob() {
    let bot = bot(OFF, "plain");
    let args = ["do", "--context", "mcp:s/guide://picture", "--context", "mcp:s/guide://long", "x"];
    assert_eq!(bot.home.alone(&args).code, 0);
    let stored = stored_texts(&bot);
    let (picture, long) = (&stored[0].1, &stored[1].1);
    assert!(picture.starts_with("mcp:s/guide://picture, image/gif\n\nmcp:s/guide://picture (guide://picture/alt):\n```\na dot\n```\n[16 bytes: _blobs/"), "{picture}");
    assert!(long.len() < 60_000 && long.contains("begin x") && long.contains("x end"), "{}", long.len());
    assert!(long.lines().last().unwrap().starts_with("[200,010 bytes: _blobs/"), "{:?}", long.lines().last());
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn what_cannot_be_fetched_asks_nothing_and_writes_nothing() {
    for (args, code, words) in [
        (
            vec!["--context", "mcp:s/guide://gone", "x"],
            3,
            "cannot read guide://gone of server s: Resource not found",
        ),
        (vec!["--context", "mcp:t/a", "x"], 2, "no MCP server \"t\""),
        (vec!["--context", "mcp:s", "x"], 2, "mcp:s names no resource"),
        (vec!["--tools", "off", "--context", "mcp:s/guide://start", "x"], 2, "tools are off"),
        (vec!["--prompt", "s/nonsense"], 2, "server s has no prompt \"nonsense\""),
        (vec!["--prompt", "s"], 2, "--prompt takes SERVER/NAME, not \"s\""),
        (vec!["--prompt", "s/explain"], 2, "prompt explain needs topic; it takes topic [tone]"),
        (vec!["--prompt", "s/explain"], 2, "hint: --arg topic=…"),
        (vec!["--prompt", "s/explain", "--arg", "colour=red"], 2, "prompt explain takes topic [tone], not"),
        (vec!["--prompt", "s/explain", "--arg", "red"], 2, "--arg takes NAME=VALUE, not \"red\""),
        (vec!["--prompt", "s/last-word"], 2, "the prompt ends with a message of the assistant"),
        (vec!["--prompt", "s/none"], 3, "prompt none of server s has no messages"),
        (vec!["--parallel", "-m", "bot", "--context", "mcp:s/guide://start", "x"], 2, "to one model only"),
    ] {
        let bot = bot(OFF, "plain");
        let args: Vec<&str> = ["do"].into_iter().chain(args).collect();
        let ran = bot.home.alone(&args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
        let written = bot.home.work().join(".lepo").exists() && !bubbs(&bot.home).is_empty();
        assert_eq!((bot.times_asked(), written), (0, false), "{args:?}");
    }
}

#[test]
fn the_messages_of_a_prompt_are_bubbs_of_their_roles() {
    for (args, expected) in [
        (
            vec!["--prompt", "s/explain", "--arg", "topic=links", "--arg", "tone=a=b"],
            vec![("u0", "Explain links a=b.")],
        ),
        // The words are the one argument that is missing; else they are a question of their own.
        (vec!["--prompt", "s/explain", "Ada", "Lovelace"], vec![("u0", "Explain Ada Lovelace plainly.")]),
        (
            vec!["--prompt", "s/explain", "--arg", "topic=links", "And trees?"],
            vec![("u0", "Explain links plainly."), ("u0", "And trees?")],
        ),
        (
            vec!["--prompt", "s/dialogue"],
            vec![("u0", "Knock knock."), ("a0", "Who is there?"), ("u0", "Lepo.")],
        ),
        (
            vec!["--prompt", "s/last-word", "And now?"],
            vec![("u0", "Hello."), ("a0", "Yes?"), ("u0", "And now?")],
        ),
    ] {
        let bot = bot(OFF, "plain");
        let args: Vec<&str> = ["do"].into_iter().chain(args).collect();
        let ran = bot.home.alone(&args);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{args:?}: {}", ran.err);
        let stored = stored_texts(&bot);
        let found: Vec<(&str, &str)> =
            stored.iter().map(|(tag, text)| (tag.as_str(), text.as_str())).collect();
        assert_eq!(found.split_last().unwrap().1, expected, "{args:?}");
        let sent = messages(&bot.bodies()[0]);
        for (tag, text) in expected {
            let role = if tag == "u0" { "user" } else { "assistant" };
            assert!(sent.contains(&(role.to_string(), text.to_string())), "{sent:?}");
        }
    }
}

#[test]
fn an_image_of_a_prompt_is_attached() {
    let bot = bot(OFF, "plain");
    let ran = bot.home.alone(&["do", "--prompt", "s/look", "what is it?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(bot.bodies()[0].to_string().contains("data:image/gif;base64,"), "{}", bot.bodies()[0]);
    assert!(stored_texts(&bot)[1].1.contains("[guide://start]\nbegin"), "{:?}", stored_texts(&bot));
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn a_secret_of_the_server_is_in_no_resource() {
    let bot = bot(OFF, "plain");
    assert_eq!(bot.home.alone(&["do", "--context", "mcp:s/guide://echo/hello", "x"]).code, 0);
    assert!(stored_texts(&bot)[0].1.contains("hello [secret]"), "{:?}", stored_texts(&bot));
}

#[test]
fn a_session_names_resources_and_prompts() {
    let bot = Bot::saying(OFF, &["One.", "Two."]);
    offering(&bot.home, "plain");
    let steps = [
        ("> ", "what is @s:guide://start?\n"),
        ("One.", ""),
        ("> ", "/s:explain links in detail\n"),
        ("Two.", ""),
        ("> ", "/s:explain\n"),
        ("needs topic", ""),
        ("> ", "\n"),
    ];
    let ran = on_terminal(bot.home.command(&["do"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let actual = stored_texts(&bot);
    let tags: Vec<&str> = actual.iter().map(|(tag, _)| tag.as_str()).collect();
    assert_eq!(tags, ["s0", "u0", "a0", "u0", "a0"], "{}", forest(&bot.home));
    assert_eq!(actual[3].1, "Explain links in detail.");
    assert_eq!(left(&bot.home, "s", "starts").len(), 1);
}

#[test]
fn tab_completes_what_servers_offer() {
    let bot = bot(OFF, "plain");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").types("/s:ex").keys(&["Tab"]).shows("> /s:explain").keys(&["C-u"]);
    screen.types("see @s:guide://l").keys(&["Tab"]).shows("see @s:guide://long").keys(&["C-u"]);
    screen.types("/s:").keys(&["Tab"]).shows("Said by both.").keys(&["Escape", "C-u"]);
}

fn asking(mode: &str) -> Bot {
    let bot = Bot::openai(AUTO, [openai_calls("", &[("s__ask", "{}")]), openai_sse(["Done."])]);
    offering(&bot.home, mode);
    bot
}

#[test]
fn a_form_is_asked_field_by_field_after_the_servers_name() {
    let bot = asking("plain");
    let steps = [
        ("Server: s", ""),
        ("Says: Where to?", ""),
        ("[y]es [n]o ", "y\n"),
        ("Field: City", ""),
        ("> ", "\n"),
        ("a value is required", ""),
        ("> ", "서울\n"),
        ("a whole number from 1 to 9", ""),
        ("> ", "12\n"),
        ("expected a whole number", ""),
        ("> ", "3\n"),
        ("Enter for second", ""),
        ("> ", "\n"),
        ("Enter skips it", ""),
        ("> ", "\n"),
        ("Done.", ""),
    ];
    let ran = on_terminal(bot.home.command(&["do", "x"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let answers = left(&bot.home, "s", "answers");
    let answer: Value = serde_json::from_str(&answers[0]).unwrap();
    let content = json!({ "city": "서울", "days": 3, "class": "second" });
    assert_eq!(answer, json!({ "action": "accept", "content": content }));
}

#[test]
fn a_form_is_declined_by_a_no_and_where_no_terminal_is() {
    for on_tty in [true, false] {
        let bot = asking("plain");
        let ran = match on_tty {
            true => on_terminal(
                bot.home.command(&["do", "x"]),
                &[("[y]es [n]o ", "\n"), ("y or n", ""), ("[y]es [n]o ", "no\n"), ("Done.", "")],
            ),
            false => bot.home.alone(&["do", "x"]),
        };
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        assert_eq!(left(&bot.home, "s", "answers"), [r#"{"action": "decline"}"#]);
    }
}

#[test]
fn an_address_to_visit_is_shown_with_its_host_and_not_opened() {
    let bot = asking("visit");
    let steps = [
        ("Asks you to visit: sign.example", ""),
        ("Address: https://sign.example/x?a=b", ""),
        ("[y]es [n]o ", "y\n"),
    ];
    let ran = on_terminal(bot.home.command(&["do", "x"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(left(&bot.home, "s", "answers"), [r#"{"action": "accept"}"#]);
}

#[test]
fn a_call_that_times_out_or_is_interrupted_is_cancelled() {
    for (settings, reason) in [("\n[mcp]\nidle_timeout = 1", "timed out"), ("", "interrupted")] {
        let bot = Bot::openai(
            &format!("{AUTO}{settings}"),
            [openai_calls("", &[("s__ask", "{}")]), openai_sse(["Done."])],
        );
        offering(&bot.home, "hang");
        let child = bot.home.detached(&["do", "x"]).spawn().unwrap();
        if settings.is_empty() {
            until("the call is made", || bot.home.path().join("left/s/calls").exists());
            let pid = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        }
        let ran = finish(child);
        assert_eq!(ran.code, if settings.is_empty() { 130 } else { 0 }, "{}", ran.err);
        let cancelled: Value = serde_json::from_str(&left(&bot.home, "s", "cancelled")[0]).unwrap();
        assert_eq!(cancelled["reason"], reason, "{cancelled}");
        assert!(cancelled["requestId"].is_number() || cancelled["requestId"].is_string());
        no_orphans(&bot.home, "s");
    }
}
