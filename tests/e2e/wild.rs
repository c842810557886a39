//! Stores that no lepo wrote: dated by a wrong clock, merged by hand, tied in circles, full of strange files.

use std::os::unix::fs::symlink;

use crate::home::Home;

/// An id dated `millis` after 1970 that ends in `tail`.
fn id(millis: u64, tail: &str) -> String {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let time: String = (0..10).rev().map(|i| DIGITS[(millis >> (5 * i)) as usize & 31] as char).collect();
    format!("{time}{tail:0>16}")
}

const NOW: u64 = 1_700_000_000_000;
const FAR: u64 = (1 << 48) - 1;

fn plant(home: &Home, id: &str, tag: &str, prev: &str, text: impl AsRef<[u8]>) {
    home.write(&format!("work/.lepo/{id}-{tag}-{prev}.md"), text);
}

/// The id of the bubb that `id` follows.
fn prev(home: &Home, id: &str) -> String {
    // `^` steps over hidden messages; the document has every prev.
    let bubbs: serde_json::Value = serde_json::from_str(&home.ok(&["show", "--one", "--json", id])).unwrap();
    bubbs["bubbs"][0]["prev"].as_str().unwrap_or_default().to_string()
}

/// Findings of `fsck`, without those about ids that this file made up.
fn findings(home: &Home) -> Vec<String> {
    let lines = home.lepo(&["fsck"]).out;
    lines.lines().filter(|line| !line.starts_with("edited ")).map(str::to_owned).collect()
}

/// Of each finding its sort and the beginning of its name.
fn assert_found(home: &Home, expected: &[&str]) {
    let found = findings(home);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for begin in expected {
        assert!(found.iter().any(|line| line.starts_with(begin)), "no {begin}: {found:#?}");
    }
}

/// A store that lepo alone wrote: `fsck` is silent.
fn assert_good(home: &Home) {
    let ran = home.lepo(&["fsck"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
}

#[test]
fn a_bubb_follows_what_is_dated_ahead_by_a_millisecond() {
    let home = Home::new();
    home.ok(&["init"]);
    let ahead = id(FAR - 1, "AAAA");
    plant(&home, &ahead, "u0", "head", "from the year 10889");
    assert_eq!(home.ok(&["resolve", "@"]), format!("{ahead}\n"));
    let next = home.add(&[], "next");
    assert!(next.starts_with("7ZZZZZZZZZ"), "{next}");
    assert_eq!(prev(&home, &next), ahead);
    // No millisecond is left after the last: said, and nothing written.
    let ran = home.lepo_with(&["add"], b"too late");
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("no message can follow"), "{}", ran.err);
    assert_eq!(home.bubbs().len(), 2);
    assert_found(&home, &[&format!("future {ahead}"), &format!("future {next}")]);
    // A new conv is dated by the clock all the same.
    let root = home.add(&["--prev", "head"], "a root");
    assert!(root < ahead, "{root}");
}

#[test]
fn what_is_dated_ahead_is_not_continued_and_a_copy_of_now_takes_its_place() {
    let home = Home::new();
    home.ok(&["init"]);
    let mine = home.add(&[], "mine");
    let far = ["--time", "2500-01-01", "--prev"];
    let question = home.add(&[&far[..], &["head"]].concat(), "from a wrong clock");
    let ahead = home.add(&[&far[..], &[question.as_str()], &["--kind", "a"]].concat(), "answered there");
    assert_eq!(home.ok(&["resolve", "@"]), format!("{mine}\n"));
    // It is listed first, and marked in each form.
    let mark = |args: &[&str]| home.ok(args).lines().filter(|line| line.contains("dated ahead")).count();
    assert_eq!(
        home.ok(&["ls"]).lines().next(),
        Some(format!("{ahead} (2): from a wrong clock (dated ahead)").as_str())
    );
    assert_eq!((mark(&["ls"]), mark(&["ls", "-l"])), (1, 1));
    let tails: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let marks: Vec<&serde_json::Value> =
        tails["tails"].as_array().unwrap().iter().map(|tail| &tail["dated_ahead"]).collect();
    assert_eq!(marks, [&serde_json::Value::Bool(true), &serde_json::Value::Null]);
    // What is added goes on with mine.
    let next = home.add(&[], "and more");
    assert_eq!(prev(&home, &next), mine);
    // The remedy that fsck names, done as it says.
    let remedy = format!(
        "`lepo rebase {ahead} --root --redate` copies its conversation with the current time, then `lepo rm {ahead}`"
    );
    let lines = findings(&home);
    assert_eq!(
        (lines.len(), lines.iter().filter(|line| line.contains(&remedy)).count()),
        (2, 1),
        "{lines:#?}"
    );
    let ran = home.lepo(&["rebase", &ahead, "--root", "--redate"]);
    assert_eq!((ran.code, ran.err.lines().next()), (0, Some("@ is now the copy")), "{}", ran.err);
    let copy = ran.out.trim().to_string();
    assert!(copy > next && copy < ahead, "{copy}");
    let text = |id: &str| home.ok(&["show", id]).replace(id, "").replace(&prev(&home, id), "");
    assert_eq!(text(&copy), text(&ahead));
    home.ok(&["rm", "-y", &ahead]);
    assert_good(&home);
    assert_eq!(home.ok(&["resolve", "@"]), format!("{copy}\n"));
}

#[test]
fn where_all_is_dated_ahead_the_newest_of_it_is_continued() {
    let home = Home::new();
    home.ok(&["init"]);
    let first = home.add(&["--time", "2500-01-01", "--prev", "head"], "first");
    let second = home.add(&["--time", "2500-01-02", "--prev", "head"], "second");
    assert!(first < second);
    assert_eq!(home.ok(&["resolve", "@"]), format!("{second}\n"));
    let root = home.add(&["--prev", "head"], "by the clock");
    assert_eq!(home.ok(&["resolve", "@"]), format!("{root}\n"));
}

#[test]
fn a_bubb_of_1970_is_older_than_what_follows_it() {
    let home = Home::new();
    home.ok(&["init"]);
    let first = id(0, "0001");
    plant(&home, &first, "u0", "head", "the epoch");
    let next = home.add(&[], "next");
    assert_eq!(prev(&home, &next), first);
    assert_eq!(home.ok(&["ls"]), format!("{next} (2): next\n"));
}

#[test]
fn a_root_is_the_newest_conv_when_the_clock_went_back() {
    let home = Home::new();
    home.ok(&["init"]);
    let tomorrow = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64 + 3_600_000;
    plant(&home, &id(tomorrow, "AAAA"), "u0", "head", "written before the clock was set back");
    let root = home.add(&["--prev", "head"], "written after");
    assert_eq!(home.ok(&["resolve", "@"]), format!("{root}\n"));
}

#[test]
fn two_stores_merged_by_cp_are_one_forest() {
    let (home, other) = (Home::new(), Home::new());
    let root = home.add(&[], "the trunk");
    let status =
        std::process::Command::new("cp").arg("-r").arg(home.work().join(".lepo")).arg(other.work()).status();
    assert!(status.unwrap().success());
    let here = home.add(&[], "here");
    let there = other.add(&["--kind", "a"], "there");
    let copied = std::process::Command::new("sh")
        .args(["-c", "cp -n \"$1\"/*.md \"$2\"", "sh"])
        .args([other.work().join(".lepo"), home.work().join(".lepo")])
        .status();
    assert!(copied.unwrap().success());
    let mut tails: Vec<String> = home.ok(&["ls"]).lines().map(str::to_owned).collect();
    tails.sort();
    let mut expected = [format!("{here} (2): here"), format!("{there} (2): the trunk")];
    expected.sort();
    assert_eq!(tails, expected);
    assert_eq!(prev(&home, &here), root);
    assert_eq!(prev(&home, &there), root);
    assert_good(&home);
}

#[test]
fn a_long_conv_is_listed_shown_and_continued() {
    const LENGTH: u64 = 2_000;
    let home = Home::new();
    home.ok(&["init"]);
    let mut last = "head".to_string();
    for i in 0..LENGTH {
        let next = id(NOW + i, "AAAA");
        plant(&home, &next, if i % 2 == 0 { "u0" } else { "a0" }, &last, "x");
        last = next;
    }
    assert_eq!(home.ok(&["ls"]), format!("{last} ({LENGTH}): x\n"));
    assert_eq!(home.ok(&["show"]).lines().filter(|line| *line == "x").count() as u64, LENGTH);
    assert_eq!(home.ok(&["resolve", &format!("@~{}", LENGTH - 1)]), format!("{}\n", id(NOW, "AAAA")));
    let next = home.add(&[], "on");
    assert_eq!(prev(&home, &next), last);
}

#[test]
fn the_newest_tail_of_a_large_store_is_that_of_all_its_names() {
    let home = Home::new();
    home.ok(&["init"]);
    let question = id(NOW, "0001");
    plant(&home, &question, "u0", "head", "an old question");
    for i in 1..3_000 {
        plant(&home, &id(NOW + i, "0001"), "u0", "head", "x");
    }
    let newest = id(NOW + 2_999, "0001");
    let after = |home: &Home| {
        let added = home.add(&[], "next");
        let after = prev(home, &added);
        std::fs::remove_file(home.work().join(format!(".lepo/{added}-u0-{after}.md"))).unwrap();
        assert_eq!(home.ok(&["resolve", "@"]), format!("{after}\n"));
        after
    };
    assert_eq!(after(&home), newest);
    // A hidden one that follows the oldest is the newest tail, as long as nothing visible follows that …
    let chatter = id(NOW + 20_000, "0001");
    plant(&home, &chatter, "a1", &question, "{}");
    assert_eq!(after(&home), chatter);
    // … and is spent once it is answered.
    plant(&home, &id(NOW + 1, "0002"), "a0", &question, "an old answer");
    assert_eq!(after(&home), newest);
    // A hand dated a bubb before the one it follows: that one is no tail.
    plant(&home, &id(NOW - 1, "0003"), "u0", &newest, "dated before");
    assert_eq!(after(&home), id(NOW + 2_998, "0001"));
    // The same in lower case.
    let late = id(NOW + 2_998, "0001");
    plant(&home, &id(NOW - 2, "ABCD").to_lowercase(), "u0", &late, "dated before");
    assert_eq!(after(&home), id(NOW + 2_997, "0001"));
}

#[test]
fn a_line_of_ten_megabytes_and_bytes_that_are_no_text_pass_as_they_are() {
    let home = Home::new();
    let long = vec![b'x'; 10 << 20];
    let ran = home.lepo_with(&["add"], &long);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(home.ok(&["ls"]).ends_with("(1): xxxxxxxxxxxx ... xxxxxxxxxxxx\n"));
    assert_eq!(home.ok(&["show", "--one", "@"]).len(), long.len());
    let bytes = b"\0\xff\xfe\x1b[31m\0";
    assert_eq!(home.lepo_with(&["add"], bytes).code, 0);
    let output = home.command(&["show", "--one", "@"]).output().unwrap();
    assert_eq!(output.stdout, bytes);
    assert_eq!(home.lepo(&["ls", "--json"]).code, 0);
    assert_good(&home);
}

#[test]
fn what_is_no_bubb_is_passed_over() {
    let home = Home::new();
    let real = home.add(&[], "real");
    let store = home.work().join(".lepo");
    let name = |end: &str| store.join(format!("{}-u0-{real}.md", id(FAR, end)));
    assert!(std::process::Command::new("mkfifo").arg(name("1")).status().unwrap().success());
    std::fs::create_dir(name("2")).unwrap();
    symlink("/etc/passwd", name("3")).unwrap();
    symlink("nowhere", name("4")).unwrap();
    symlink(name("5"), name("5")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(name("6")).unwrap();
    for foreign in ["README.md", "-", "--help", " ", "x\ny", "한글.md", &format!("{real}-u0-head.md~")] {
        std::fs::write(store.join(foreign), "foreign").unwrap();
    }
    use std::os::unix::ffi::OsStrExt;
    std::fs::write(store.join(std::ffi::OsStr::from_bytes(b"\xff\xfe-u0-head.md")), "foreign").unwrap();
    assert_eq!(home.ok(&["ls"]), format!("{real} (1): real\n"));
    assert_eq!(home.ok(&["resolve", "@"]), format!("{real}\n"));
    let next = home.add(&[], "next");
    assert_eq!(prev(&home, &next), real);
    assert_eq!(home.lepo(&["resolve", &id(FAR, "1")]).code, 2);
    let found = findings(&home);
    assert_eq!(found.iter().filter(|line| line.starts_with("not a file 7ZZZ")).count(), 6, "{found:#?}");
    assert_eq!(found.iter().filter(|line| line.starts_with("foreign ")).count(), 8, "{found:#?}");
    assert_eq!(found.len(), 14, "{found:#?}");
}

#[test]
fn a_bubb_replaced_by_something_else_is_told_and_the_others_listed() {
    let home = Home::new();
    let bad = home.add(&[], "bad");
    let good = home.add(&["--prev", "head"], "good");
    let file = home.work().join(format!(".lepo/{bad}-u0-head.md"));
    std::fs::remove_file(&file).unwrap();
    // An empty one is a bubb with nothing to say.
    std::fs::write(&file, "").unwrap();
    assert_eq!(home.ok(&["ls"]), format!("{good} (1): good\n{bad} (1): \n"));
    assert_eq!(home.ok(&["show", "--one", &bad]), "");
}

#[test]
fn two_files_of_one_id_are_one_bubb() {
    let home = Home::new();
    home.ok(&["init"]);
    let [a, b] = [id(NOW, "AAAA"), id(NOW + 1, "BBBB")];
    plant(&home, &a, "u0", "head", "one");
    plant(&home, &b, "a0", &a, "two");
    plant(&home, &b, "u0", "head", "two again");
    // The first in the order of names counts.
    assert_eq!(home.ok(&["show"]), format!("# user {b}\ntwo again\n\n"));
    assert_eq!(home.ok(&["ls"]).lines().count(), 2);
    let next = home.add(&[], "next");
    assert_eq!(prev(&home, &next), b);
    assert_found(&home, &[&format!("duplicate {b}")]);
}

#[test]
fn circles_end() {
    let home = Home::new();
    home.ok(&["init"]);
    let [a, b, c, d] = ["AAAA", "BBBB", "CCCC", "DDDD"].map(|end| id(NOW, end));
    plant(&home, &a, "u0", &c, "a");
    plant(&home, &b, "a1", &a, "b");
    plant(&home, &c, "u0", &b, "c");
    // A circle alone has no tail.
    assert_eq!(home.ok(&["ls"]), "");
    assert_eq!(home.lepo(&["resolve", "@"]).code, 2);
    assert_eq!(home.lepo(&["show", &b]).code, 0);
    plant(&home, &d, "a0", &c, "d");
    assert_eq!(home.ok(&["ls"]), format!("{d} (4): c\n"));
    let next = home.add(&[], "next");
    assert_eq!(prev(&home, &next), d);
    let own = id(NOW, "EEEE");
    plant(&home, &own, "u0", &own, "follows itself");
    assert_eq!(home.lepo(&["show", &own]).code, 0);
    assert_found(&home, &[&format!("cycle {a}"), &format!("cycle {own}")]);
}

#[test]
fn a_file_whose_id_another_file_has_is_not_taken_for_it() {
    let home = Home::new();
    let root = home.add(&["--prev", "head"], "question");
    let answer = home.add(&["--kind", "a"], "answer");
    plant(&home, &answer, "u0", "head", "a forged root");
    assert_found(&home, &["duplicate"]);
    let forged = format!(".lepo/{answer}-u0-head.md");
    let real = format!(".lepo/{answer}-a0-{root}.md");
    // One of the two is in the forest; the path of the other leads nowhere, and not to the first.
    let found: Vec<_> =
        [&forged, &real].map(|path| home.lepo(&["resolve", "--path", path])).into_iter().collect();
    let codes: Vec<_> = found.iter().map(|ran| ran.code).collect();
    assert!(codes == [0, 2] || codes == [2, 0], "{codes:?}");
    for (path, ran) in [&forged, &real].into_iter().zip(&found).filter(|(_, ran)| ran.code == 0) {
        assert_eq!(ran.out.trim(), path);
    }
}

#[test]
fn a_store_within_a_store_is_no_finding() {
    let home = Home::new();
    home.ok(&["init"]);
    home.ok(&["-s", ".lepo/notes", "init"]);
    assert_good(&home);
    home.write("work/.lepo/elsewhere/_insts", "");
    assert_found(&home, &["foreign elsewhere"]);
}

#[test]
fn files_of_gigabytes_are_not_read_whole() {
    let home = Home::new();
    let bubb = home.add(&[], "small");
    let store = home.work().join(".lepo");
    let sparse = |path: &str, len: u64| {
        let path = store.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .unwrap()
            .set_len(len)
            .unwrap();
    };
    sparse("_branches/huge", 3 << 30);
    sparse("_mcp.json", 3 << 30);
    sparse("_insts.toml", 3 << 30);
    let huge = home.add(&["--prev", "head"], "first words");
    sparse(&format!("{huge}-u0-head.md"), 3 << 30);
    // With so little memory, whatever reads one whole fails.
    let limited = |args: &str| {
        let mut shell = home.shell(&format!("ulimit -v 1500000; lepo {args}"));
        shell.stdin(std::process::Stdio::null());
        crate::home::run(shell, b"")
    };
    let ran = limited("ls");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("first words") && ran.out.contains(&bubb), "{}", ran.out);
    for (args, said) in [
        (format!("show --json {huge}"), "not enough memory"),
        (format!("show {huge} | head -c 20"), ""),
        ("log @huge".to_string(), ""),
        ("trust".to_string(), "is larger than 4 MiB"),
    ] {
        let ran = limited(&args);
        assert!(ran.code < 100, "{args}: {} {}", ran.code, ran.err);
        assert!(ran.err.contains(said), "{args}: {}", ran.err);
    }
}

#[test]
fn a_stack_of_64_kilobytes_and_no_thread_to_be_had_are_no_reason_to_crash() {
    let home = Home::new();
    home.add(&[], "words");
    let small = crate::home::run(home.shell("ulimit -s 64; lepo ls; lepo do --help | head -1"), b"");
    assert_eq!(small.code, 0, "{}", small.err);
    assert!(small.out.contains("words"), "{} {}", small.out, small.err);
}
