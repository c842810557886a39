//! `fsck`: it finds what is wrong, nothing else, and saves what a crash left.

use std::process::{Command, Stdio};

use crate::bots::Bot;
use crate::home::{Home, finish, until};
use crate::scripted::{Piece, Reply, Server, openai_event};

/// Exit code and findings.
fn fsck(home: &Home) -> (i32, Vec<String>) {
    let ran = home.lepo(&["fsck"]);
    assert_eq!(ran.err, "");
    (ran.code, ran.out.lines().map(str::to_string).collect())
}

#[test]
fn a_good_store_is_passed_over_in_silence() {
    let home = Home::new();
    home.ok(&["init"]);
    assert_eq!(fsck(&home), (0, vec![]));
    home.add(&[], "one");
    home.add(&["--kind", "a", "--hidden"], "둘\n");
    home.add(&["--kind", "t"], &"long".repeat(200_000));
    home.ok(&["branch", "main"]);
    assert_eq!(fsck(&home), (0, vec![]));
}

#[test]
fn one_changed_byte_is_found() {
    let home = Home::new();
    for text in ["one".to_string(), "long".repeat(200_000)] {
        home.add(&[], &text);
        let file = home.ok(&["resolve", "--path", "@"]);
        let name = file.trim().strip_prefix(".lepo/").unwrap();
        home.write(&format!("work/{}", file.trim()), text.replacen('o', "0", 1));
        let (code, found) = fsck(&home);
        assert_eq!(code, 1);
        assert!(found.iter().any(|line| line.starts_with(&format!("edited {name}: "))), "{found:?}");
    }
}

#[test]
fn every_finding_has_its_line_and_its_exit_code() {
    let (a, b, c) =
        ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    let hash = "a".repeat(64);
    for (files, code, says) in [
        (
            vec![(format!("{b}-u0-{a}.md"), "x")],
            1,
            vec![format!("dangling {b}-u0-{a}.md: the message before it, {a}, is missing")],
        ),
        (
            vec![(format!("{a}-u0-{b}.md"), "x"), (format!("{b}-u0-{a}.md"), "x")],
            1,
            vec![format!("cycle {a}-u0-{b}.md: it follows itself, through 2 messages")],
        ),
        (
            vec![(format!("{a}-u0-head.md"), "x"), (format!("{}-u0-head.md", a.to_lowercase()), "x")],
            1,
            vec![format!("duplicate {}-u0-head.md: {a}-u0-head.md has the same id", a.to_lowercase())],
        ),
        (vec![(format!("{a}-u0-head.md/x"), "x")], 1, vec![format!("not a file {a}-u0-head.md: ")]),
        (
            vec![("_branches/main".into(), "x")],
            1,
            vec!["unreadable _branches/main: it contains no id".into()],
        ),
        (
            vec![("_branches/main".into(), a)],
            1,
            vec![format!("dangling _branches/main: it names {a}, which")],
        ),
        (
            vec![("_branches/feat%2Fx".into(), a)],
            1,
            vec![format!("dangling _branches/feat%2Fx: it names {a}, which")],
        ),
        (vec![("_branches/main/x".into(), "")], 1, vec!["not a file _branches/main: ".into()]),
        (vec![("_old".into(), "")], 1, vec!["misplaced _old: it is not a directory".into()]),
        (
            vec![(format!("_blobs/{hash}"), "x")],
            1,
            vec![format!("blob _blobs/{hash}: its bytes have the SHA-256 2d71")],
        ),
        (vec![("notes.md".into(), "x")], 0, vec!["foreign notes.md: ".into()]),
        (vec![("bad\nname".into(), "x")], 0, vec!["foreign bad\\nname: ".into()]),
        (vec![("_blobs/x".into(), "x")], 0, vec!["foreign _blobs/x: ".into()]),
        (vec![("_tmp/x".into(), "x")], 0, vec!["foreign _tmp/x: ".into()]),
        (vec![("_branches/x.lock".into(), "x")], 0, vec!["foreign _branches/x.lock: ".into()]),
        (vec![(format!("{c}-u0-head.md"), "x")], 1, vec![format!("future {c}-u0-head.md: ")]),
        (
            vec![("_tmp/a0-head-1-1".into(), "words")],
            0,
            vec!["stray _tmp/a0-head-1-1: an unfinished message of 5 bytes".into()],
        ),
        (vec![("_insts.toml".into(), ""), ("_config.toml".into(), ""), (".x".into(), "")], 0, vec![]),
    ] {
        let home = Home::new();
        home.ok(&["init"]);
        for (file, text) in &files {
            home.write(&format!("work/.lepo/{file}"), text);
        }
        let (found_code, found) = fsck(&home);
        // Made by hand, so their ids do not fit.
        let found: Vec<_> = found.iter().filter(|line| !line.starts_with("edited ")).collect();
        assert_eq!(found_code, code, "{files:?} {found:?}");
        assert_eq!(found.len(), says.len(), "{found:?}");
        for (found, begins) in found.iter().zip(&says) {
            assert!(found.starts_with(begins.as_str()), "{found}, not {begins}");
        }
    }
}

#[test]
fn fifos_links_and_sockets_are_told_and_never_waited_for() {
    let home = Home::new();
    home.ok(&["init"]);
    let store = home.work().join(".lepo");
    let name = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}-u0-head.md");
    assert!(Command::new("mkfifo").arg(store.join(name('A'))).status().unwrap().success());
    std::os::unix::fs::symlink("/etc/passwd", store.join(name('B'))).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(store.join(name('C'))).unwrap();
    let (code, found) = fsck(&home);
    assert_eq!((code, found.len()), (1, 3));
    assert!(found.iter().all(|line| line.starts_with("not a file 01JB")), "{found:?}");
}

#[test]
fn past_days_behind_a_link_are_told() {
    let home = Home::new();
    home.add(&["--time", "2025-03-01T12:00Z"], "old");
    home.add(&["--prev", "head"], "new");
    home.ok(&["tidy", "--keep", "0"]);
    home.ok(&["branch", "feat/x"]);
    assert_eq!(fsck(&home), (0, vec![]));
    let store = home.work().join(".lepo");
    std::fs::rename(store.join("_old"), home.work().join("moved")).unwrap();
    std::os::unix::fs::symlink("../moved", store.join("_old")).unwrap();
    let (code, found) = fsck(&home);
    assert_eq!(code, 1);
    assert!(found.iter().any(|line| line.starts_with("misplaced _old: it is a link")), "{found:?}");
}

#[test]
fn a_directory_with_a_messages_name_in_a_day_is_found() {
    let home = Home::new();
    home.ok(&["init"]);
    let id = home.add(&["--time", "2025-01-02T03:04Z"], "old");
    home.ok(&["tidy", "--keep", "0"]);
    let name = format!("{}C-u0-head.md", &id[..25]);
    let day = home.work().join(".lepo/_old/2025-01/02");
    std::fs::create_dir(day.join(&name)).unwrap();
    let (code, found) = fsck(&home);
    let line =
        format!("not a file _old/2025-01/02/{name}: it has the name of a message but is not a regular file");
    assert_eq!((code, found), (1, vec![line]));
}

#[test]
fn what_stands_in_the_place_of_a_file_or_a_folder_is_named() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/_blobs", "");
    let ran = home.lepo(&["fsck"]);
    assert_eq!(ran.code, 5);
    assert!(
        ran.err.starts_with("error: cannot read .lepo/_blobs: ") && ran.err.contains("hint: "),
        "{}",
        ran.err
    );
    let home = Home::with_openai("http://127.0.0.1:9");
    home.ok(&["init"]);
    let insts = home.work().join(".lepo/_insts.toml");
    std::fs::rename(&insts, home.work().join("moved")).unwrap();
    std::os::unix::fs::symlink("../moved", &insts).unwrap();
    let ran = home.lepo(&["do", "hello"]);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains(".lepo/_insts.toml") && ran.err.contains("hint: it is a link"), "{}", ran.err);
}

#[test]
fn a_line_that_a_crash_tore_takes_no_other_with_it() {
    let bot = Bot::saying("planner = \"off\"", &["Paris."]);
    bot.home.ok(&["init"]);
    bot.home.write("work/.lepo/_journal.ndjson", r#"{"time":1,"bubb":"01JB3Z0Q4N8V2K5T7W9X1Y3"#);
    bot.home.write("work/.lepo/_titles", "1790000000000 01JB3Z0Q4N8V");
    assert_eq!(bot.lepo(&["do", "Capital?"]).code, 0);
    bot.home.ok(&["title", "@", "Capitals"]);
    let journal = bot.home.read("work/.lepo/_journal.ndjson");
    let lines: Vec<&str> = journal.lines().collect();
    // Behind the torn line stand the proof of the system prompt and the fact of the answer.
    let kinds = lines[1..].iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let kinds: Vec<_> = kinds.map(|line| (line["what"].clone(), line["model"].clone())).collect();
    assert_eq!(
        kinds,
        [("proven".into(), serde_json::Value::Null), ("answer".into(), "test".into())],
        "{journal}"
    );
    assert_eq!(bot.home.ok(&["title", "@"]), "Capitals\n");
}

#[test]
fn a_blob_that_is_named_and_missing_is_told() {
    let home = Home::new();
    let hash = "a".repeat(64);
    let id = home.add(&["--kind", "s"], &format!("{}\n[9 bytes: _blobs/{hash}]", "long".repeat(100_000)));
    assert_eq!(
        fsck(&home),
        (1, vec![format!("blob {id}-s0-head.md: it names _blobs/{hash}, which is missing")])
    );
    home.write(&format!("work/.lepo/_blobs/{hash}"), "x");
    assert!(fsck(&home).1[0].starts_with(&format!("blob _blobs/{hash}: ")));
}

#[test]
fn findings_come_as_json_too() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/notes", "");
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["fsck", "--json"])).unwrap();
    assert_eq!(document["findings"][0]["what"], "foreign");
    assert_eq!(document["findings"][0]["warning"], true);
}

#[test]
fn what_a_killed_process_had_received_is_saved() {
    let first = openai_event(serde_json::json!({ "content": "반쯤 온 답" }), None);
    let server = Server::start([Reply::pieces([Piece::Bytes(first.into_bytes()), Piece::Wait])
        .header("content-type", "text/event-stream")]);
    let home = Home::with_openai(&server.url());
    let mut command = home.command(&["do", "why?"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_spool = |entry: &std::fs::DirEntry| {
        let is_answer = entry.file_name().to_string_lossy().starts_with("a0-");
        is_answer && entry.metadata().is_ok_and(|meta| meta.len() > 0)
    };
    let tmp = home.work().join(".lepo/_tmp");
    let spooled = || std::fs::read_dir(&tmp).is_ok_and(|entries| entries.flatten().any(|e| is_spool(&e)));
    until("the spool", spooled);
    // At work it is nobody's business.
    assert_eq!(fsck(&home), (0, vec![]));
    assert_eq!(home.ok(&["fsck", "--recover"]), "");
    child.kill().unwrap();
    child.wait().unwrap();
    // An empty file counts once it is a second old: the mark of the question.
    until("both files are strays", || fsck(&home).1.len() == 2);
    let (code, found) = fsck(&home);
    assert_eq!(code, 0);
    assert!(found[0].starts_with("stray _tmp/a0-") && found[1].starts_with("stray _tmp/claim-"), "{found:?}");
    let id = home.ok(&["fsck", "--recover"]);
    let id = id.trim();
    assert_eq!(home.ok(&["show", "--one", id]), "반쯤 온 답");
    let question = home.ok(&["resolve", &format!("{id}^")]);
    assert!(home.bubbs().contains(&format!("{id}-a1-{}.md", question.trim())));
    assert_eq!(fsck(&home), (0, vec![]));
    assert_eq!(home.ok(&["fsck", "--recover"]), "");
}

#[test]
fn a_spool_that_cannot_be_saved_stops_no_other() {
    let home = Home::new();
    home.add(&[], "one");
    let tmp = home.work().join(".lepo/_tmp");
    // No time is left after the last that an id can have, so the first of them cannot become a bubb.
    let last = "7ZZZZZZZZZ8V2K5T7W9X1Y3Z5A";
    std::fs::write(tmp.join(format!("a0-{last}-1-1")), "lost").unwrap();
    std::fs::write(tmp.join("u0-head-1-2"), "saved").unwrap();
    let ran = home.lepo(&["fsck", "--recover", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_eq!(document["recovered"].as_array().unwrap().len(), 1, "{}", ran.err);
    assert_eq!(document["failed"], serde_json::json!([format!("_tmp/a0-{last}-1-1")]));
}

#[test]
fn two_recoveries_at_once_do_not_trip_over_each_other() {
    let home = Home::new();
    home.add(&[], "one");
    let tmp = home.work().join(".lepo/_tmp");
    for round in 0..10 {
        for i in 0..20 {
            std::fs::write(tmp.join(format!("u0-head-1-{i}")), format!("words {round} {i}")).unwrap();
        }
        let start = || {
            let mut lepo = home.command(&["fsck", "--recover"]);
            lepo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let both = [start(), start()].map(finish);
        let saved: usize = both.iter().map(|ran| ran.out.lines().count()).sum();
        assert_eq!((both[0].code, both[1].code, saved), (0, 0, 20), "{}\n{}", both[0].err, both[1].err);
    }
}

#[test]
fn strays_that_hold_nothing_new_are_removed() {
    let home = Home::new();
    let id = home.add(&[], "one");
    let tmp = home.work().join(".lepo/_tmp");
    std::fs::hard_link(home.work().join(format!(".lepo/{id}-u0-head.md")), tmp.join("u0-head-1-1")).unwrap();
    let empty = std::fs::File::create(tmp.join("a0-head-1-2")).unwrap();
    empty.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    std::fs::write(tmp.join("branch-1-3"), "half").unwrap();
    std::fs::write(tmp.join("blob-1-4"), "half").unwrap();
    std::fs::write(tmp.join("mine"), "not lepo's").unwrap();
    // Held, and too new to tell: new for as long as the test takes.
    let held = std::fs::File::create(tmp.join("blob-1-5")).unwrap();
    held.lock().unwrap();
    let new = std::fs::File::create(tmp.join("a0-head-1-6")).unwrap();
    new.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(3600)).unwrap();
    let (code, found) = fsck(&home);
    let strays = found.iter().filter(|line| line.starts_with("stray ")).count();
    assert_eq!((code, strays), (0, 4), "{found:?}");
    let ran = home.lepo(&["fsck", "--recover", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["recovered"], serde_json::json!([]));
    assert_eq!(document["removed"].as_array().unwrap().len(), 4, "{}", ran.err);
    let mut left: Vec<_> =
        std::fs::read_dir(&tmp).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["a0-head-1-6", "blob-1-5", "mine"]);
    assert_eq!(home.ok(&["ls"]), format!("{id} (1): one\n"));
}
