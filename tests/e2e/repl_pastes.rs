//! Pastes that a terminal sends between marks, whole and cut: no key is lost behind one, and nothing is sent unasked.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::pty::on_terminal;
use crate::repl_keys::OFF;

/// The questions that were stored of a session in which each key is pressed once the text before it is there.
fn asked(steps: &[(&str, &str)]) -> Vec<String> {
    let bot = Bot::saying(OFF, &["Four."]);
    let ran = on_terminal(bot.home.terminal("lepo"), &[steps, &[("Four.", ""), ("> ", "\u{4}")]].concat());
    assert!(ran.out.contains("Four."), "{steps:?}: {}", ran.out);
    bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag == "u0").map(|bubb| bubb.text).collect()
}

#[test]
fn a_paste_without_its_end_ends_by_itself_or_at_ctrl_c_with_all_that_came() {
    for (report, typed, shown, keys, question) in [
        ("https://github.com/anomalyco/opentui/issues/1256", "\u{1b}[200~hello", "hello", "!\r", "hello!"),
        (
            "https://github.com/irssi/irssi/issues/942",
            "\u{1b}[200~an address\u{1b}[201",
            "an address",
            "\r",
            "an address",
        ),
        // The first five bytes of two syllables.
        ("https://github.com/justrach/codegraff/issues/548", "hex:1b5b3230307eed959ceab8", "한", "\r", "한"),
        ("https://github.com/QwenLM/qwen-code/pull/3181", "\u{1b}[200~hello\u{3}", "hello", "\r", "hello"),
        (
            "https://github.com/Yeachan-Heo/gajae-code/pull/3944",
            "\u{1b}[200~hello\u{3}\u{3}",
            "hello",
            "\r",
            "hello",
        ),
        (
            "https://github.com/fish-shell/fish-shell/issues/5572",
            "\u{1b}[200~one\rtwo\rth\u{3}",
            "th",
            "\r",
            "one\ntwo\nth",
        ),
    ] {
        assert_eq!(asked(&[("> ", typed), (shown, keys)]), [question], "{report}");
    }
}

#[test]
fn a_whole_paste_is_text_whatever_is_in_it_and_however_it_comes() {
    for (report, typed) in [
        ("https://github.com/fish-shell/fish-shell/issues/5888", &["\u{1b}[200~a\u{3}b\r\u{1b}[201~"][..]),
        ("its end in two pieces", &["\u{1b}[200~a\u{3}b\r\u{1b}[20", "1~"]),
        ("its beginning in two pieces", &["\u{1b}[2", "00~a\u{3}b\r\u{1b}[201~"]),
        ("lines of another system", &["\u{1b}[200~a\u{3}b\r\n\u{1b}[201~"]),
    ] {
        let mut steps: Vec<_> = typed.iter().map(|piece| ("", *piece)).collect();
        steps[0].0 = "> ";
        steps.push(("b", "c\r"));
        assert_eq!(asked(&steps), ["a\u{3}b\nc"], "{report}");
    }
}

#[test]
fn a_return_with_its_line_feed_is_one_line_break_without_marks_too() {
    for (report, typed) in [
        ("https://github.com/markeel/gdterm/pull/27", "one\r\ntwo\r\n\r\nthree\r\n"),
        ("https://github.com/waf/PrettyPrompt/pull/66", "\u{1b}[200~one\r\ntwo\r\n\r\nthree\u{1b}[201~\r"),
    ] {
        assert_eq!(asked(&[("> ", typed)]), ["one\ntwo\n\nthree"], "{report}");
    }
}
