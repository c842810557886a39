//! What a terminal is shown of bubbs that mean harm.

use crate::home::Home;
use crate::pty::on_terminal;

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
