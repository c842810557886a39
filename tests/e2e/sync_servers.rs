//! `sync` over real git servers on loopback: `git http-backend` and sshd; and remotes that die in the middle.

use crate::common::vectors::sha256;
use crate::disk::put;
use crate::git_http::GitHttp;
use crate::home::{Home, Ran};
use crate::ssh::Sshd;
use crate::sync::{clone, ids, open_remote, remote};

/// lepo in a session without a terminal, with a variable for git's ssh.
fn lepo(home: &Home, args: &[&str], ssh: &str) -> Ran {
    let mut command = home.detached(args);
    if !ssh.is_empty() {
        command.env("GIT_SSH_COMMAND", ssh);
    }
    crate::home::run(command, b"")
}

/// Two clones of one person and a third of another, with everything that a store has, over one server.
fn exchange(url: &str, ssh: &str) {
    let (a, b, alice) = (clone("me@x"), clone("me@x"), clone("alice@x"));
    a.add(&["--prev", "head"], "why?");
    let answer = a.add(&["--kind", "a"], "because");
    a.ok(&["branch", "main", &answer]);
    let long = "long tool output\n".repeat(20_000);
    a.add(&["--kind", "t", "--hidden"], &long);
    let synced = |home: &Home, args: &[&str]| {
        let ran = lepo(home, &[&["sync"], args].concat(), ssh);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        ran.out
    };
    assert_eq!(synced(&a, &["--yes", "--as", "a", url]), "sent 3 messages, 1 branch as a\n");
    // Enough that git sends its request in pieces: more than it keeps, of what packs badly.
    b.write(".gitconfig", b.read(".gitconfig") + "[http]\n\tpostBuffer = 65536\n");
    b.ok(&["init"]);
    for i in 0..300 {
        let noise: String = (0..10).map(|part| sha256(format!("{i} {part}").as_bytes())).collect();
        put(&b, 1_760_599_230_000 + i, "u0", "head", &format!("question {i} {noise}"));
    }
    assert_eq!(
        synced(&b, &["--yes", "--as", "b", url]),
        "sent 300 messages as b\nfrom a: 3 messages, 1 branch\n"
    );
    assert!(synced(&b, &["--mine", "a"]).contains("from a (yours): 3 messages"));
    assert!(synced(&a, &["--mine", "b"]).contains("from b (yours): 300 messages"));
    assert_eq!(ids(&a), ids(&b));
    // The rest is the same over each transport, and a connection of ssh costs more than a sync.
    if !ssh.is_empty() {
        return;
    }
    b.ok(&["tidy", "--keep", "0"]);
    b.ok(&["branch", "-d", "main"]);
    b.ok(&["rm", "-y", &answer]);
    synced(&b, &[]);
    assert!(synced(&a, &[]).contains("removed"));
    assert_eq!(ids(&a), ids(&b));
    alice.add(&["--prev", "head"], "hers");
    synced(&alice, &["--yes", "--as", "alice", url]);
    assert!(alice.ok(&["ls", "-n", "3"]).contains("\nb/"), "{}", alice.ok(&["ls", "-n", "3"]));
    assert_eq!(synced(&a, &[]), "from alice: 1 message\n");
    assert_eq!(synced(&a, &[]), "");
    synced(&a, &["--forget"]);
    assert_eq!(synced(&a, &[]), "");
    assert_eq!(synced(&alice, &[]), "");
    for home in [&a, &b, &alice] {
        assert_eq!(home.lepo(&["fsck"]).code, 0, "{}", home.lepo(&["fsck"]).out);
    }
}

#[test]
fn over_http() {
    let dir = tempfile::tempdir().unwrap();
    open_remote(dir.path());
    let Some(server) = GitHttp::serve(dir.path()) else {
        return eprintln!("SKIPPED: git has no http-backend here");
    };
    exchange(&server.url("remote.git"), "");
    assert!(server.had_pieces(), "a request came in pieces");
}

#[test]
fn over_ssh() {
    let dir = tempfile::tempdir().unwrap();
    let bare = remote(dir.path());
    match Sshd::start(dir.path()) {
        Ok(server) => exchange(&server.url(&bare), &server.client),
        Err(why) => eprintln!("SKIPPED: {why}"),
    }
}

#[test]
fn a_remote_that_dies_in_mid_transfer_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    open_remote(dir.path());
    let Some(server) = GitHttp::serve(dir.path()) else {
        return eprintln!("SKIPPED: git has no http-backend here");
    };
    let url = server.url("remote.git");
    let (a, b) = (clone("me@x"), clone("me@x"));
    a.add(&["--prev", "head"], "first");
    assert_eq!(lepo(&a, &["sync", "--yes", "--as", "a", &url], "").code, 0);
    b.add(&["--prev", "head"], "elsewhere");
    assert_eq!(lepo(&b, &["sync", "--yes", "--as", "b", &url, "--mine", "a"], "").code, 0);
    assert_eq!(lepo(&a, &["sync", "--mine", "b"], "").code, 0);
    // From inside the listing of refs to inside the pack.
    for cut in [0, 10, 200, 300, 420, 500, 600, 700, 900] {
        a.add(&["--prev", "head"], &format!("at {cut} from a"));
        b.add(&["--prev", "head"], &format!("at {cut} from b"));
        server.cut_after(cut);
        for home in [&a, &b] {
            let ran = lepo(home, &["sync"], "");
            assert!([0, 3].contains(&ran.code), "{cut}: {} {}", ran.code, ran.err);
            assert!(ran.code == 0 || ran.err.contains("error: "), "{cut}: {}", ran.err);
        }
        server.cut_after(u64::MAX);
        for home in [&a, &b, &a] {
            let ran = lepo(home, &["sync"], "");
            assert_eq!(ran.code, 0, "{cut}: {}", ran.err);
        }
        assert_eq!(ids(&a), ids(&b), "{cut}");
    }
    assert_eq!(ids(&a).len(), 20);
}
