//! The view of a person at a terminal: waiting, thinking, the answer, and no control characters.

use serde_json::json;

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::Home;
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Reply, openai_calls, openai_event, openai_sse, openai_stream};

const OFF: &str = "planner = \"off\"\n[term]\nusage = false";
/// Above everything else.
const PLACE: &str = "\u{1b}[2mtest · new conversation\u{1b}[0m\r\n";
const WAITING: &str = "Waiting for response...";
/// Back to the start of the line, and the line is empty.
const REMOVED: &str = "\r\u{1b}[K";

fn thinking() -> Reply {
    let stream = openai_event(json!({"reasoning_content": "음… "}), None)
        + &openai_event(json!({"reasoning_content": "hm\u{1b}[2J"}), None)
        + &openai_event(json!({"content": "파리."}), None)
        + &openai_event(json!({}), Some("stop"))
        + "data: [DONE]\n\n";
    Reply::new(200, stream)
}

#[test]
fn thinking_stands_dim_under_its_line_and_waiting_is_removed() {
    let bot = Bot::openai(OFF, [thinking()]);
    bot.home.ok(&["init"]);
    let dim = |text: &str| format!("\u{1b}[2m{text}\u{1b}[0m");
    let ran = on_terminal(bot.home.command(&["do", "q"]), &[]);
    let shown =
        format!("{PLACE}{WAITING}{REMOVED}{}\r\n{}\r\n파리.\r\n", dim("thinking…"), dim("음… hm␛[2J"));
    // Thinking that arrives in two reads is dimmed in two runs.
    let out = ran.out.replace("\u{1b}[0m\u{1b}[2m", "");
    assert_eq!((ran.code, out), (0, shown));
    assert_eq!(bubbs(&bot.home)[2].text, "파리.");
}

#[test]
fn in_a_pipe_there_is_the_answer_and_nothing_else() {
    let bot = Bot::openai(OFF, [thinking()]);
    let ran = bot.lepo(&["do", "q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "파리.\n", ""));
}

#[test]
fn with_the_answer_in_a_file_the_terminal_shows_the_rest() {
    let bot = Bot::openai(OFF, [thinking()]);
    let ran = on_terminal(bot.home.shell("lepo do q > out"), &[]);
    assert!(ran.out.ends_with("<<< End Thinking >>>\r\n"), "{:?}", ran.out);
    assert_eq!(bot.home.read("work/out"), "파리.\n");
}

#[test]
fn quiet_is_the_answer_alone() {
    let bot = Bot::openai(OFF, [Reply::new(500, "").header("retry-after", "0"), thinking()]);
    let ran = on_terminal(bot.home.command(&["do", "-q", "q"]), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "파리.\r\n"));
}

#[test]
fn nothing_a_model_says_can_drive_the_terminal() {
    let evil = "a\u{1b}]0;x\u{7}b\u{202e}c\u{9b}2J\r";
    let bot = Bot::saying(OFF, &[evil, evil]);
    let ran = on_terminal(bot.home.command(&["do", "q"]), &[]);
    let answer = ran.out.rsplit(REMOVED).next().unwrap();
    assert_eq!(answer, "a␛]0;x␇b<U+202E>c<U+009B>2J␍\r\n");
    assert_eq!(bot.lepo(&["do", "-n", "q"]).out, format!("{evil}\n"));
    assert_eq!(bubbs(&bot.home)[2].text, evil);
}

#[test]
fn nothing_a_command_says_can_drive_the_terminal() {
    let bot = Bot::saying(OFF, &["ok"]);
    // Time enough for the first half of a character to be shown by itself.
    let evil =
        r"printf 'a\033]0;x\007b\342\200' >&2; sleep 0.3; printf '\256c\302\2332J\r' >&2; printf 'd\033[2J'";
    let ran = on_terminal(bot.home.command(&["do", "q", "--run", evil]), &[]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    // stdout and stderr are two pipes: which is read first is not told.
    for piece in ["a␛]0;x␇b", "<U+202E>c<U+009B>2J␍", "d␛[2J"] {
        assert!(ran.out.contains(piece), "{piece} {:?}", ran.out);
    }
    assert!(
        !ran.out
            .replace(REMOVED, "")
            .replace("\u{1b}[2m", "")
            .replace("\u{1b}[0m", "")
            .contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']),
        "{:?}",
        ran.out
    );
    assert!(bubbs(&bot.home)[1].text.contains("d\u{1b}[2J"));
}

#[test]
fn the_past_stands_above_what_is_waited_for() {
    let bot = Bot::openai(OFF, [openai_sse(["one"]), openai_sse(["two"])]);
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    let ran = on_terminal(bot.home.command(&["--color", "never", "do", "-p", "2."]), &[]);
    let past = ran.out.find("one\r\n").unwrap();
    assert!(past < ran.out.find(WAITING).unwrap(), "{:?}", ran.out);
    assert!(ran.out.ends_with(&format!("{WAITING}{REMOVED}two\r\n")), "{:?}", ran.out);
}

#[test]
fn consent_is_asked_on_the_terminal_even_in_a_pipe() {
    let request = r#"{"access":"net","command":"echo 42 | tee ran; echo loud >&2","why":"보려고"}"#;
    let bot = Bot::saying("", &[r#"{"tool":"command"}"#, request, r#"{"tool":"none"}"#, "42"]);
    let script = "echo question | lepo do | cat > out";
    let ran = on_terminal(bot.home.shell(script), &[("Run it? [y]es ", "y\n")]);
    let work = std::fs::canonicalize(bot.home.work()).unwrap();
    for words in ["$ echo 42 | tee ran", work.to_str().unwrap(), "and use the network", "보려고", "  | loud"]
    {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert_eq!((bot.home.read("work/out").as_str(), bot.home.read("work/ran").as_str()), ("42\n", "42\n"));
}

#[test]
fn a_turn_tells_what_it_goes_on_with_and_what_it_took() {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 1200, "completion_tokens": 34,
        "prompt_tokens_details": { "cached_tokens": 1000 } } });
    let answer = || {
        let done = "data: [DONE]\n\n";
        Reply::new(200, openai_stream(["파리."]).replace(done, &format!("data: {usage}\n\n{done}")))
    };
    let bot = Bot::openai("planner = \"off\"", [answer(), answer(), answer(), answer(), answer()]);
    bot.home.ok(&["init"]);
    let plain = |args: &[&str]| {
        let ran = on_terminal(bot.home.command(&[&["--color", "never", "do"], args].concat()), &[]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        ran.out
    };
    let took = "test · 1,200 in, 1,000 cached · 34 out · ";
    let shown = plain(&["질문 하나"]);
    assert!(shown.starts_with("test · new conversation\r\n") && shown.contains(took), "{shown}");
    let shown = plain(&["--no-usage", "and?"]);
    let answered = &bubbs(&bot.home)[2].id;
    let place = format!(
        "test · continuing {answered} (1 question) just now \"질문 하나\"\r\n",
        answered = &answered[18..]
    );
    assert!(shown.starts_with(&place) && !shown.contains(" out · "), "{shown}");
    assert!(!plain(&["-q", "and?"]).contains(" · "), "nothing but the answer");
    let ran = bot.lepo(&["do", "and?"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("파리.\n", ""));
}

#[test]
fn a_question_that_is_stopped_at_its_consent_says_how_to_decide_later() {
    let request = r#"{"access":"full","command":"echo 한글"}"#;
    let bot = Bot::openai("planner = 'native'", [openai_calls("", &[("run_command", request)])]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "say it"]) else { return };
    screen.shows("Run it? [y]es [n]o [e]dit [?]").keys(&["C-c"]);
    screen.ends(130);
    let id = bot.home.ok(&["ls", "--pending"]).split(' ').next().unwrap().to_string();
    let shown = screen.whole().replace('\n', " ");
    assert!(
        shown.contains(&format!("hint: the request waits: `lepo do --approve {id}` carries it out")),
        "{shown}"
    );
}

#[test]
fn a_file_that_the_prompt_mentions_is_not_sent_and_a_note_says_so() {
    let bot = Bot::saying("planner = 'off'", &["one", "two", "three"]);
    bot.home.write("work/notes.txt", "of the file");
    let note = "note: @notes.txt is sent as text; -f FILE sends a file";
    for (question, is_noted) in [("what is @notes.txt?", true), ("what is @nobody?", false)] {
        let shown = on_terminal(bot.home.command(&["do", question]), &[]).out;
        assert_eq!(shown.contains(note), is_noted, "{shown}");
    }
    assert!(!bot.bodies()[0].to_string().contains("of the file"));
    // A script gets no note.
    assert_eq!(bot.lepo(&["do", "what is @notes.txt?"]).err, "");
}

#[test]
fn what_is_said_breaks_between_words() {
    let home = Home::with_openai("http://127.0.0.1:9/v1");
    let Some(screen) = Screen::lepo(&home, 40, &["do", "q"]) else { return };
    screen.ends(3);
    let whole = screen.whole();
    let hint = "\nhint: check that the server is running\nand that `base_url` is right; the\nquestion is kept: `lepo do --retry`\n";
    assert!(whole.contains(hint), "{whole}");
}

#[test]
fn a_question_that_goes_on_after_ctrl_z_is_shown_whole() {
    let request = r#"{"access":"full","command":"echo 한글"}"#;
    let bot = Bot::openai(
        "planner = 'native'",
        [openai_calls("", &[("run_command", request)]), openai_sse(["Not."])],
    );
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    screen.shows("sh$").enters("lepo do 'say it'").shows("Run it? [y]es [n]o [e]dit [?]").keys(&["C-z"]);
    screen.shows("Stopped").enters("clear").becomes("clear", || !screen.text().contains("한글"));
    screen
        .enters("fg")
        .shows("Command request\n  $ echo 한글\n  in ")
        .shows("Run it? ")
        .enters("n")
        .shows("Not.");
}
