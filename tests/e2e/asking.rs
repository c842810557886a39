//! Questions in a session: files that they name, and what is typed while an answer comes.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_sse, said};

const OFF: &str = "planner = \"off\"";

/// The questions that were stored.
fn questions(bot: &Bot) -> Vec<String> {
    bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag == "u0").map(|bubb| bubb.text).collect()
}

#[test]
fn a_path_behind_an_at_sends_the_file_with_the_question() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3", "A4"]);
    bot.home.write("work/notes.txt", "the notes");
    bot.home.write("work/a b.txt", "blank");
    bot.home.write("work/src/x.rs", "fn x() {}");
    bot.home.write("work/dot.gif", b"GIF89a\x01\0\x01\0\0\0\0\0\0\0");
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("what is in @notes.txt, and @\"a b.txt\"? mail me@notes.txt");
    screen.shows("notes.txt (9 bytes) goes with the question").shows("a b.txt (5 bytes) goes with");
    screen.shows("A1").prompts("> ");
    let asked = "what is in @notes.txt, and @\"a b.txt\"? mail me@notes.txt";
    let files = "notes.txt:\n```\nthe notes\n```\n\na b.txt:\n```\nblank\n```";
    assert_eq!(questions(&bot)[0], format!("{asked}\n\n{files}"));
    // They went with that one.
    screen
        .enters("\\@notes.txt @none.txt @nobody")
        .shows("note: no file none.txt: @none.txt is sent as text");
    screen.shows("A2").prompts("> ");
    assert_eq!(questions(&bot)[1], "@notes.txt @none.txt @nobody");
    screen.enters("@src and @dot.gif").shows("src/x.rs (9 bytes)").shows("dot.gif").shows("A3").prompts("> ");
    let third = &questions(&bot)[2];
    assert!(third.contains("src/x.rs:\n```\nfn x() {}\n```") && third.contains("dot.gif"), "{third}");
    // A name with blanks is completed with quotes.
    screen
        .types("see @a")
        .keys(&["Tab"])
        .prompts("> see @\"a b.txt\"")
        .keys(&["Enter"])
        .shows("A4")
        .prompts("> ");
    assert!(questions(&bot)[3].ends_with("a b.txt:\n```\nblank\n```"));
}

#[test]
fn several_pasted_lines_are_no_command() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen
        .prompts("> ")
        .pastes("![build]\ntouch ran")
        .shows("  touch ran")
        .keys(&["Enter"])
        .shows("one")
        .prompts("> ");
    let sent = || bubbs(&bot.home).into_iter().filter(|bubb| bubb.text == "![build]\ntouch ran").count();
    assert_eq!(sent(), 1);
    // Recalled, it was still pasted.
    screen.keys(&["Up"]).shows("touch ran").keys(&["Enter"]).shows("two").prompts("> ");
    assert_eq!((sent(), bot.home.work().join("ran").exists()), (2, false));
    // Behind a `!` that was typed they are one.
    screen.types("!").pastes("true\ntouch ran").shows("  touch ran").keys(&["Enter"]).prompts("> ");
    screen.becomes("the file", || bot.home.work().join("ran").exists());
}

#[test]
fn a_pasted_at_sends_nothing() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3"]);
    bot.home.write("work/notes.txt", "the notes");
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").pastes("see @notes.txt\nand @notes.txt").shows("  and @notes.txt").keys(&["Enter"]);
    screen.shows("A1").prompts("> ");
    // Recalled, it was still pasted.
    screen.keys(&["Up"]).shows("> see @notes.txt").keys(&["Enter"]).shows("A2").prompts("> ");
    assert_eq!(questions(&bot), ["see @notes.txt\nand @notes.txt"; 2]);
    // The path may be pasted behind an `@` that was typed.
    screen.types("see @").pastes("notes.txt").prompts("> see @notes.txt").keys(&["Enter"]);
    screen.shows("(9 bytes) goes with the question").shows("A3");
}

#[test]
fn what_is_typed_while_an_answer_comes_waits_in_the_editor() {
    let waits = || Reply::pieces([said("one "), Piece::Wait, said("two"), end()]);
    for columns in [80, 40] {
        let bot = Bot::openai(OFF, [waits(), openai_sse(["three"]), Reply::new(400, "no").held()]);
        let Some(screen) = Screen::lepo(&bot.home, columns, &[]) else { return };
        screen.prompts("> ").enters("q").shows("one");
        screen.types("첫 줄").keys(&["Enter"]).types("둘째 줄x").keys(&["BSpace"]);
        bot.server().release();
        screen.shows("one two").shows("> 첫 줄").prompts("  둘째 줄");
        assert_eq!(bot.times_asked(), 1);
        screen.keys(&["Enter"]).shows("three").prompts("> ");
        assert_eq!(questions(&bot)[1], "첫 줄\n둘째 줄");
        // Also where it fails, and only an Enter at the prompt sends.
        screen.enters("r").becomes("asked", || bot.times_asked() == 3);
        screen.pastes("a\nb @x");
        bot.server().release();
        screen.shows("error: ").shows("> a").prompts("  b @x");
        assert_eq!(bot.times_asked(), 3);
    }
}

#[test]
fn what_is_typed_before_ctrl_c_stops_an_answer_waits_too() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("one "), Piece::Wait, end()])]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("q").shows("one").types("later").keys(&["Enter", "C-c"]);
    screen.shows("stopped").shows("> later");
    assert_eq!(bot.times_asked(), 1);
    screen.keys(&["C-u", "BSpace", "C-u"]).prompts("> ");
}

#[test]
fn a_long_paste_during_an_answer_is_whole_and_ctrl_c_behind_it_counts() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("one "), Piece::Wait, end()]), openai_sse(["two"])]);
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("q").shows("one");
    let long: Vec<String> = (0..400).map(|i| format!("line {i} 한글 한글 한글 한글")).collect();
    screen.pastes(&long.join("\n")).keys(&["C-c"]).shows("line 399").keys(&["Enter"]).shows("two");
    assert_eq!(questions(&bot)[1], long.join("\n"));
}

#[test]
fn what_is_typed_before_the_first_prompt_waits_in_the_editor() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    // Without a break between them: all are there before lepo is.
    screen.shows("sh$").keys(&["clear; lepo -n", "Enter", "첫 줄", "Enter", "둘째 줄", "Enter"]);
    screen.shows("> 첫 줄\n  둘째 줄");
    assert_eq!(bot.times_asked(), 0);
    screen.keys(&["BSpace", "Enter"]).shows("A1").prompts("> ");
    assert_eq!(questions(&bot), ["첫 줄\n둘째 줄"]);
}
