//! `undo` at its limits: several processes at once, a disk that is full, a state folder that cannot be written.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::disk::put_all;
use crate::home::{Home, finish, run};

/// Conversations of two messages each; the ids of their last messages.
fn conversations(home: &Home, count: u64) -> Vec<String> {
    home.ok(&["init"]);
    let make = |number: u64| {
        let texts = [format!("question {number}"), format!("answer {number}")];
        put_all(home, 1_760_000_000_000 + 10_000 * number, texts).pop().unwrap()
    };
    (0..count).map(make).collect()
}

/// Starts all commands before it waits for the first.
fn all_at_once(home: &Home, commands: &[Vec<&str>]) -> Vec<i32> {
    let start = |args: &Vec<&str>| -> Child {
        let mut command = home.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = commands.iter().map(start).collect();
    children.into_iter().map(|child| finish(child).code).collect()
}

fn changes(home: &Home) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&home.ok(&["undo", "--list", "--json"])).unwrap();
    listed["changes"].as_array().unwrap().clone()
}

#[test]
fn processes_at_once_make_and_take_back_one_change_after_the_other() {
    const COUNT: usize = 16;
    let home = Home::new();
    let tails = conversations(&home, COUNT as u64);
    let before = home.bubbs();
    for _ in 0..3 {
        let known = changes(&home).len();
        let removals: Vec<Vec<&str>> = tails.iter().map(|tail| vec!["rm", "-y", tail]).collect();
        assert_eq!(all_at_once(&home, &removals), [0; COUNT]);
        assert_eq!(home.bubbs().len(), 0);
        let numbers: BTreeSet<u64> =
            changes(&home).iter().map(|change| change["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=(known + COUNT) as u64).collect(), "no number is taken twice");
        assert_eq!(all_at_once(&home, &vec![vec!["undo"]; COUNT]), [0; COUNT]);
        assert_eq!(home.bubbs(), before);
        assert_eq!(home.ok(&["fsck"]), "");
    }
    // Removals and undos among each other: whatever the order was, the list says what is there.
    let mut mixed: Vec<Vec<&str>> = Vec::new();
    for tail in &tails {
        mixed.extend([vec!["rm", "-y", tail], vec!["undo"], vec!["branch", tail.as_str(), tail]]);
    }
    let codes = all_at_once(&home, &mixed);
    assert!(codes.iter().all(|code| [0, 1, 2].contains(code)), "{codes:?}");
    assert_eq!(home.ok(&["fsck"]), "");
    while home.lepo(&["undo"]).code == 0 {}
    assert_eq!(home.bubbs(), before);
    assert_eq!(home.ok(&["branch"]), "");
    assert!(changes(&home).iter().all(|change| change["taken_back"] == true));
}

#[test]
fn on_a_full_disk_nothing_is_removed_but_at_once() {
    let home = Home::new();
    // Names of more messages than a page of the list has room for.
    let script = r#"
        mount -t tmpfs -o size=1m,mode=700 none . && cd "$PWD" || exit 99
        export XDG_STATE_HOME="$PWD/state"
        prev=head
        for i in $(seq 80); do prev=$(echo "message $i" | lepo add --prev $prev) || exit 98; done
        echo one | lepo add --prev head > small || exit 97
        lepo rm -y "$(cat small)" > out || exit 96
        head -c 2m /dev/zero > filler
        while echo 0123456789abcdef >> filler2; do :; done 2> /dev/null
        ls .lepo | grep -c '^0' > before 2> /dev/null
        count=$(ls .lepo | grep -c '^0')
        lepo rm -y $prev > /dev/null
        code=$?
        [ $code = 5 ] || exit $((100 + code))
        [ "$(ls .lepo | grep -c '^0')" = "$count" ] || exit 95
        lepo rm -y --now $prev > /dev/null || exit 94
        [ "$(ls .lepo | grep -c '^0')" = 0 ] || exit 93
        rm filler filler2
        lepo undo || exit 92
        [ "$(ls .lepo | grep -c '^0')" = 1 ] || exit 91
        lepo fsck || exit 90
    "#;
    let ran = run(home.program("unshare", &["-rm", "sh", "-c", script]), b"");
    if ran.code == 99 || ran.err.contains("unshare") {
        crate::skip::skipped("mount-namespace", format!("no mount namespace here: {}", ran.err));
        return;
    }
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let hint = "hint: nothing was removed; `lepo rm --now` removes at once, which needs no space";
    assert!(ran.err.contains(hint), "{}", ran.err);
}

#[test]
fn a_list_that_cannot_be_written_for_another_reason_does_not_name_rm_now() {
    let home = Home::new();
    let tails = conversations(&home, 1);
    std::fs::create_dir(home.work().join(".lepo/_undo.ndjson")).unwrap();
    let before = home.bubbs();
    let ran = home.lepo(&["rm", "-y", &tails[0]]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(!ran.err.contains("--now"), "{}", ran.err);
    assert_eq!(home.bubbs(), before);
}

#[test]
fn a_state_folder_that_cannot_be_written_does_not_stop_a_removal() {
    let home = Home::new();
    let tails = conversations(&home, 2);
    home.ok(&["rm", "-y", &tails[0]]);
    let record = home.path().join("state/lepo/removed");
    std::fs::remove_dir_all(&record).unwrap();
    std::fs::write(&record, "").unwrap();
    for args in [&["rm", "-y", &tails[1]][..], &["rm", "-y", "--now", &tails[1]]] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("note: an import by a hook may bring it back: cannot write"), "{}", ran.err);
        assert_eq!(home.bubbs().len(), 0);
        if args.len() == 3 {
            home.ok(&["undo"]);
        }
    }
}
