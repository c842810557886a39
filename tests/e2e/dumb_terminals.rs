//! `TERM=dumb`: a terminal that knows no escape sequence gets none, as public reports ask it of other programs.

use crate::bots::Bot;
use crate::pty::on_terminal;
use crate::repl_keys::OFF;

/// An answer with all that is painted elsewhere, and blanks that a program may move over.
const ANSWER: &str = "# Four\n\n**4** is `four`:\n\n\t    indented\n\n| a | b |\n| - | - |\n| 1 | 2 |\n";

#[test]
fn a_dumb_terminal_gets_no_escape_sequence() {
    for (report, command, steps) in [
        (
            "https://github.com/github/copilot-cli/issues/3372",
            "lepo",
            &[("> ", "hi\r"), ("Four", ""), ("> ", "\u{4}")][..],
        ),
        (
            "https://github.com/prompt-toolkit/python-prompt-toolkit/issues/390",
            "lepo",
            &[("> ", "/help\r"), ("Ctrl", ""), ("> ", "\u{4}")],
        ),
        (
            "https://github.com/xonsh/xonsh/issues/2891",
            "lepo",
            &[("> ", "/none\r"), ("> ", "/ls\r"), ("> ", "\u{4}")],
        ),
        ("https://github.com/JetBrains/teamcity-cli/pull/355", "lepo do hi", &[("Four", "")]),
        ("https://github.com/cli/cli/issues/9069", "lepo rm @", &[("(y/N)", "n\r")]),
        ("https://github.com/NixOS/nix/issues/2477", "lepo grep four", &[]),
        ("https://github.com/idris-lang/Idris2/pull/1379", "lepo show @", &[]),
        ("https://github.com/gambit/gambit/issues/488", "lepo log", &[]),
        ("https://github.com/emacs-eask/cli/issues/33", "lepo show none", &[]),
        ("https://github.com/colcon/colcon-core/issues/171", "lepo fsck", &[]),
        ("https://github.com/WordPress/wordpress-playground/pull/2929", "lepo import .", &[]),
        ("https://github.com/dylanaraps/pfetch/issues/31", "lepo stats", &[]),
        ("https://github.com/speced/bikeshed/pull/1555", "lepo ls", &[]),
        ("https://github.com/zellij-org/zellij/issues/5138", "lepo --help", &[]),
    ] {
        let bot = Bot::saying(OFF, &[ANSWER]);
        let question = bot.home.add(&["--prev", "head"], "a question");
        bot.home.add(&["--kind", "a", "--prev", &question], ANSWER);
        let ran = on_terminal(bot.home.terminal(&format!("TERM=dumb {command}; echo END$((1))")), steps);
        let wanted: Vec<_> = steps.iter().map(|step| step.0).collect();
        assert!(
            ran.out.contains("END1") && !ran.out.contains("nothing more came"),
            "{report}: {wanted:?} {:?}",
            ran.out
        );
        assert!(!ran.out.contains('\u{1b}'), "{report}: {command}: {:?}", ran.out);
    }
}
