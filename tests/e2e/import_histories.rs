//! `lepo import` of what tools keep on this machine: found by directory, named so that it can be typed, held back with
//! a reason, and passed over where an older lepo imported it.

use serde_json::{Value, json};

use crate::disk::{bubbs, bubbs_in, journal};
use crate::home::{Home, run};

fn import(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.ok(&[&["import", "--json"], args].concat())).unwrap()
}

/// Makes a database by statements; false where nothing can.
fn database(home: &Home, file: &str, statements: &str) -> bool {
    let script = "import sqlite3,sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())";
    let made = run(home.program("python3", &["-c", script, file]), statements.as_bytes());
    if made.code != 0 {
        crate::skip::skipped("python3", format!("no python3 with sqlite3: {}", made.err));
    }
    made.code == 0
}

/// A message of pi of so many seconds ago.
fn pi(n: i64, ago: i64, role: &str, text: &str) -> String {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago);
    let parent = if n == 0 { "null".to_string() } else { format!("\"m{}\"", n - 1) };
    format!(
        "{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":{parent},\"timestamp\":\"{time:.3}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
    )
}

#[test]
fn what_is_held_back_is_named_with_the_moment_from_which_it_is_imported_anyway() {
    let home = Home::new();
    let log = [
        "{\"type\":\"session\",\"id\":\"s\"}\n".to_string(),
        pi(0, 100, "user", "first question"),
        pi(1, 90, "assistant", "the last\x1b words so far").replace('\x1b', "\\u001b"),
    ];
    home.write("work/s.jsonl", log.concat());
    let output = home.ok(&["import", "s.jsonl"]);
    let line = output.lines().find(|line| line.starts_with("held back 1 part: ")).unwrap();
    let (_, moment) = line.split_once("; imported anyway after ").unwrap();
    assert!(moment.len() >= "1 Jan 00:00".len(), "{output}");
    assert!(output.contains("\n  a0 the last") && output.contains("words"), "{output}");
    assert!(!output.contains('\x1b'), "{output}");
    let printed = import(&home, &["s.jsonl"]);
    let until = printed["held_until"].as_u64().unwrap();
    let now = jiff::Timestamp::now().as_millisecond() as u64;
    assert!((1..=86_400_000).contains(&until.saturating_sub(now)), "{printed}");
    // Nothing is held back of a log that tells nothing.
    home.write("work/none.jsonl", "{\"type\":\"session\",\"id\":\"n\"}\n");
    let ran = home.lepo(&["import", "--json", "none.jsonl"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.code, 1, "nothing came of it");
    assert_eq!((&document["held"], &document["held_until"]), (&0.into(), &Value::Null));
}

#[test]
fn a_folder_with_a_bubb_in_it_is_a_store_even_without_its_settings() {
    let from = Home::new();
    let id = from.add(&[], "a question");
    let store = from.work().join(".lepo");
    std::fs::remove_file(store.join("_insts.toml")).unwrap();
    for folder in ["", "_old/2025-11/13"] {
        let other = tempfile::tempdir().unwrap();
        let (store, day) = (other.path().join(".lepo"), other.path().join(".lepo").join(folder));
        std::fs::create_dir_all(&day).unwrap();
        let bubb = from.bubbs().into_iter().find(|name| name.contains("-u0-")).unwrap();
        std::fs::copy(from.work().join(".lepo").join(&bubb), day.join(&bubb)).unwrap();
        for path in [other.path(), &store] {
            let home = Home::new();
            let output = import(&home, &["lepo", path.to_str().unwrap()]);
            assert_eq!(output["sources"][0]["format"], "lepo", "{output}");
            // One that was put under a day that is not its own is read as what it says.
            assert_eq!(output["made"], u64::from(folder.is_empty()), "{output}");
        }
    }
    assert!(!id.is_empty() && bubbs_in(&store).len() == 1);
}

#[test]
fn every_row_of_the_list_begins_with_a_word_that_can_be_typed() {
    let home = Home::new();
    home.write(
        ".pi/agent/sessions/--w--/s.jsonl",
        format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{}", pi(0, 9, "user", "q")),
    );
    home.write(
        ".claude/history.jsonl",
        "{\"display\":\"old words\",\"timestamp\":1785578400000,\"project\":\"/w\",\"sessionId\":\"x\"}\n",
    );
    for file in [".config/io.datasette.llm/logs.db", "data/opencode/opencode.db", ".open-webui/webui.db"] {
        home.write(file, b"SQLite format 3\0");
    }
    let listed = home.ok(&["import"]);
    let words: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(words, ["claude-code", "pi", "llm", "opencode", "openwebui"], "{listed}");
    for word in words {
        let ran = home.lepo(&["import", "-n", word, "--all"]);
        // The databases here are none, but they are found.
        assert!(ran.code == 0 || ran.err.contains("cannot read"), "{word}: {}", ran.err);
        assert!(!ran.err.contains("no conversations of"), "{word}: {}", ran.err);
    }
}

#[test]
fn what_an_older_lepo_imported_is_passed_over_until_it_is_asked_for() {
    let home = Home::new();
    let log = |id: &str| {
        format!(
            "{{\"type\":\"session\",\"id\":\"{id}\"}}\n{}{}",
            pi(0, 900_000, "user", id),
            pi(1, 800_000, "assistant", "r")
        )
    };
    home.write("work/one/one.jsonl", log("one"));
    import(&home, &["one"]);
    let path = home.work().join(".lepo/_journal.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"as\":4,"), "{text}");
    std::fs::write(&path, text.replace("\"as\":4,", "\"as\":3,")).unwrap();
    home.write("work/one/two.jsonl", log("two"));
    let output = import(&home, &["one"]);
    assert_eq!((&output["made"], &output["here"]), (&2.into(), &0.into()), "{output}");
    let reason = "conversation that an older lepo imported; --again imports it again";
    assert_eq!(output["skipped"], json!([{ "reason": reason, "count": 1, "files": ["one/one.jsonl"] }]));
    assert_eq!(import(&home, &["--again", "one"])["here"], 4);
    // The newest line counts.
    let printed = import(&home, &["one"]);
    assert_eq!((&printed["here"], &printed["skipped"]), (&4.into(), &json!([])));
    let versions: Vec<Value> = journal(&home)
        .into_iter()
        .filter(|fact| fact["what"] == "import")
        .map(|fact| fact["as"].clone())
        .collect();
    assert_eq!(versions, [3, 4, 4]);
}

#[test]
fn messages_without_an_id_that_an_older_lepo_imported_are_passed_over_too() {
    let home = Home::new();
    home.write(
        "work/m.json",
        "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"r\"}]",
    );
    import(&home, &["m.json"]);
    let path = home.work().join(".lepo/_journal.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"as\":4,", "\"as\":3,")).unwrap();
    assert_eq!(import(&home, &["m.json"])["skipped"][0]["count"], 1);
    assert_eq!(import(&home, &["--again", "m.json"])["here"], 2);
}

#[test]
fn sessions_of_gemini_about_this_directory_are_found() {
    let home = Home::new();
    let work = home.work().canonicalize().unwrap();
    let log = |id: &str| {
        format!(
            "{{\"sessionId\":\"{id}\",\"projectHash\":\"p\",\"startTime\":\"2026-08-01T10:00:00Z\"}}\n{{\"id\":\"{id}q\",\"timestamp\":\"2026-08-01T10:00:01Z\",\"type\":\"user\",\"content\":[{{\"text\":\"{id}\"}}]}}\n"
        )
    };
    for slug in ["here", "listed", "other"] {
        home.write(&format!(".gemini/tmp/{slug}/chats/session-2026-08-01T10-00-{slug}.jsonl"), log(slug));
    }
    home.write(".gemini/tmp/other/.project_root", "/somewhere/else");
    let ran = home.lepo(&["import", "gemini-cli"]);
    assert!(ran.code == 1 && ran.err.contains("`lepo import gemini-cli --all` takes all 3"), "{}", ran.err);
    home.write(".gemini/tmp/here/.project_root", work.to_str().unwrap());
    home.write(
        ".gemini/projects.json",
        json!({ "projects": { work.join("sub").to_str().unwrap(): "listed" } }).to_string(),
    );
    assert_eq!(import(&home, &["gemini-cli"])["made"], 2);
    let texts: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.text).collect();
    assert!(texts.contains(&"here".to_string()) && texts.contains(&"listed".to_string()), "{texts:?}");
}

/// A session of opencode in the tables of its database, and its fork, as version 1.18 writes them.
fn opencode(work: &str) -> String {
    let mut rows = String::new();
    // The rows of a fork have times of their own; what is written in them has the original's.
    for (session, fork, title) in [("ses_1", 0, "Demo"), ("ses_2", 50_000, "Demo (fork #1)")] {
        let created = 1_785_578_400_000u64 + fork;
        rows += &format!("insert into session values('{session}',null,'{work}','{title}',{created});\n");
        let mut add = |n: u64, info: &str, parts: &[&str]| {
            let at = 1_785_578_400_000 + n * 1000;
            rows += &format!(
                "insert into message values('msg_{fork}_{n}','{session}',{at},'{{\"time\":{{\"created\":{at}}},{info}}}');\n"
            );
            for (i, part) in parts.iter().enumerate() {
                let row = at + fork + 7 + i as u64;
                rows += &format!(
                    "insert into part values('prt_{fork}_{n}_{i}','msg_{fork}_{n}','{session}',{row},'{part}');\n"
                );
            }
        };
        let answer = "\"role\":\"assistant\",\"modelID\":\"m\",\"finish\":\"stop\",\"tokens\":{\"input\":70,\"output\":7,\"cache\":{\"read\":25,\"write\":5}}";
        add(1, "\"role\":\"user\"", &["{\"type\":\"text\",\"text\":\"list\"}"]);
        add(
            2,
            answer,
            &[
                "{\"type\":\"reasoning\",\"text\":\"hm\",\"time\":{\"start\":1785578402100,\"end\":1785578402200}}",
                "{\"type\":\"tool\",\"callID\":\"c\",\"tool\":\"bash\",\"state\":{\"status\":\"completed\",\"input\":{\"command\":\"ls\"},\"output\":\"a\",\"time\":{\"start\":1785578402300,\"end\":1785578402400}}}",
                "{\"type\":\"text\",\"text\":\"one file\",\"time\":{\"start\":1785578402500,\"end\":1785578402600}}",
            ],
        );
        if fork > 0 {
            add(60, "\"role\":\"user\"", &["{\"type\":\"text\",\"text\":\"more\"}"]);
            add(61, answer, &["{\"type\":\"text\",\"text\":\"none\"}"]);
        }
    }
    format!(
        "create table session(id text primary key,parent_id text,directory text,title text,time_created integer);\n\
         create table message(id text primary key,session_id text,time_created integer,data text not null);\n\
         create table part(id text primary key,message_id text,session_id text,time_created integer,data text not null);\n{rows}"
    )
}

#[test]
fn a_fork_of_opencode_goes_on_from_its_original_and_its_export_says_the_same() {
    let home = Home::new();
    let work = home.work().canonicalize().unwrap();
    home.write("data/opencode/x", "");
    if !database(&home, "../data/opencode/opencode.db", &opencode(work.to_str().unwrap())) {
        return;
    }
    let output = import(&home, &["opencode"]);
    assert_eq!(
        (&output["made"], &output["held"], &output["skipped"]),
        (&7.into(), &0.into(), &json!([])),
        "{output}"
    );
    let all = bubbs(&home);
    assert_eq!(all.iter().filter(|bubb| bubb.prev == "head").count(), 1, "{all:?}");
    let more = all.iter().find(|bubb| bubb.text == "more").unwrap();
    assert_eq!(all.iter().find(|bubb| bubb.id == more.prev).unwrap().text, "one file");
    let tokens: Vec<Value> = journal(&home)
        .into_iter()
        .filter(|fact| fact["what"] == "imported")
        .map(|fact| fact["input"].clone())
        .collect();
    assert_eq!(tokens, [100, 100]);
    let export = json!({
        "info": { "id": "ses_1", "title": "Demo", "directory": work, "time": { "created": 1_785_578_400_000u64 } },
        "messages": [
            { "info": { "id": "msg_0_1", "role": "user", "time": { "created": 1_785_578_401_000u64 } }, "parts": [{ "type": "text", "text": "list" }] },
            { "info": { "id": "msg_0_2", "role": "assistant", "modelID": "m", "finish": "stop", "time": { "created": 1_785_578_402_000u64 } }, "parts": [
                { "type": "reasoning", "text": "hm", "time": { "start": 1_785_578_402_100u64 } },
                { "type": "tool", "callID": "c", "tool": "bash", "state": { "input": { "command": "ls" }, "output": "a", "time": { "start": 1_785_578_402_300u64, "end": 1_785_578_402_400u64 } } },
                { "type": "text", "text": "one file", "time": { "start": 1_785_578_402_500u64 } },
            ] },
        ],
    });
    home.write("work/export.json", serde_json::to_string_pretty(&export).unwrap());
    let printed = import(&home, &["export.json"]);
    assert_eq!(printed["sources"][0]["format"], "opencode");
    assert_eq!(
        (&printed["made"], &printed["here"], &printed["skipped"]),
        (&0.into(), &5.into(), &json!([])),
        "{printed}"
    );
    // Sessions of other directories are left, and said.
    let other = Home::new();
    other.write("data/opencode/x", "");
    assert!(database(&other, "../data/opencode/opencode.db", &opencode("/somewhere/else")));
    let ran = other.lepo(&["import", "opencode"]);
    assert!(
        ran.code == 1 && ran.err.contains("`lepo import opencode --all` takes all 2"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert!(!other.work().join(".lepo").exists());
    assert_eq!(import(&other, &["opencode", "--all"])["made"], 7);
}

#[test]
fn an_attachment_that_llm_knows_by_its_path_is_taken_if_it_is_still_the_same() {
    let png = b"\x89PNG\r\n\x1a\n";
    let sha = "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6";
    for (bytes, is_kept) in [(png.as_slice(), true), (b"\x89PNG\r\n\x1a\nother", false)] {
        let home = Home::new();
        home.write("work/a.png", bytes);
        let path = home.work().join("a.png");
        let statements = format!(
            "create table conversations(id,name,model);\n\
             create table responses(id,model,prompt,system,response,conversation_id,duration_ms,datetime_utc);\n\
             create table attachments(id text primary key,type text,path text,url text,content blob);\n\
             create table prompt_attachments(response_id,attachment_id,\"order\" integer);\n\
             insert into conversations values('c','C','m');\n\
             insert into responses values('r','m','look',null,'a dot','c',5,'2026-08-01T10:00:00');\n\
             insert into attachments values('{sha}','image/png','{}',null,null);\n\
             insert into prompt_attachments values('r','{sha}',0);\n",
            path.display()
        );
        if !database(&home, "logs.db", &statements) {
            return;
        }
        import(&home, &["logs.db"]);
        let texts: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.text).collect();
        let (kept, lost) = (
            format!("look\n\n[image/png 8 bytes a.png: _blobs/{sha}]"),
            "look\n\n[image/png a.png: not in the source]".to_string(),
        );
        assert!(texts.contains(if is_kept { &kept } else { &lost }), "{texts:?}");
    }
}
