//! Turns in a row: thinking, tools, failures and Ctrl+C, and the prompt again after each.

use serde_json::json;

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_event, openai_sse, said, thought};

const OFF: &str = "planner = \"off\"\n[term]\nusage = false";

fn opened(bot: &Bot) -> Option<Screen> {
    let screen = Screen::lepo(&bot.home, 80, &[])?;
    screen.prompts("> ");
    Some(screen)
}

#[test]
fn waiting_thinking_and_the_answer() {
    let reply =
        Reply::pieces([Piece::Wait, thought("음… "), Piece::Wait, thought("hm"), said("서울."), end()]);
    let bot = Bot::openai(OFF, [reply, openai_sse(["두 번째"])]);
    let Some(screen) = opened(&bot) else { return };
    screen.enters("한국의 수도는?").shows("\nWaiting for response...");
    bot.server().release();
    screen.shows("thinking…\n음…");
    assert!(!screen.text().contains("Waiting"), "{}", screen.text());
    bot.server().release();
    screen.shows("thinking…\n음… hm\n서울.\n>");
    screen.enters("and?").shows("두 번째").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
    let actual = messages(&bot.bodies()[1]);
    assert_eq!(actual[2], ("assistant".into(), "서울.".into()));
}

#[test]
fn thinking_and_content_may_take_turns() {
    let reply = Reply::pieces([thought("a"), said("one "), thought("b"), said("two"), end()]);
    let bot = Bot::openai(OFF, [reply]);
    let Some(screen) = opened(&bot) else { return };
    let mark = |text: &str| format!("thinking…\n{text}\n");
    screen.enters("q").shows(&format!("{}one\n{}two\n>", mark("a"), mark("b")));
    assert_eq!(bubbs(&bot.home)[2].text, "one two");
}

#[test]
fn a_call_that_ends_a_message_still_gets_its_answer() {
    let call = json!({"tool_calls": [{"index": 0, "id": "x", "type": "function",
        "function": {"name": "run_command", "arguments": "{\"command\":\"echo 42\",\"access\":\"full\"}"}}]});
    let calls = openai_event(call, None) + &openai_event(json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
    let bot = Bot::openai("planner = \"native\"", [Reply::new(200, calls), openai_sse(["It is 42."])]);
    let Some(screen) = opened(&bot) else { return };
    screen
        .enters("say it")
        .shows("Run it? [y]es ")
        .enters("y")
        .shows("$ echo 42")
        .shows("It is 42.")
        .prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
}

#[test]
fn an_invalid_message_is_one_line_and_the_prompt_again() {
    let bot = Bot::openai(OFF, [Reply::new(200, "data: {nonsense\n\n"), openai_sse(["fine"])]);
    let Some(screen) = Screen::lepo(&bot.home, 200, &["-q"]) else { return };
    screen.prompts("> ");
    screen.enters("q").shows("error: ").prompts("> ");
    let shown = screen.text();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (3, "> q", ">"), "{shown}");
    screen.enters("/retry").shows("\nfine").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
}

#[test]
fn ctrl_c_gives_the_prompt_back_and_what_came_is_kept() {
    let bot = Bot::openai(
        OFF,
        [
            Reply::pieces([said("반쪽 **굵"), Piece::Wait]),
            Reply::pieces([Piece::Wait]),
            openai_sse(["whole"]),
        ],
    );
    let Some(screen) = opened(&bot) else { return };
    screen
        .enters("q")
        .shows("\n반쪽")
        .keys(&["C-c"])
        .shows("the next question continues from here")
        .prompts("> ");
    assert!(screen.text().contains("**굵"), "what was waited for is shown: {}", screen.text());
    assert_eq!(bubbs(&bot.home)[2].text, "반쪽 **굵");
    // While nothing has come there is nothing to keep.
    screen.enters("/retry").shows("Waiting for response...");
    bot.server().await_asked(2);
    screen.keys(&["C-c"]).prompts("> ");
    screen.enters("/retry").shows("\nwhole").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a0 B");
    screen.enters("exit").ends(0);
}

#[test]
fn leaving_loses_nothing() {
    let bot = Bot::saying(OFF, &["**one**", "two"]);
    let Some(screen) = opened(&bot) else { return };
    screen.enters("1.").shows("\none").prompts("> ").keys(&["C-d"]).ends(0);
    drop(screen);
    let screen = Screen::lepo(&bot.home, 80, &["--show-past"]).unwrap();
    screen.shows("# user").shows("\n1.\n").shows("# assistant").shows("\none\n").prompts("> ");
    screen.enters("2.").shows("\ntwo").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
}

#[test]
fn it_goes_on_with_its_own_conv() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    let Some(screen) = opened(&bot) else { return };
    screen.enters("1.").shows("\none").prompts("> ");
    bot.home.add(&["--prev", "head"], "of another process");
    screen.enters("2.").shows("\ntwo").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 head / E u0 C / F a0 E");
}

#[test]
fn what_is_typed_ahead_stands_at_the_next_prompt_and_not_in_the_answer() {
    let bot = Bot::openai(
        OFF,
        [Reply::pieces([said("처음 "), Piece::Wait, said("끝."), end()]), openai_sse(["ok"])],
    );
    let Some(screen) = opened(&bot) else { return };
    screen.enters("q").shows("\n처음").types("다음 질문");
    bot.server().release();
    screen.shows("\n처음 끝.").prompts("> 다음 질문").keys(&["Enter"]).shows("\nok").prompts("> ");
    assert_eq!(bubbs(&bot.home)[3].text, "다음 질문");
}

#[test]
fn a_command_that_is_typed_ahead_has_a_prompt_of_its_own() {
    let bot = Bot::openai(
        OFF,
        [Reply::pieces([said("one "), Piece::Wait, said("end."), end()]), openai_sse(["ok"])],
    );
    let Some(screen) = opened(&bot) else { return };
    screen.enters("q").shows("\none").enters("/branch here").enters("why?").types("/etc/passwd?");
    bot.server().release();
    screen.shows("\none end.").prompts("> /branch here").keys(&["Enter"]);
    screen.prompts("  /etc/passwd?").keys(&["Enter"]).shows("\nok").prompts("> ");
    assert_eq!(bubbs(&bot.home)[3].text, "why?\n/etc/passwd?");
    assert!(bot.home.ok(&["branch"]).contains("here"));
}

#[test]
fn it_says_once_that_its_conversation_was_continued_elsewhere() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    let Some(screen) = opened(&bot) else { return };
    screen.enters("1.").shows("\none").prompts("> ");
    let at = bot.home.ok(&["resolve", "@"]);
    // While it waits at the prompt: with the question that makes the fork.
    let id = bot.home.add(&["--prev", at.trim()], "of another terminal");
    let line = format!("note: continued elsewhere: /tail {id}; asking here forks");
    screen.enters("2.").shows(&line).shows("\ntwo").prompts("> ");
    // Before the next prompt, and not again.
    let at = bot.home.ok(&["resolve", "@"]);
    let id = bot.home.add(&["--prev", at.trim()], "once more");
    let line = format!("note: continued elsewhere: /tail {id}; asking here forks");
    screen.enters("/tokens").shows(&line).prompts("> ").enters("3.").shows("\nthree").prompts("> ");
    assert_eq!(screen.whole().matches("continued elsewhere").count(), 2, "{}", screen.whole());
    // A place that the user chose, with what follows it, is no news.
    screen.enters("/tail @~2").prompts("> ").enters("/tokens").prompts("> ");
    assert_eq!(screen.whole().matches("continued elsewhere").count(), 2, "{}", screen.whole());
}

#[test]
fn what_is_stopped_before_anything_came_keeps_its_place() {
    let silent = || Reply::pieces([Piece::Wait]);
    let bot = Bot::openai(OFF, [silent(), openai_sse(["one"]), silent(), openai_sse(["two"])]);
    let Some(screen) = opened(&bot) else { return };
    for (question, asked, answer) in [("1.", 1, "\none"), ("2.", 3, "\ntwo")] {
        screen.enters(question).shows("Waiting for response...");
        bot.server().await_asked(asked);
        screen.keys(&["C-c"]).shows("stopped; /retry answers again").prompts("> ");
        screen.enters("/retry").shows(answer).prompts("> ");
        screen.keys(&["C-l"]).prompts("> ");
    }
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
}
