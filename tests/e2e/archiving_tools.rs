//! Every tool that records the directory of a session: its logs come by `--from`, by a hook and by a watch. The logs are
//! written by scripts.

use serde_json::{Value, json};

use crate::archiving::{Watch, texts};
use crate::home::{Home, run, until};

/// The files of a session of two messages about `dir`: paths in a home, and texts.
type Session = fn(dir: &str, number: u64) -> Vec<(String, String)>;

fn time(number: u64, second: u64) -> String {
    format!("2026-08-{:02}T10:00:{second:02}.000Z", number + 1)
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn question(number: u64) -> String {
    format!("question {number}")
}

fn answer(number: u64) -> String {
    format!("answer {number}")
}

fn claude_code(dir: &str, number: u64) -> Vec<(String, String)> {
    let line = |id: &str, parent: Value, second: u64, message: Value| json!({ "type": message["role"], "uuid": format!("{id}{number}"), "parentUuid": parent, "cwd": dir, "sessionId": format!("s{number}"), "timestamp": time(number, second), "message": message });
    let asked = json!({ "role": "user", "content": question(number) });
    let body = json!({ "role": "assistant", "id": "m", "stop_reason": "end_turn", "content": [{ "type": "text", "text": answer(number) }] });
    let log = [line("q", Value::Null, 0, asked), line("a", json!(format!("q{number}")), 1, body)];
    vec![(format!(".claude/projects/-p/s{number}.jsonl"), lines(&log))]
}

fn codex(dir: &str, number: u64) -> Vec<(String, String)> {
    let line = |kind: &str, second: u64, payload: Value| json!({ "timestamp": time(number, second), "type": kind, "payload": payload });
    let item = |role: &str, text: String| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    let id = format!("01a0ae76-2436-7590-9a11-{number:012}");
    let log = [
        line("session_meta", 0, json!({ "id": id, "timestamp": time(number, 0), "cwd": dir })),
        line("response_item", 1, item("user", question(number))),
        line("response_item", 2, item("assistant", answer(number))),
        line("event_msg", 3, json!({ "type": "task_complete" })),
    ];
    vec![(format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{id}.jsonl"), lines(&log))]
}

fn gemini_cli(dir: &str, number: u64) -> Vec<(String, String)> {
    let project = format!(".gemini/tmp/project-{}", dir.replace('/', "-"));
    let log = [
        json!({ "sessionId": format!("g{number}"), "projectHash": "9f", "startTime": time(number, 0), "kind": "main" }),
        json!({ "id": "m1", "timestamp": time(number, 1), "type": "user", "content": [{ "text": question(number) }] }),
        json!({ "id": "m2", "timestamp": time(number, 2), "type": "gemini", "content": answer(number), "model": "g" }),
        json!({ "id": "m3", "timestamp": time(number, 3), "type": "info", "content": "left" }),
    ];
    vec![
        (format!("{project}/.project_root"), format!("{dir}\n")),
        (format!("{project}/chats/session-2026-08-01T10-00-{number:08}.jsonl"), lines(&log)),
    ]
}

fn pi(dir: &str, number: u64) -> Vec<(String, String)> {
    let line = |id: u64, second: u64, message: Value| {
        let parent = id.checked_sub(1).map(|parent| format!("m{parent}"));
        json!({ "type": "message", "id": format!("m{id}"), "parentId": parent, "timestamp": time(number, second), "message": message })
    };
    let log = [
        json!({ "type": "session", "version": 3, "id": format!("p{number}"), "timestamp": time(number, 0), "cwd": dir }),
        line(0, 1, json!({ "role": "user", "content": question(number) })),
        line(
            1,
            2,
            json!({ "role": "assistant", "stopReason": "stop", "content": [{ "type": "text", "text": answer(number) }] }),
        ),
    ];
    vec![(format!(".pi/agent/sessions/--p--/{number}.jsonl"), lines(&log))]
}

fn opencode(dir: &str, number: u64) -> Vec<(String, String)> {
    let at = 1_785_578_400_000 + number * 86_400_000;
    let file = |path: String, value: Value| (format!("data/opencode/storage/{path}.json"), value.to_string());
    let message = |id: &str, role: &str, at: u64| json!({ "id": format!("{id}{number}"), "sessionID": format!("ses_{number}"), "role": role, "finish": "stop", "time": { "created": at, "completed": at } });
    let part = |text: String| json!({ "type": "text", "text": text });
    vec![
        file(format!("part/a{number}/prt"), part(question(number))),
        file(format!("part/b{number}/prt"), part(answer(number))),
        file(format!("message/ses_{number}/a{number}"), message("a", "user", at)),
        file(format!("message/ses_{number}/b{number}"), message("b", "assistant", at + 1000)),
        // The tool writes the session's file after its messages.
        file(
            format!("session/p/ses_{number}"),
            json!({ "id": format!("ses_{number}"), "directory": dir, "title": "t", "version": "0.9", "time": { "created": at, "updated": at } }),
        ),
    ]
}

const TOOLS: [(&str, Session); 5] = [
    ("claude-code", claude_code),
    ("codex", codex),
    ("gemini-cli", gemini_cli),
    ("opencode", opencode),
    ("pi", pi),
];

fn write(home: &Home, session: Session, dir: &str, number: u64) {
    session(dir, number).into_iter().for_each(|(path, text)| home.write(&path, text));
}

fn work(home: &Home) -> String {
    home.work().canonicalize().unwrap().to_string_lossy().into_owned()
}

fn visible(home: &Home) -> Vec<String> {
    texts(home)
        .into_iter()
        .filter(|text| text.starts_with("question") || text.starts_with("answer"))
        .collect()
}

#[test]
fn each_tool_has_its_sessions_of_a_former_directory_taken_and_remembered() {
    for (tool, session) in TOOLS {
        let home = Home::new();
        home.ok(&["init"]);
        let former = "/former/place/work";
        write(&home, session, former, 0);
        write(&home, session, "/former/place/unlike", 1);
        let ran = home.lepo(&["import", tool]);
        assert_eq!(ran.code, 1, "{tool}");
        let command = format!("lepo import {tool} --from {former}");
        assert!(ran.err.contains(&command) && !ran.err.contains("unlike"), "{tool}: {}", ran.err);
        home.ok(&["import", tool, "--from", former]);
        assert_eq!(visible(&home), [question(0), answer(0)], "{tool}");
        // A folder below counts, by hand and by a hook.
        write(&home, session, &format!("{former}/sub"), 2);
        home.ok(&["import", tool]);
        assert_eq!(visible(&home).len(), 4, "{tool}");
        write(&home, session, former, 3);
        if tool != "pi" {
            let event = json!({ "cwd": work(&home) }).to_string();
            let ran = run(home.command(&["import", "--on-end", tool]), event.as_bytes());
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{tool}");
            assert_eq!(visible(&home).len(), 6, "{tool}");
        }
        assert_eq!(home.ok(&["fsck"]), "", "{tool}");
    }
}

#[test]
fn each_tool_is_watched_before_and_after_its_folder_exists() {
    for (tool, session) in TOOLS {
        for args in [&[][..], &[tool]] {
            let home = Home::new();
            home.ok(&["init"]);
            let dir = work(&home);
            let mut watch = Watch::start(&home, args);
            for number in 0..3 {
                write(&home, session, &dir, number);
                until(tool, || visible(&home).len() == 2 * (number as usize + 1));
            }
            write(&home, session, "/elsewhere", 4);
            assert_eq!(watch.signal("-INT"), Some(130), "{tool}");
            let known = home.bubbs();
            let mut watch = Watch::start(&home, args);
            write(&home, session, &dir, 5);
            until(tool, || visible(&home).len() == 8);
            assert_eq!(watch.signal("-TERM"), Some(143), "{tool}");
            assert!(known.iter().all(|name| home.bubbs().contains(name)), "{tool}");
            home.ok(&["import", tool]);
            assert_eq!(visible(&home).len(), 8, "{tool}: nothing twice");
            assert_eq!(home.ok(&["fsck"]), "", "{tool}");
        }
    }
}

#[test]
fn a_database_of_opencode_is_asked_for_the_directory_of_each_session() {
    let home = Home::new();
    home.ok(&["init"]);
    let statements = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/interop/opencode.sql");
    std::fs::create_dir_all(home.path().join("data/opencode")).unwrap();
    let script = "import sqlite3,sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())";
    let database = home.path().join("data/opencode/opencode.db");
    let made = run(home.program("python3", &["-c", script, database.to_str().unwrap(), statements]), b"");
    if made.code != 0 {
        crate::skip::skipped("python3", format!("no python3 with sqlite3: {}", made.err));
        return;
    }
    // Nothing is about this repository: a hook is silent, and a directory without sessions is not remembered.
    let ran = home.lepo(&["import", "--on-end", "opencode"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert_eq!(home.lepo(&["import", "opencode", "--from", "/nowhere"]).code, 1);
    assert!(crate::disk::journal(&home).is_empty());
    home.ok(&["import", "opencode", "--from", "/w/demo"]);
    let known = home.bubbs();
    assert!(!known.is_empty());
    let mut watch = Watch::start(&home, &["opencode"]);
    home.write("data/opencode/opencode.db-wal", "");
    assert_eq!(home.lepo(&["import", "--on-end", "opencode"]).code, 0);
    watch.signal("-TERM");
    assert_eq!(home.bubbs(), known);
}
