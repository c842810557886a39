//! `sync` against others who may write to the remote: refs, removals, trees, names and repositories of theirs.

use std::path::Path;

use crate::home::{Home, Ran, run};
use crate::pty::on_terminal;
use crate::sync::{begin, clone, ids, remote};

/// Runs lines of a shell that must succeed, with the remote in `$REMOTE`.
fn script(home: &Home, remote: &Path, lines: &str) {
    let made = home.shell(&format!("set -e\n{lines}")).env("REMOTE", remote).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// lepo, ended after a minute where it hangs: code 124.
fn bounded(home: &Home, args: &[&str]) -> Ran {
    run(home.program("timeout", &[&["60", "setsid", "-w", env!("CARGO_BIN_EXE_lepo")], args].concat()), b"")
}

/// Adds so many messages by one import.
fn import(home: &Home, count: usize) {
    let line = |i| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"question {i}\"}}]}}\n");
    home.write("work/all.jsonl", (0..count).map(line).collect::<String>());
    home.ok(&["import", "messages", "all.jsonl"]);
}

/// The ids of the messages of the store itself.
fn own(home: &Home) -> Vec<String> {
    let mut ids: Vec<String> = home.bubbs().iter().map(|name| name[..26].to_string()).collect();
    ids.sort();
    ids
}

fn remove_all(home: &Home) {
    let all = ids(home);
    home.ok(&[&["rm", "-y"], all.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat());
}

#[test]
fn another_hand_on_this_clones_ref_takes_nothing_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    import(&me, 120);
    assert_eq!(begin(&me, &remote, "me").code, 0);
    let before = own(&me);
    me.write("gone", before.iter().skip(1).map(|id| format!("{id} 1 0\n")).collect::<String>());
    script(
        &me,
        &remote,
        r#"
        export GIT_DIR="$REMOTE"
        git config user.name x; git config user.email me@x
        blob=$(git hash-object -w "$HOME/gone")
        tree=$(printf '100644 blob %s\t_gone\n' "$blob" | git mktree)
        git update-ref refs/lepo/me "$(git commit-tree -m x -p refs/lepo/me "$tree")"
        "#,
    );
    let ran = me.alone(&["sync", "--yes"]);
    assert!(
        ran.out.contains("another clone writes as me: this one is now named me-2"),
        "{} {}",
        ran.out,
        ran.err
    );
    let ran = me.alone(&["sync", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("me has your git email") && ran.err.contains("lepo sync --mine me"),
        "{}",
        ran.err
    );
    assert_eq!(own(&me), before);
    assert!(!me.alone(&["sync", "--status"]).out.contains("yours:"));
}

#[test]
fn two_hosts_of_one_name_do_not_become_one_person() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, other) = (clone("me@x"), clone("other@x"));
    me.add(&["--prev", "head"], "mine");
    other.add(&["--prev", "head"], "another person's");
    assert_eq!(begin(&me, &remote, "host").code, 0);
    // The ref was not there when the other one looked.
    script(&me, &remote, r#"git --git-dir "$REMOTE" update-ref -d refs/lepo/host"#);
    assert_eq!(begin(&other, &remote, "host").code, 0);
    let ran = me.alone(&["sync"]);
    assert!(ran.out.contains("this one is now named host-2"), "{} {}", ran.out, ran.err);
    assert_eq!(me.alone(&["sync"]).code, 0);
    assert_eq!(own(&me).len(), 1);
    assert!(me.ok(&["ls"]).contains("host/"), "{}", me.ok(&["ls"]));
}

#[test]
fn a_confirmation_counts_for_one_remote() {
    let dir = tempfile::tempdir().unwrap();
    let one = remote(dir.path());
    std::fs::create_dir(dir.path().join("other")).unwrap();
    let two = remote(&dir.path().join("other"));
    let (me, desk, stranger) = (clone("me@x"), clone("me@x"), clone("me@x"));
    me.add(&["--prev", "head"], "mine");
    desk.add(&["--prev", "head"], "from the desk");
    stranger.add(&["--prev", "head"], "a stranger's");
    begin(&me, &one, "me");
    begin(&desk, &one, "desk");
    begin(&stranger, &two, "desk");
    assert!(me.alone(&["sync", "--mine", "desk"]).out.contains("from desk (yours): 1 message"));
    let ran = me.alone(&["sync", "--yes", &two.to_string_lossy()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("`lepo sync --mine desk`"), "{} {}", ran.out, ran.err);
    assert_eq!(own(&me).len(), 2);
    assert!(ran.err.contains("and in its history what was removed"), "{}", ran.err);
}

#[test]
fn a_confirmed_ref_that_was_replaced_is_left_alone_until_confirmed_again() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk) = (clone("me@x"), clone("me@x"));
    me.add(&["--prev", "head"], "mine");
    desk.add(&["--prev", "head"], "from the desk");
    begin(&me, &remote, "me");
    begin(&desk, &remote, "desk");
    assert_eq!(me.alone(&["sync", "--mine", "desk"]).code, 0);
    // It goes on: nothing is asked.
    desk.add(&["--prev", "head"], "more");
    desk.alone(&["sync"]);
    assert!(me.alone(&["sync"]).out.contains("from desk (yours): 1 message"));
    // It is replaced.
    desk.alone(&["sync", "--forget"]);
    let later = desk.add(&["--prev", "head"], "after that");
    desk.alone(&["sync"]);
    for _ in 0..2 {
        let ran = me.alone(&["sync"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = "the ref of desk was replaced since it was merged";
        assert!(ran.err.contains(words) && ran.err.contains("`lepo sync --mine desk`"), "{}", ran.err);
        assert!(!own(&me).contains(&later));
    }
    let ran = on_terminal(me.command(&["sync"]), &[("(y/N): ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(own(&me).contains(&later));
    assert_eq!(me.alone(&["sync"]).err, "");
    // A clone can be given up, too: what comes of it then is another person's.
    assert_eq!(me.alone(&["sync", "--not-mine", "desk"]).code, 0);
    let last = desk.add(&["--prev", "head"], "the last");
    desk.alone(&["sync"]);
    assert_eq!(me.alone(&["sync"]).out.matches("from desk:").count(), 1);
    assert!(!own(&me).contains(&last) && me.ok(&["show", "--one", "desk/@"]).contains("the last"));
}

#[test]
fn most_messages_are_removed_by_another_clone_only_on_a_yes() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk) = (clone("me@x"), clone("me@x"));
    import(&me, 60);
    me.add(&["--prev", "head"], "one more");
    desk.add(&["--prev", "head"], "from the desk");
    begin(&me, &remote, "me");
    begin(&desk, &remote, "desk");
    desk.alone(&["sync", "--mine", "me"]);
    me.alone(&["sync", "--mine", "desk"]);
    remove_all(&desk);
    assert_eq!(desk.alone(&["sync", "--yes"]).code, 0);
    let words = "desk removed 62 of the 62 messages here";
    for args in [&["sync"][..], &["sync", "--watch", "1"]] {
        let ran = bounded(&me, args);
        assert_eq!(ran.code, 2, "{args:?} {} {}", ran.out, ran.err);
        assert!(ran.err.contains(words) && ran.err.contains("lepo sync --yes"), "{}", ran.err);
        assert_eq!(own(&me).len(), 62);
    }
    let ran = on_terminal(me.command(&["sync"]), &[("(y/N): ", "n\n")]);
    assert!(ran.code == 1 && ran.out.contains(words), "{} {}", ran.code, ran.out);
    assert_eq!(own(&me).len(), 62);
    let ran = on_terminal(me.command(&["sync"]), &[("(y/N): ", "y\n")]);
    assert!(ran.code == 0 && ran.out.contains("removed 62 messages"), "{} {}", ran.code, ran.out);
    assert_eq!(own(&me).len(), 0);
}

#[test]
fn a_few_at_a_time_are_counted_together() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk) = (clone("me@x"), clone("me@x"));
    import(&me, 60);
    desk.add(&["--prev", "head"], "from the desk");
    begin(&me, &remote, "me");
    begin(&desk, &remote, "desk");
    desk.alone(&["sync", "--mine", "me"]);
    me.alone(&["sync", "--mine", "desk"]);
    let all = ids(&desk);
    let mut codes = Vec::new();
    for some in all.chunks(20) {
        desk.ok(&[&["rm", "-y"], some.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat());
        desk.alone(&["sync", "--yes"]);
        codes.push(me.alone(&["sync"]).code);
    }
    assert_eq!(codes, [0, 0, 2, 2]);
    assert_eq!(own(&me).len(), 21);
    assert_eq!(me.alone(&["sync", "--yes"]).code, 0);
    assert_eq!(own(&me).len(), 0);
}

#[test]
fn trees_within_trees_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    alice.add(&["--prev", "head"], "hers");
    begin(&me, &remote, "me");
    begin(&alice, &remote, "zalice");
    script(
        &me,
        &remote,
        r#"
        export GIT_DIR="$REMOTE"
        git config user.name m; git config user.email m@x
        blob=$(echo text | git hash-object -w --stdin)
        entry="100644 blob $blob"
        for level in $(seq 39); do
            tree=$(printf '%s\t26\n%s\t27\n' "$entry" "$entry" | git mktree)
            entry="040000 tree $tree"
        done
        for name in 2024-10 _blobs _branches other; do printf '%s\t%s\n' "$entry" "$name"; done > list
        tree=$(git mktree < list)
        git update-ref refs/lepo/mallory "$(git commit-tree -m m "$tree")"
        git update-ref refs/lepo/nora "$(git commit-tree -m m -p refs/lepo/zalice "$tree")"
        "#,
    );
    let ran = bounded(&me, &["sync"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("from mallory: left out 2024-10/26/26: "), "{}", ran.out);
    assert!(ran.out.contains("from mallory: left out other: "), "{}", ran.out);
    assert!(me.ok(&["ls"]).contains("hers"));
    // As a clone of one's own, too.
    let ran = bounded(&me, &["sync", "--mine", "mallory", "--mine", "nora"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(bounded(&me, &["sync"]).out, "");
}

#[test]
fn a_branch_file_holds_an_id_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    let hers = alice.add(&["--prev", "head"], "hers");
    alice.ok(&["branch", "good", &hers]);
    begin(&me, &remote, "me");
    begin(&alice, &remote, "alice");
    script(
        &me,
        &remote,
        &format!(
            r#"
            export GIT_DIR="$REMOTE" GIT_INDEX_FILE=$PWD/index
            git config user.name m; git config user.email m@x
            git read-tree refs/lepo/alice
            blob=$( (echo {hers}; head -c 5000 /dev/zero | tr '\0' '\n') | git hash-object -w --stdin)
            git update-index --add --cacheinfo 100644,$blob,_branches/padded
            git update-ref refs/lepo/alice "$(git commit-tree -m m -p refs/lepo/alice "$(git write-tree)")"
            "#
        ),
    );
    assert!(me.alone(&["sync"]).out.contains("from alice: 1 message, 1 branch\n"));
    assert_eq!(me.ok(&["resolve", "alice/good"]).trim(), hers);
    assert_ne!(me.lepo(&["resolve", "alice/padded"]).code, 0);
}

#[test]
fn a_repository_that_came_with_a_clone_runs_no_hook() {
    let dir = tempfile::tempdir().unwrap();
    let me = clone("me@x");
    script(
        &me,
        dir.path(),
        r#"
        git init -q .
        git init -q --bare sub/evil.git
        printf '#!/bin/sh\ntouch "$HOME/TRIPPED"\n' > sub/evil.git/hooks/pre-receive
        chmod +x sub/evil.git/hooks/pre-receive
        cp -r sub/evil.git "$REMOTE/outside.git"
        ln -s "$PWD/sub/evil.git" "$REMOTE/link.git"
        git remote add evil sub/evil.git
        git remote add outside "$REMOTE/outside.git"
        mkdir deeper
        "#,
    );
    me.add(&["--prev", "head"], "mine");
    let inside = me.work().join("sub/evil.git").to_string_lossy().into_owned();
    let link = dir.path().join("link.git").to_string_lossy().into_owned();
    let encoded = format!("file://{}", inside.replace("evil", "%65vil"));
    let scheme = format!("FILE://localhost{inside}");
    for path in [
        "sub/evil.git",
        "./sub/evil.git",
        ".",
        &inside,
        &link,
        &format!("file://{inside}"),
        &encoded,
        &scheme,
        "evil",
    ] {
        let ran = me.alone(&["sync", "--yes", path]);
        assert_eq!(ran.code, 2, "{path} {} {}", ran.out, ran.err);
        assert!(ran.err.contains("inside the working tree"), "{path} {}", ran.err);
    }
    let below = ["-c", "deeper", "sync", "--yes", "../sub/evil.git"];
    assert_eq!(me.alone(&below).code, 2);
    assert_eq!(me.read("TRIPPED"), "");
    assert!(!me.path().join("TRIPPED").exists());
    // Elsewhere it is the user's choice, who is told.
    for args in [&["sync", "outside"][..], &["sync", "--yes", "outside"]] {
        let ran = me.alone(args);
        assert_eq!(ran.code, if args.len() == 2 { 2 } else { 0 }, "{}", ran.err);
        assert!(ran.err.contains("its hooks run"), "{}", ran.err);
    }
}

#[test]
fn a_first_sync_says_who_will_be_able_to_read() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    me.add(&["--prev", "head"], "mine");
    let url = remote.to_string_lossy().into_owned();
    let words = format!("everyone who can read {url} can read every message of this store");
    let ran = me.alone(&["sync", &url]);
    assert!(ran.code == 2 && ran.err.contains(&words), "{}", ran.err);
    let ran = me.alone(&["sync", "--yes", &url]);
    assert!(ran.code == 0 && ran.err.contains(&words), "{}", ran.err);
    assert_eq!(me.alone(&["sync", "--yes", &url]).err, "");
}

#[test]
fn ones_own_clones_are_found_among_any_number_of_strange_refs() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, zed, alice) = (clone("me@x"), clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    let theirs = zed.add(&["--prev", "head"], "from zed");
    alice.add(&["--prev", "head"], "hers");
    begin(&me, &remote, "me");
    begin(&alice, &remote, "x-alice");
    me.alone(&["sync"]);
    script(
        &me,
        &remote,
        r#"
        export GIT_DIR="$REMOTE"
        tree=$(git mktree </dev/null)
        commit=$(git -c user.name=m -c user.email=m@x commit-tree -m m "$tree")
        for i in $(seq 260); do echo "create refs/lepo/aaa-$i $commit"; done | git update-ref --stdin
        "#,
    );
    assert_eq!(begin(&zed, &remote, "zed").code, 0);
    let more = alice.add(&["--prev", "head"], "more of hers");
    alice.alone(&["sync"]);
    let ran = bounded(&me, &["sync", "--mine", "zed"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("from zed (yours): 1 message"), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("from x-alice: 1 message"), "{} {}", ran.out, ran.err);
    assert!(own(&me).contains(&theirs) && !own(&me).contains(&more));
    assert!(ran.err.contains("6 more clones on the remote are not looked at"), "{}", ran.err);
}

#[test]
fn what_came_back_for_a_branch_is_told_as_that() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    let first = a.add(&["--prev", "head"], "one");
    let second = a.add(&["--kind", "a"], "two");
    begin(&a, &remote, "a");
    b.add(&["--prev", "head"], "elsewhere");
    begin(&b, &remote, "b");
    b.alone(&["sync", "--mine", "a"]);
    a.alone(&["sync", "--mine", "b"]);
    a.ok(&["rm", "-y", &second]);
    b.ok(&["branch", "plans/main", &second]);
    b.alone(&["sync"]);
    let ran = a.alone(&["sync"]);
    assert!(
        ran.out.contains(&format!("{second} was restored: branch plans/main names it\n")),
        "{} {}",
        ran.out,
        ran.err
    );
    assert!(ran.out.contains(&format!("{first} was restored: another message follows it\n")), "{}", ran.out);
}

#[test]
fn no_branch_of_ones_own_takes_the_place_of_anothers() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    let mine = me.add(&["--prev", "head"], "mine");
    me.ok(&["branch", "main"]);
    let hers = alice.add(&["--prev", "head"], "hers");
    alice.ok(&["branch", "try", &hers]);
    begin(&me, &remote, "me");
    begin(&alice, &remote, "alice");
    me.alone(&["sync"]);
    for args in [
        &["branch", "alice/try"][..],
        &["branch", "-f", "alice/try"],
        &["branch", "alice/new", &mine],
        &["branch", "-m", "main", "alice/try"],
        &["branch", "-f", "-m", "main", "alice/try"],
    ] {
        let ran = me.lepo(args);
        assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
        assert!(ran.err.contains("is an address of alice's messages"), "{}", ran.err);
    }
    assert_eq!(me.ok(&["resolve", "alice/try"]).trim(), hers);
    assert_eq!(me.ok(&["branch"]), format!("main {mine} (1): mine\nalice/try {hers} (1): hers\n"));
    let listed: serde_json::Value = serde_json::from_str(&me.ok(&["branch", "--json"])).unwrap();
    assert_eq!(listed["branches"][1]["from"], "alice");
    assert_eq!(listed["branches"][0]["from"], serde_json::Value::Null);
    // One that was there before a person of that name came stays one's own.
    me.ok(&["branch", "bob/x"]);
    std::fs::create_dir_all(me.work().join(".lepo/_from/bob")).unwrap();
    me.ok(&["branch", "-f", "bob/x"]);
    assert_eq!(me.lepo(&["branch", "bob/y"]).code, 2);
}
