//! `sync` of a store with days that are over: these are listed only where they changed, and no change is missed.

use std::path::Path;
use std::time::Duration;

use crate::home::{Home, Ran};
use crate::sync::{begin, clone, ids, remote};

/// The record of the last sync.
fn record(home: &Home) -> serde_json::Value {
    let states: Vec<_> = std::fs::read_dir(home.path().join("data/lepo/sync")).unwrap().flatten().collect();
    let text = std::fs::read(states[0].path().join("repository.git/lepo-record.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn recorded_days(home: &Home) -> Vec<String> {
    let days = record(home)["days"].as_array().unwrap().clone();
    days.iter().map(|day| day[0].as_str().unwrap().to_string()).collect()
}

/// Long enough that a later change of a folder has another time.
fn settle() {
    std::thread::sleep(Duration::from_millis(2_100));
}

fn synced(home: &Home) -> String {
    let Ran { code, out, err, .. } = home.alone(&["sync"]);
    assert_eq!(code, 0, "{err}");
    out
}

#[test]
fn days_that_are_over_are_listed_where_they_changed() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (a, b) = (clone("me@x"), clone("me@x"));
    let old = |home: &Home, day: u32, text: &str| {
        home.add(&["--prev", "head", "--time", &format!("2025-03-0{day}T12:00Z")], text)
    };
    let first: Vec<String> = (1..4).map(|day| old(&a, day, "said")).collect();
    a.add(&["--prev", "head"], "today");
    a.ok(&["tidy", "--keep", "0"]);
    b.add(&["--prev", "head"], "elsewhere");
    begin(&b, &remote, "b");
    settle();
    assert!(begin(&a, &remote, "a").out.starts_with("sent 4 messages as a\n"));
    assert_eq!(a.alone(&["sync", "--mine", "b"]).code, 0);
    b.alone(&["sync", "--mine", "a"]);
    assert_eq!(synced(&a), "");
    let keeps_times = !recorded_days(&a).is_empty();
    if keeps_times {
        assert_eq!(recorded_days(&a), ["2025-03/01", "2025-03/02", "2025-03/03"]);
    }
    assert_eq!(ids(&a), ids(&b));

    // A message of a day that is over, in `.lepo/` itself and then in its day: sent once.
    let more = old(&a, 2, "said later");
    assert_eq!(synced(&a), "sent 1 message as a\n");
    assert_eq!(synced(&a), "");
    a.ok(&["tidy", "--keep", "0"]);
    assert_eq!(synced(&a), "");
    settle();
    assert_eq!(synced(&a), "");
    if keeps_times {
        assert_eq!(recorded_days(&a), ["2025-03/01", "2025-03/02", "2025-03/03"]);
        assert!(!record(&a)["names"].to_string().contains(&more));
    }

    // Removed from its day; from `.lepo/` before it was ever moved; and a whole day by hand.
    a.ok(&["rm", "-y", &first[0]]);
    let brief = old(&a, 3, "gone soon");
    synced(&a);
    a.ok(&["rm", "-y", &brief]);
    synced(&a);
    std::fs::remove_dir_all(a.work().join(".lepo/_old/2025-03/02")).unwrap();
    synced(&a);
    synced(&b);
    assert_eq!(ids(&a), ids(&b));
    for id in [&first[0], &first[1], &brief, &more] {
        assert!(!ids(&b).contains(id), "{id}");
    }

    // Going on from what is gone brings it back from the clone that has it.
    let kept = first[2].clone();
    b.ok(&["rm", "-y", &kept]);
    let below = a.add(&["--prev", &kept], "going on");
    synced(&b);
    let printed = synced(&a);
    assert!(printed.contains(&format!("{kept} was restored")), "{printed}");
    synced(&b);
    synced(&a);
    assert_eq!(ids(&a), ids(&b));
    assert!(ids(&b).contains(&kept) && ids(&b).contains(&below));
    assert_eq!(tree(&remote, "a"), ids(&a).len());
    assert_eq!(a.lepo(&["fsck"]).code, 0);
}

#[test]
fn a_sync_without_its_record_ends_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let a = clone("me@x");
    a.add(&["--prev", "head"], "one");
    begin(&a, &remote, "a");
    let states: Vec<_> = std::fs::read_dir(a.path().join("data/lepo/sync")).unwrap().flatten().collect();
    let path = states[0].path().join("repository.git/lepo-record.json");
    let good = std::fs::read_to_string(&path).unwrap();
    for bad in [None, Some(""), Some("{}"), Some(good.split_at(good.len() / 2).0)] {
        match bad {
            None => std::fs::remove_file(&path).unwrap(),
            Some(bad) => std::fs::write(&path, bad).unwrap(),
        }
        a.add(&["--prev", "head"], "more");
        assert_eq!(synced(&a), "sent 1 message as a\n", "{bad:?}");
        assert_eq!(synced(&a), "");
    }
    assert_eq!(tree(&remote, "a"), 5);
    // One that tells of an older commit, as a backup brings it: nothing is lost, and the next sync mends it.
    std::fs::write(&path, good).unwrap();
    a.add(&["--prev", "head"], "more");
    assert_eq!(a.alone(&["sync"]).code, 3);
    assert_eq!(synced(&a), "sent 1 message as a\n");
    assert_eq!(tree(&remote, "a"), 6);
    assert!(!a.lepo(&["sync", "--status"]).out.contains("a-2"));
}

#[test]
fn what_waits_for_its_remote_is_not_said_to_be_sent() {
    let dir = tempfile::tempdir().unwrap();
    let (remote, aside) = (remote(dir.path()), dir.path().join("aside.git"));
    let a = clone("me@x");
    a.add(&["--prev", "head"], "one");
    begin(&a, &remote, "a");
    std::fs::rename(&remote, &aside).unwrap();
    a.add(&["--prev", "head"], "two");
    let ran = a.alone(&["sync"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, "not sent yet: 1 message\n"), "{}", ran.err);
    assert!(a.alone(&["sync", "--status"]).out.ends_with("not sent yet: 1 message\n"));
    assert_eq!(a.alone(&["sync"]).code, 3);
    std::fs::rename(&aside, &remote).unwrap();
    assert_eq!(synced(&a), "sent waiting messages as a\n");
    assert_eq!(tree(&remote, "a"), 2);
    assert_eq!(synced(&a), "");
}

/// Number of a clone's files on the remote below folders of years.
fn tree(remote: &Path, name: &str) -> usize {
    let mut git = std::process::Command::new("git");
    git.arg("--git-dir").arg(remote).args(["ls-tree", "-r", "--name-only", &format!("refs/lepo/{name}")]);
    let listed = String::from_utf8(git.output().unwrap().stdout).unwrap();
    listed.lines().filter(|line| line.starts_with("20")).count()
}
