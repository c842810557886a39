//! `sync` where the remote refuses, is busy, or is lost in the middle; and the two namespaces of refs.

use std::path::Path;
use std::process::Command;

use crate::git_http::GitHttp;
use crate::home::{Home, Ran, run};
use crate::sync::{begin, clone, ids, open_remote, remote};

fn config(remote: &Path, name: &str, value: &str) {
    let set = Command::new("git").arg("--git-dir").arg(remote).args(["config", name, value]).status();
    assert!(set.unwrap().success());
}

fn hook(remote: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = remote.join("hooks").join(name);
    std::fs::create_dir_all(remote.join("hooks")).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// lepo with a git whose first pushes, so many of them, end with these words.
fn with_failing_pushes(home: &Home, failures: u32, words: &str) -> Ran {
    let program = home.write_program(
        "bin/git",
        format!(
            "#!/bin/sh\ncase \" $* \" in *' push '*)\n  count=$(cat \"$HOME/pushes\" 2>/dev/null || echo 0)\n  \
             echo $((count + 1)) > \"$HOME/pushes\"\n  if [ $count -lt {failures} ]; then\n    \
             echo '{words}' >&2\n    exit 1\n  fi\nesac\nPATH=${{PATH#*:}} exec git \"$@\"\n"
        ),
    );
    home.write("pushes", "0\n");
    let mut command = home.detached(&["sync"]);
    let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let bin = program.parent().unwrap().to_string_lossy().into_owned();
    command.env("PATH", format!("{bin}:{}", path.to_string_lossy()));
    run(command, b"")
}

#[test]
fn only_a_refusal_of_the_namespace_leads_to_heads() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    me.add(&["--prev", "head"], "mine");
    hook(&remote, "pre-receive", "#!/bin/sh\necho 'quota exceeded' >&2\nexit 1\n");
    let ran = begin(&me, &remote, "me");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(!ran.err.contains("--heads") && ran.err.contains("quota exceeded"), "{}", ran.err);
    std::fs::remove_file(remote.join("hooks/pre-receive")).unwrap();
    std::fs::create_dir_all(remote.join("refs/lepo")).unwrap();
    std::fs::write(remote.join("refs/lepo/me.lock"), "").unwrap();
    let ran = me.alone(&["sync"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(!ran.err.contains("--heads") && ran.err.contains("the remote is busy"), "{}", ran.err);
    std::fs::remove_file(remote.join("refs/lepo/me.lock")).unwrap();
    config(&remote, "receive.hideRefs", "refs/lepo");
    let ran = me.alone(&["sync"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("lepo sync --heads"), "{}", ran.err);
    assert_eq!(me.alone(&["sync", "--heads"]).code, 0);
}

#[test]
fn a_lock_or_a_race_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    for words in [
        " ! [remote rejected] a -> refs/lepo/me (failed to lock)",
        " ! [remote rejected] a -> refs/lepo/me (cannot lock ref: is at 1 but expected 2)",
        " ! [rejected] a -> refs/lepo/me (fetch first)",
    ] {
        me.add(&["--prev", "head"], words);
        let ran = with_failing_pushes(&me, 1, words);
        assert_eq!((ran.code, ran.out.as_str()), (0, "sent 1 message as me\n"), "{words} {}", ran.err);
        assert_eq!(me.read("pushes"), "2\n", "{words}");
    }
    me.add(&["--prev", "head"], "not at once");
    let ran = with_failing_pushes(&me, 99, " ! [remote rejected] a -> refs/lepo/me (failed to lock)");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("the remote is busy") && !ran.err.contains("--heads"), "{}", ran.err);
    assert_eq!(me.read("pushes"), "4\n");
}

#[test]
fn clones_of_two_namespaces_are_told_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    a.add(&["--prev", "head"], "of a");
    b.add(&["--prev", "head"], "of b");
    begin(&a, &remote, "a");
    let url = remote.to_string_lossy().into_owned();
    let ran = b.alone(&["sync", "--yes", "--heads", "--as", "a", &url]);
    assert_eq!(ran.code, 2, "a name is taken in both namespaces: {}", ran.err);
    let ran = b.alone(&["sync", "--yes", "--heads", "--as", "b", "--mine", "a", &url]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("a uses refs/lepo/ on this remote, and this clone branches"), "{}", ran.err);
    let ran = a.alone(&["sync"]);
    assert!(ran.err.contains("b uses branches on this remote, and this clone refs/lepo/"), "{}", ran.err);
    assert!(ran.err.contains("`lepo sync --heads` here"), "{}", ran.err);
    // Taken back, they see each other, and no ref is left behind.
    let ran = b.alone(&["sync", "--no-heads"]);
    assert!(ran.code == 0 && ran.out.contains("from a (yours): 1 message"), "{} {}", ran.out, ran.err);
    assert!(!ran.err.contains("on this remote"), "{}", ran.err);
    let ran = a.alone(&["sync", "--mine", "b"]);
    assert!(ran.out.contains("from b (yours): 1 message"), "{} {}", ran.out, ran.err);
    assert!(!ran.err.contains("on this remote"), "{}", ran.err);
    assert_eq!(ids(&a), ids(&b));
}

#[test]
fn a_transfer_that_dies_in_the_middle_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let bare = open_remote(dir.path());
    let Some(server) = GitHttp::serve(dir.path()) else {
        return eprintln!("SKIPPED: git has no http-backend here");
    };
    let url = server.url("remote.git");
    let (me, alice) = (clone("me@x"), clone("alice@x"));
    me.add(&["--prev", "head"], "mine");
    assert_eq!(me.alone(&["sync", "--yes", "--as", "me", &url]).code, 0);
    assert_eq!(begin(&alice, &bare, "alice").code, 0);
    let noise: String =
        (0..4000u64).map(|i| format!("{:x} ", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    alice.add(&["--prev", "head"], &noise);
    assert_eq!(alice.alone(&["sync"]).code, 0);
    server.cut_after(5_000);
    let ran = me.alone(&["sync"]);
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    server.cut_after(u64::MAX);
    let ran = me.alone(&["sync"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "from alice: 1 message\n"), "{}", ran.err);
}
