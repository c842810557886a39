//! A stopped answer is part of the talk: each view for reading shows it, marked.

use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::common::vectors::vectors;
use crate::mcp::serving::Session;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, openai_event, openai_sse};

/// Words of the part that nothing else has.
const PART: &str = "반쪽 답";

/// A conversation: a question, a part, a question, an answer; and the id of the first question.
fn talk() -> (Bot, String) {
    let part = openai_event(json!({"content": PART}), None).into_bytes();
    let cut = Reply::pieces([Piece::Bytes(part), Piece::Close]);
    let bot = Bot::openai("planner = 'off'", [cut, openai_sse(["The rest."])]);
    assert_eq!(bot.home.alone(&["do", "what is it?"]).code, 3);
    assert_eq!(bot.home.alone(&["do", "go on"]).code, 0);
    let question = crate::disk::bubbs(&bot.home)[1].id.clone();
    (bot, question)
}

/// The text has the part, and the mark before it or behind it.
fn assert_marked(view: &str, text: &str) {
    let count = text.matches(PART).count();
    assert!(count > 0 && text.contains("(stopped)"), "{view}: {count} times, {text}");
    assert!(!text.contains(" hidden\n") && !text.contains(", hidden\n"), "{view}: {text}");
}

#[test]
fn each_view_shows_a_stopped_answer_and_marks_it() {
    let (bot, question) = talk();
    let home = &bot.home;
    let other = home.add(&["--prev", &question, "--kind", "a"], "Another answer.");
    let last = crate::disk::bubbs(home)[4].id.clone();
    let last = last.as_str();
    for args in [
        &["show", last][..],
        &["show", last, "--plain"],
        &["log", last],
        &["log", "--graph", last],
        &["log", "--all"],
        &["diff", &other, last],
        &["diff", "--word", &other, last],
        &["diff", "--turns", &other, last],
        &["rebase", "--print", last],
        &["export", last],
        &["export", "--format", "markdown", last],
        &["export", "--format", "session", last],
        &["export", "--format", "html", last],
        &["export", "--format", "messages", last],
        &["export", "--format", "chatgpt", last],
        &["export", "--format", "openwebui", last],
        &["export", "--format", "pi", last],
        &["export", "--format", "claude-code", last],
        &["export", "--format", "codex", last],
        &["export", "--format", "handoff", last],
    ] {
        assert_marked(&args.join(" "), &home.lepo(args).out);
    }
    for args in
        [&["show", "--json", last][..], &["log", "--json", last], &["export", "--format", "json", last]]
    {
        let text = home.ok(args);
        let stopped = text.lines().filter(|line| line.contains("\"stopped\":true"));
        assert_eq!(stopped.filter(|line| line.contains(PART)).count(), 1, "{args:?}: {text}");
    }
    let mut session = Session::open(home, &[]);
    let reply = session.call("show", json!({ "address": last }));
    assert_marked("mcp serve", reply["content"][0]["text"].as_str().unwrap());
    for size in [(100, 30), (40, 30)] {
        let Some(screen) = Screen::sized(&home.command(&["browse"]), home, size) else { continue };
        screen.shows("go on").keys(&["j", "l", "k", "k", "k", "k"]).shows("(stopped)").shows(PART);
    }
}

#[test]
fn a_session_of_an_editor_is_loaded_with_its_stopped_answer() {
    let part = openai_event(json!({"content": PART}), None).into_bytes();
    let cut = Reply::pieces([Piece::Bytes(part), Piece::Close]);
    let bot = Bot::openai("planner = 'off'", [cut, openai_sse(["The rest."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "what is it?");
    let _ = client.end(id);
    assert_eq!(client.asks(&session, "go on"), "end_turn");
    let sent = bot.bodies()[1]["messages"].as_array().unwrap().clone();
    assert_eq!(sent[sent.len() - 2]["content"], PART, "the next question follows it: {sent:?}");
    client.leave();
    let mut client = Client::start(&bot.home, &[]);
    client.call("session/load", json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] }));
    assert_marked("session/load", &client.said(&session, "agent_message_chunk"));
}

#[test]
fn the_stopped_answers_of_each_vector_are_those_that_it_says() {
    let mut count = 0;
    for vector in vectors().iter().filter(|vector| vector.expected["stopped"].is_array()) {
        for (tail, _) in vector.by_id("conversations") {
            let document: Value =
                serde_json::from_str(&vector.home.ok(&["export", "-a", "--format", "json", tail])).unwrap();
            let messages = document["bubbs"].as_array().unwrap().iter();
            let stopped: Vec<&Value> =
                messages.filter(|message| message["stopped"] == true).map(|message| &message["id"]).collect();
            let expected: Vec<&Value> = vector.expected["stopped"].as_array().unwrap().iter().collect();
            assert_eq!(stopped, expected, "{}", vector.name);
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn to_continue_without_a_question_asks_for_the_rest_and_keeps_how() {
    let part = openai_event(json!({"content": PART}), None).into_bytes();
    let cut = || Reply::pieces([Piece::Bytes(part.clone()), Piece::Close]);
    let refused = Reply::new(400, r#"{"error":{"message":"no"}}"#);
    let bot =
        Bot::openai("planner = 'off'", [cut(), refused, openai_sse(["The rest."]), openai_sse(["Yes."])]);
    assert_eq!(bot.home.alone(&["do", "what is it?"]).code, 3);
    // Asked for in vain it is still the end.
    assert_eq!(bot.home.alone(&["do", "--continue"]).code, 3);
    let ran = bot.home.alone(&["do", "--continue"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "The rest.\n"), "{}", ran.err);
    let sent = bot.bodies()[2]["messages"].as_array().unwrap().clone();
    assert_eq!((&sent[2]["content"], &sent[3]["role"]), (&json!(PART), &json!("user")));
    let asked = sent[3]["content"].as_str().unwrap();
    assert!(asked.starts_with("Go on exactly where your answer stopped") && sent.len() == 4, "{sent:?}");
    let shown = bot.home.ok(&["show"]);
    assert!(
        shown.contains("(stopped)") && shown.ends_with("The rest.\n\n") && !shown.contains(asked),
        "{shown}"
    );
    // The next request has all of it; elsewhere there is nothing to go on with.
    assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
    assert_eq!(bot.bodies()[3]["messages"].as_array().unwrap()[..4], sent[..]);
    let ran = bot.home.alone(&["do", "--continue"]);
    assert_eq!(ran.code, 2);
    let whole = "error: the last answer was not stopped: it has no rest to ask for\nhint: ask on: lepo do -- QUESTION\n";
    assert_eq!(ran.err, whole);
    assert_eq!(bot.times_asked(), 4);
}

#[test]
fn to_continue_where_nothing_was_stopped_says_what_to_do() {
    let bot = Bot::openai("planner = 'off'", [openai_sse(["Yes."]), Reply::new(400, "{}")]);
    assert!(bot.home.alone(&["do", "--continue"]).err.starts_with("error: the question is blank"));
    assert_eq!(bot.home.alone(&["do", "is it?"]).code, 0);
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "--continue"]) else { return };
    screen.shows("the last answer was not stopped: it has no rest to ask for").prompts("> ");
    assert_eq!(bot.home.alone(&["do", "and?"]).code, 3);
    let ran = bot.home.alone(&["do", "--continue"]);
    let unanswered = "error: the last question has no answer, so there is no rest of one\n\
                      hint: ask again: `lepo do --retry`\n";
    assert_eq!((ran.code, ran.err.as_str()), (2, unanswered));
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn after_a_retry_that_got_nothing_the_next_question_of_a_session_follows_what_was_answered_before() {
    let part = |text: &str| openai_event(json!({"content": text}), None).into_bytes();
    let thought = openai_event(json!({"reasoning_content": "hm"}), None).into_bytes();
    for first in [Piece::Wait, Piece::Close] {
        for retried in [Reply::new(400, "{}"), Reply::pieces([Piece::Bytes(thought.clone()), Piece::Close])] {
            let is_stopped = matches!(first, Piece::Wait);
            let reply = match is_stopped {
                true => Reply::pieces([Piece::Bytes(part(PART)), Piece::Wait]),
                false => openai_sse([PART]),
            };
            let bot = Bot::openai("planner = 'off'", [reply, retried.clone(), retried, openai_sse(["Yes."])]);
            let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
            screen.prompts("> ").enters("q").shows("\n반쪽");
            if is_stopped {
                screen.keys(&["C-c"]).shows("continues from here");
            }
            screen.prompts("> ").enters("/retry").becomes("a refusal", || bot.times_asked() == 2);
            screen.prompts("> ").enters("/retry").becomes("another", || bot.times_asked() == 3);
            screen.prompts("> ").enters("go on").shows("\nYes.").prompts("> ").enters("exit").ends(0);
            let sent = crate::bots::messages(&bot.bodies()[3]).split_off(1);
            let expected = [("user", "q"), ("assistant", PART), ("user", "go on")];
            assert_eq!(sent, expected.map(|(role, text)| (role.to_string(), text.to_string())));
        }
    }
}

#[test]
fn after_a_retry_that_got_nothing_the_next_question_follows_what_was_answered_before() {
    let part = |text: &str| openai_event(json!({"content": text}), None).into_bytes();
    let thought = openai_event(json!({"reasoning_content": "hm"}), None).into_bytes();
    let cut = Reply::pieces([Piece::Bytes(part(PART)), Piece::Close]);
    for (first, code) in [(cut, 3), (openai_sse([PART]), 0)] {
        for retried in [Reply::new(400, "{}"), Reply::pieces([Piece::Bytes(thought.clone()), Piece::Close])] {
            let replies = [first.clone(), retried.clone(), retried, openai_sse(["Yes."])];
            let bot = Bot::openai("planner = 'off'", replies);
            assert_eq!(bot.home.alone(&["do", "q"]).code, code);
            for _ in 0..2 {
                let ran = bot.home.alone(&["do", "--retry"]);
                assert!(ran.code != 0, "{}", ran.err);
            }
            assert_eq!(bot.home.alone(&["do", "go on"]).code, 0);
            let sent = crate::bots::messages(&bot.bodies()[3]).split_off(1);
            let expected = [("user", "q"), ("assistant", PART), ("user", "go on")];
            assert_eq!(sent, expected.map(|(role, text)| (role.to_string(), text.to_string())), "{code}");
        }
    }
}
