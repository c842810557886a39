//! Reports of `lepo import`: what was skipped and why, damaged files, titles, dates, two imports at once.

use std::io::Write;

use serde_json::{Value, json};

use crate::disk::journal;
use crate::home::{Home, until};

fn import(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.ok(&[&["import", "--json"], args].concat())).unwrap()
}

/// An export of ChatGPT: conversations of a question and an answer, each with its title and its last change.
fn export(conversations: &[(&str, &str, u64)]) -> String {
    let one = |(id, title, changed): &(&str, &str, u64)| {
        let message = |role: &str, text: &str, time: u64| {
            json!({ "author": { "role": role }, "create_time": time, "metadata": { "model_slug": "m" },
                "content": { "content_type": "text", "parts": [text] } })
        };
        json!({ "conversation_id": id, "title": title, "create_time": 1_700_000_000, "update_time": changed, "mapping": {
            "a": { "id": "a", "parent": null, "message": message("user", &format!("question {id}"), 1_700_000_000) },
            "b": { "id": "b", "parent": "a", "message": message("assistant", "answer", 1_700_000_001) },
        } })
    };
    conversations.iter().map(one).collect::<Value>().to_string()
}

fn zip(name: &str, document: &str) -> Vec<u8> {
    let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    to.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    to.write_all(document.as_bytes()).unwrap();
    to.finish().unwrap().into_inner()
}

#[test]
fn a_damaged_file_of_a_folder_is_named_and_counted() {
    let home = Home::new();
    let whole = zip("conversations.json", &export(&[("c1", "Zipped", 1)]));
    // Of the first entry, the flag of an encrypted one in both of its records.
    let mut secret = whole.clone();
    secret[6] |= 1;
    let directory = secret.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    secret[directory + 8] |= 1;
    home.write("work/w/ok.json", export(&[("c2", "Plain", 1)]));
    home.write("work/w/whole.zip", &whole);
    home.write("work/w/torn.zip", &whole[..whole.len() / 2]);
    home.write("work/w/secret.zip", &secret);
    home.write("work/w/other.json", "{}");
    let ran = home.lepo(&["import", "--strict", "w"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("read 2 conversations with 4 messages"), "{}", ran.out);
    assert!(
        ran.out.contains(
            "skipped 2: file that cannot be read: w/secret.zip (it is protected by a password), \
             w/torn.zip (it is not a complete zip archive)\n"
        ),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("skipped 1: file of an unknown format: w/other.json\n"), "{}", ran.out);
    let output = import(&home, &["w"]);
    assert_eq!(
        output["skipped"][0],
        json!({ "reason": "file of an unknown format", "count": 1, "files": ["w/other.json"] })
    );
    home.write("work/bad/torn.zip", &whole[..whole.len() / 2]);
    let ran = home.lepo(&["import", "bad"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("nothing to import") && ran.err.contains("bad/torn.zip (it is not"),
        "{}",
        ran.err
    );
}

#[test]
fn two_documents_in_one_file_are_not_taken_for_one() {
    let home = Home::new();
    let both = export(&[("c1", "One", 1)]) + &export(&[("c2", "Two", 1)]);
    home.write("work/both.json", &both);
    home.write("work/both.zip", zip("conversations.json", &both));
    for file in ["both.json", "both.zip"] {
        let ran = home.lepo(&["import", "--strict", file]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.contains("skipped 1: data after the end of the document\n"), "{}", ran.out);
    }
}

#[test]
fn content_that_is_not_taken_is_told() {
    let home = Home::new();
    home.write("work/m.json", r#"{"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"hologram"}]},{"role":"bogus","content":"x"}]}"#);
    let ran = home.lepo(&["import", "--strict", "m.json"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("skipped 1: content of an unknown type\nskipped 1: message of an unknown role\n"),
        "{}",
        ran.out
    );
    assert_eq!(home.bubbs().len(), 1);
}

#[test]
fn two_imports_at_once_write_every_fact_once() {
    let home = Home::new();
    home.ok(&["init"]);
    let ids: Vec<String> = (0..400).map(|n| format!("c{n}")).collect();
    let conversations: Vec<(&str, &str, u64)> = ids.iter().map(|id| (id.as_str(), "T", 1)).collect();
    home.write("work/x.json", export(&conversations));
    let start = || home.command(&["import", "x.json"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut both = [start(), start()];
    for child in &mut both {
        assert!(child.wait().unwrap().success());
    }
    // A line of each conversation, and one of each answer.
    assert_eq!(journal(&home).len(), 800);
    assert_eq!(home.bubbs().len(), 800);
}

#[test]
fn messages_without_an_id_remember_the_choice_of_tools() {
    let home = Home::new();
    let result = "x".repeat(10_000);
    let log = json!({ "messages": [
        { "role": "user", "content": "q", "created_at": 1_700_000_000 },
        { "role": "assistant", "content": "a", "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": result },
    ] });
    home.write("work/tool.json", log.to_string());
    for (first, other) in [("brief", "full"), ("full", "brief")] {
        let store = ["-s", first];
        home.ok(&[&store[..], &["import", "--tools", first, "tool.json"]].concat());
        let ran = home.lepo(&[&store[..], &["import", "--tools", other, "tool.json"]].concat());
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains(&format!("--tools {first}")) && ran.err.contains("--again"), "{}", ran.err);
        let output = home.ok(&[&store[..], &["import", "--json", "tool.json"]].concat());
        assert_eq!(serde_json::from_str::<Value>(&output).unwrap()["made"], 0, "{output}");
    }
}

#[test]
fn the_title_of_the_newest_state_stays_in_any_order() {
    for order in [["old.json", "new.json"], ["new.json", "old.json"]] {
        let home = Home::new();
        home.write("work/old.json", export(&[("c1", "First name", 1_700_000_100)]));
        home.write("work/new.json", export(&[("c1", "Renamed", 1_700_000_200)]));
        for file in order {
            import(&home, &[file]);
        }
        let listed = home.ok(&["ls", "--json"]);
        assert!(listed.contains("Renamed") && !listed.contains("First name"), "{order:?}: {listed}");
        let count = journal(&home).len();
        import(&home, &["old.json"]);
        import(&home, &["new.json"]);
        assert_eq!(journal(&home).len(), count);
    }
}

#[test]
fn a_date_that_was_given_is_the_one_that_is_told() {
    let home = Home::new();
    home.write("work/x.json", r#"{"messages":[{"role":"user","content":"x"}]}"#);
    let ran = home.lepo(&["import", "-n", "--date", "2024-01-01", "x.json"]);
    assert!(
        ran.err.contains("note: 1 conversation without any time: it has the time of --date 2024-01-01\n"),
        "{}",
        ran.err
    );
    let ran = home.lepo(&["import", "-n", "x.json"]);
    assert!(ran.err.contains("it is dated 2000-01-01; --date DATE gives another"), "{}", ran.err);
    for date in ["1960-01-01", "1969-12-30T12:00Z"] {
        let ran = home.lepo(&["import", "--date", date, "x.json"]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("times before 1970 are not supported"), "{}", ran.err);
    }
    let ran = home.lepo(&["import", "--date", "1960-99-01", "x.json"]);
    assert!(ran.err.contains("a date (2026-11-01)"), "{}", ran.err);
}

#[test]
fn a_round_trip_through_open_webui_makes_nothing_new() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/interop/claude-ai-conversations.json");
    import(&home, &[sample]);
    home.write("work/m.json", r#"{"messages":[{"role":"user","content":"x","created_at":1700000000123},{"role":"assistant","content":"y","created_at":1700000000456}]}"#);
    import(&home, &["m.json"]);
    for format in ["openwebui", "chatgpt"] {
        let document = home.ok(&["export", "--format", format, "--all"]);
        home.write("work/o.json", document);
        let output = import(&home, &["o.json"]);
        assert_eq!((&output["made"], &output["skipped"]), (&json!(0), &json!([])), "{format}: {output}");
    }
}

#[test]
fn a_store_is_made_only_when_there_is_something_to_write() {
    let home = Home::new();
    home.write("work/x.json", r#"{"messages":[{"role":"user","content":""}]}"#);
    let ran = home.lepo(&["import", "x.json"]);
    assert!(ran.code == 1 && ran.out.contains("made 0 messages"), "{}{}", ran.out, ran.err);
    let sql = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/interop/opencode.sql");
    let ran = home.lepo(&["import", sql]);
    assert!(ran.code == 2 && ran.err.contains("sqlite3"), "{}", ran.err);
    assert!(!home.work().join(".lepo").exists());
    home.write("work/y.json", r#"{"messages":[{"role":"user","content":"y"}]}"#);
    assert_eq!(import(&home, &["y.json"])["made"], 1);
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn a_branch_follows_its_conversation_and_another_of_the_same_title_gets_a_number() {
    let home = Home::new();
    let pair = |longer: bool| {
        let mut export: Value =
            serde_json::from_str(&export(&[("c1", "Same", 1), ("c2", "Same", 1)])).unwrap();
        if longer {
            export[0]["mapping"]["c"] = json!({ "id": "c", "parent": "b", "message": {
                "author": { "role": "user" }, "create_time": 1_700_000_009,
                "content": { "content_type": "text", "parts": ["and then?"] } } });
        }
        export.to_string()
    };
    home.write("work/old.json", pair(false));
    home.write("work/new.json", pair(true));
    let said = |branch: &str| home.ok(&["show", branch]);
    import(&home, &["--branches", "old.json"]);
    assert!(said("Same").contains("question c1") && said("Same-2").contains("question c2"));
    for (file, goes_on) in [("old.json", false), ("new.json", true), ("old.json", true), ("new.json", true)] {
        import(&home, &["--branches", file]);
        assert_eq!(said("Same").contains("and then?"), goes_on, "{file}");
        assert_eq!(home.ok(&["branch"]).lines().count(), 2, "{file}");
    }
}

#[test]
fn ctrl_c_tells_what_is_here_and_the_same_command_goes_on() {
    use std::os::unix::process::ExitStatusExt;
    let home = Home::new();
    let ids: Vec<String> = (0..1000).map(|n| format!("c{n}")).collect();
    let conversations: Vec<(&str, &str, u64)> = ids.iter().map(|id| (id.as_str(), "T", 1)).collect();
    home.write("work/x.json", export(&conversations));
    let mut count = 0;
    for n in 0..8 {
        let mut command = home.command(&["import", "x.json"]);
        let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        let child = child.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(n * 20));
        let pid = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let out = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&out.stderr).into_owned();
        match out.status.code() {
            Some(130) => {
                assert!(err.contains("interrupted: ") && err.contains(" of this import "), "{err}");
                assert!(err.contains("run the same command to continue"), "{err}");
                count += 1;
            }
            // It was not listening yet, or was done.
            code => assert!(code == Some(0) || out.status.signal() == Some(2), "{code:?} {err}"),
        }
    }
    eprintln!("told {count} times");
    import(&home, &["x.json"]);
    let again = import(&home, &["x.json"]);
    assert_eq!((&again["made"], &again["here"]), (&json!(0), &json!(2000)));
    assert_eq!(journal(&home).len(), 2000);
}

#[test]
fn ctrl_c_ends_an_import_within_one_conversation() {
    const COUNT: usize = 4_000;
    let home = Home::new();
    let line = |n: usize| {
        let (id, parent) = (format!("u{n}"), n.checked_sub(1).map(|n| format!("u{n}")));
        let message = json!({ "role": "user", "content": format!("question {n}") });
        json!({ "type": "user", "uuid": id, "parentUuid": parent, "sessionId": "s", "message": message,
            "timestamp": format!("2025-01-01T{:02}:{:02}:{:02}Z", n / 3600, n / 60 % 60, n % 60) })
        .to_string()
    };
    home.write("work/s.jsonl", (0..COUNT).map(line).collect::<Vec<_>>().join("\n"));
    let mut command = home.command(&["import", "s.jsonl"]);
    let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    // The store is made for the first message.
    let is_begun = || home.work().join(".lepo/_tmp").read_dir().is_ok_and(|mut all| all.next().is_some());
    until("the import writes", is_begun);
    let _ =
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT);
    let out = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(130), "{err}");
    let number = err.split_once("interrupted: ").and_then(|(_, rest)| rest.split_once(" message")).unwrap().0;
    let made: usize = number.parse().unwrap();
    assert!(made < COUNT && err.contains("run the same command to continue"), "{err}");
    assert_eq!(home.ok(&["fsck"]), "");
    let rest = import(&home, &["s.jsonl"]);
    assert_eq!((&rest["made"], &rest["here"]), (&json!(COUNT - made), &json!(made)));
}

#[test]
fn temporary_files_of_an_import_that_was_ended_go_with_a_line() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/_tmp/import-1-0/x.md", "left");
    home.write("work/y.json", r#"{"messages":[{"role":"user","content":"y"}]}"#);
    let ran = home.lepo(&["import", "y.json"]);
    assert!(ran.err.contains("removing the temporary files of an import that was ended"), "{}", ran.err);
    assert!(!home.work().join(".lepo/_tmp/import-1-0").exists());
    assert!(!home.lepo(&["import", "y.json"]).err.contains("removing"));
}

#[test]
fn a_file_whose_name_has_lines_is_told_on_one() {
    let home = Home::new();
    home.write("work/f/x\nmade 9 messages; 0 here already.jsonl", "nonsense");
    home.write("work/f/good.json", r#"[{"role":"user","content":"q"}]"#);
    let ran = home.lepo(&["import", "f"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("made ")).count(), 1, "{}", ran.out);
    assert!(ran.out.contains("f/x␊made 9 messages"), "{}", ran.out);
}

/// https://github.com/vectorize-io/hindsight/issues/2464, https://github.com/MemPalace/mempalace/pull/232
#[test]
fn a_file_of_another_tool_is_named_and_nothing_is_made() {
    let home = Home::new();
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"q"}]}}"#;
    home.write("work/c.jsonl", line);
    let ran = home.lepo(&["import", "c.jsonl"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("unknown format") && ran.err.contains("Cursor"), "{}", ran.err);
    home.write("work/w/c.jsonl", line);
    home.write("work/w/ok.json", export(&[("c1", "One", 1)]));
    let ran = home.lepo(&["import", "w"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("skipped 1: file of an unknown format: w/c.jsonl (of Cursor)\n"), "{}", ran.out);
}

#[test]
fn an_import_of_which_nothing_came_fails_and_one_with_something_does_not() {
    let home = Home::new();
    home.write("work/odd.json", r#"{"messages":[{"role":"user","content":[{"type":"hologram"}]}]}"#);
    let ran = home.lepo(&["import", "odd.json"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("skipped 1: content of an unknown type\n"), "{}", ran.out);
    home.write("work/prompt.json", r#"{"messages":[{"role":"system","content":"be kind"}]}"#);
    let ran = home.lepo(&["import", "prompt.json"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("skipped 1: conversation without a visible message\n"), "{}", ran.out);
    let both = r#"[{"messages":[{"role":"user","content":"q"}]},{"messages":[{"role":"user","content":7}]}]"#;
    home.write("work/both.json", both);
    assert_eq!(home.lepo(&["import", "both.json"]).code, 0);
    // What is here already is no failure either.
    assert_eq!(home.lepo(&["import", "both.json"]).code, 0);
}

/// https://github.com/basicmachines-co/basic-memory/pull/1290
#[test]
fn a_conversation_without_a_time_of_its_beginning_has_the_nearest_one() {
    let home = Home::new();
    let question = r#"{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}"#;
    let export = format!(
        r#"[{{"id":"c","update_time":1785578400.5,"mapping":{{"1":{{"parent":null,"message":{question}}}}}}}]"#
    );
    home.write("work/conversations.json", export);
    home.ok(&["import", "conversations.json"]);
    let tails: Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    assert_eq!(tails["tails"][0]["time"], 1_785_578_400_500_u64);
}

#[test]
fn printed_lines_without_times_are_held_back_only_while_they_may_grow() {
    let home = Home::new();
    let line = |kind: &str, text: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{text}\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\
             \"message\":{{\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    home.write("work/out.jsonl", line("user", "q") + &line("assistant", "r"));
    assert_eq!(import(&home, &["out.jsonl"])["held"], 1);
    assert_eq!(import(&home, &["--date", "2026-01-01", "out.jsonl"])["held"], 0);
    let old = Home::new();
    old.write("work/out.jsonl", line("user", "q") + &line("assistant", "r"));
    let path = old.work().join("out.jsonl");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(90_000)).unwrap();
    let output = import(&old, &["out.jsonl"]);
    assert_eq!((&output["held"], &output["made"]), (&0.into(), &2.into()), "{output}");
}
