//! Consent beside instructions: `auto` asks while nobody has agreed to what stands in the conversation.

use super::git_init;
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::mcp::{configure, hostile, left};
use crate::pty::on_terminal;
use crate::sandbox::world::bubblewrap_works;
use crate::scripted::{Reply, openai_calls, openai_sse};

const AUTO: &str = "planner = 'native'\ntool_call_mode = 'auto'\nauto_access = 'write'";

/// The question of consent, with what it names.
const NAMED: &str = "Not agreed to yet: AGENTS.md";

fn call() -> Reply {
    openai_calls("", &[("s__echo", "{}")])
}

/// A bot in a repository with instructions and one server whose tool `auto` would call unasked.
fn bot(replies: impl IntoIterator<Item = Reply>) -> Bot {
    let bot = Bot::openai(AUTO, replies);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "good"))]);
    git_init(&bot.home);
    bot.home.write("work/AGENTS.md", "Use tabs.\n");
    bot
}

fn calls(bot: &Bot) -> usize {
    left(&bot.home, "s", "calls").len()
}

#[test]
fn a_call_waits_while_nobody_has_agreed_and_a_yes_agrees_to_these_bytes() {
    let turn = || [call(), openai_sse(["Done."])];
    let bot = bot(turn().into_iter().chain([call()]).chain(turn()).chain(turn()).chain([call()]));
    assert_eq!(bot.home.alone(&["do", "--no-agents", "x"]).out, "Done.\n");
    assert_eq!(calls(&bot), 1);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, calls(&bot)), (4, 1), "{}", ran.err);
    // The same conversation without them this time, and with a file that is gone: they still stand in it.
    let yes = [(NAMED, ""), ("Call it? [y]es [n]o [a]lways [?] ", "y\n")];
    let ran = on_terminal(bot.home.command(&["do", "-n", "x"]), &yes);
    assert_eq!((ran.code, calls(&bot)), (0, 2), "{}", ran.out);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.out.as_str(), calls(&bot)), ("Done.\n", 3), "{}", ran.err);
    // One changed byte asks again.
    bot.home.write("work/AGENTS.md", "Use tabs!\n");
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, calls(&bot)), (4, 3), "{}", ran.err);
}

#[test]
fn words_that_are_gone_or_turned_off_later_still_stand_in_the_conversation() {
    for leave_out in [true, false] {
        let bot = bot([openai_sse(["Hi."]), call()]);
        assert_eq!(bot.home.alone(&["do", "x"]).out, "Hi.\n");
        let args: &[&str] = match leave_out {
            true => &["do", "--no-agents", "y"],
            false => {
                std::fs::remove_file(bot.home.work().join("AGENTS.md")).unwrap();
                &["do", "y"]
            }
        };
        let ran = bot.home.alone(args);
        assert_eq!((ran.code, calls(&bot)), (4, 0), "{}", ran.err);
    }
}

#[test]
fn approving_one_request_agrees_to_nothing() {
    let other = openai_calls("", &[("s__echo", r#"{"a":"another"}"#)]);
    let bot = bot([call(), other, openai_sse(["Done."])]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, calls(&bot)), (4, 1), "the next call waits: {}", ran.err);
    // That the programs of the folder were seen is noted there, too.
    let trust = bot.home.read("state/lepo/trust");
    assert!(trust.lines().all(|line| line.ends_with("/work\"")) && !trust.contains("AGENTS"), "{trust}");
}

#[test]
fn a_no_agrees_to_nothing_and_the_model_is_told() {
    let bot = bot([call(), openai_sse(["Then not."]), call()]);
    let ran = on_terminal(
        bot.home.command(&["do", "x"]),
        &[(NAMED, ""), ("Call it? [y]es [n]o [a]lways [?] ", "n\n")],
    );
    assert_eq!((ran.code, calls(&bot)), (0, 0), "{}", ran.out);
    assert_eq!(bot.home.alone(&["do", "x"]).code, 4);
}

#[test]
fn reading_is_not_asked_about_and_writing_is() {
    if !bubblewrap_works() {
        return;
    }
    let run = |access: &str| {
        let arguments = format!(r#"{{"access":"{access}","command":"echo hi"}}"#);
        openai_calls("", &[("run_command", &arguments)])
    };
    let bot = bot([run("read"), openai_sse(["Read."]), run("write"), run("write"), openai_sse(["Written."])]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.out, "Read.\n", "{}", ran.err);
    let ran = bot.home.alone(&["do", "y"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let ran = bot.home.alone(&["do", "-n", "--no-agents", "y"]);
    assert_eq!(ran.out, "Written.\n", "{}", ran.err);
}

#[test]
fn what_was_agreed_to_is_listed_and_taken_back() {
    let bot = bot([call(), openai_sse(["Done."]), call()]);
    let yes = [(NAMED, ""), ("Call it? [y]es [n]o [a]lways [?] ", "y\n")];
    assert_eq!(on_terminal(bot.home.command(&["do", "x"]), &yes).code, 0);
    let path = bot.home.work().canonicalize().unwrap().join("AGENTS.md");
    let listed = bot.home.lepo(&["trust"]);
    assert!(listed.err.contains(&format!("{} is agreed to\n", path.display())), "{}", listed.err);
    assert_eq!(listed.code, 0);
    let ran = bot.home.lepo(&["trust", "--forget", "AGENTS.md"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = bot.home.lepo(&["trust", "--forget", "AGENTS.md"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(bot.home.alone(&["do", "y"]).code, 4);
}
