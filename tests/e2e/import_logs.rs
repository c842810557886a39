//! `lepo import` of logs: packed ones, titles and prompts kept elsewhere, compactions, edited bubbs, opencode's files.

use std::path::Path;

use serde_json::{Value, json};

use crate::disk::{bubbs, journal};
use crate::home::Home;

fn import(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.ok(&[&["import", "--json"], args].concat())).unwrap()
}

/// The visible and hidden texts, each behind the tag of its kind, oldest first.
fn stored_texts(home: &Home) -> Vec<String> {
    bubbs(home).iter().map(|bubb| format!("{} {}", bubb.tag, bubb.text)).collect()
}

/// Bytes as a zstd frame of raw blocks: as packed as no packing is, but read by the same way.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    frame.extend((bytes.len() as u32).to_le_bytes());
    let blocks: Vec<&[u8]> = bytes.chunks(100).collect();
    for (i, block) in blocks.iter().enumerate() {
        let head = (block.len() as u32) << 3 | u32::from(i + 1 == blocks.len());
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(*block);
    }
    frame
}

#[test]
fn a_packed_log_is_what_it_was_before_it_was_packed() {
    let name = "codex-rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001.jsonl";
    let log =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop").join(name)).unwrap();
    let (plain, packed) = (Home::new(), Home::new());
    let file = name.strip_prefix("codex-").unwrap();
    plain.write(&format!("work/{file}"), &log);
    packed.write(&format!("work/{file}.zst"), zstd(&log));
    let output = import(&plain, &[file]);
    assert_eq!(import(&packed, &[&format!("{file}.zst")])["made"], output["made"]);
    assert_eq!(packed.bubbs(), plain.bubbs());
    // Of one that is torn, all blocks are read that are whole.
    let (torn, cut) = (Home::new(), Home::new());
    let frame = zstd(&log);
    torn.write(&format!("work/{file}.zst"), &frame[..frame.len() - 150]);
    cut.write(&format!("work/{file}"), &log[..(log.len().div_ceil(100) - 2) * 100]);
    let printed = import(&torn, &["codex", &format!("{file}.zst")]);
    assert_eq!(
        printed["skipped"],
        json!([{ "reason": "torn", "count": 1, "files": [format!("{file}.zst")] }])
    );
    assert_eq!(import(&cut, &["codex", file])["made"], printed["made"]);
    assert_eq!(torn.bubbs(), cut.bubbs());
    assert!(torn.bubbs().len() > 3, "{:?}", torn.bubbs());
    assert_eq!(torn.ok(&["fsck"]), "");
}

#[test]
fn the_copy_in_a_compaction_is_stepped_over() {
    let line = |n: u64, kind: &str, payload: Value| {
        // As Codex writes them: the time, the type, the payload.
        format!(
            "{{\"timestamp\":\"2026-08-01T10:00:0{n}.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    let item = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    let copy = format!(
        "{{\"message\":\"so far\",\"replacement_history\":[{}]}}",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"},".repeat(50).trim_end_matches(',')
    );
    let log = [
        line(0, "session_meta", json!({ "id": "t", "timestamp": "2026-08-01T10:00:00.000Z", "cwd": "/" })),
        line(1, "response_item", item("user", "one")),
        line(2, "world_state", json!({ "type": "message", "role": "user" })),
        format!("{{\"timestamp\":\"2026-08-01T10:00:03.000Z\",\"type\":\"compacted\",\"payload\":{copy}}}\n"),
        line(4, "response_item", item("user", "two")),
    ]
    .concat();
    let home = Home::new();
    home.write("work/rollout.jsonl", log);
    let output = import(&home, &["codex", "rollout.jsonl"]);
    assert_eq!(output["skipped"], json!([]));
    assert_eq!(stored_texts(&home), ["u0 one", "s1 so far", "u0 two"]);
}

#[test]
fn a_number_beyond_all_numbers_ends_no_import() {
    let log = |ordinal: u64, text: &str| {
        json!({ "timestamp": "2026-08-01T10:00:00.000Z", "ordinal": ordinal, "type": "response_item",
            "payload": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] } })
        .to_string()
            + "\n"
    };
    let meta = json!({ "timestamp": "2026-08-01T10:00:00.000Z", "ordinal": 0, "type": "session_meta",
        "payload": { "id": "t", "timestamp": "2026-08-01T10:00:00.000Z", "cwd": "/" } });
    let home = Home::new();
    home.write("work/rollout.jsonl", format!("{meta}\n{}{}", log(u64::MAX, "one"), log(1, "two")));
    assert_eq!(import(&home, &["codex", "rollout.jsonl"])["made"], 2);
    // The sums of tokens too.
    let most = u64::MAX;
    let pi = format!(
        r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/"}}
{{"type":"message","id":"a","parentId":null,"timestamp":"2026-08-01T10:00:01.000Z","message":{{"role":"user","content":"q"}}}}
{{"type":"message","id":"b","parentId":"a","timestamp":"2026-08-01T10:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"a"}}],"usage":{{"input":{most},"cacheRead":{most},"output":{most}}}}}}}
"#
    );
    home.write("work/pi.jsonl", pi);
    assert_eq!(import(&home, &["pi", "pi.jsonl"])["made"], 2);
    for args in
        [&["ls", "-l"][..], &["stats"], &["export", "--format", "pi"], &["export", "--format", "html"]]
    {
        assert_eq!(home.lepo(args).code, 0, "{args:?}");
    }
}

fn claude(uuid: &str, parent: Option<&str>, second: u64, text: &str) -> String {
    json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/w",
        "timestamp": format!("2026-08-01T10:00:0{second}.000Z"), "message": { "role": "user", "content": text } })
    .to_string()
        + "\n"
}

#[test]
fn a_title_may_stand_in_another_log() {
    let home = Home::new();
    home.write(".claude/projects/-w/one.jsonl", claude("u1", None, 0, "hello"));
    let other = json!({ "type": "summary", "summary": "Greetings", "leafUuid": "u1" });
    home.write(".claude/projects/-w/two.jsonl", format!("{other}\n{}", claude("u2", None, 1, "another")));
    import(&home, &["claude-code", "--all"]);
    let tails: Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let titles: Vec<&Value> = tails["tails"].as_array().unwrap().iter().map(|tail| &tail["title"]).collect();
    assert_eq!(titles, [&Value::Null, &json!("Greetings")]);
}

/// A record behind a compaction follows the messages that it kept, where no record names a parent.
#[test]
fn messages_that_a_compaction_keeps_stay_where_they_were() {
    for kept in [
        json!({ "preservedMessages": { "anchorUuid": "s1", "uuids": ["u1"] } }),
        json!({ "preservedSegment": { "headUuid": "u1", "anchorUuid": "s1", "tailUuid": "u1" } }),
    ] {
        let home = Home::new();
        let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": null,
            "sessionId": "s", "timestamp": "2026-08-01T10:00:03.000Z", "compactMetadata": kept });
        let log = [
            claude("u1", None, 0, "kept"),
            claude("u2", Some("u1"), 1, "left"),
            format!("{boundary}\n"),
            claude("u3", Some("b1"), 4, "after"),
        ];
        home.write("work/s.jsonl", log.concat());
        import(&home, &["s.jsonl"]);
        let all = bubbs(&home);
        let id = |text: &str| all.iter().find(|bubb| bubb.text == text).unwrap();
        assert_eq!(id("after").prev, id("kept").id);
        assert_eq!(id("left").prev, id("kept").id);
    }
}

#[test]
fn a_session_that_the_proxy_has_kept_is_imported_only_when_asked_again() {
    let home = Home::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop/claude-code.jsonl");
    let log = std::fs::read_to_string(sample).unwrap();
    home.write("work/one.jsonl", &log);
    let response = log.split("\"id\":\"msg").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let answer = home.add(&["--kind", "a"], "kept by the proxy");
    let line = json!({"time": 1, "bubb": answer, "what": "answer", "response": format!("msg{response}"),
        "made": [{"bubb": answer}]});
    home.write("work/.lepo/_journal.ndjson", format!("{line}\n"));
    let output = import(&home, &["claude-code", "one.jsonl"]);
    assert_eq!(output["made"], 0, "{output}");
    assert!(output["skipped"].to_string().contains("do --proxy"), "{output}");
    assert_eq!(home.bubbs().len(), 1);
    let printed = import(&home, &["claude-code", "one.jsonl", "--again"]);
    assert!(printed["made"].as_u64() > Some(3), "{printed}");
    // Without the id in the journal it is a session like any other.
    let other = Home::new();
    other.write("work/one.jsonl", &log);
    assert!(import(&other, &["claude-code", "one.jsonl"])["made"].as_u64() > Some(3));
}

#[test]
fn prompts_of_sessions_whose_logs_are_gone_are_rescued() {
    let home = Home::new();
    home.write(".claude/projects/-w/there.jsonl", claude("u1", None, 0, "of a log"));
    let prompt = |session: Value, time: u64, display: &str, pasted: Value| {
        json!({ "display": display, "pastedContents": pasted, "timestamp": 1_785_578_400_000u64 + time,
            "project": "/w", "sessionId": session })
        .to_string()
            + "\n"
    };
    let pasted = json!({ "1": { "id": 1, "type": "text", "content": "line 1\nline 2" } });
    let log = [
        prompt(json!("there"), 0, "of a log", json!({})),
        prompt(json!("gone"), 1, "look: [Pasted text #1 +2 lines] so", pasted),
        prompt(Value::Null, 2, "old", json!({})),
        prompt(json!("gone"), 3, "/clear", json!({})),
        prompt(json!("gone"), 4, "/etc is what?", json!({})),
    ];
    home.write(".claude/history.jsonl", log.concat());
    assert!(home.ok(&["import"]).contains("Claude Code's prompts       1 file"), "{}", home.ok(&["import"]));
    let file = home.path().join(".claude/history.jsonl");
    let output = import(&home, &[file.to_str().unwrap()]);
    assert_eq!((&output["read"]["conversations"], &output["made"]), (&json!(2), &json!(3)), "{output}");
    assert_eq!(
        output["skipped"],
        json!([{ "reason": "prompt of a session whose log still exists", "count": 1, "files": [file] },
            { "reason": "prompt that is a command", "count": 1, "files": [file] }])
    );
    assert_eq!(stored_texts(&home), ["u0 look: line 1\nline 2 so", "u0 old", "u0 /etc is what?"]);
    // A session that was imported while its log was there is left alone once the log is gone.
    import(&home, &["claude-code", "--all"]);
    std::fs::remove_file(home.path().join(".claude/projects/-w/there.jsonl")).unwrap();
    let printed = import(&home, &[file.to_str().unwrap()]);
    assert_eq!(printed["made"], 0, "{printed}");
    assert!(printed["skipped"].to_string().contains("imported from another source"), "{printed}");
}

#[test]
fn a_bubb_that_was_edited_is_named_and_stays() {
    let home = Home::new();
    home.write("work/s.jsonl", claude("u1", None, 0, "hello") + &claude("u2", Some("u1"), 1, "again"));
    import(&home, &["s.jsonl"]);
    let first = home.bubbs().remove(0);
    home.write(&format!("work/.lepo/{first}"), "hello, edited");
    let ran = home.lepo(&["import", "--strict", "s.jsonl"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("skipped 1: message that exists here with other content"), "{}", ran.out);
    assert!(ran.err.contains(&first[..26]), "{}", ran.err);
    assert_eq!(home.read(&format!("work/.lepo/{first}")), "hello, edited");
}

#[test]
fn opencodes_files_of_json_are_read_with_their_subagents() {
    let home = Home::new();
    let write = |path: &str, value: Value| {
        home.write(&format!("data/opencode/storage/{path}.json"), format!("{value:#}"));
    };
    let session = |id: &str, parent: Value| {
        json!({ "id": id, "projectID": "p", "directory": "/w", "parentID": parent,
        "title": format!("Title {id}"), "version": "0.9", "time": { "created": 1_785_578_400_000u64, "updated": 2 } })
    };
    let message = |id: &str, session: &str, role: &str, time: u64| {
        json!({ "id": id, "sessionID": session, "role": role,
        "modelID": "claude", "tokens": { "input": 3, "output": 2 }, "time": { "created": 1_785_578_400_000u64 + time } })
    };
    write("session/p/ses_1", session("ses_1", Value::Null));
    write("session/p/ses_2", session("ses_2", json!("ses_1")));
    write("message/ses_1/msg_1", message("msg_1", "ses_1", "user", 0));
    write("message/ses_1/msg_2", message("msg_2", "ses_1", "assistant", 10));
    write("message/ses_2/msg_3", message("msg_3", "ses_2", "user", 20));
    write("part/msg_1/prt_1", json!({ "type": "text", "text": "look around" }));
    write("part/msg_2/prt_2", json!({ "type": "reasoning", "text": "hm" }));
    let state = json!({ "status": "completed", "input": { "prompt": "go" }, "output": "found", "metadata": { "sessionId": "ses_2" } });
    write("part/msg_2/prt_3", json!({ "type": "tool", "callID": "c1", "tool": "task", "state": state }));
    write("part/msg_2/prt_4", json!({ "type": "text", "text": "all is well" }));
    write("part/msg_3/prt_5", json!({ "type": "text", "text": "go" }));
    assert!(home.ok(&["import"]).contains("opencode       2 sessions"), "{}", home.ok(&["import"]));
    let output = import(&home, &["opencode", "--all"]);
    assert_eq!(
        (&output["read"]["conversations"], &output["read"]["messages"]),
        (&json!(1), &json!(3)),
        "{output}"
    );
    let all = bubbs(&home);
    let parent = |text: &str| {
        let prev = &all.iter().find(|bubb| bubb.text == text).unwrap().prev;
        all.iter().find(|bubb| bubb.id == *prev).map(|bubb| bubb.text.as_str())
    };
    let call = "task\n{\"prompt\":\"go\"}";
    assert_eq!(
        ["hm", call, "found", "go", "all is well"].map(parent),
        [Some("look around"), Some("look around"), Some(call), Some(call), Some("look around")]
    );
    assert_eq!(home.ok(&["fsck"]), "");
    let lines = journal(&home).len();
    let folder = home.path().join("data/opencode");
    assert_eq!(import(&home, &[folder.to_str().unwrap()])["made"], 0);
    assert_eq!(journal(&home).len(), lines);
}
