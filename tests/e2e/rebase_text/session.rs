//! `/rebase`: a session's conversation as one text, and the session at its new end.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::Home;
use crate::repl_keys::OFF;
use crate::screen::Screen;

/// A session whose editor is this shell script.
fn session(home: &Home, script: &str) -> Option<Screen> {
    let editor = home.write_program("editor", format!("#!/bin/sh\n{script}\n"));
    let mut command = home.command(&[]);
    command.env("LEPO_EDITOR", editor).env("EDITOR", "false").env("VISUAL", "false");
    Screen::of(&command, home, 100)
}

#[test]
fn a_session_edits_its_conversation_and_continues_at_the_new_end() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3"]);
    let script = "sed -i 's/first/1st/' \"$1\"";
    let Some(screen) = session(&bot.home, script) else { return };
    screen.prompts("> ").enters("/rebase").shows("no conversation to edit yet").prompts("> ");
    screen.enters("first").shows("\nA1").prompts("> ").enters("second").shows("\nA2").prompts("> ");
    let before = bubbs(&bot.home).len();
    screen.enters("/rebase").shows("continuing the edited conversation").shows("2 questions").prompts("> ");
    screen.enters("third").shows("\nA3").prompts("> ");
    let bodies = bot.bodies();
    let messages = bodies.last().unwrap()["messages"].as_array().unwrap();
    let texts: Vec<&str> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts[texts.len() - 5..], ["1st", "A1", "second", "A2", "third"]);
    // The old line is as it was, and /undo leads back to it.
    assert_eq!(bubbs(&bot.home).len(), before + 4 + 2);
    screen.enters("/undo").prompts("> third").keys(&["C-u"]).enters("/undo").shows("back to").prompts("> ");
    screen.enters("/show").shows("first").prompts("> ").enters("/exit").ends(0);
}

#[test]
fn an_edit_of_nothing_changes_nothing() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    let Some(screen) = session(&bot.home, "touch \"$1\"") else { return };
    screen.prompts("> ").enters("first").shows("\nA1").prompts("> ");
    let before = bubbs(&bot.home).len();
    screen.enters("/rebase").shows("nothing changed").prompts("> ");
    assert_eq!(bubbs(&bot.home).len(), before);
    drop(screen);
    let screen = session(&bot.home, "sed -i s/user/robot/ \"$1\"").unwrap();
    screen.prompts("> ").enters("/rebase @").shows("unknown speaker robot").shows("lepo rebase --from");
    screen.prompts("> ").enters("/exit").ends(0);
    assert_eq!(bubbs(&bot.home).len(), before);
}

#[test]
fn while_a_request_waits_the_conversation_is_not_edited() {
    let bot = Bot::saying(OFF, &[]);
    let question = bot.home.add(&["--prev", "head"], "list the files");
    let request = bot.home.add(&["--kind", "s", "--hidden", "--prev", &question], super::REQUEST);
    let Some(screen) = session(&bot.home, "sed -i s/list/show/ \"$1\"") else { return };
    screen.prompts("> ").enters(&format!("/tail {request}")).shows("needs approval").prompts("> ");
    screen.enters("/rebase").shows("a request waits for your consent").prompts("> ");
    screen.enters("/exit").ends(0);
    assert_eq!(bubbs(&bot.home).len(), 2);
}

#[test]
fn files_that_wait_stay() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    bot.home.write("work/notes.txt", "a note");
    let Some(screen) = session(&bot.home, "sed -i s/first/1st/ \"$1\"") else { return };
    screen.prompts("> ").enters("first").shows("\nA1").prompts("> ");
    screen.enters("/file notes.txt").shows("goes with the next question").prompts("> ");
    screen.enters("/rebase").shows("continuing the edited conversation").prompts("> ");
    screen.enters("second").shows("\nA2").prompts("> ").enters("/exit").ends(0);
    let last = bot.bodies().last().unwrap()["messages"].to_string();
    assert!(last.contains("a note") && last.contains("1st"), "{last}");
}
