//! Titles travel with `lepo sync`; and what was fetched of a clone that is gone from the remote does not stay for ever.

use crate::home::Home;
use crate::secrets::github_token;
use crate::sync::{begin, clone, remote};

/// The titles of a list.
fn titles(home: &Home) -> Vec<String> {
    let listed: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let tails = listed["tails"].as_array().unwrap().iter();
    tails.map(|tail| tail["title"].as_str().unwrap_or("-").to_string()).collect()
}

fn sync(home: &Home) -> String {
    let ran = home.alone(&["sync", "--yes"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    ran.out
}

#[test]
fn a_title_is_that_of_the_clone_that_gave_it_last_and_goes_where_it_was_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk, other) = (clone("me@x"), clone("me@x"), clone("other@x"));
    let root = me.add(&["--prev", "head"], "why?");
    me.ok(&["title", "@", "From my laptop"]);
    assert!(begin(&me, &remote, "me").out.contains("titles"));
    assert_eq!(begin(&desk, &remote, "desk").code, 0);
    assert_eq!(begin(&other, &remote, "other").code, 0);
    assert_eq!(desk.alone(&["sync", "--mine", "me"]).code, 0);
    assert_eq!(me.alone(&["sync", "--mine", "desk"]).code, 0);
    assert_eq!(
        (titles(&desk), titles(&other)),
        (vec!["From my laptop".into()], vec!["From my laptop".to_string()])
    );
    // Given anew on the other clone.
    desk.ok(&["title", &root, "From my desk"]);
    assert!(sync(&desk).contains("sent titles as desk"));
    for home in [&me, &other] {
        sync(home);
    }
    assert_eq!(titles(&me), ["From my desk"]);
    // Others have what each clone says; one's own title wins there.
    assert_eq!(titles(&other).len(), 1);
    let mine = other.add(&["--prev", &root], "and I");
    other.ok(&["title", &mine, "My own words"]);
    assert_eq!(titles(&other), ["My own words"]);
    // Taken away, it is gone everywhere; and then there is nothing new.
    me.ok(&["title", "--delete", &root]);
    for home in [&me, &desk, &me, &desk] {
        sync(home);
    }
    assert_eq!((titles(&me), titles(&desk)), (vec!["-".to_string()], vec!["-".to_string()]));
    assert_eq!((sync(&me), sync(&desk)), (String::new(), String::new()));
}

#[test]
fn a_title_with_a_secret_is_held_back_and_one_of_a_removed_conversation_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk) = (clone("me@x"), clone("me@x"));
    let secret = github_token(1);
    let root = me.add(&["--prev", "head"], "why?");
    let gone = me.add(&["--prev", "head"], "and this?");
    me.ok(&["title", &root, &format!("the token {secret}")]);
    me.ok(&["title", &gone, "Not for long"]);
    let ran = begin(&me, &remote, "me");
    let held = format!(
        "held back the title of {root}: it seems to contain a secret; `lepo sync --allow {root}` sends it"
    );
    assert!(ran.code == 1 && ran.err.contains(&held), "{} {}", ran.out, ran.err);
    assert!(!ran.err.contains(&secret));
    begin(&desk, &remote, "desk");
    assert_eq!(desk.alone(&["sync", "--mine", "me"]).code, 0);
    let there = desk.read("work/.lepo/_titles");
    assert!(there.contains("Not for long") && !there.contains(&secret), "{there}");
    // Nothing is sent again and again because of it.
    me.alone(&["sync", "--mine", "desk"]);
    sync(&desk);
    for _ in 0..2 {
        let ran = me.alone(&["sync"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    }
    me.ok(&["rm", "-y", &gone]);
    me.alone(&["sync", "--yes"]);
    sync(&desk);
    assert!(desk.lepo(&["resolve", &gone]).code == 2);
    let tree = ["--git-dir", remote.to_str().unwrap(), "cat-file", "-p", "refs/lepo/me:_titles"];
    let sent = me.program("git", &tree).output().unwrap();
    assert!(sent.status.success() && !String::from_utf8_lossy(&sent.stdout).contains("Not for long"));
    assert!(me.alone(&["sync", "--allow", &root]).out.contains("titles"));
    desk.alone(&["sync"]);
    assert!(desk.read("work/.lepo/_titles").contains(&secret));
}

#[test]
fn what_was_fetched_of_a_clone_that_is_gone_goes_unless_something_follows_it() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, anna, bob) = (clone("me@x"), clone("anna@x"), clone("bob@x"));
    let theirs = anna.add(&["--prev", "head"], "anna asks");
    bob.add(&["--prev", "head"], "bob asks");
    for (home, name) in [(&anna, "anna"), (&bob, "bob"), (&me, "me")] {
        assert_eq!(begin(home, &remote, name).code, 0);
    }
    let mine = me.add(&["--prev", &theirs], "on with what anna asked");
    assert_eq!(me.lepo(&["fsck"]).out, "", "what it follows is in _from");
    let delete = |name: &str| {
        let ref_of = format!("refs/lepo/{name}");
        let args = ["--git-dir", remote.to_str().unwrap(), "update-ref", "-d", ref_of.as_str()];
        assert!(me.program("git", &args).status().unwrap().success());
    };
    let is_there = |name: &str| me.work().join(".lepo/_from").join(name).is_dir();
    delete("anna");
    delete("bob");
    // A remote that does not answer tells nothing.
    let away = dir.path().join("away");
    std::fs::rename(&remote, &away).unwrap();
    assert_eq!(me.alone(&["sync"]).code, 3);
    assert!(is_there("anna") && is_there("bob"));
    std::fs::rename(&away, &remote).unwrap();
    let out = sync(&me);
    assert!(out.contains("bob is gone from the remote: its messages were deleted from _from/bob"), "{out}");
    assert!(is_there("anna") && !is_there("bob"), "{out}");
    let status = me.alone(&["sync", "--status"]).out;
    assert!(
        status.contains("_from/anna: gone from the remote, kept because messages here follow it"),
        "{status}"
    );
    assert!(!status.contains("_from/bob"));
    assert_eq!(me.lepo(&["fsck"]).out, "");
    // Once nothing follows it any more, it goes with the next sync that has work; bob comes back whole.
    me.ok(&["rm", "-y", &mine]);
    sync(&bob);
    assert!(sync(&me).contains("from bob: 1 message"));
    assert!(!is_there("anna") && is_there("bob"));
    assert!(me.ok(&["ls"]).contains("bob/"));
}
