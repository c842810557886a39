//! Where a question goes by itself, what of it stays, and what goes with it.

use std::fs;
use std::path::Path;

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::{finish, run, until};
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_calls, openai_sse, said};

const OFF: &str = "planner = \"off\"";

/// Every file below a folder, with its text.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let (mut folders, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap();
                    found.push((entry.path().display().to_string(), String::from_utf8_lossy(&bytes).into()));
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn the_setting_new_keeps_script_and_session_apart() {
    const TWO: &str = "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E";
    const ONE: &str = "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D";
    for (new, args, expected) in [
        ("never", &["do", "q"][..], ONE),
        ("pipe", &["do", "q"], TWO),
        ("always", &["do", "q"], TWO),
        ("always", &["do", "--continue", "q"], ONE),
        ("pipe", &["do", "--continue", "q"], ONE),
        ("pipe", &["do", "--tail", "@", "q"], ONE),
    ] {
        let bot = Bot::saying(&format!("{OFF}\nnew = \"{new}\""), &["A1", "A2"]);
        assert_eq!(bot.lepo(&["do", "-n", "first"]).code, 0);
        let ran = bot.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (0, "A2\n"), "{}", ran.err);
        assert_eq!(forest(&bot.home), expected, "{new} {args:?}");
    }
    let bot = Bot::saying(&format!("{OFF}\nnew = \"pipe\""), &["A1", "A2", "A3"]);
    bot.lepo(&["do", "first"]);
    let id = bubbs(&bot.home)[2].id.clone();
    let mut named = bot.home.command(&["do", "second"]);
    named.env("LEPO_TAIL", id);
    assert_eq!(run(named, b"").out, "A2\n");
    assert_eq!(bot.lepo(&["do", "--retry"]).out, "A3\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F a0 D");
    let wrong = bot.lepo(&["do", "-n", "--continue", "q"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}

#[test]
fn a_terminal_goes_on_where_pipes_begin_anew() {
    let bot = Bot::saying(&format!("{OFF}\nnew = \"pipe\""), &["A1", "A2"]);
    bot.lepo(&["do", "first"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "second"]) else { return };
    screen.shows("A2").ends(0);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
}

#[test]
fn no_keep_leaves_nothing_but_the_line_of_the_request() {
    let call = openai_calls("", &[("run_command", r#"{"command":"echo geheimnis","access":"full"}"#)]);
    let settings = "planner = \"native\"\nlog_level = \"debug\"";
    let bot =
        Bot::openai(settings, [call, openai_sse(["the geheimnis answer"]), Reply::new(400, "geheimnis?")]);
    bot.home.write("work/image.gif", b"GIF89a\x01\0\x01\0\0\0\0\0\0\0");
    let args = ["do", "--no-keep", "--attach", "image.gif", "mein geheimnis"];
    let ran = bot.home.alone(&args);
    // A request that could only wait is refused.
    assert_eq!((ran.code, ran.out.as_str()), (0, "the geheimnis answer\n"), "{}", ran.err);
    assert!(bot.bodies()[1].to_string().contains("refused: there was nobody to ask"));
    let failed = bot.lepo(&["do", "--no-keep", "mein geheimnis"]);
    assert_eq!(failed.code, 3);
    assert!(!failed.err.contains("--retry"), "{}", failed.err);
    assert!(!bot.home.work().join(".lepo").exists());
    let left = texts(bot.home.path());
    let left: Vec<&(String, String)> =
        left.iter().filter(|(path, text)| text.contains("geheimnis") || path.contains("_journal")).collect();
    assert!(left.is_empty(), "{left:?}");
    let log: String =
        texts(&bot.home.path().join("state/lepo/logs")).into_iter().map(|(_, text)| text).collect();
    assert_eq!(log.lines().count(), 3, "{log}");
    assert!(log.contains("request answered") && log.contains("request failed"), "{log}");

    for with in [&["--tail", "@"][..], &["--retry"], &["--continue"], &["-s", "x"]] {
        let ran = bot.lepo(&[&["do", "--no-keep"], with, &["q"]].concat());
        assert_eq!(ran.code, 2, "{with:?}: {}", ran.err);
    }
}

#[test]
fn what_a_killed_no_keep_left_is_swept_by_the_next() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("half "), Piece::Wait, end()]), openai_sse(["ok"])]);
    let mut command = bot.home.command(&["do", "--no-keep", "geheimnis"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    bot.server().await_asked(1);
    let unkept = bot.home.path().join("state/lepo/unkept");
    until("the question is there", || texts(&unkept).iter().any(|(_, text)| text.contains("geheimnis")));
    child.kill().unwrap();
    finish(child);
    assert!(texts(&unkept).iter().any(|(_, text)| text.contains("geheimnis")));
    assert_eq!(bot.lepo(&["do", "--no-keep", "q"]).out, "ok\n");
    assert!(texts(&unkept).iter().all(|(path, text)| path.ends_with("/lock") && text.is_empty()));
}

#[test]
fn a_session_of_no_keep_is_not_in_the_history() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &["--no-keep"]) else { return };
    screen
        .prompts("> ")
        .enters("mein geheimnis")
        .shows("A1")
        .prompts("> ")
        .enters("more")
        .shows("A2")
        .prompts("> ");
    assert!(messages(&bot.bodies()[1]).iter().any(|(_, text)| text == "mein geheimnis"));
    screen.enters("/exit").ends(0);
    assert!(texts(bot.home.path()).iter().all(|(_, text)| !text.contains("geheimnis")));
    assert!(!screen.whole().contains("from here"), "{}", screen.whole());
}

#[test]
fn a_question_that_got_nothing_is_not_sent_along() {
    let bot = Bot::openai(
        OFF,
        [
            openai_sse(["A1"]),
            Reply::new(400, "no"),
            openai_sse(["A3"]),
            openai_sse(["A2"]),
            openai_sse(["A4"]),
        ],
    );
    bot.lepo(&["do", "one"]);
    let failed = bot.lepo(&["do", "two"]);
    assert_eq!(failed.code, 3);
    assert!(failed.err.contains("the question is kept"), "{}", failed.err);
    let two = bubbs(&bot.home)[3].id.clone();
    bot.lepo(&["do", "three"]);
    let asked = |i: usize| {
        let questions = messages(&bot.bodies()[i]).into_iter().filter(|(role, _)| role == "user");
        questions.map(|(_, text)| text).collect::<Vec<_>>().join(" / ")
    };
    assert_eq!(asked(2), "one / three");
    // It is there, can be answered, and means itself where it is named.
    assert_eq!(bot.lepo(&["do", "--tail", &two, "--retry"]).out, "A2\n");
    assert_eq!(asked(3), "one / two");
    bot.lepo(&["do", "--tail", &two, "four"]);
    assert_eq!(asked(4), "one / two / four");
}

#[test]
fn a_question_that_was_stopped_before_the_first_byte_is_none_either() {
    let bot = Bot::openai(
        OFF,
        [Reply::new(200, "").held(), Reply::pieces([said("half "), Piece::Wait, end()]), openai_sse(["A3"])],
    );
    let stopped = |question: &str, asked: usize, shown: &str| {
        let mut command = bot.home.command(&["do", question]);
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        bot.server().await_asked(asked);
        until("a part is there", || {
            shown.is_empty() || texts(&bot.home.work()).iter().any(|(_, text)| text.contains(shown))
        });
        bot.home.shell(&format!("kill -INT {}", child.id())).status().unwrap();
        assert_eq!(finish(child).code, 130);
    };
    stopped("one", 1, "");
    stopped("two", 2, "half");
    bot.lepo(&["do", "three"]);
    let users: Vec<String> = messages(&bot.bodies()[2])
        .into_iter()
        .filter(|(role, _)| role == "user")
        .map(|(_, text)| text)
        .collect();
    // One that was stopped in the middle of its answer stays.
    assert_eq!(users, ["two", "three"]);
}

#[test]
fn an_added_question_without_an_answer_stays() {
    let bot = Bot::saying(OFF, &["A1"]);
    bot.home.add(&[], "added");
    bot.lepo(&["do", "two"]);
    let users = messages(&bot.bodies()[0]).into_iter().filter(|(role, _)| role == "user").count();
    assert_eq!(users, 2);
}

#[test]
fn a_session_goes_on_without_a_question_that_got_nothing() {
    let bot = Bot::openai(
        OFF,
        [
            openai_sse(["A1"]),
            Reply::new(400, "no"),
            openai_sse(["A3"]),
            Reply::new(400, "no"),
            openai_sse(["A4"]),
        ],
    );
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("one").shows("A1").prompts("> ");
    screen
        .enters("two")
        .shows("the question is kept")
        .prompts("> ")
        .enters("three")
        .shows("A3")
        .prompts("> ");
    let users = |i: usize| {
        let questions = messages(&bot.bodies()[i]).into_iter().filter(|(role, _)| role == "user");
        questions.map(|(_, text)| text).collect::<Vec<_>>().join(" / ")
    };
    assert_eq!(users(2), "one / three");
    screen.keys(&["C-l"]).enters("four").shows("the question is kept").prompts("> ").enters("/exit").ends(0);
    drop(screen);
    // A later session can answer it too.
    let screen = Screen::lepo(&bot.home, 80, &[]).unwrap();
    screen.prompts("> ").enters("/retry").shows("A4").prompts("> ");
    assert_eq!(users(4), "one / three / four");
}

#[test]
fn the_system_prompt_as_made_goes_only_where_there_are_servers() {
    const SHORT: &str =
        "You are a helpful assistant in a terminal. Be brief and exact; use Markdown sparingly.";
    let server = r#"{"mcpServers":{"x":{"command":"/no/such/program"}}}"#;
    let made = include_str!("../../crates/lepo-turn/src/config/default-system-prompt.txt");
    for (servers, file, expected) in [
        ("", None, Some(SHORT)),
        ("", Some(made), Some(SHORT)),
        (server, None, Some(made)),
        ("", Some("Mine."), Some("Mine.")),
        (server, Some("Mine."), Some("Mine.")),
        (server, Some(""), None),
        ("", Some(""), None),
    ] {
        let bot = Bot::saying(OFF, &["ok"]);
        if !servers.is_empty() {
            bot.home.write("config/mcp.json", servers);
        }
        if let Some(file) = file {
            bot.home.write("config/system_prompt.txt", file);
        }
        assert_eq!(bot.lepo(&["do", "q"]).out, "ok\n");
        let first = messages(&bot.bodies()[0]).remove(0);
        let actual = Some(first).filter(|(role, _)| role == "system").map(|(_, text)| text);
        assert_eq!(actual.as_deref().map(str::trim), expected.map(str::trim), "{servers} {file:?}");
    }
}
