//! Public reports of conversations that other tools went on with, lost, or showed wrongly: the last one, clocks, two
//! terminals, worktrees, exports.

use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest, put};
use crate::home::{Ran, finish, run, until};
use crate::many::Panel;
use crate::scripted::openai_sse;
use crate::worktrees::with_worktree;

const OFF: &str = "planner = \"off\"";

/// The report, and a use of lepo like the one that it tells of, in a home with five answers.
type Case = (&'static str, fn(&Bot));

fn run_all(cases: &[Case]) {
    for (report, happens) in cases {
        eprintln!("{report}");
        let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5"]);
        bot.home.write("config/system_prompt.txt", "PROMPT");
        happens(&bot);
        assert_eq!(bot.home.ok(&["fsck"]), "", "{report}");
    }
}

/// A question is answered; the answer's id.
fn ask(bot: &Bot, args: &[&str]) -> String {
    let ran = bot.lepo(&[&["do", "--json"], args].concat());
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    document["answer"]["id"].as_str().unwrap_or_else(|| panic!("{}", ran.err)).to_string()
}

fn lepo_in(bot: &Bot, dir: &Path, args: &[&str]) -> Ran {
    let mut command = bot.home.command(args);
    command.current_dir(dir);
    run(command, b"")
}

/// The texts of the last request, without the system prompt.
fn sent(bot: &Bot) -> Vec<String> {
    let all = messages(bot.bodies().last().unwrap()).into_iter();
    all.filter(|(role, _)| role != "system").map(|(_, text)| text).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

#[test]
fn the_last_conversation_is_the_one_that_was_used_last() {
    run_all(&[
        // Not the one that was begun last.
        ("https://github.com/simonw/llm/issues/1140", |bot| {
            let first = ask(bot, &["-n", "start a"]);
            ask(bot, &["-n", "start b"]);
            ask(bot, &["--tail", &first, "on with a"]);
            ask(bot, &["and on"]);
            assert_eq!(sent(bot), ["start a", "1", "on with a", "3", "and on"]);
        }),
        // A script names it by the id that it got.
        ("https://github.com/simonw/llm/issues/1190", |bot| {
            let classified = ask(bot, &["-n", "classify"]);
            ask(bot, &["-n", "another script"]);
            let verified = ask(bot, &["--tail", &classified, "verify"]);
            ask(bot, &["--tail", &verified, "again"]);
            assert_eq!(sent(bot), ["classify", "1", "verify", "3", "again"]);
        }),
        // All questions of scripts are remembered.
        ("https://github.com/anthropics/claude-code/issues/4343", |bot| {
            for question in ["one", "two", "three"] {
                ask(bot, &[question]);
            }
            assert_eq!(sent(bot), ["one", "1", "two", "2", "three"]);
        }),
        // Of this folder, not of the one that was used in between.
        ("https://github.com/openai/codex/issues/8700", |bot| {
            let other = bot.home.path().join("other");
            std::fs::create_dir(&other).unwrap();
            ask(bot, &["here"]);
            assert_eq!(lepo_in(bot, &other, &["do", "there"]).code, 0);
            ask(bot, &["here again"]);
            assert_eq!(sent(bot), ["here", "1", "here again"]);
        }),
        // The same where two scripts ask in two folders in turn.
        ("https://github.com/monoes/monomind/issues/180", |bot| {
            let other = bot.home.path().join("other");
            std::fs::create_dir(&other).unwrap();
            for question in ["one", "two"] {
                ask(bot, &[question]);
                assert_eq!(lepo_in(bot, &other, &["do", question]).code, 0);
            }
            assert_eq!(sent(bot), ["one", "2", "two"]);
        }),
        // A name is one of this folder too.
        ("https://github.com/openai/codex/issues/30995", |bot| {
            let other = bot.home.path().join("other");
            std::fs::create_dir(&other).unwrap();
            ask(bot, &["here"]);
            bot.home.ok(&["branch", "MAIN"]);
            let ran = lepo_in(bot, &other, &["do", "--tail", "MAIN", "go on"]);
            assert!(ran.code != 0 && bot.times_asked() == 1, "{}", ran.err);
        }),
        // The first of the list is what the next question follows.
        ("https://github.com/openai/codex/issues/17302", |bot| {
            ask(bot, &["-n", "one"]);
            let second = ask(bot, &["-n", "two"]);
            assert!(bot.home.ok(&["ls", "-n", "1"]).starts_with(&second));
            ask(bot, &["on"]);
            assert_eq!(sent(bot), ["two", "2", "on"]);
        }),
        // Its list has a row for a question that begins with an empty line.
        ("https://github.com/charmbracelet/mods/issues/604", |bot| {
            let id = ask(bot, &["\n\n  \nWho are you?"]);
            let listed = bot.home.ok(&["ls"]);
            assert!(listed.starts_with(&id) && listed.contains("Who are you?"), "{listed}");
        }),
        // The id of the list shows what was said.
        ("https://github.com/charmbracelet/mods/issues/573", |bot| {
            ask(bot, &["what is it?"]);
            let listed = bot.home.ok(&["ls"]);
            let shown = bot.home.ok(&["show", listed.split(' ').next().unwrap()]);
            assert!(shown.contains("what is it?") && shown.contains("\n1\n"), "{shown}");
        }),
        // The last answer alone.
        ("https://github.com/charmbracelet/mods/issues/165", |bot| {
            ask(bot, &["what is it?"]);
            assert_eq!(bot.home.ok(&["show", "-1"]).trim_end(), "1");
        }),
    ]);
}

#[test]
fn a_wrong_clock_changes_no_order_and_captures_nothing() {
    run_all(&[
        // Five hours ahead, and then right again.
        ("https://github.com/pingdotgg/t3code/issues/3983", |bot| {
            bot.home.ok(&["init"]);
            let asked = put(&bot.home, now() + 5 * 3_600_000, "u0", "head", "from the east");
            put(&bot.home, now() + 5 * 3_600_000 + 1, "a0", &asked, "said there");
            ask(bot, &["from here"]);
            ask(bot, &["once more"]);
            assert_eq!(sent(bot), ["from the east", "said there", "from here", "1", "once more"]);
        }),
        // The same by a message that a program brought.
        ("https://github.com/openclaw/openclaw/issues/120478", |bot| {
            bot.home.add(&["--prev", "head", "--time", "2500-01-01"], "from the future");
            let mine = bot.home.add(&["--prev", "head"], "mine");
            assert_eq!(bot.home.ok(&["resolve", "@"]).trim(), mine);
            bot.home.ok(&["rm", "-y", "--force", bot.home.ok(&["ls"]).split(' ').next().unwrap()]);
        }),
        // Ten minutes ahead: the next question is answered at once.
        ("https://github.com/anomalyco/opencode/issues/25024", |bot| {
            bot.home.ok(&["init"]);
            let asked = put(&bot.home, now() + 600_000, "u0", "head", "one");
            put(&bot.home, now() + 600_001, "a0", &asked, "said");
            let answer = ask(bot, &["two"]);
            assert_eq!(bot.home.ok(&["resolve", "@"]).trim(), answer);
        }),
        // A list says `dated ahead`, not `now`.
        ("https://github.com/BaseIntelligence/bounty-challenge/issues/43956", |bot| {
            let ahead = bot.home.add(&["--prev", "head", "--time", "2500-01-01"], "from the future");
            assert!(bot.home.ok(&["ls", "-l"]).contains("dated ahead"));
            bot.home.ok(&["rm", "-y", &ahead]);
        }),
    ]);
}

#[test]
fn two_at_once_lose_nothing() {
    let bot = Bot::openai(OFF, [openai_sse(["one"]), openai_sse(["two"]).held(), openai_sse(["three"])]);
    bot.home.write("config/system_prompt.txt", "PROMPT");
    ask(&bot, &["first"]);
    let mut second = bot.home.command(&["do", "in one terminal"]);
    second.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let second = second.spawn().unwrap();
    bot.server().await_asked(2);
    let third = bot.lepo(&["do", "in the other"]);
    bot.server().release();
    finish(second);
    // https://github.com/anthropics/claude-code/issues/80427: the fork is said.
    assert_eq!(third.err.matches("still answering").count(), 1, "{}", third.err);
    // https://github.com/NousResearch/hermes-agent/issues/47475: no message is in the other's line.
    assert_eq!(messages(&bot.bodies()[2]).len(), 4, "{:?}", bot.bodies()[2]);
    assert!(
        forest(&bot.home).starts_with("A s1 head / B u0 A / C a0 B / D u0 C / E u0 C"),
        "{}",
        forest(&bot.home)
    );
    assert_eq!(bot.home.ok(&["ls"]).lines().count(), 2);
}

/// https://github.com/mahatab/synode-council-of-ai-agents/issues/7
#[test]
fn of_several_answers_the_first_model_s_is_the_one_that_goes_on() {
    let late = vec![openai_sse(["from a"]).held(), openai_sse(["on"])];
    let panel = Panel::new("", &[("a", late), ("b", vec![openai_sse(["from b"])])]);
    let mut asks = panel.home.command(&["do", "-n", "--parallel", "-m", "a", "-m", "b", "q"]);
    asks.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let asks = asks.spawn().unwrap();
    until("the answer of b", || {
        panel.home.work().join(".lepo").exists()
            && bubbs(&panel.home).iter().any(|bubb| bubb.text == "from b")
    });
    panel.server("a").release();
    assert_eq!(finish(asks).code, 0);
    assert_eq!(panel.home.ok(&["show", "-1"]).trim_end(), "from a");
}

#[test]
fn conversations_outlive_the_worktree() {
    run_all(&[
        // The conversation of a worktree continues after its removal.
        ("https://github.com/anthropics/claude-code/issues/28314", |bot| {
            let linked = with_worktree(&bot.home);
            assert_eq!(lepo_in(bot, &linked, &["do", "in the worktree"]).code, 0);
            let id = lepo_in(bot, &linked, &["resolve", "@"]).out;
            let remove = ["worktree", "remove", linked.to_str().unwrap()];
            assert_eq!(run(bot.home.program("git", &remove), b"").code, 0);
            ask(bot, &["--tail", id.trim(), "from the main one"]);
            assert_eq!(sent(bot), ["in the worktree", "1", "from the main one"]);
        }),
        // Without its folder too, and without git knowing.
        ("https://github.com/anthropics/claude-code/issues/76735", |bot| {
            let linked = with_worktree(&bot.home);
            assert_eq!(lepo_in(bot, &linked, &["do", "in the worktree"]).code, 0);
            std::fs::remove_dir_all(&linked).unwrap();
            assert!(bot.home.ok(&["show"]).contains("in the worktree"));
        }),
        // An id works in every worktree.
        ("https://github.com/anthropics/claude-code/issues/28769", |bot| {
            let linked = with_worktree(&bot.home);
            let id = ask(bot, &["in the main one"]);
            assert!(lepo_in(bot, &linked, &["show", &id]).out.contains("in the main one"));
        }),
        // Both lists have both.
        ("https://github.com/anthropics/claude-code/issues/60759", |bot| {
            let linked = with_worktree(&bot.home);
            ask(bot, &["-n", "in the main one"]);
            assert_eq!(lepo_in(bot, &linked, &["do", "in the worktree"]).code, 0);
            for dir in [&bot.home.work(), &linked] {
                assert_eq!(lepo_in(bot, dir, &["ls"]).out.lines().count(), 2);
            }
        }),
        // They share one store without a setting.
        ("https://github.com/charmbracelet/crush/pull/2144", |bot| {
            let linked = with_worktree(&bot.home);
            ask(bot, &["in the main one"]);
            let roots = [bot.home.ok(&["root"]), lepo_in(bot, &linked, &["root"]).out];
            assert_eq!(roots[0], roots[1]);
        }),
        // What goes on there works on the files of there.
        ("https://github.com/anthropics/claude-code/issues/30906", |bot| {
            let linked = with_worktree(&bot.home);
            bot.home.write("linked/which", "the linked one");
            for _ in 0..2 {
                assert_eq!(lepo_in(bot, &linked, &["do", "--run", "cat which", "q"]).code, 0);
                let body = bot.bodies().last().unwrap().to_string();
                assert!(body.contains("the linked one"), "{body}");
            }
        }),
        // git sees nothing of a store that is not committed.
        ("https://github.com/Aider-AI/aider/issues/121", |bot| {
            with_worktree(&bot.home);
            for question in ["one", "two"] {
                ask(bot, &[question]);
                let status = run(bot.home.program("git", &["status", "--porcelain"]), b"");
                assert_eq!((status.code, status.out.as_str()), (0, ""));
            }
        }),
    ]);
}

#[test]
fn an_export_is_where_it_was_wanted() {
    run_all(&[
        // A file of this name, in Markdown by its ending.
        ("https://github.com/google-gemini/gemini-cli/issues/8030", |bot| {
            ask(bot, &["what is it?"]);
            bot.home.ok(&["export", "-o", "talk.md"]);
            let text = bot.home.read("work/talk.md");
            assert!(text.contains("what is it?") && text.contains('1'), "{text}");
        }),
        // The last answer, in no other words than its own.
        ("https://github.com/anthropics/claude-code/issues/54764", |bot| {
            ask(bot, &["what is it?"]);
            let ran = run(bot.home.shell("lepo show -1 > plan.md"), b"");
            assert_eq!((ran.code, bot.home.read("work/plan.md").trim_end()), (0, "1"));
        }),
        // What is not there makes no file.
        ("https://github.com/gptme/gptme/pull/1619", |bot| {
            ask(bot, &["what is it?"]);
            let ran = bot.lepo(&["export", "nobody", "-o", "talk.md"]);
            assert_eq!((ran.code, bot.home.work().join("talk.md").exists()), (2, false), "{}", ran.err);
        }),
        // Nor does an empty store.
        ("https://github.com/OpenHands/OpenHands-CLI/pull/450", |bot| {
            bot.home.ok(&["init"]);
            let ran = bot.lepo(&["export", "-o", "talk.md"]);
            assert!(ran.code != 0 && ran.err.contains("hint: "), "{}", ran.err);
            assert!(!bot.home.work().join("talk.md").exists());
        }),
    ]);
}
