//! The line editor in a real terminal, wide and narrow: every key, every script, and what is stored is what
//! was typed.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::until;
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, said};

pub const OFF: &str = "planner = \"off\"";

/// A bot, and lepo before it in a terminal of so many columns.
fn prompted(columns: usize, answers: &[&str]) -> Option<(Bot, Screen)> {
    let bot = Bot::saying(OFF, answers);
    let screen = Screen::lepo(&bot.home, columns, &[])?;
    // The prompt in the first line: what stands above it goes.
    screen.prompts("> ").keys(&["C-l"]).points(2, 0);
    Some((bot, screen))
}

/// The questions that were stored.
fn questions(bot: &Bot) -> Vec<String> {
    bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag == "u0").map(|bubb| bubb.text).collect()
}

#[test]
fn every_script_is_stored_as_it_was_typed_and_the_cursor_stands_behind_it() {
    for columns in [80, 40] {
        for (text, width) in [
            ("plain ascii", 11),
            ("한글 각", 7),
            // the same syllables, decomposed
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", 4),
            ("漢字 かな カナ", 14),
            ("ＦＵＬＬ", 8),
            ("cafe\u{301} n\u{303}", 6),
            ("👍 끝", 5),
            ("a👩\u{200d}💻b", 4),
        ] {
            let Some((bot, screen)) = prompted(columns, &["ok"]) else { return };
            screen.types(text).points(2 + width, 0);
            screen.keys(&["Enter"]).shows("ok").prompts("> ");
            assert_eq!(questions(&bot), [text], "{columns} columns");
        }
    }
}

#[test]
fn keys_move_by_characters_as_people_count_them() {
    for columns in [80, 40] {
        let Some((bot, screen)) = prompted(columns, &["ok"]) else { return };
        screen.types("한글 cafe\u{301} 漢字").points(2 + 14, 0);
        screen.keys(&["Home"]).points(2, 0);
        screen.keys(&["Right"]).points(4, 0).keys(&["Right", "Right"]).points(7, 0);
        screen.keys(&["End"]).points(16, 0);
        screen.keys(&["Left", "Left", "Left", "Left"]).points(10, 0);
        // one character, though two were typed
        screen.keys(&["Delete"]).points(10, 0).shows("> 한글 caf 漢字");
        screen.keys(&["C-a"]).points(2, 0).keys(&["C-e"]).points(15, 0);
        screen.keys(&["M-b"]).points(13, 0);
        screen.keys(&["M-b", "M-b"]).points(7, 0).keys(&["M-f"]).points(10, 0);
        screen.keys(&["C-Left"]).points(7, 0).keys(&["C-Right"]).points(10, 0);
        screen.keys(&["C-w"]).shows("> 한글  漢字").points(7, 0);
        screen.keys(&["C-y"]).shows("> 한글 caf 漢字").points(10, 0);
        screen.keys(&["C-k"]).prompts("> 한글 caf");
        // undo, as in Emacs
        screen.keys(&["C-_"]).shows("> 한글 caf 漢字");
        screen.keys(&["End", "BSpace"]).shows("> 한글 caf 漢").points(13, 0);
        screen.keys(&["Enter"]).shows("ok");
        assert_eq!(questions(&bot), ["한글 caf 漢"]);
    }
}

#[test]
fn a_line_longer_than_the_terminal_wraps_where_the_eye_expects() {
    for columns in [80, 40] {
        let Some((bot, screen)) = prompted(columns, &["ok"]) else { return };
        // A wide character does not fit into the last column: it begins the next line.
        let text = format!("x{}", "가".repeat(columns / 2));
        screen.types(&text).points(2 * 2, 1);
        screen.keys(&["Home"]).points(2, 0).keys(&["End"]).points(4, 1);
        screen.keys(&["Left"]).points(2, 1).keys(&["Enter"]).shows("ok");
        assert_eq!(questions(&bot), [text]);
    }
}

#[test]
fn many_lines_are_one_message() {
    for columns in [80, 40] {
        let Some((bot, screen)) = prompted(columns, &["one", "two", "three", "four"]) else { return };
        let pasted = "fn main() {\n\tprintln!(\"한글 \\\");  \n}\n\nends with \\";
        screen.pastes(pasted).shows("ends with").keys(&["Enter"]).shows("one").prompts("> ");
        screen.types("first").keys(&["M-Enter"]).types("둘째").shows("  둘째");
        let (_, line) = screen.cursor();
        screen.keys(&["Up"]).points(4, line - 1).keys(&["Down", "End", "Enter"]).shows("two").prompts("> ");
        // a backslash that was typed is a newline, and gone
        screen.types("a \\").keys(&["Enter"]).types("b\\\\c").keys(&["Enter"]).shows("three").prompts("> ");
        screen.types("x").keys(&["C-j"]).shows("four").prompts("> ");
        assert_eq!(questions(&bot), [pasted, "first\n둘째", "a \nb\\\\c", "x"]);
    }
}

#[test]
fn what_was_entered_is_remembered_outside_the_repository() {
    use std::os::unix::fs::PermissionsExt;
    for columns in [80, 40] {
        let Some((bot, screen)) = prompted(columns, &["1", "2", "3", "4", "5"]) else { return };
        screen.enters("첫 질문").shows("\n1").prompts("> ");
        screen.pastes("two\nlines").keys(&["Enter"]).shows("\n2").prompts("> ");
        screen.keys(&["C-d"]).ends(0);
        let history = bot.home.path().join("state/lepo/history");
        assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);

        drop(screen);
        let screen = Screen::lepo(&bot.home, columns, &[]).unwrap();
        screen.prompts("> ").keys(&["Up"]).shows("> two\n  lines");
        screen.keys(&["C-c"]).prompts("> ").keys(&["C-c"]).ends(0);

        drop(screen);
        let screen = Screen::lepo(&bot.home, columns, &[]).unwrap();
        screen.prompts("> ").keys(&["C-r"]).shows("(search: )").types("질").shows("첫 질문");
        screen.keys(&["Enter"]).shows("\n3").prompts("> ");
        screen.keys(&["C-r"]).types("nothing like it").shows("(not found:");
        // Of a search, then of the session.
        screen.keys(&["C-c"]).prompts("> ").keys(&["C-c"]).ends(0);
        assert_eq!(questions(&bot), ["첫 질문", "two\nlines", "첫 질문"]);
    }
}

#[test]
fn tab_completes_commands_branches_and_ids() {
    for columns in [80, 40] {
        let bot = Bot::saying(OFF, &[]);
        let first = bot.home.add(&["--prev", "head"], "첫째 대화의 질문이다");
        let second = bot.home.add(&["--prev", "head"], "second\u{1b}[31m conversation");
        bot.home.ok(&["branch", "첫가지", &first]);
        let Some(screen) = Screen::lepo(&bot.home, columns, &[]) else { return };
        screen
            .prompts("> ")
            .keys(&["C-l"])
            .points(2, 0)
            .types("/s")
            .keys(&["Tab"])
            .shows("/set-model")
            .shows("/show")
            .shows("/set-tool-mode");
        screen.keys(&["C-u"]).types("/sh").keys(&["Tab"]).shows("> /show");
        screen.keys(&["C-u"]).types("/ta").keys(&["Tab"]).prompts("> /tail").points(8, 0).keys(&["Tab"]);
        screen.shows("첫가지").shows(&first).shows(&second).shows("첫째").shows(if columns == 80 {
            "second␛[31m conversation"
        } else {
            "second"
        });
        screen.keys(&["C-u"]).types("/tail 첫").keys(&["Tab"]).shows("> /tail 첫가지");
        screen.keys(&["Enter"]).shows(&format!("continuing {}", &first[18..])).prompts("> ");
        screen.keys(&["C-c"]).ends(0);
    }
}

#[test]
fn ctrl_z_stops_and_fg_goes_on() {
    for columns in [80, 40] {
        let bot = Bot::saying(OFF, &["ok"]);
        let Some(screen) = Screen::shell(&bot.home, columns) else { return };
        screen.shows("sh$").enters("lepo").shows("\n>").types("반쯤 쓴").shows("> 반쯤 쓴");
        screen.keys(&["C-z"]).shows("Stopped").prompts("sh$ ");
        // The terminal is as it was: what is typed shows, lines end lines.
        screen.enters("echo here; stty -a | grep -o ' -\\?echo '").shows("\nhere\n echo").prompts("sh$ ");
        screen.enters("fg").prompts("> 반쯤 쓴").types(" 질문").keys(&["Enter"]).shows("\nok");
        screen.prompts("> ").keys(&["C-d"]).prompts("sh$ ");
        screen.enters("stty -a | grep -o ' -\\?icanon '").shows("\n icanon");
        assert_eq!(questions(&bot), ["반쯤 쓴 질문"]);
    }
}

#[test]
fn leaving_is_every_way_out() {
    for leave in [vec!["Enter"], vec!["C-d"], vec!["C-c"], vec!["e", "x", "i", "t", "Enter"]] {
        let Some((bot, screen)) = prompted(80, &[]) else { return };
        screen.keys(&leave).ends(0);
        assert!(questions(&bot).is_empty(), "{leave:?}");
    }
    // Ctrl+D within a line deletes.
    let Some((_bot, screen)) = prompted(80, &[]) else { return };
    screen.types("abc").keys(&["Home", "C-d"]).prompts("> bc");
}

#[test]
fn what_comes_after_the_prompt_begins_a_line() {
    let bot = Bot::saying(OFF, &["ok"]);
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    for (leave, args) in [("C-c", "-n"), ("C-d", "-n"), ("C-c", "")] {
        screen.shows("sh$").enters(&format!("clear; lepo {args}; echo left")).prompts("> ");
        screen.keys(&[leave]).shows("\n>\nleft\n");
    }
    for (leave, line) in [("C-c", "> ^C"), ("C-d", ">")] {
        screen.shows("sh$").enters("clear; TERM=dumb lepo -n; echo left").prompts("> ");
        screen.keys(&[leave]).shows(&format!("{line}\nleft\n"));
    }
    screen.enters("clear; lepo").prompts("> ").enters("hi").shows("ok").prompts("> ");
    screen.keys(&["C-c"]).shows("\n>\n`lepo` continues here");
    screen.enters("clear; TERM=dumb lepo").shows("(1 question)").prompts("> ");
    screen.keys(&["C-c"]).shows("> ^C\n`lepo` continues here");
    screen.enters("clear; lepo").prompts("> ");
    bot.home.shell(&format!("kill -TERM {}", screen.process())).status().unwrap();
    screen.shows("\n>\nerror: interrupted");
}

#[test]
fn a_signal_at_the_prompt_gives_the_terminal_back() {
    let bot = Bot::saying(OFF, &[]);
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    screen.shows("sh$").enters("lepo; echo code $?").shows("\n>").types("half");
    screen.shows("> half");
    bot.home.shell(&format!("kill -TERM {}", screen.process())).status().unwrap();
    screen.shows("code 143").enters("stty -a | grep -o ' -\\?icanon '").shows("\n icanon");
}

#[test]
fn it_ends_with_its_terminal() {
    for script in ["exec lepo", "trap '' HUP; exec lepo"] {
        let bot = Bot::saying(OFF, &[]);
        let Some(screen) = Screen::of(&bot.home.shell(script), &bot.home, 80) else { return };
        screen.prompts("> ").types("half");
        let process = std::path::PathBuf::from(format!("/proc/{}/exe", screen.process()));
        assert!(process.read_link().unwrap().ends_with("lepo"));
        drop(screen);
        until(script, || process.read_link().is_err());
    }
}

#[test]
fn ctrl_z_stops_an_answer_too() {
    let bot = Bot::openai(OFF, [Reply::pieces([said("처음 "), Piece::Wait, said("끝."), end()])]);
    let Some(screen) = Screen::shell(&bot.home, 80) else { return };
    screen.shows("sh$").enters("lepo").shows("\n>").enters("q").shows("\n처음").keys(&["C-z"]);
    screen.shows("Stopped").prompts("sh$ ").enters("echo here").shows("\nhere").enters("fg").shows("lepo");
    // The shell had the echo on: it is off again, and what is typed waits for the prompt.
    let modes = format!("stty -a < /proc/{}/fd/0", screen.process());
    until("no echo", || {
        let stdout = bot.home.shell(&modes).output().unwrap().stdout;
        let message = String::from_utf8_lossy(&stdout);
        // The editor of a shell has no echo either, but waits for a key.
        message.contains("-echo ") && message.contains("min = 0")
    });
    screen.types("미리");
    bot.server().release();
    screen.shows("끝.").prompts("> 미리").keys(&["C-u", "C-d"]).prompts("sh$ ");
    assert_eq!(screen.whole().matches("미리").count(), 1, "{}", screen.whole());
    assert_eq!(bubbs(&bot.home)[2].text, "처음 끝.");
}

#[test]
fn where_nothing_completes_there_is_no_table() {
    let Some((_bot, screen)) = prompted(80, &["ok"]) else { return };
    for begun in ["zzz", "/zzz", "/tail zzz", "/set-model zzz", "see @zzz"] {
        screen.types(begun).keys(&["Tab"]).types("x").shows(&format!("> {begun}x"));
        assert!(!screen.text().to_uppercase().contains("NO RECORDS"), "{}", screen.text());
        screen.keys(&["C-u"]);
    }
}

#[test]
fn ctrl_c_in_a_search_ends_the_search_and_no_more() {
    let Some((bot, screen)) = prompted(80, &["ok", "ok"]) else { return };
    screen.enters("하나").shows("\nok").prompts("> ");
    screen
        .keys(&["C-r"])
        .shows("(search: ")
        .types("하")
        .shows("(search: 하) 하나")
        .keys(&["C-c"])
        .prompts("> ");
    screen.enters("둘").becomes("answered", || questions(&bot).len() == 2);
    assert_eq!(questions(&bot), ["하나", "둘"]);
}

#[test]
fn the_newest_of_a_list_stays_on_a_small_screen() {
    let bot = Bot::saying(OFF, &["ok"]);
    let ids: Vec<String> =
        (0..12).map(|i| bot.home.add(&["--prev", "head"], &format!("question {i}"))).collect();
    let Some(screen) = Screen::sized(&bot.home.command(&[]), &bot.home, (40, 15)) else { return };
    screen.prompts("> ");
    for (command, number, first) in
        [("/ls", "1*", "question 11"), ("/grep question", "1 ", "question 11"), ("/ls", "1*", "question 11")]
    {
        screen.keys(&["C-l"]).points(2, 0);
        screen.enters(command).shows("continues one").prompts("> ");
        screen.shows(&format!("  {number} {}", &ids[11][18..])).shows(first);
        assert!(screen.text().contains(command), "{}", screen.text());
    }
}

#[test]
fn tab_completes_the_names_of_models() {
    let Some((_bot, screen)) = prompted(80, &[]) else { return };
    for word in ["/model", "/set-model"] {
        screen.types(&format!("{word} ")).keys(&["Tab"]).shows("smollm2-135m");
        screen.keys(&["C-u"]).types(&format!("{word} te")).keys(&["Tab"]).prompts(&format!("> {word} test"));
        screen.keys(&["C-u"]).prompts("> ");
    }
}

#[test]
fn ctrl_c_closes_the_menu_and_the_next_enter_counts() {
    let Some((_bot, screen)) = prompted(80, &[]) else { return };
    screen.types("/").keys(&["Tab"]).shows("/system").keys(&["C-c"]).prompts("> ");
    assert!(!screen.text().contains("/system"), "{}", screen.text());
    screen.enters("/help").shows("Ctrl+C").prompts("> ");
}

#[test]
fn a_menu_that_does_not_fit_says_how_many_are_missing() {
    let bot = Bot::saying(OFF, &[]);
    let Some(screen) = Screen::sized(&bot.home.command(&[]), &bot.home, (80, 10)) else { return };
    screen.prompts("> ").keys(&["C-l"]).points(2, 0).types("/").keys(&["Tab"]).shows(" more");
    let more = |text: &str| text.lines().last().unwrap_or_default().to_string();
    let text = screen.text();
    assert!(more(&text).starts_with("… ") && text.lines().count() == 10, "{text}");
    let first = text.lines().nth(1).unwrap_or_default().to_string();
    // Behind the last row the others come up, the chosen one among them.
    screen.keys(&["Up"]).becomes("scrolled", || screen.text().contains("/exit"));
    let text = screen.text();
    assert!(more(&text).starts_with("… ") && !text.contains(&first), "{text}");
}

#[test]
fn what_the_editor_showed_below_the_line_goes_when_the_session_is_left() {
    let Some((_bot, screen)) = prompted(40, &[]) else { return };
    screen.types("/").keys(&["Tab"]).shows("/system").keys(&["C-u", "C-c"]).ends(0);
    assert!(!screen.text().contains("/system"), "{}", screen.text());
}

#[test]
fn with_vi_a_burst_of_text_and_escape_keeps_the_order_of_the_text() {
    let bot = Bot::saying(&format!("{OFF}\n[repl]\nkeys = \"vi\""), &["ok"]);
    let Some(screen) = Screen::lepo(&bot.home, 40, &[]) else { return };
    screen.prompts("> ").keys(&["가나다 라마바", "Escape"]).shows(": 가나다 라마바");
    screen.keys(&["A", "사", "Enter"]).shows("ok");
    assert_eq!(questions(&bot), ["가나다 라마바사"]);
}

#[test]
fn with_vi_a_search_begins_in_both_modes_and_escape_leaves_it() {
    let bot = Bot::saying(&format!("{OFF}\n[repl]\nkeys = \"vi\""), &["ok"]);
    let Some(screen) = Screen::lepo(&bot.home, 40, &[]) else { return };
    screen.prompts("> ").enters("하나").shows("\nok").prompts("> ");
    for _ in ["from text", "from commands"] {
        screen.keys(&["C-r"]).shows("(search: ").types("하").shows("(search: 하) 하나");
        screen.keys(&["Escape"]).prompts(": ");
    }
    assert_eq!(questions(&bot), ["하나"]);
}

/// Text that another program types: https://github.com/google-gemini/gemini-cli/issues/25998 (`tmux send-keys`),
/// https://github.com/google-gemini/gemini-cli/issues/2789.
#[test]
fn text_of_any_length_that_comes_at_once_is_in_the_line_and_its_enter_counts() {
    for length in [1024, 1025, 3000] {
        let words: Vec<String> = (0..length / 5).map(|word| format!("w{word:03}")).collect();
        let typed = words.join(" ");
        let bot = Bot::saying(OFF, &["Four."]);
        let ran = on_terminal(
            bot.home.terminal("lepo"),
            &[("> ", &format!("{typed}\r")), ("Four.", ""), ("> ", "\u{4}")],
        );
        assert!(ran.out.contains("Four."), "{length}: {}", ran.out);
        assert_eq!(questions(&bot), [typed], "{length}");
    }
}

#[test]
fn an_enter_within_a_burst_is_a_line_break_and_a_reply_of_the_terminal_no_word() {
    let reply = "\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{1b}\\";
    for (typed, question) in [
        ("one\rtwo\rthree\r", "one\ntwo\nthree"),
        ("one\ntwo\n\nthree\n", "one\ntwo\n\nthree"),
        ("one\ntwo\r", "one\ntwo"),
        (&format!("{reply}one\r"), "one"),
        (&format!("on{reply}e\u{1b}[?62;4c\r"), "one"),
    ] {
        let bot = Bot::saying(OFF, &["Four."]);
        let ran = on_terminal(bot.home.terminal("lepo"), &[("> ", typed), ("Four.", ""), ("> ", "\u{4}")]);
        assert!(ran.out.contains("Four."), "{typed:?}: {}", ran.out);
        assert_eq!(questions(&bot), [question], "{typed:?}");
    }
}
