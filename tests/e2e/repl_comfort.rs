//! A session on an ordinary day: what stops, leaves, comes back and is completed.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Reply, end, said, thought};

const OFF: &str = "planner = \"off\"\n[term]\nusage = false";

/// The questions that were stored.
fn questions(bot: &Bot) -> Vec<String> {
    bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag == "u0").map(|bubb| bubb.text).collect()
}

#[test]
fn leaving_says_what_it_drops_and_how_to_continue() {
    let other = "[[models]]\nname = \"other\"\nprovider = \"ollama\"\nmodel = \"m\"\n";
    let bot = Bot::saying(OFF, &["ok"]);
    let config = bot.home.read("config/config.toml");
    bot.home.write("config/config.toml", format!("{config}\n{other}"));
    bot.home.write("work/a.txt", "a");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("q").shows("ok").prompts("> ").enters("/model other").prompts("> ");
    screen.enters("/file a.txt").shows("goes with the next question").prompts("> ").enters("exit").ends(0);
    let whole = screen.whole();
    let end = "for this session only: model other, 1 file for the next question\n`lepo` continues here; `lepo -n` starts over";
    assert!(whole.ends_with(end), "{whole}");
}

#[test]
fn undo_gives_the_question_back_to_edit() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("첫 질문").shows("one").prompts("> ").enters("second").shows("two");
    screen.prompts("> ").enters("/undo").prompts("> second").types("?").keys(&["Enter"]).shows("three");
    screen.prompts("> ").enters("/undo").prompts("> second?").keys(&["C-c"]).prompts("> ");
    screen.enters("/undo").prompts("> 첫 질문").keys(&["C-c"]).prompts("> ").enters("exit").ends(0);
    assert_eq!(questions(&bot), ["첫 질문", "second", "second?"]);
    drop(screen);
    // Of an earlier session, it comes from the store.
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("/undo").prompts("> second?");
}

#[test]
fn a_title_is_given_and_shown() {
    let bot = Bot::saying(OFF, &["ok"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("/title 봄").shows("nothing to name yet").prompts("> ");
    screen.enters("q").shows("ok").prompts("> ").enters("/title").shows("no title; to set one").prompts("> ");
    screen.enters("/title 봄의 날짜").shows("title: 봄의 날짜").prompts("> ");
    assert_eq!(bot.home.ok(&["title"]), "봄의 날짜\n");
    screen.enters("/ls").shows(" 1 question now 봄의 날짜 · q").prompts("> ");
    screen.enters("/tail 1").shows("(1 question): 봄의 날짜").prompts("> ");
}

#[test]
fn a_mistyped_command_is_answered_with_the_one_that_was_meant_and_nothing_runs() {
    let bot = Bot::saying(OFF, &["ok"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("/hlep").shows("no command /hlep; hint: did you mean /help?").prompts("> ");
    screen.enters("/nwe").shows("did you mean /new?").prompts("> ");
    screen.enters("/wholly-other").shows("/help lists them").prompts("> ");
    assert_eq!(bot.bodies().len(), 0);
}

#[test]
fn files_are_completed_behind_an_exclamation_mark() {
    let bot = Bot::saying(OFF, &["ok"]);
    bot.home.write("work/notes.txt", "n");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").types("!cat no").keys(&["Tab"]).prompts("> !cat notes.txt").keys(&["C-u"]);
    screen.prompts("> ").types("!no").keys(&["Tab"]).prompts("> !notes.txt");
}

#[test]
fn ctrl_x_ctrl_e_edits_the_line_and_enter_sends_it() {
    let bot = Bot::saying(OFF, &["ok"]);
    let editor = bot.home.write_program("editor", "#!/bin/sh\nprintf ' 둘\\n' >> \"$1\"\n");
    let mut command = bot.home.command(&[]);
    command.env("EDITOR", editor).env_remove("VISUAL");
    let Some(screen) = Screen::of(&command, &bot.home, 80) else { return };
    screen.prompts("> ").types("하나").keys(&["C-x", "C-e"]).prompts("> 하나 둘");
    assert_eq!(questions(&bot), [""; 0], "it is not sent by itself");
    screen.keys(&["Enter"]).shows("ok").prompts("> ");
    // Without Ctrl+X it goes to the end of the line, as ever.
    screen.types("bc").keys(&["C-a"]).types("a").keys(&["C-e"]).types("d").prompts("> abcd");
    assert_eq!(questions(&bot), ["하나 둘"]);
}

#[test]
fn enter_in_a_search_sends_what_was_found() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("alpha 하나").shows("one").prompts("> ").enters("beta").shows("two");
    screen.prompts("> ").keys(&["C-r"]).types("alp").shows("alpha 하나").keys(&["Enter"]).shows("three");
    screen.prompts("> ");
    assert_eq!(questions(&bot), ["alpha 하나", "beta", "alpha 하나"]);
    // A search that finds nothing sends nothing, and does not leave.
    screen.keys(&["C-r"]).types("nowhere").shows("not found").keys(&["Enter"]).prompts("> ");
    screen.enters("exit").ends(0);
    assert_eq!(questions(&bot).len(), 3);
}

#[test]
fn a_tool_mode_is_of_this_session_unless_it_is_saved() {
    let bot = Bot::saying(OFF, &["ok"]);
    let before = bot.home.read("config/config.toml");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen
        .prompts("> ")
        .enters("/set-tool-mode auto")
        .shows("tool mode is auto in this session")
        .prompts("> ");
    assert_eq!(bot.home.read("config/config.toml"), before);
    screen
        .enters("/set-tool-mode auto --save")
        .shows("tool mode is auto from now on, everywhere")
        .prompts("> ");
    assert!(bot.home.read("config/config.toml").contains("tool_call_mode = \"auto\""));
}

#[test]
fn thinking_is_wrapped_or_timed_or_hidden() {
    let long = "생각하는 말 ".repeat(20);
    for (setting, shows, hides) in [
        ("show", "thinking…\r\n", "<<<"),
        ("brief", "thought for ", "생각"),
        ("hide", "Waiting for response...", "thinking"),
    ] {
        let reply = Reply::pieces([thought(&long), said("so"), end()]);
        let bot = Bot::openai(&format!("planner = \"off\"\n[term]\nthinking = \"{setting}\""), [reply]);
        let ran = on_terminal(bot.home.command(&["do", "q"]), &[]);
        let plain = ran.out.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
        assert!(plain.contains(shows) && !plain.contains(hides), "{setting}: {plain:?}");
        assert!(plain.contains("so\r\n"), "{plain}");
        assert_eq!(plain.matches("생각하는 말").count() > 15, setting == "show", "{plain}");
    }
    let bot = Bot::openai(OFF, [Reply::pieces([thought("hm"), said("so"), end()])]);
    let ran = on_terminal(bot.home.command(&["do", "--plain", "q"]), &[]);
    assert!(ran.out.contains("<<< Thinking >>>\r\n"), "{}", ran.out);
}

#[test]
fn a_file_is_named_as_a_keyboard_types_it() {
    // Composed as typed, decomposed as some disks keep it.
    let (typed, kept) = ("\u{d68c}\u{c758}", "\u{1112}\u{116c}\u{110b}\u{1174}");
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    bot.home.write(&format!("work/{kept}.txt"), "minutes");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").types("@\u{d68c}").keys(&["Tab"]).prompts(&format!("> @{typed}.txt"));
    screen.keys(&["Enter"]).shows(".txt (7 bytes) goes with the question").shows("A1").prompts("> ");
    screen.enters("/exit").ends(0);
    let file = format!("{typed}.txt");
    bot.home.ok(&["do", "-n", "--file", &file, "q"]);
    let texts: Vec<String> = bubbs(&bot.home).into_iter().map(|bubb| bubb.text).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("minutes")).count(), 2, "{texts:?}");
}
