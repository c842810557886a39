//! `diff` where a transcript cannot show it: colours, a terminal, lists, bytes that are no text; `tests/cases/diff.md` has the rest.

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
fn changed_words_have_colours() {
    let home = Home::new();
    let [_, first, second, _] = fork(&home);
    let ran = home.lepo(&["--color", "always", "diff", "--word", &first, &second]);
    assert!(
        ran.out.contains("수도는 \u{1b}[31m파리입니다\u{1b}[0m\u{1b}[32m런던입니다\u{1b}[0m."),
        "{}",
        ran.out
    );
}

#[test]
fn a_line_of_a_list_is_taken_for_the_id_that_it_begins_with() {
    let home = Home::new();
    let [question, first, _, more] = fork(&home);
    let ran = shell(&home, "lepo ls -n 2 | lepo diff --stat -");
    assert_eq!(ran.out.lines().last(), Some("+1 -2 total"), "{}", ran.err);
    let ids = |script: &str| shell(&home, script).out.lines().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(ids("lepo ls | lepo resolve -"), [more.clone(), first]);
    assert_eq!(ids("lepo log | tail -n 1 | lepo resolve -"), [question]);
    // Other words with a space in them are no address.
    let ran = shell(&home, "echo '@ and more' | lepo resolve -");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("@ and more"), "{}", ran.err);
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

/// Two lines of three questions: the first answered alike, the second differently, the third in one of them only. Their
/// ends.
fn two_lines(home: &Home) -> [String; 2] {
    let mut ends = Vec::new();
    for (second, third) in [("파리입니다.", Some("yes")), ("런던입니다. # 1", None)] {
        home.add(&["--prev", "head"], "same question");
        home.add(&["--kind", "a"], "same answer");
        home.add(&[], "수도는?");
        home.add(&["--kind", "a"], second);
        let mut end = home.add(&[], if third.is_some() { "really?" } else { "이건 다른 질문" });
        if let Some(answer) = third {
            end = home.add(&["--kind", "a"], answer);
        }
        ends.push(end);
    }
    [ends.remove(0), ends.remove(0)]
}

#[test]
fn answers_stand_side_by_side_where_there_is_room() {
    let home = Home::new();
    let [a, b] = two_lines(&home);
    for (columns, beside) in [(120, true), (80, false)] {
        let script = format!("stty cols {columns} rows 40; PAGER=cat lepo diff --turns {a} {b}");
        let shown = crate::home::run(home.terminal(&script), b"").out;
        let row = shown.lines().any(|line| line.contains("파리입니다.") && line.contains("| 런던입니다."));
        assert_eq!(row, beside, "{columns}: {shown}");
        assert!(shown.lines().all(|line| !line.contains("same question") || !line.contains('|')), "{shown}");
    }
}
