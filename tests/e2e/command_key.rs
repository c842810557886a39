//! The key of `contrib/shell` that puts a command in place of words, in the real shells.

use std::process::Command;

use serde_json::json;

use crate::bots::Bot;
use crate::pty::on_terminal;

/// A shell: its file in `contrib/shell`, its words, and what it is told first.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "bash --norc --noprofile -i", "source FILE; PS1=REA\"DY\""),
    ("zsh", "zsh -f -i", "bindkey -e; source FILE; PS1=REA\"DY\""),
    (
        "fish",
        "fish --no-config -i",
        "source FILE; function fish_prompt; printf REA'DY'; end; function fish_title; end; function fish_greeting; end",
    ),
];

/// The screen of a shell, where words were typed, the key was pressed, and the line taken away once the awaited text
/// was there.
fn pressed(bot: &Bot, shell: (&str, &str, &str), words: &str, awaited: &str) -> String {
    typed(bot, shell, words, &[(awaited, "\u{15}\n"), ("READY", "exit\n")])
}

/// The screen of a shell, where words were typed, the key was pressed, and these steps followed.
fn typed(bot: &Bot, (shell, start, begin): (&str, &str, &str), words: &str, then: &[(&str, &str)]) -> String {
    let file = format!("{}/contrib/shell/lepo.{shell}", env!("CARGO_MANIFEST_DIR"));
    let begin = format!("{}\n", begin.replace("FILE", &format!("'{file}'")));
    let words = format!("{words}\u{18}l");
    let mut command = bot.home.terminal(&format!("stty cols 200; {start}"));
    command.env("LANG", "C.UTF-8");
    let steps = [&[("", begin.as_str()), ("READY", &words)], then].concat();
    on_terminal(command, &steps).out
}

fn is_here(shell: &str) -> bool {
    let is_here = Command::new(shell).arg("--version").output().is_ok();
    if !is_here {
        crate::skip::skipped(shell, format!("no {shell} here"));
    }
    is_here
}

fn answering(command: &str) -> Bot {
    Bot::saying("planner = \"off\"", &[&json!({ "command": command }).to_string()])
}

#[test]
fn words_give_way_to_a_command_that_does_not_run() {
    for shell in SHELLS.into_iter().filter(|shell| is_here(shell.0)) {
        let command = r#"printf "%s\n" 'a\b' /x >ran"#;
        let bot = answering(command);
        let shown = pressed(&bot, shell, "가 in quotes, it's \"so\"", command);
        assert!(!shown.contains("nothing more came"), "{}: {shown}", shell.0);
        assert!(shell.0 == "fish" || shown.contains("asking lepo…"), "{}: {shown}", shell.0);
        assert!(!bot.home.path().join("work/ran").exists(), "{}: it ran", shell.0);
        assert!(!bot.home.path().join("work/.lepo").exists(), "{}: something is kept", shell.0);
        let sent = bot.bodies()[0]["messages"].to_string();
        assert!(sent.contains("가 in quotes, it's \\\"so\\\"") && sent.contains(shell.0), "{sent}");
    }
}

#[test]
fn a_command_of_several_lines_or_with_control_characters_is_not_taken() {
    for shell in SHELLS.into_iter().filter(|shell| is_here(shell.0)) {
        for command in [
            "echo a\ntouch ran",
            "echo \u{1b}[31m",
            "echo \u{202e}x",
            "echo \u{9b}31m",
            "echo \u{e0041}x",
            "echo x\u{ad}",
        ] {
            let bot = answering(command);
            let shown = pressed(&bot, shell, "some words", "the answer is not a single line without control");
            assert!(!shown.contains("nothing more came"), "{} {command:?}: {shown}", shell.0);
            assert!(!bot.home.path().join("work/ran").exists(), "{}", shell.0);
        }
    }
}

#[test]
fn a_failure_is_shown_and_the_line_stays() {
    for shell in SHELLS.into_iter().filter(|shell| is_here(shell.0)) {
        let bot = answering("never");
        bot.home.write(
            "config/config.toml",
            "[[models]]\nname = \"m\"\nprovider = \"cli\"\ncommand = [\"false\"]\nactive = true\n",
        );
        bot.home.trust_work();
        let then = [("failed with exit code 1", "\n"), ("stays", "exit\n")];
        let shown = typed(&bot, shell, "echo st\"\"ays", &then);
        assert!(!shown.contains("nothing more came"), "{}: {shown}", shell.0);
    }
}
