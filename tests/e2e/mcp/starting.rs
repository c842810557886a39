//! A server that takes long to start is named on a terminal, as long as it does.

use super::{configure, hostile, left};
use crate::bots::Bot;
use crate::home::until;
use crate::screen::Screen;
use crate::scripted::{openai_calls, openai_sse};

const SETTINGS: &str = "planner = 'native'\ntool_call_mode = 'auto'";
const NAMED: &str = "Starting MCP server slow...";

/// Lets the server that is starting continue.
fn release(bot: &Bot) {
    bot.home.write("left/slow/go", "");
}

/// Checks that the answer ends the program, and that the line about servers was erased.
fn ends(screen: &Screen, answer: &str) {
    screen.shows(answer).ends(0);
    let whole = screen.whole();
    assert!(!whole.contains("Starting") && !whole.contains("Waiting"), "{whole}");
}

#[test]
fn a_slow_server_is_named_before_the_question_is_sent_and_before_its_first_call() {
    let call = openai_calls("", &[("slow__echo", "{}")]);
    let bot = Bot::openai(SETTINGS, [openai_sse(["First."]), call, openai_sse(["Second."])]);
    configure(
        &bot.home,
        &[("slow", hostile(&bot.home, "slow", "held")), ("fast", hostile(&bot.home, "fast", ""))],
    );
    let Some(screen) = Screen::lepo(&bot.home, 60, &["do", "one"]) else { return };
    screen.shows(NAMED);
    until("the other server", || left(&bot.home, "fast", "starts").len() == 1);
    assert_eq!(bot.times_asked(), 0);
    release(&bot);
    ends(&screen, "First.");
    // Its list is kept, so it starts for the call.
    std::fs::remove_file(bot.home.path().join("left/slow/go")).unwrap();
    let screen = Screen::lepo(&bot.home, 60, &["do", "two"]).unwrap();
    screen.shows(NAMED);
    assert_eq!(bot.times_asked(), 2);
    release(&bot);
    ends(&screen, "Second.");
}

#[test]
fn a_slow_server_is_named_where_tools_are_listed() {
    let bot = Bot::openai(SETTINGS, []);
    configure(&bot.home, &[("slow", hostile(&bot.home, "slow", "held"))]);
    let Some(screen) = Screen::lepo(&bot.home, 60, &["do", "--list-tools"]) else { return };
    screen.shows(NAMED);
    release(&bot);
    ends(&screen, "Says what it is told.");
}

#[test]
fn off_a_terminal_no_server_is_named() {
    let bot = Bot::openai(SETTINGS, [openai_sse(["First."])]);
    configure(&bot.home, &[("slow", hostile(&bot.home, "slow", "held"))]);
    let mut command = bot.home.detached(&["do", "one"]);
    command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let child = command.stdin(std::process::Stdio::null()).spawn().unwrap();
    until("its start", || left(&bot.home, "slow", "starts").len() == 1);
    let began = std::time::Instant::now();
    until("a named start", || began.elapsed().as_secs() >= 2);
    release(&bot);
    let ran = crate::home::finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (0, "First.\n"), "{}", ran.err);
    assert!(!ran.err.contains("Starting"), "{}", ran.err);
}
