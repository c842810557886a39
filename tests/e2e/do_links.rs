//! The links between messages after a turn: the table of the manual, read from disk without lepo.

use crate::bots::Bot;
use crate::disk::{bubbs, forest, spools};
use crate::home::Ran;
use crate::pty::on_terminal;

const OFF: &str = "planner = \"off\"";
const NONE: &str = r#"{"tool":"none"}"#;
const COMMAND: &str = r#"{"tool":"command"}"#;
const REQUEST: &str = r#"{"command":"echo hello-$((40+2))","why":"to see"}"#;
const CANONICAL: &str = r#"{"access":"read","command":"echo hello-$((40+2))","why":"to see"}"#;

/// On a terminal that says `replies` to each question of consent in turn.
fn asked(bot: &Bot, args: &[&str], replies: &[&str]) -> Ran {
    let steps: Vec<(&str, &str)> = replies.iter().map(|reply| ("Run it? [y]es ", *reply)).collect();
    on_terminal(bot.home.command(args), &steps)
}

fn texts(bot: &Bot) -> Vec<String> {
    bubbs(&bot.home).into_iter().skip(1).map(|bubb| bubb.text).collect()
}

#[test]
fn a_plain_turn_with_the_planner_off() {
    Bot::each(OFF, &["Paris.", "42."], |bot| {
        assert_eq!(bot.lepo(&["do", "Capital?"]).out, "Paris.\n", "{}", bot.provider);
        assert_eq!(bot.lepo(&["do", "6", "times", "7?"]).out, "42.\n");
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
        assert_eq!(texts(bot), ["Capital?", "Paris.", "6 times 7?", "42."]);
        assert!(spools(&bot.home).is_empty());
    });
}

#[test]
fn the_chooser_says_none() {
    Bot::each("", &[NONE, "Paris."], |bot| {
        let ran = bot.lepo(&["do", "수도는?"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "Paris.\n", ""), "{}", bot.provider);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a0 C");
        assert_eq!(texts(bot), ["수도는?", NONE, "Paris."]);
    });
}

#[test]
fn what_the_chooser_said_is_not_sent_with_the_request_for_the_answer() {
    let bot = Bot::saying("planner = \"chooser\"", &[NONE, "Paris."]);
    let ran = bot.lepo(&["do", "capital?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Paris.\n"), "{}", ran.err);
    let has_reply: Vec<bool> = bot
        .bodies()
        .iter()
        .map(|body| body["messages"].as_array().unwrap().iter().any(|message| message["content"] == NONE))
        .collect();
    assert_eq!(has_reply, [false, false]);
}

#[test]
fn one_command() {
    Bot::each("", &[COMMAND, REQUEST, NONE, "It says 42."], |bot| {
        let ran = asked(bot, &["do", "run it"], &["y\n"]);
        assert_eq!(ran.code, 0, "{}: {}", bot.provider, ran.out);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F s1 E / G a0 F");
        let result = "$ echo hello-$((40+2))\nexit code: 0\nstdout:\nhello-42";
        assert_eq!(texts(bot), ["run it", COMMAND, CANONICAL, result, NONE, "It says 42."]);
        assert!(spools(&bot.home).is_empty());
    });
}

#[test]
fn a_refused_command() {
    Bot::each("", &[COMMAND, REQUEST, "Then not."], |bot| {
        // Anything but Y and N is asked again.
        let ran = asked(bot, &["do", "run it"], &["maybe\n", "\n", "N\n"]);
        assert_eq!(ran.code, 0, "{}: {}", bot.provider, ran.out);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F a0 E");
        assert_eq!(texts(bot), ["run it", COMMAND, CANONICAL, "refused: the user said no", "Then not."]);
    });
}

#[test]
fn a_pending_command() {
    Bot::each("", &[COMMAND, REQUEST, NONE, "Later."], |bot| {
        let ran = bot.home.alone(&["do", "run it"]);
        assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{}: {}", bot.provider, ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C");
        let request = bubbs(&bot.home).pop().unwrap();
        assert_eq!(request.text, CANONICAL);
        assert!(ran.err.contains(&request.id), "{}", ran.err);
        // The next question does not hang under a request that nobody answered.
        assert_eq!(bot.home.alone(&["do", "and now?"]).out, "Later.\n");
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E u0 C / F s1 E / G a0 F");
    });
}

#[test]
fn an_edited_request_is_a_child_of_the_original() {
    Bot::each("", &[COMMAND, REQUEST, NONE, "Done."], |bot| {
        bot.home.write("ed", "#!/bin/sh\necho 'echo edited' > \"$1\"\n");
        let mut command = bot.home.command(&["do", "run it"]);
        command.env("EDITOR", format!("sh {}", bot.home.path().join("ed").display()));
        let question = "Run it? [y]es ";
        let ran = on_terminal(command, &[(question, "e\n"), (question, "Y\n")]);
        assert_eq!(ran.code, 0, "{}: {}", bot.provider, ran.out);
        assert_eq!(
            forest(&bot.home),
            "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F s1 E / G s1 F / H a0 G"
        );
        let edited = r#"{"access":"read","command":"echo edited","why":"to see"}"#;
        let result = "$ echo edited\nexit code: 0\nstdout:\nedited";
        assert_eq!(texts(bot), ["run it", COMMAND, CANONICAL, edited, result, NONE, "Done."]);
    });
}

#[test]
fn a_retried_answer_is_a_sibling() {
    Bot::each("", &[NONE, "One.", NONE, "Two."], |bot| {
        assert_eq!(bot.lepo(&["do", "Capital?"]).out, "One.\n");
        assert_eq!(bot.lepo(&["do", "--retry"]).out, "Two.\n", "{}", bot.provider);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a0 C / E s1 B / F a0 E");
    });
}

#[test]
fn an_answer_cut_off_is_hidden_and_the_next_question_follows_it() {
    use crate::scripted::{Piece, Reply, openai_event, openai_sse};
    let half = openai_event(serde_json::json!({"content": "Par"}), None);
    let cut = Reply::pieces([Piece::Bytes(half.into_bytes()), Piece::Close]);
    let bot = Bot::openai("", [openai_sse([NONE]), cut, openai_sse([NONE]), openai_sse(["Paris."])]);
    let ran = bot.lepo(&["do", "Capital?"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, "Par\n"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a1 C");
    assert_eq!(texts(&bot), ["Capital?", NONE, "Par"]);
    assert_eq!(bot.lepo(&["do", "So?"]).out, "Paris.\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a1 C / E u0 D / F s1 E / G a0 F");
}
