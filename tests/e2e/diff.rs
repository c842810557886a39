//! `diff`: where two convs part.

use crate::addresses::shell;
use crate::home::Home;

/// One question with two answers, the second gone on from. The ids: question, first, second, more.
fn fork(home: &Home) -> [String; 4] {
    let question = home.add(&["--prev", "head"], "수도는?");
    let first = home.add(&["--kind", "a"], "생각해 보면\n수도는 파리입니다.");
    let second = home.add(&["--kind", "a", "--prev", &question], "생각해 보면\n수도는 런던입니다.");
    let more = home.add(&[], "really?");
    [question, first, second, more]
}

#[test]
fn two_answers_are_compared_line_by_line() {
    let home = Home::new();
    let [_, first, second, more] = fork(&home);
    let ran = home.lepo(&["diff", &first, &second]);
    let answers = format!(
        "--- assistant {first}\n+++ assistant {second}\n@@ -1,2 +1,2 @@\n 생각해 보면\n\
         -수도는 파리입니다.\n+수도는 런던입니다.\n"
    );
    assert_eq!((ran.code, ran.out.as_str()), (1, answers.as_str()), "{}", ran.err);
    let ran = home.lepo(&["diff", &first, "@"]);
    let added = format!("--- /dev/null\n+++ user {more}\n@@ -0,0 +1 @@\n+really?\n");
    assert_eq!((ran.code, ran.out), (1, answers + &added), "{}", ran.err);
    let ran = home.lepo(&["diff", "--word", &first, &second]);
    assert!(ran.out.ends_with("\n생각해 보면\n수도는 [-파리입니다-]{+런던입니다+}.\n"), "{}", ran.out);
    let ran = home.lepo(&["diff", "--stat", &first, "@"]);
    let stat = format!("+1 -1 assistant {first} {second}\n+1 -0 user - {more}\n+2 -1 total\n");
    assert_eq!((ran.code, ran.out), (1, stat));
    let ran = home.lepo(&["--color", "always", "diff", "--word", &first, &second]);
    assert!(
        ran.out.contains("수도는 \u{1b}[31m파리입니다\u{1b}[0m\u{1b}[32m런던입니다\u{1b}[0m."),
        "{}",
        ran.out
    );
}

#[test]
fn an_ancestor_and_two_bubbs() {
    let home = Home::new();
    let [question, _, second, more] = fork(&home);
    let ran = home.lepo(&["diff", "@", "@~2"]);
    assert_eq!(ran.code, 1);
    let removed = format!("--- user {more}\n+++ /dev/null\n@@ -1 +0,0 @@\n-really?\n");
    assert!(ran.out.starts_with(&format!("--- assistant {second}\n+++ /dev/null\n")), "{}", ran.out);
    assert!(ran.out.ends_with(&removed), "{}", ran.out);
    let ran = home.lepo(&["diff", "--one", &question, "@"]);
    let one = format!("--- user {question}\n+++ user {more}\n@@ -1 +1 @@\n-수도는?\n+really?\n");
    assert_eq!((ran.code, ran.out), (1, one));
    let ran = shell(&home, "lepo ls -n 2 | cut -d' ' -f1 | lepo diff --stat -");
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.err);
}

#[test]
fn the_same_is_exit_0_and_a_bad_address_2() {
    let home = Home::new();
    let [question, first, ..] = fork(&home);
    let same = home.add(&["--kind", "a", "--prev", &question], "생각해 보면\n수도는 파리입니다.");
    let hidden = home.add(&["--kind", "s", "--hidden"], "note");
    for (args, code) in [
        (&["diff", "@", "@"][..], 0),
        (&["diff", &first, &same], 0),
        // hidden bubbs count only where they are asked for
        (&["diff", &first, &hidden], 0),
        (&["diff", "-a", &first, &hidden], 1),
        (&["diff", "--one", "@", "@^"], 1),
        (&["diff", "@", "nobody"], 2),
        (&["diff", "@"], 2),
        (&["diff", "@", "@^..@"], 2),
    ] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, code, "{args:?} {}{}", ran.out, ran.err);
    }
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let home = Home::new();
    home.add(&["--prev", "head"], "x");
    let write =
        |bytes: &[u8]| home.lepo_with(&["add", "--prev", "@", "--kind", "a"], bytes).out.trim().to_string();
    let (a, b) = (write(b"same\n\xff\n"), write(b"same\n\xfe\n"));
    let output = home.command(&["diff", "--one", &a, &b]).output().unwrap();
    assert!(
        output.stdout.ends_with(b" same\n-\xff\n+\xfe\n"),
        "{:?}",
        String::from_utf8_lossy(&output.stdout)
    );
}
