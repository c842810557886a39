//! Imports name the files in which something was skipped, and what makes a file readable that is not.

use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn what_was_skipped_is_named_by_file() {
    let home = Home::new();
    let torn = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\nno json\n");
    for name in ["a", "b", "c", "d"] {
        home.write(&format!("work/w/{name}.jsonl"), torn(name));
    }
    home.write("work/w/e.jsonl", "{\"role\":\"user\",\"content\":\"whole\"}\n");
    let ran = home.lepo(&["import", "w"]);
    assert!(
        ran.out.contains("skipped 4: not JSON: w/a.jsonl, w/b.jsonl, w/c.jsonl and 1 other\n"),
        "{}",
        ran.out
    );
    let files = ["w/a.jsonl", "w/b.jsonl", "w/c.jsonl", "w/d.jsonl"];
    let document: Value = serde_json::from_str(&home.ok(&["import", "--json", "w"])).unwrap();
    assert_eq!(document["skipped"], json!([{ "reason": "not JSON", "count": 4, "files": files }]));
    // The one file that the user named is not named again.
    let ran = home.lepo(&["import", "w/a.jsonl"]);
    assert!(ran.out.contains("skipped 1: not JSON\n"), "{}", ran.out);
}

#[test]
fn files_that_are_made_json_first_say_how() {
    let home = Home::new();
    home.write("work/s.yaml", "model: openai:gpt-4o\nmessages:\n- role: user\n  content: hi\n");
    home.write("work/messages.md", "# CHAT: [2026-01-01T00:00:00]\nhi\n--------\nhello\n");
    for (file, hint) in [
        ("s.yaml", "it is YAML: make JSON of it first, with yq -o json . FILE > NEW.json"),
        ("messages.md", "it is the log of aichat: its saved sessions are YAML"),
    ] {
        let ran = home.lepo(&["import", file]);
        assert!(ran.code == 2 && ran.err.contains(hint), "{}", ran.err);
    }
    // Which is what yq makes of a session of aichat.
    let session = r#"{"model":"openai:gpt-4o","temperature":0.5,"compressed_messages":[],
        "messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},
        {"role":"assistant","content":"hello"}]}"#;
    home.write("work/s.json", session);
    home.ok(&["import", "s.json"]);
    assert!(home.ok(&["show", "@"]).contains("hello"));
}
