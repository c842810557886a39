//! A question while another process answers in the same conversation, an answer whose process was killed, and what a
//! turn shows while it waits.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::{bubbs, forest, spools};
use crate::home::{finish, until};
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, openai_event, openai_sse, said};

const OFF: &str = "planner = \"off\"";

fn spawned(bot: &Bot, args: &[&str]) -> Child {
    let mut command = bot.home.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_question_while_another_is_answered_follows_the_message_before_it() {
    // Before anything came, and in the middle of the answer.
    for waiting in [openai_sse(["Two."]).held(), Reply::pieces([said("Two"), Piece::Wait, said(".")])] {
        for alone in [false, true] {
            let mut replies = vec![openai_sse(["One."]), waiting.clone(), openai_sse(["Three."])];
            if alone {
                replies.remove(0);
            }
            let asked = replies.len() - 1;
            let bot = Bot::openai(OFF, replies);
            if !alone {
                assert_eq!(bot.lepo(&["do", "one"]).code, 0);
            }
            let second = spawned(&bot, &["do", "two"]);
            bot.server().await_asked(asked);
            let third = bot.lepo(&["do", "three"]);
            assert_eq!(third.code, 0, "{}", third.err);
            assert_eq!(third.err.matches("still answering").count(), 1, "{}", third.err);
            bot.server().release();
            finish(second);
            let shape = forest(&bot.home);
            let expected = match alone {
                // The system prompt alone comes before both.
                true => "A s1 head / B u0 A / C u0 A",
                false => "A s1 head / B u0 A / C a0 B / D u0 C / E u0 C",
            };
            assert!(shape.starts_with(expected), "{shape}");
            assert_eq!(bot.home.ok(&["fsck"]), "");
            // Both are answered: the next question goes on as ever.
            assert!(spools(&bot.home).is_empty());
        }
    }
}

#[test]
fn the_next_do_saves_what_a_killed_one_had_received() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("half an "), Piece::Wait]), openai_sse(["Whole."])]);
    let mut first = spawned(&bot, &["do", "one"]);
    until("the part", || spools(&bot.home).iter().any(|(_, text)| text == "half an "));
    kill_process(Pid::from_child(&first), Signal::KILL).unwrap();
    first.wait().unwrap();
    let ran = bot.lepo(&["do", "two"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("cut short by a kill"), "{}", ran.err);
    let part = bubbs(&bot.home).into_iter().find(|bubb| bubb.text == "half an ").unwrap();
    assert_eq!(part.tag, "a1");
    assert!(ran.err.contains(&part.id), "{}", ran.err);
    assert!(spools(&bot.home).is_empty());
    assert_eq!(bot.home.ok(&["fsck"]), "");
    assert!(!bot.lepo(&["do", "--dry-run", "three"]).err.contains("kill"));
}

#[test]
fn an_answer_that_was_cut_says_so_in_its_document() {
    let event = |text: &str, reason: &str| openai_event(json!({ "content": text }), Some(reason));
    for (reason, cut) in [("length", json!("max_tokens")), ("stop", Value::Null)] {
        let reply = Reply::pieces([Piece::Bytes(event("Once", reason).into_bytes())]);
        let bot = Bot::openai(OFF, [reply]);
        let ran = bot.lepo(&["do", "--json", "q"]);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document["answer"]["cut"], cut, "{document}");
    }
}

#[test]
fn a_long_wait_is_counted() {
    let bot = Bot::openai(OFF, [openai_sse(["Late."]).held()]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "q"]) else { return };
    screen.shows("Waiting for response... 5 s").shows("Waiting for response... 6 s");
    bot.server().release();
    screen.shows("Late.").ends(0);
    assert!(!screen.whole().contains("Waiting"), "{}", screen.whole());
}
