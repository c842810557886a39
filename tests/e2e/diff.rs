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
fn without_addresses_the_two_newest_conversations_are_compared_and_with_one_it_and_the_newest() {
    let home = Home::new();
    home.add(&["--prev", "head"], "alone");
    let ran = home.lepo(&["diff"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: there are no two conversations to compare\nhint: "), "{}", ran.err);
    let [_, first, _, more] = fork(&home);
    let both = home.lepo(&["diff", &first, &more]);
    for args in [&["diff"][..], &["diff", &first]] {
        let ran = home.lepo(args);
        assert_eq!((ran.code, &ran.out), (1, &both.out), "{args:?}: {}", ran.err);
    }
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
        (&["diff", "@"], 0),
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
fn two_lines_are_compared_question_by_question() {
    let home = Home::new();
    let [a, b] = two_lines(&home);
    let ran = home.lepo(&["diff", "--turns", &a, &b]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(ran.out.matches("same question").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("수도는?").count(), 1, "{}", ran.out);
    for said in [
        "## A\n파리입니다.\n",
        "## B\n런던입니다. # 1\n",
        "really?\n\n이건 다른 질문\n",
        "## B: not answered\n",
    ] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    assert!(ran.out.ends_with("3 questions: 1 the same, 1 different, 1 in one only\n"), "{}", ran.out);
    let same = home.lepo(&["diff", "--turns", &a, &a]);
    assert_eq!(same.code, 0);
    assert!(same.out.ends_with("3 questions: 3 the same, 0 different, 0 in one only\n"), "{}", same.out);
    let told: serde_json::Value =
        serde_json::from_str(&home.lepo(&["diff", "--turns", "--json", &a, &b]).out).unwrap();
    assert_eq!((&told["same"], &told["different"], &told["only"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(told["pairs"][1]["b"]["text"], "런던입니다. # 1");
    assert_eq!(told["pairs"][2]["b"]["id"], serde_json::Value::Null);
}

#[test]
fn no_answer_stands_under_the_heading_of_the_other() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "q");
    let first = home.add(&["--kind", "a"], "x\n## B: gpt\nsaid by nobody");
    let second = home.add(&["--kind", "a", "--prev", &question], "y");
    let ran = home.lepo(&["diff", "--turns", &first, &second]);
    assert!(ran.out.contains("\n ## B: gpt\n") && ran.out.matches("\n## B").count() == 1, "{}", ran.out);
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
