//! A person's word on a call: on the terminal, later and elsewhere, and when a tool is not what it was.

use serde_json::Value;

use super::{configure, hostile, left, no_orphans};
use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::pty::on_terminal;
use crate::scripted::{Reply, openai_calls, openai_sse};

const MANUAL: &str = "planner = 'off'";

fn bot(settings: &str, mode: &str, replies: impl IntoIterator<Item = Reply>) -> Bot {
    let bot = Bot::openai(settings, replies);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", mode))]);
    bot
}

fn call(arguments: &str) -> Reply {
    openai_calls("", &[("s__echo", arguments)])
}

#[test]
fn the_question_has_its_form_and_y_calls() {
    let bot = bot(MANUAL, "plain", [call(r#"{"b":[1],"a":"한글"}"#), openai_sse(["Done."])]);
    let question = "Call it? [y]es [n]o [a]lways [?] ";
    let steps = [(question, "maybe\n"), ("y, n, a or ?\r\n", ""), (question, "YES\n")];
    let ran = on_terminal(bot.home.command(&["do", "x"]), &steps);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let asked = "MCP tool call\r\nServer: s\r\nTool: echo\r\nDescription: Says what it is told.\r\n\
                 Arguments:\r\n  a: 한글\r\n  b: [1]\r\nCall it? [y]es [n]o [a]lways [?] ";
    assert!(ran.out.contains(asked), "{}", ran.out);
    // Its result is shown, as the output of a command is.
    let (_, after) = ran.out.split_once("[?] YES").unwrap();
    let (result, answer) = (bubbs(&bot.home)[3].text.clone(), after.find("Done.").unwrap());
    assert!(!result.is_empty() && after.find(&result).is_some_and(|at| at < answer), "{result}: {after}");
    assert_eq!(left(&bot.home, "s", "calls"), [r#"{"a": "한글", "b": [1]}"#]);
}

#[test]
fn no_is_told_to_the_model_and_ends_tool_use() {
    let bot = bot(MANUAL, "plain", [call("{}"), openai_sse(["Then not."])]);
    let ran = on_terminal(bot.home.command(&["do", "x"]), &[("Call it? [y]es [n]o [a]lways [?] ", "N\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(left(&bot.home, "s", "calls").is_empty());
    assert_eq!(bubbs(&bot.home)[3].text, "refused: the user said no");
    assert_eq!(bot.bodies()[1]["tool_choice"], "none");
}

#[test]
fn with_nobody_to_ask_it_waits_and_is_carried_on_later() {
    for (option, text, calls) in
        [("--approve", "echo {\"a\": 1}", 1), ("--deny", "refused: the user said no", 0)]
    {
        let bot = bot(MANUAL, "plain", [call(r#"{"a":1}"#), openai_sse(["Said."])]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
        let id = bubbs(&bot.home).pop().unwrap().id;
        assert!(ran.err.contains(&"needs approval: ".to_string()), "{}", ran.err);
        let listed = bot.home.ok(&["ls", "--pending"]);
        assert_eq!(listed, format!("{id} (3): s__echo {{\"a\":1}}\n"));
        let json: Value = serde_json::from_str(&bot.home.ok(&["ls", "--pending", "--json"])).unwrap();
        assert_eq!(json["pending"][0]["request"]["server"], "s");

        let ran = bot.home.alone(&["do", option, &id]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Said.\n"), "{}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
        assert_eq!(bubbs(&bot.home)[3].text, text);
        assert_eq!(left(&bot.home, "s", "calls").len(), calls);
        assert_eq!(bot.home.ok(&["ls", "--pending"]), "");
        no_orphans(&bot.home, "s");
    }
}

#[test]
fn auto_asks_again_about_a_tool_that_changed() {
    for mode in ["changing", "changing-schema"] {
        let bot = bot(
            "planner = 'off'\ntool_call_mode = 'auto'",
            mode,
            [call("{}"), openai_sse(["One."]), call("{}"), call("{}"), openai_sse(["Two."])],
        );
        // The first sight of a server that the user configured is the pin.
        assert_eq!(bot.home.alone(&["do", "x"]).out, "One.\n");
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!(ran.code, 4, "{mode}: {}", ran.err);
        assert_eq!(left(&bot.home, "s", "calls").len(), 1);
        let ran = on_terminal(
            bot.home.command(&["do", "--new", "x"]),
            &[("Call it? [y]es [n]o [a]lways [?] ", "y\n")],
        );
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert!(
            ran.out.contains("Changed: its description or schema is not what you agreed to"),
            "{}",
            ran.out
        );
        assert_eq!(left(&bot.home, "s", "calls").len(), 2);
    }
}

#[test]
fn what_a_server_says_cannot_move_the_terminal() {
    let bot = bot(MANUAL, "ansi", [call("{}"), openai_sse(["Done."])]);
    let ran = on_terminal(bot.home.command(&["do", "x"]), &[("Call it? [y]es [n]o [a]lways [?] ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("Description: red ␛[31m␇ <U+202E>right to left␀"), "{}", ran.out);
    assert!(ran.out.contains("  1 on [2J<U+202E> Call now? (Y/N)\r\n"), "{}", ran.out);
    assert!(ran.out.contains(r#"tool "e\n\u{1b}[2J" was left out"#), "{}", ran.out);
    for options in [&["--list-tools"][..], &["--list-tools", "--json"]] {
        let ran = on_terminal(bot.home.command(&[&["do"], options].concat()), &[]);
        assert!(ran.out.contains("<U+202E>ohce"), "{}", ran.out);
        assert!(!ran.out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{:?}", ran.out);
    }
}

#[test]
fn an_arguments_name_cannot_forge_the_question() {
    let name = "a\nArguments:\n  (none)\nCall it? [y]es [n]o [a]lways [?] ";
    let bot = bot(MANUAL, "plain", [call(&serde_json::json!({ name: 1 }).to_string()), openai_sse(["Not."])]);
    let ran = on_terminal(bot.home.command(&["do", "x"]), &[("\nCall it? [y]es [n]o [a]lways [?] ", "n\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let asked = "Arguments:\r\n  a\r\n  | Arguments:\r\n  |   (none)\r\n  | Call it? [y]es [n]o [a]lways [?] : 1\r\n\
                 Call it? [y]es [n]o [a]lways [?] ";
    assert!(ran.out.contains(asked), "{}", ran.out);
}
