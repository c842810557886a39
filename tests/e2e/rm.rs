//! `rm`: exactly what one tail alone needs, after a look and a yes.

use std::io::{Read, Write};

use crate::home::{Home, finish, run};
use crate::pty::on_terminal;

/// A question with two answers, the first with a tool call beside it. The ids: question, call, answer, other.
fn forked(home: &Home) -> [String; 4] {
    let question = home.add(&[], "why?");
    let call = home.add(&["--kind", "a", "--hidden", "--prev", &question], "{}");
    home.add(&["--kind", "t", "--hidden", "--prev", &call], "result");
    let other = home.add(&["--kind", "a", "--prev", &question], "because");
    let answer = home.add(&["--kind", "a", "--prev", &question], "therefore");
    [question, call, answer, other]
}

#[test]
fn a_conversation_without_a_fork_goes_whole_and_from_its_end() {
    let home = Home::new();
    let ids = [home.add(&[], "one"), home.add(&["--kind", "a"], "two"), home.add(&[], "셋")];
    let paths: Vec<String> =
        ids.iter().rev().map(|id| home.ok(&["resolve", "--path", id]).trim().to_string()).collect();
    let listed = paths.join("\n") + "\n";
    assert_eq!(home.ok(&["rm", "-n", "@"]), listed);
    assert_eq!(home.bubbs().len(), 3);
    assert_eq!(home.ok(&["rm", "-y", "@"]), listed);
    assert!(home.bubbs().is_empty());
}

#[test]
fn what_another_conversation_needs_stays() {
    let home = Home::new();
    let [question, _, answer, other] = forked(&home);
    assert_eq!(home.ok(&["rm", "-y", &answer]).lines().count(), 1);
    // The last answer takes the question and its tool call along.
    assert_eq!(home.ok(&["rm", "-n", &other]).lines().count(), 4);
    let ran = home.lepo(&["rm", "-y", &question]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains(&format!("{question} is not the end of a conversation: {other} follows it")),
        "{}",
        ran.err
    );
    home.ok(&["rm", "-y", &other]);
    assert!(home.bubbs().is_empty());
}

#[test]
fn what_a_conversation_of_another_user_follows_stays_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let remote = crate::sync::remote(dir.path());
    let (me, alice) = (crate::sync::clone("me@x"), crate::sync::clone("alice@x"));
    let question = me.add(&["--prev", "head"], "why?");
    let answer = me.add(&["--kind", "a"], "because");
    me.add(&[], "and how?");
    let end = me.add(&["--kind", "a"], "like this");
    assert_eq!(crate::sync::begin(&me, &remote, "me").code, 0);
    alice.add(&["--prev", "head"], "unrelated");
    assert_eq!(crate::sync::begin(&alice, &remote, "alice").code, 0);
    let hers = alice.add(&["--prev", &format!("me/{answer}")], "since when?");
    assert_eq!(alice.alone(&["sync"]).code, 0);
    assert_eq!(me.alone(&["sync"]).code, 0);
    // She continued in the middle: what is before stays.
    let ran = me.alone(&["rm", "-y", "@"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{}", ran.err);
    let note = "note: 2 messages before it stay, because alice continued them (--force deletes them, too)";
    assert!(ran.err.contains(note), "{}", ran.err);
    assert!(me.ok(&["show", &hers]).contains("because"));
    // She continued the end: nothing is deleted, by rule neither.
    for args in [&["rm", "-y", "@"][..], &["rm", "-n", &answer]] {
        let ran = me.alone(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains(&format!("alice continued {answer}: {hers} follows it")), "{}", ran.err);
        assert!(ran.err.contains("--force deletes it here"), "{}", ran.err);
    }
    let message = me.alone(&["rm", "-y", "--older-than", "0h"]).err;
    let note = "note: 2 messages stay, because alice continued them (--force deletes them, too)\nnothing to delete\n";
    assert_eq!(message, note);
    // A branch on a message that another user continued does not block the removal, because that message stays.
    me.add(&["--prev", &answer], "more");
    me.ok(&["branch", "main", &answer]);
    assert_eq!(me.ok(&["rm", "-n", "@"]).lines().count(), 1);
    me.ok(&["rm", "-y", "@"]);
    me.ok(&["branch", "-d", "main"]);
    assert_eq!(me.alone(&["rm", "-y", &hers]).code, 2);
    assert_eq!(me.ok(&["rm", "-y", "--force", "@"]).lines().count(), 2);
    assert!(!me.ok(&["log", "--all"]).contains(&question) && !me.ok(&["ls"]).contains(&end));
}

#[test]
fn many_go_at_once_and_by_rule() {
    let home = Home::new();
    let [question, _, answer, other] = forked(&home);
    home.add(&["--prev", "head", "--time", "2020-03-01T12:00Z"], "old question");
    let old = home.ok(&["ls"]).lines().last().unwrap().split(' ').next().unwrap().to_string();
    home.add(&["--kind", "a", "--prev", &old, "--time", "2020-03-01T12:01Z"], "old answer");
    let kept = home.add(&["--prev", "head", "--time", "2020-05-01T12:00Z"], "kept");
    home.ok(&["branch", "keep/this", &kept]);
    let asked = home.add(&["--prev", "head"], "unanswered");

    let unanswered = home.ok(&["rm", "-n", "--unanswered"]);
    assert_eq!(unanswered.lines().count(), 1, "{unanswered}");
    assert!(unanswered.contains(&asked), "{unanswered}");
    assert_eq!(home.ok(&["rm", "-n", "--older-than", "90d"]).lines().count(), 2);
    let ran = home.lepo_with(&["rm", "-y", "-"], format!("{answer}\n{other}\n").as_bytes());
    assert_eq!((ran.code, ran.out.lines().count()), (0, 5), "{}", ran.err);
    assert!(!home.ok(&["log", "--all"]).contains(&question));
    assert_eq!(home.lepo(&["rm", "-y", &kept, &asked]).code, 1, "a branch names one of them");
    home.ok(&["rm", "-y", "--older-than", "90d"]);
    home.ok(&["rm", "-y", "--unanswered"]);
    assert_eq!(home.bubbs().len(), 1, "{old}");
    assert_eq!(home.ok(&["resolve", "keep/this"]), format!("{kept}\n"));
    for nothing in
        [&["rm", "-n", "--unanswered"][..], &["rm", "-y", "--older-than", "90d"], &["rm", "-y", "-"]]
    {
        let ran = home.lepo(nothing);
        assert_eq!((ran.code, ran.err.as_str()), (0, "nothing to delete\n"), "{nothing:?}");
    }
    for wrong in
        [&["rm"][..], &["rm", "--older-than", "soon"], &["rm", "@", "--unanswered"], &["rm", "-n", "@^..@"]]
    {
        assert_eq!(home.lepo(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn refused_while_a_branch_names_any_of_it() {
    let home = Home::new();
    let first = home.add(&[], "one");
    home.add(&["--kind", "a"], "two");
    home.ok(&["branch", "main", &first]);
    for flag in ["-n", "-y"] {
        let ran = home.lepo(&["rm", flag, "@"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains(&format!("branch main names {first}")), "{}", ran.err);
    }
    home.ok(&["branch", "-d", "main"]);
    home.ok(&["rm", "-y", "@"]);
    assert!(home.bubbs().is_empty());
}

#[test]
fn without_a_terminal_it_needs_a_yes_beforehand() {
    let home = Home::new();
    home.add(&[], "one");
    let ran = run(home.detached(&["rm", "@"]), b"y\n");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("no terminal"), "{}", ran.err);
    assert_eq!(home.bubbs().len(), 1);
}

#[test]
fn on_a_terminal_it_asks() {
    for (answer, code, left) in [("n\n", 1, 2), ("\n", 1, 2), ("y\n", 0, 0)] {
        let home = Home::new();
        home.add(&[], "one");
        home.add(&["--kind", "a"], "two");
        let ran = on_terminal(home.command(&["rm", "@"]), &[("(y/N): ", answer)]);
        assert_eq!(ran.code, code, "{answer:?} {}", ran.out);
        assert!(ran.out.contains("Delete these 2 files of `one`? (y/N): "), "{}", ran.out);
        assert_eq!(home.bubbs().len(), left, "{answer:?}");
    }
}

#[test]
fn a_conversation_that_went_on_during_the_question_stays() {
    use std::process::Stdio;
    let home = Home::new();
    home.add(&[], "one");
    // The terminal shows that the question stands; only then the conversation goes on.
    let mut command = home.terminal("lepo rm @");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut shown = Vec::new();
    while !shown.ends_with(b"(y/N): ") {
        let mut byte = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        shown.extend(byte);
    }
    home.add(&["--kind", "a"], "two");
    child.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("follows it"), "{}", ran.out);
    assert_eq!(home.bubbs().len(), 2, "{}", ran.out);
}

#[test]
fn blobs_go_with_the_last_that_names_them() {
    let home = Home::new();
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    home.write(&format!("work/.lepo/_blobs/{a}"), "big");
    home.write(&format!("work/.lepo/_blobs/{b}"), "bigger");
    let line = |hash: &str| format!("[1,234 bytes: _blobs/{hash}]");
    home.add(&["--kind", "s"], &format!("$ make\n{}\n{}", line(&a), line(&b)));
    home.add(&["--kind", "s", "--prev", "head"], &format!("$ make again\n{}", line(&a)));
    let blobs = || std::fs::read_dir(home.work().join(".lepo/_blobs")).unwrap().count();
    assert_eq!(home.ok(&["rm", "-y", "@"]).lines().count(), 1);
    assert_eq!(blobs(), 2);
    let listed = home.ok(&["rm", "-y", "@"]);
    assert_eq!(
        listed.lines().skip(1).collect::<Vec<_>>(),
        [format!(".lepo/_blobs/{a}"), format!(".lepo/_blobs/{b}")]
    );
    assert_eq!(blobs(), 0);
}

#[test]
fn a_name_in_lower_case_goes_too() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/01jb3z0q4n8v2k5t7w9x1y3z5a-u0-head.md", "one");
    assert_eq!(home.ok(&["rm", "-y", "@"]), ".lepo/01jb3z0q4n8v2k5t7w9x1y3z5a-u0-head.md\n");
    assert!(home.bubbs().is_empty());
}
