//! Prints harmful text of messages on a terminal: `show` and the other commands clean it.

use crate::home::Home;
use crate::pty::on_terminal;
use crate::screen::Screen;

#[test]
fn a_terminal_sees_whole_lines_and_no_control_characters() {
    let home = Home::new();
    home.add(&["--prev", "head"], "한 물음");
    home.add(&["--kind", "a"], "한 답");
    let evil =
        home.add(&[], "\u{1b}[2Jevil \u{202e}한글 and so on, over and over, to the end of the line and on");
    home.write("work/.lepo/_branches/main", format!("{evil}\n"));
    for args in [
        &["log", "--graph"][..],
        &["log", "--json"],
        &["ls", "--json"],
        &["ls"],
        &["show", "--json"],
        &["diff", "@", "@^"],
        &["diff", "--word", "@", "@^"],
        &["export"],
        &["export", "--format", "session", "@~1"],
    ] {
        let shown = on_terminal(home.command(&[&["--color", "never"], args].concat()), &[]).out;
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{args:?}: {shown:?}");
        assert!(shown.contains('한') || args[0] == "export", "{args:?}: {shown:?}");
    }
    let shown = on_terminal(home.command(&["--color", "never", "log", "--graph"]), &[]).out;
    assert!(shown.contains("␛[2Jevil"), "{shown:?}");
    assert!(shown.contains(" [main]"), "{shown:?}");
}

#[test]
fn what_others_named_is_shown_as_harmless_as_what_they_said() {
    let model = "[[models]]\nname = \"한\\u202e\"\nprovider = 'ollama'\nmodel = \"\\u200b\\U000e0041\"\n";
    let home = Home::with_config(model);
    let id = home.add(&[], "한 \u{1b}]52;c;eA==\u{7} \u{9b}2J \u{202e}물\u{e0041}음\u{200b}");
    let request = "{\"access\":\"full\",\"command\":\"한 \u{202e}\\u001b[2J\u{e0041}\"}";
    let waiting = home.add(&["--kind", "s", "--hidden"], request);
    for name in ["_branches/한\u{202e}x", "한\u{1b}[2J\u{202e}.md", "_blobs/한\u{9b}2J"] {
        home.write(&format!("work/.lepo/{name}"), format!("{waiting}\n"));
    }
    for (args, code, steps) in [
        (&["show"][..], 0, &[][..]),
        (&["show", "-a", "@"], 0, &[]),
        (&["show", "--one", &id], 0, &[]),
        (&["log"], 0, &[]),
        (&["log", "-a"], 0, &[]),
        (&["ls", "--pending"], 0, &[]),
        (&["ls", "--pending", "--json"], 0, &[]),
        (&["branch"], 0, &[]),
        (&["branch", "--json"], 0, &[]),
        (&["fsck"], 0, &[]),
        (&["fsck", "--json"], 0, &[]),
        (&["model", "ls"], 0, &[]),
        (&["config"], 0, &[]),
        (&["rm", "-n", "@"], 1, &[]),
        (&["branch", "-d", "한\u{202e}x"], 0, &[]),
        (&["rm", "@"], 1, &[("(y/N): ", "n\n")]),
        (&["show", "한\u{202e}\u{1b}[2J"], 2, &[]),
        (&["do", "-m", "한\u{202e}\u{1b}[2J", "q"], 2, &[]),
    ] {
        let ran = on_terminal(home.command(&[&["--color", "never"], args].concat()), steps);
        let shown = ran.out;
        assert_eq!(ran.code, code, "{args:?}: {shown:?}");
        let evil = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{e0041}', '\u{200b}'];
        assert!(!shown.contains(evil), "{args:?}: {shown:?}");
    }
    home.write("evil", "한 \u{1b}[2J \u{202e}물");
    let script = "lepo --color never watch & until grep -qs 'inotify wd' /proc/$!/fdinfo/*; do :; done; \
                  lepo add < ../evil > /dev/null; read -r line; kill $!";
    let shown = on_terminal(home.shell(script), &[("물", "\n")]).out;
    assert!(shown.contains("한 ␛[2J <U+202E>물"), "{shown:?}");
    // Files and pipes get the bytes as they are.
    assert!(home.ok(&["show", "--one", &id]).starts_with("한 \u{1b}]52;c;eA==\u{7} \u{9b}2J \u{202e}물"));
}

#[test]
fn one_message_ends_its_line_on_a_terminal_only() {
    let home = Home::new();
    home.add(&["--prev", "head"], "no newline");
    assert_eq!(home.ok(&["show", "--one", "@"]), "no newline");
    assert_eq!(on_terminal(home.command(&["show", "--one", "@"]), &[]).out, "no newline\r\n");
    assert!(on_terminal(home.command(&["prompt"]), &[]).out.contains("no prompts yet"));
}

#[test]
fn a_model_is_named_without_the_sign_of_its_provider() {
    let home = Home::new();
    home.add(&["--prev", "head"], "q");
    let answer = home.add(&["--kind", "a"], "a");
    let fact = format!(
        "{{\"time\":1,\"bubb\":\"{answer}\",\"what\":\"answer\",\"model\":\"embedded:\",\"input\":3,\"output\":4,\"ms\":1}}\n"
    );
    home.write("work/.lepo/_journal.ndjson", fact);
    for args in [&["ls"][..], &["log", "--no-pager"], &["show", "--no-pager"], &["stats", "--by", "model"]] {
        let Some(screen) = Screen::lepo(&home, 100, args) else { return };
        screen.ends(0);
        let shown = screen.whole();
        assert!(shown.contains("embedded") && !shown.contains("embedded:"), "{args:?}: {shown}");
    }
    assert!(home.ok(&["show", "--json"]).contains("\"embedded:\""), "as it is, for scripts");
}
