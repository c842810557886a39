//! `sync`: clones of a store against real git servers, on disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::disk::put;
use crate::home::{Home, Ran};
use crate::secrets::{aws_id, github_token, private_key};

/// A bare repository to sync with.
pub fn remote(dir: &Path) -> PathBuf {
    let path = dir.join("remote.git");
    let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(&path).status().unwrap();
    assert!(made.success());
    path
}

/// A bare repository to which anybody may push over HTTP.
pub fn open_remote(dir: &Path) -> PathBuf {
    let path = remote(dir);
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(&path).args(["config", "http.receivepack", "true"]);
    assert!(git.status().unwrap().success());
    path
}

/// A clone: a home with a git email of its own.
pub fn clone(email: &str) -> Home {
    let home = Home::new();
    home.write(".gitconfig", format!("[user]\n\temail = {email}\n\tname = x\n"));
    // The message that is added here is there to be held back.
    home.write("config/config.toml", "secrets = \"off\"\n");
    home
}

pub fn begin(home: &Home, remote: &Path, name: &str) -> Ran {
    let remote = remote.to_string_lossy().into_owned();
    home.alone(&["sync", "--yes", "--as", name, &remote])
}

pub fn ids(home: &Home) -> Vec<String> {
    let mut ids: Vec<String> = home
        .ok(&["log", "--all", "-a", "--json"])
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_string()
        })
        .collect();
    ids.sort();
    ids
}

#[test]
fn clones_of_one_person_become_one_set_and_what_is_removed_stays_removed() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    a.add(&["--prev", "head"], "why?");
    let answer = a.add(&["--kind", "a"], "so");
    a.ok(&["branch", "main", &answer]);
    let ran = begin(&a, &remote, "laptop");
    assert_eq!((ran.code, ran.out.as_str()), (0, "sent 2 messages, 1 branch as laptop\n"), "{}", ran.err);
    b.add(&["--prev", "head"], "elsewhere");
    let ran = begin(&b, &remote, "desktop");
    assert!(ran.err.contains("lepo sync --mine laptop"), "{}", ran.err);
    let ran = b.alone(&["sync", "--mine", "laptop"]);
    assert!(ran.out.contains("from laptop (yours): 2 messages"), "{} {}", ran.out, ran.err);
    assert_eq!(b.ok(&["resolve", "main"]).trim(), answer);
    let ran = a.alone(&["sync", "--mine", "desktop"]);
    assert!(ran.out.contains("from desktop (yours): 1 message"), "{} {}", ran.out, ran.err);
    assert_eq!(ids(&a), ids(&b));

    // Removed on one, it is removed on the other and does not come back.
    a.ok(&["branch", "-d", "main"]);
    a.ok(&["rm", "-y", &answer]);
    assert_eq!(a.alone(&["sync"]).code, 0);
    let ran = b.alone(&["sync"]);
    assert!(ran.out.contains("removed 2 messages"), "{} {}", ran.out, ran.err);
    assert_eq!(a.alone(&["sync"]).out, "");
    assert_eq!(ids(&a), ids(&b));
    assert!(!ids(&a).contains(&answer) && !b.ok(&["branch"]).contains("main"));

    // Removed on one while the other goes on from it, it comes back.
    let target = ids(&a)[0].clone();
    a.ok(&["rm", "-y", &target]);
    let more = b.add(&["--prev", &target], "going on");
    assert_eq!(b.alone(&["sync"]).code, 0);
    let ran = a.alone(&["sync"]);
    assert!(ran.out.contains("was restored"), "{} {}", ran.out, ran.err);
    b.alone(&["sync"]);
    a.alone(&["sync"]);
    assert_eq!(ids(&a), ids(&b));
    assert!(ids(&a).contains(&more) && ids(&a).contains(&target));
    // Both are told, too, if the one that removed it has sent that before the other went on.
    a.ok(&["rm", "-y", &more]);
    assert_eq!(a.alone(&["sync"]).code, 0);
    b.add(&["--prev", &more], "and on");
    for home in [&b, &a] {
        let ran = home.alone(&["sync"]);
        assert!(ran.out.contains(&format!("{more} was restored")), "{} {}", ran.out, ran.err);
    }
    assert_eq!(a.alone(&["sync"]).out, "");
    assert_eq!(ids(&a), ids(&b));
    assert_eq!(a.lepo(&["fsck"]).code, 0);
}

#[test]
fn a_removal_is_brought_back_on_either_side_and_the_other_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    a.add(&["--prev", "head"], "why?");
    let answer = a.add(&["--kind", "a"], "so");
    begin(&a, &remote, "laptop");
    begin(&b, &remote, "desktop");
    b.alone(&["sync", "--mine", "laptop"]);
    a.alone(&["sync", "--mine", "desktop"]);
    a.ok(&["branch", "main", &answer]);
    a.alone(&["sync"]);
    b.alone(&["sync"]);
    assert_eq!(b.ok(&["resolve", "main"]).trim(), answer);
    let remove = || {
        a.ok(&["branch", "-d", "main"]);
        a.ok(&["rm", "-y", &answer]);
        a.alone(&["sync"]);
        b.alone(&["sync"])
    };
    // Where it was removed, after the others were told.
    let ran = remove();
    assert!(ran.out.contains("removed 2 messages"), "{} {}", ran.out, ran.err);
    a.ok(&["undo"]);
    a.alone(&["sync"]);
    let ran = b.alone(&["sync"]);
    assert!(ran.out.contains(&format!("{answer} was brought back")), "{} {}", ran.out, ran.err);
    assert_eq!((ids(&a), ids(&b)), (ids(&b), ids(&a)));
    assert_eq!(ids(&a).len(), 2);
    a.ok(&["undo"]);
    a.alone(&["sync"]);
    b.alone(&["sync"]);
    assert_eq!(b.ok(&["resolve", "main"]).trim(), answer);
    // Where the removal came by sync, with its branch.
    remove();
    assert!(ids(&b).is_empty() && b.ok(&["branch"]).is_empty());
    let listed = b.ok(&["undo", "--list"]);
    assert!(
        listed.lines().next().unwrap().contains(" sync 2 messages removed, branch main deleted"),
        "{listed}"
    );
    let ran = b.lepo(&["undo"]);
    assert!(ran.err.contains("the next sync brings it back in your other clones"), "{}", ran.err);
    b.alone(&["sync"]);
    let ran = a.alone(&["sync"]);
    assert!(ran.out.contains("was restored: branch main names it"), "{} {}", ran.out, ran.err);
    assert_eq!(ids(&a), ids(&b));
    assert_eq!((ids(&a).len(), a.ok(&["resolve", "main"]).trim().to_string()), (2, answer));
    assert_eq!((a.alone(&["sync"]).out, b.alone(&["sync"]).out), (String::new(), String::new()));
}

#[test]
fn other_people_are_read_beside_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    let mine = me.add(&["--prev", "head"], "my question");
    begin(&me, &remote, "me");
    let theirs = alice.add(&["--prev", "head"], "her question");
    alice.ok(&["branch", "try", &theirs]);
    begin(&alice, &remote, "alice");
    let ran = me.alone(&["sync"]);
    assert!(ran.out.contains("from alice: 1 message, 1 branch"), "{} {}", ran.out, ran.err);
    assert!(me.ok(&["-s", ".lepo/_from/alice", "ls"]).starts_with(&theirs));
    assert_eq!(me.ok(&["resolve", "@"]).trim(), mine);
    assert_eq!(me.lepo(&["fsck"]).code, 0);
    // The union is listed, searched and addressed; a whole id needs no name before it.
    assert_eq!(me.ok(&["ls"]), format!("alice/{theirs} (1): her question\n{mine} (1): my question\n"));
    for address in ["alice/@", "alice/try", &format!("alice/{theirs}"), &theirs] {
        assert_eq!(me.ok(&["show", "--one", address]), "her question", "{address}");
    }
    assert!(me.ok(&["grep", "-l", "her"]).contains("_from/alice/"));
    assert_eq!(me.ok(&["resolve", "@"]).trim(), mine);
    // Going on from theirs writes one's own.
    let more = me.add(&["--prev", "alice/try"], "and mine below hers");
    assert!(me.ok(&["ls"]).starts_with(&format!("{more} (2): and mine below hers\n{mine}")));
    assert_eq!(me.ok(&["show", &more]).lines().filter(|line| line.starts_with("# user")).count(), 2);
    assert_eq!(me.ok(&["resolve", "@"]).trim(), more);
    assert_eq!(me.lepo(&["branch", "-d", "alice/try"]).code, 1);
    for address in ["alice/@", "alice/try"] {
        let ran = me.lepo(&["rm", "-y", address]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(&format!("{address} is a message of alice")), "{}", ran.err);
    }
    // Her addresses complete.
    let offered = |begun: &str| {
        let mut complete = me.command(&["--", "lepo", "show", begun]);
        complete.env("LEPO_COMPLETE", "fish");
        let lines = crate::home::run(complete, b"").out;
        lines.lines().map(|line| line.split('\t').next().unwrap().to_string()).collect::<Vec<String>>()
    };
    assert!(offered("al").contains(&"alice/@".into()), "{:?}", offered("al"));
    assert!(offered("alice/").contains(&"alice/try".into()), "{:?}", offered("alice/"));
    assert!(offered("alice/0").contains(&format!("alice/{theirs}")), "{:?}", offered("alice/0"));
    // Nothing new: nothing is said.
    assert_eq!(me.alone(&["sync"]).out, "sent 1 message as me\n");
    let ran = me.alone(&["sync"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
}

#[test]
fn what_waits_in_anothers_store_can_not_be_approved() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    alice.add(&["--prev", "head"], "list it");
    let request = alice.add(&["--kind", "s", "--hidden"], r#"{"access":"read","command":"touch TRIPPED"}"#);
    assert!(alice.ok(&["ls", "--pending"]).starts_with(&request));
    begin(&alice, &remote, "alice");
    me.alone(&["sync"]);
    assert_eq!(me.ok(&["ls", "--pending"]), "");
    assert_eq!(me.alone(&["do", "--approve", &request]).code, 2);
}

#[test]
fn secrets_and_edited_messages_are_held_back() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let home = clone("me@x");
    let secret = home.add(&["--prev", "head"], &format!("my key is {}", github_token(1)));
    let id = home.add(&["--prev", "head"], &format!("its id is {}", aws_id()));
    let edited = home.add(&["--prev", "head"], "as said");
    let path = home.work().join(home.ok(&["resolve", "--path", &edited]).trim());
    std::fs::write(path, "changed").unwrap();
    home.add(&["--prev", "head"], "harmless");
    let ran = begin(&home, &remote, "me");
    assert_eq!((ran.code, ran.out.as_str()), (1, "sent 1 message as me\n"), "{}", ran.err);
    assert!(
        ran.err.contains(&format!("held back {secret}: it seems to contain a secret (github-token)")),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains(&format!("held back {id}: it seems to contain a secret (aws-key-id)")),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(&format!("held back {edited}")) && !ran.err.contains("ghp_"), "{}", ran.err);
    let ran = home.alone(&["sync", "--allow", &secret]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "sent 1 message as me\n"), "{}", ran.err);
}

#[test]
fn a_held_blob_is_named_at_each_sync_until_it_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let home = clone("me@x");
    let key = private_key(9);
    let bytes = key.as_bytes();
    let hash = crate::attached::sha256(bytes);
    home.add(&["--prev", "head"], "first");
    home.write(&format!("work/.lepo/_blobs/{hash}"), bytes);
    home.add(&["--kind", "t", "--hidden"], &format!("cut\n[{} bytes: _blobs/{hash}]", bytes.len()));
    let ran = begin(&home, &remote, "me");
    assert_eq!((ran.code, ran.out.as_str()), (1, "sent 2 messages as me\n"), "{}", ran.err);
    let ran = home.alone(&["sync"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(
        ran.err.contains(&format!("held back {hash}: it seems to contain a secret (private-key)")),
        "{}",
        ran.err
    );
    let ran = home.alone(&["sync", "--allow", &hash]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "sent 1 blob as me\n"), "{}", ran.err);
    assert_eq!(home.alone(&["sync"]).out, "");
}

#[test]
fn a_store_that_is_not_whole_removes_nothing_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    a.ok(&["init"]);
    for i in 0..60 {
        put(&a, 1_760_599_230_000 + i, "u0", "head", &format!("message {i}"));
    }
    b.add(&["--prev", "head"], "elsewhere");
    begin(&a, &remote, "a");
    begin(&b, &remote, "b");
    b.alone(&["sync", "--mine", "a"]);
    let (store, aside) = (a.work().join(".lepo"), dir.path().join("aside"));
    std::fs::create_dir(&aside).unwrap();
    for name in a.bubbs() {
        std::fs::rename(store.join(&name), aside.join(&name)).unwrap();
    }
    let ran = a.alone(&["sync"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("60 of 60 sent messages are missing here"), "{}", ran.err);
    b.alone(&["sync"]);
    assert_eq!(ids(&b).len(), 61);
    let ran = a.alone(&["sync", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(b.alone(&["sync"]).code, 2);
    assert_eq!(ids(&b).len(), 61);
    assert_eq!(b.alone(&["sync", "--yes"]).code, 0);
    assert_eq!(ids(&b).len(), 1);
}

#[test]
fn what_is_lost_outside_the_store_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let bare = remote(dir.path());
    let a = clone("me@x");
    a.add(&["--prev", "head"], "one");
    begin(&a, &bare, "a");
    let sent = |remote: &Path| {
        let listed =
            Command::new("git").arg("--git-dir").arg(remote).args(["ls-tree", "-r", "refs/lepo/a"]).output();
        String::from_utf8_lossy(&listed.unwrap().stdout).lines().count()
    };
    assert_eq!(sent(&bare), 1);
    // The remote is made anew, empty: all is sent again.
    std::fs::remove_dir_all(&bare).unwrap();
    remote(dir.path());
    assert_eq!(a.alone(&["sync"]).code, 0);
    assert_eq!(sent(&bare), 1);
    // Another remote gets all as well.
    std::fs::create_dir(dir.path().join("other")).unwrap();
    let other = remote(&dir.path().join("other"));
    assert_eq!(a.alone(&["sync", "--yes", &other.to_string_lossy()]).code, 0);
    assert_eq!(sent(&other), 1);
    // A git that was killed has left locks.
    let states: Vec<_> = std::fs::read_dir(a.path().join("data/lepo/sync")).unwrap().flatten().collect();
    let repository = states[0].path().join("repository.git");
    std::fs::create_dir_all(repository.join("refs/theirs")).unwrap();
    for lock in ["packed-refs.lock", "HEAD.lock", "refs/lepo/a.lock", "refs/theirs/a.lock"] {
        std::fs::write(repository.join(lock), "").unwrap();
    }
    a.add(&["--prev", "head"], "two");
    let ran = a.alone(&["sync"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "sent 1 message as a\n"), "{}", ran.err);
    assert_eq!(sent(&other), 2);
}

#[test]
fn a_copied_clone_takes_a_new_name_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let a = clone("me@x");
    a.add(&["--prev", "head"], "one");
    begin(&a, &remote, "a");
    // The state of a machine that is restored from a backup: the same directory, older contents.
    let state = a.path().join("data/lepo/sync");
    let backup = dir.path().join("backup");
    assert!(Command::new("cp").arg("-a").arg(&state).arg(&backup).status().unwrap().success());
    let two = a.add(&["--prev", "head"], "two");
    a.alone(&["sync"]);
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(&backup, &state).unwrap();
    let name = a.bubbs().into_iter().find(|name| name.starts_with(&two)).unwrap();
    std::fs::remove_file(a.work().join(".lepo").join(name)).unwrap();
    let three = a.add(&["--prev", "head"], "three");
    let ran = a.alone(&["sync"]);
    assert!(
        ran.out.contains("another clone writes as a: this one is now named a-2"),
        "{} {}",
        ran.out,
        ran.err
    );
    // The other one may be anybody's, until it is confirmed.
    let ran = a.alone(&["sync"]);
    assert!(ran.err.contains("`lepo sync --mine a`") && a.bubbs().len() == 2, "{}", ran.err);
    let ran = a.alone(&["sync", "--mine", "a"]);
    assert_eq!((ran.code, a.bubbs().len()), (0, 3), "{}", ran.err);
    assert!(ids(&a).contains(&two) && ids(&a).contains(&three));
}

#[test]
fn a_ref_that_is_no_commit_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    alice.add(&["--prev", "head"], "hers");
    begin(&me, &remote, "me");
    begin(&alice, &remote, "alice");
    let script = r#"
        set -e
        blob=$(echo text | git --git-dir "$REMOTE" hash-object -w --stdin)
        git --git-dir "$REMOTE" update-ref refs/lepo/blob "$blob"
        tree=$(git --git-dir "$REMOTE" mktree </dev/null)
        git --git-dir "$REMOTE" update-ref refs/lepo/tree "$tree"
        printf '%s\n' 0123456789012345678901234567890123456789 > "$REMOTE/refs/lepo/broken"
        # Ten to the tenth paths, of twelve objects.
        long=$(printf '%0200d' 0)
        entry="100644 blob $blob"
        for level in 0 1 2 3 4 5 6 7 8 9; do
            tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '%s\t%s\n' "$entry" "$long$i"; done |
                git --git-dir "$REMOTE" mktree)
            entry="040000 tree $tree"
        done
        commit=$(git --git-dir "$REMOTE" -c user.name=m -c user.email=m@x commit-tree -m m "$tree")
        git --git-dir "$REMOTE" update-ref refs/lepo/mallory "$commit"
        git --git-dir "$REMOTE" update-ref refs/lepo/aaron "$commit"
    "#;
    let made = me.shell(script).env("REMOTE", &remote).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for is_first in [true, false] {
        let ran = me.alone(&["sync"]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        for many in ["mallory", "aaron"] {
            let total = ran.out.matches(&format!("from {many}: left out")).count();
            assert_eq!(total, if is_first { 6 } else { 0 }, "{}", ran.out);
        }
        for bad in ["blob", "tree", "broken"] {
            assert!(ran.err.contains(&format!("warning: {bad} could not be fetched: ")), "{}", ran.err);
        }
    }
    assert!(me.ok(&["ls"]).contains("hers"));
}

const TOKEN_URL: &str = "https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@host/x.git";

#[test]
fn where_to_is_asked_and_bad_remotes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path()).to_string_lossy().into_owned();
    let home = clone("me@x");
    home.add(&["--prev", "head"], "hi");
    assert_eq!(home.alone(&["sync"]).code, 2);
    assert_eq!(home.alone(&["sync", &remote]).code, 2);
    for bad in ["ext::sh -c 'touch TRIPPED'", "https://me:secret@host/x.git", TOKEN_URL, "nosuchremote", ""] {
        let ran = home.alone(&["sync", "--yes", bad]);
        assert_eq!(ran.code, 2, "{bad} {}", ran.err);
        assert!(!ran.err.contains("secret@") && !ran.err.contains("ghp_"), "{}", ran.err);
    }
    assert!(!home.work().join("TRIPPED").exists());
    assert_eq!(home.alone(&["sync", "--status"]).code, 1);
    let gone = dir.path().join("gone.git").to_string_lossy().into_owned();
    let ran = home.alone(&["sync", "--yes", &gone]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(home.alone(&["sync", "--yes", &remote]).code, 0);
    let status = home.alone(&["sync", "--status"]);
    assert!(status.out.contains(&remote), "{}", status.out);
    assert!(status.out.ends_with("\nnot sent yet: 0 messages\n"), "{}", status.out);
    assert!(status.out.contains("\nlast synced: just now\n"), "{}", status.out);
    home.add(&["--prev", "head"], "more");
    assert!(home.alone(&["sync", "--status"]).out.ends_with("\nnot sent yet: 1 message\n"));
    // Another remote has nothing yet.
    assert_eq!(home.alone(&["sync", "--yes", &gone]).code, 3);
    let status = home.alone(&["sync", "--status"]).out;
    assert!(status.ends_with("\nlast synced: never\nnot sent yet: 2 messages\n"), "{status}");
    assert_eq!(home.alone(&["sync", "--yes", &remote]).code, 0);
    let status = home.alone(&["sync", "--status"]).out;
    assert!(status.ends_with("\nlast synced: just now\nnot sent yet: 0 messages\n"), "{status}");
}

#[test]
fn a_store_is_made_where_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let a = clone("me@x");
    let one = a.add(&["--prev", "head"], "one");
    begin(&a, &remote, "a");
    let b = clone("me@x");
    let store = b.work().join(".lepo");
    let ran = b.alone(&["sync"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("`lepo sync URL` makes one"), "{}", ran.err);
    let gone = dir.path().join("gone.git").to_string_lossy().into_owned();
    let remote = remote.to_string_lossy().into_owned();
    for (args, code) in [
        (vec!["sync", "--yes", &gone], 3),
        (vec!["sync", &remote], 2),
        (vec!["sync", "--yes", "--as", "a", &remote], 2),
        (vec!["sync", "--yes", "--as", "../a", &remote], 2),
        (vec!["sync", "--yes", "ext::sh -c true"], 2),
    ] {
        assert_eq!(b.alone(&args).code, code, "{args:?}");
        assert!(!store.exists(), "{args:?}");
    }
    let ran = b.alone(&["sync", "--yes", "--as", "b", "--mine", "a", &remote]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.lines().next().is_some_and(|line| line.starts_with("everyone who can read ")),
        "{}",
        ran.err
    );
    let made: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("made ")).collect();
    assert_eq!(made, ["made .lepo"], "{}", ran.err);
    assert_eq!(ran.out, "sent 1 message as b\nfrom a (yours): 1 message\n");
    assert_eq!(ids(&b), [one]);
    assert!(store.join("_insts.toml").exists());
    // In a place of the user's choice.
    let ran = b.alone(&["-s", "notes", "sync", "--yes", &remote]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("\nmade notes\n"), "{}", ran.err);
}

#[test]
fn a_hostile_clone_writes_nothing_outside_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    let script = r#"
        set -e
        git init -q evil && cd evil
        git config user.email evil@x; git config user.name evil
        mkdir -p 2024-10/26 _blobs/ab _branches sub
        echo forged > 2024-10/26/01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md
        ln -s /etc/passwd 2024-10/26/01JB3Z0Q4N8V2K5T7W9X1Y3Z5B-u0-head.md
        echo x > _config.toml; echo x > _mcp.json; echo '*' > .gitignore
        printf bad > _blobs/ab/abababababababababababababababababababababababababababababababab
        echo nonsense > _branches/main
        echo x > "$(printf 'A\033]0;PWN\007\nfrom alice: 5000 messages\n.md')"
        git add -f -A && git commit -q -m evil
        git push -q "$REMOTE" HEAD:refs/lepo/evil
        git push -q "$REMOTE" HEAD:refs/lepo/..evil 2>/dev/null || true
        git push -q "$REMOTE" HEAD:refs/lepo/Evil_Name
    "#;
    let pushed = me.shell(script).env("REMOTE", &remote).output().unwrap();
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let ran = me.alone(&["sync"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("left out"), "{}", ran.out);
    assert!(ran.out.contains("left out A␛]0;PWN␇␊from alice: 5000 messages␊.md: "), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains("\nfrom alice"), "{}", ran.out);
    let from = me.work().join(".lepo/_from");
    let there: Vec<String> =
        std::fs::read_dir(&from).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, ["evil"]);
    let found = Command::new("find")
        .arg(from.join("evil"))
        .args(["-name", "*.md", "-o", "-name", "_config*", "-o", "-type", "l"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    assert_eq!(me.ok(&["ls"]).lines().count(), 1);
}
