//! `.lepo.example`: a small true store with a fork, a second answer, a tool call's side branch and a debate.

use crate::home::Home;

/// A home whose store is a copy of it.
fn home() -> Home {
    let home = Home::new();
    home.copy(".lepo.example", ".lepo");
    home
}

#[test]
fn it_proves_itself() {
    let ran = home().lepo(&["fsck"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn it_has_what_it_is_to_show() {
    let home = home();
    let lines = home.ok(&["ls"]);
    assert_eq!(
        lines.lines().count(),
        3,
        "the debate, the tool call's answer, the second answer gone on with"
    );
    assert!(
        lines.contains("(13): Should tally") && lines.contains("(11): 한국어 단어도 셀 수 있어?"),
        "{lines}"
    );
    let branches = home.ok(&["branch"]);
    assert!(branches.starts_with("korean ") && branches.contains("\nmain "), "{branches}");
    assert!(home.ok(&["log", "--graph", "--all"]).contains("\n|/\n"), "a fork");
    assert!(home.ok(&["ls", "--spent"]).lines().count() > 3, "a side branch that is spent");
    assert!(home.ok(&["show", "-a"]).contains("SELECT: gemini"), "a debate");
    assert_eq!(
        home.lepo(&["diff", "--stat", "main", "korean"]).code,
        1,
        "two answers to one question differ"
    );
}
