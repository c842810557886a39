//! The schemas of `docs/schemas/`: there is one for each output, they hold it to its fields, and they leave room for
//! more. What the other tests print as JSON is validated where they run it (`common/schemas.rs`).

use std::collections::BTreeSet;

use lepo_store::bubb::BubbId;
use lepo_store::store::{JournalRecord, MadeItem};
use serde_json::{Value, json};

use crate::bots::Bot;
use crate::common::schemas::{folder, schema, schema_of, validate};
use crate::home::{Home, run};
use crate::scripted::Reply;

/// The names of all schemas.
fn names() -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name());
    files.map(|file| file.to_str().unwrap().strip_suffix(".json").unwrap().to_string()).collect()
}

fn document(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder().join(format!("{name}.json"))).unwrap()).unwrap()
}

/// All objects in a document, itself too.
fn objects(document: &Value) -> Vec<&serde_json::Map<String, Value>> {
    let (mut found, mut left) = (Vec::new(), vec![document]);
    while let Some(value) = left.pop() {
        match value {
            Value::Object(object) => {
                found.push(object);
                left.extend(object.values());
            }
            Value::Array(values) => left.extend(values),
            _ => {}
        }
    }
    found
}

/// Words without which a command refuses its other words before it looks at them.
const COMPANIONS: &[(&str, &[&str])] = &[("diff", &["--turns"]), ("rebase", &["--root"]), ("do", &["q"])];

/// Names of values that say which messages are meant.
const ADDRESSES: &[&str] = &["ADDR", "A", "B", "BASE", "ID", "PATTERN"];

#[test]
fn a_bad_address_is_one_document_or_nothing_and_the_exit_code_of_its_kind() {
    let home = Home::with_config("planner = \"off\"\n");
    home.add(&[], "hello");
    let mut root = lepo::cli::command();
    root.build();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for command in root.get_subcommands() {
        let inner =
            command.get_subcommands().map(|inner| (inner, vec![command.get_name(), inner.get_name()]));
        for (command, words) in inner.chain([(command, vec![command.get_name()])]) {
            if !command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
                continue;
            }
            let also =
                COMPANIONS.iter().find(|(name, _)| words == [*name]).map_or(&[][..], |(_, also)| *also);
            let words: Vec<&str> = words.into_iter().chain(also.iter().copied()).collect();
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let names = argument.get_value_names().unwrap_or_default();
                let is_address = names.iter().any(|name| ADDRESSES.contains(&name.as_str()));
                if !(is_address || argument.is_positional()) || argument.get_id() == "prompt" {
                    continue;
                }
                for value in ["nobody", "(", "@~9", ".."] {
                    let option = argument.get_long().map(|long| format!("--{long}"));
                    let words = words.iter().map(|word| word.to_string());
                    let line: Vec<String> =
                        words.chain(option).chain([value.into(), "--json".into()]).collect();
                    lines.push(line);
                }
            }
        }
    }
    // A list of everywhere, too; and `grep` takes its address behind its pattern.
    for more in ["ls --everywhere --grep ( --json", "ls --pending nobody --json", "grep hello nobody --json"]
    {
        lines.push(more.split(' ').map(String::from).collect());
    }
    assert!(lines.len() > 60, "{lines:?}");
    let mut wrong = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        let lepo = [&["60", env!("CARGO_BIN_EXE_lepo")][..], &words].concat();
        let ran = run(home.program("timeout", &lepo), b"");
        let documents: Result<Vec<Value>, _> =
            serde_json::Deserializer::from_str(&ran.out).into_iter().collect();
        let Ok(documents) = documents else {
            wrong.push(format!("{words:?}: no JSON: {}", ran.out));
            continue;
        };
        let errors: Vec<&Value> = documents.iter().map(|document| &document["error"]).collect();
        let code = |kind: &str| match kind {
            "nothing" => 1,
            "usage" => 2,
            "pending" => 4,
            "store" => 5,
            _ => 3,
        };
        let is_so = match errors[..] {
            [error] if error.is_object() => ran.code == code(error["kind"].as_str().unwrap()),
            _ => ran.code == 0 || ran.code == 1,
        };
        if !is_so {
            wrong.push(format!("{words:?}: {}: {}{}", ran.code, ran.out, ran.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    let mut root = lepo::cli::command();
    root.build();
    let mut expected: BTreeSet<String> = ["events", "journal", "proxy"].map(String::from).into();
    for command in root.get_subcommands() {
        let prints = |command: &clap::Command| {
            command.get_arguments().any(|argument| argument.get_long() == Some("json"))
        };
        let inner = command.get_subcommands().filter(|inner| prints(inner));
        let mut lines: Vec<Vec<&str>> =
            inner.map(|inner| vec![command.get_name(), inner.get_name()]).collect();
        lines.extend(prints(command).then(|| vec![command.get_name()]));
        for mut line in lines {
            line.push("--json");
            let args: Vec<String> = line.iter().map(|word| word.to_string()).collect();
            let (name, _) = schema_of(&args).unwrap();
            assert!(name == "do" || line[0] != "do" && name.starts_with(line[0]), "{line:?}: {name}");
            assert_eq!(name == "do", line[0] == "do", "{line:?} has no schema");
            expected.insert(name.to_string());
        }
    }
    assert_eq!(names(), expected);
}

#[test]
fn every_schema_is_sound_and_closes_no_object() {
    for name in names() {
        let document = document(&name);
        assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(jsonschema::draft202012::meta::is_valid(&document), "{name}");
        for object in objects(&document) {
            for word in ["additionalProperties", "unevaluatedProperties", "maxProperties", "propertyNames"] {
                // A field may have such a name; as a rule it would not be an object.
                assert!(object.get(word).is_none(), "{name} closes an object: {word}");
            }
        }
        schema(&name);
    }
}

#[test]
fn the_schema_of_every_command_takes_its_error_document() {
    let failure = json!({ "error": { "kind": "usage", "message": "no", "hint": null } });
    let torn = json!({ "error": { "kind": "usage" } });
    let nothing = json!({ "conv": [], "user": null, "answer": null, "tools": [], "pending": null, "error": failure["error"] });
    for name in names().iter().filter(|name| !["events", "journal", "proxy"].contains(&name.as_str())) {
        validate(name, &failure);
        assert!(!schema(name).is_valid(&torn), "{name}");
        assert!(!schema(name).is_valid(&json!({})), "{name}");
    }
    validate("do", &nothing);
    let mut end = nothing;
    end["event"] = "end".into();
    validate("events", &end);
    end["error"] = torn["error"].clone();
    assert!(!schema("events").is_valid(&end));
}

#[test]
fn a_field_that_is_missing_or_of_another_type_is_found_and_a_new_one_is_not() {
    let home = Home::new();
    home.copy(".lepo.example", ".lepo");
    let waiting = r#"{"access":"read","command":"ls"}"#;
    let question = home.add(&["--prev", "head"], "what is here?");
    home.add(&["--kind", "a", "--hidden", "--prev", &question], waiting);
    home.write("work/.lepo/README.md", "foreign");
    let mut tried = 0;
    for (line, at, fields) in [
        (
            &["ls", "--json"][..],
            "/tails/0",
            &["id", "kind", "height", "branches", "title", "usage", "cost", "cost_partial"][..],
        ),
        (&["ls", "--pending", "--json"], "/pending/0", &["id", "request", "height"]),
        (&["show", "--json", "main"], "/bubbs/0", &["id", "prev", "time", "text", "speaker", "exit"]),
        (&["log", "--json", "-n", "1"], "", &["id", "hidden", "excerpt", "branches"]),
        (&["grep", "--json", "-n", "1", "README"], "", &["id", "conv", "line", "text", "start", "end"]),
        (&["fsck", "--json"], "/findings/0", &["what", "name", "why", "warning"]),
        (&["branch", "--json"], "/branches/0", &["name", "id", "height"]),
        (&["stats", "--json"], "/total", &["key", "questions", "in", "cost"]),
        (&["config", "--json"], "/settings/0", &["name", "value", "source"]),
        (
            &["model", "ls", "--json"],
            "/models/0",
            &["name", "provider", "model", "window", "options", "active"],
        ),
    ] {
        let ran = home.lepo(line);
        let parsed: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{line:?}: {}{}", ran.out, ran.err));
        let args: Vec<String> = line.iter().map(|word| word.to_string()).collect();
        let (name, _) = schema_of(&args).unwrap();
        if parsed.pointer(at).is_none() {
            assert_eq!(name, "model-ls", "{line:?}: {parsed}");
            continue;
        }
        for field in fields {
            let mut other = parsed.clone();
            let object = other.pointer_mut(at).unwrap().as_object_mut().unwrap();
            object.insert("of_later".into(), json!([1]));
            validate(name, &other);
            let object = other.pointer_mut(at).unwrap().as_object_mut().unwrap();
            let value = object.insert((*field).into(), json!({ "of": "another type" })).unwrap();
            if !value.is_object() {
                assert!(!schema(name).is_valid(&other), "{line:?}: {field} of another type");
            }
            other.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(*field);
            assert!(!schema(name).is_valid(&other), "{line:?}: {field} missing");
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn events_that_are_known_have_their_fields_and_others_may_come() {
    for (event, good) in [
        (json!({ "event": "text", "text": "a" }), true),
        (json!({ "event": "text", "text": "a", "name": "one", "of_later": 1 }), true),
        (json!({ "event": "text" }), false),
        (json!({ "event": "of-later" }), true),
        (json!({ "text": "a" }), false),
        (json!({ "event": "bid", "name": "a", "bid": "PASS" }), true),
        (json!({ "event": "bid", "name": "a", "bid": "maybe" }), false),
        (
            json!({ "event": "ask", "request": { "command": "ls" }, "dir": "/", "sandbox": "none", "unagreed": [] }),
            true,
        ),
        (json!({ "event": "ask", "request": { "command": "ls" } }), false),
        (json!({ "event": "end", "replies": [], "error": null }), true),
        (json!({ "event": "end" }), false),
    ] {
        assert_eq!(schema("events").is_valid(&event), good, "{event}");
    }
}

#[test]
fn every_line_of_a_journal_is_of_its_schema() {
    let request = r#"{"access":"read","command":"ls"}"#;
    let bot = Bot::saying(
        "tool_call_mode = \"auto\"",
        &[r#"{"tool":"command"}"#, request, r#"{"tool":"none"}"#, "Here.", r#"{"tool":"none"}"#, ""],
    );
    bot.lepo(&["do", "What is here?"]);
    bot.lepo(&["do", "And empty?"]);
    let home = &bot.home;
    home.write(
        "work/old.json",
        r#"{"id":"x","title":"Old","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","model":"m"}]}"#,
    );
    home.ok(&["import", "messages", "--date", "2024-05-01", "old.json"]);
    let broken = Bot::openai("planner = \"off\"", [Reply::new(404, "{}")]);
    broken.lepo(&["do", "Hello?"]);
    let journals = [home, &broken.home].map(|home| home.read("work/.lepo/_journal.ndjson"));
    let mut kinds = BTreeSet::new();
    for line in journals.iter().flat_map(|journal| journal.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        validate("journal", &line);
        kinds.insert(line["what"].as_str().unwrap().to_string());
        let mut other = line;
        other["time"] = "now".into();
        assert!(!schema("journal").is_valid(&other));
    }
    for kind in ["answer", "chooser", "command", "failed", "import", "writer"] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn the_schema_of_the_journal_has_each_field_of_a_record_and_of_the_format() {
    let id = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
    let text = || Some("x".to_string());
    // Without `..`: a new field has to be added here, and then to the schema.
    let record = JournalRecord {
        time: 1,
        bubb: Some(id),
        what: "answer".into(),
        model: text(),
        input: Some(1),
        cached: Some(1),
        cache_write: Some(1),
        output: Some(1),
        web: Some(1),
        ms: Some(1),
        first_ms: Some(1),
        exit: Some(1),
        failed: true,
        under: Some(id),
        agent_session: text(),
        session: text(),
        options: Some(json!({})),
        schema: text(),
        tools: Some(json!({})),
        after: vec![id],
        made: vec![MadeItem { bubb: id, call: text() }],
        finish: text(),
        prefill: text(),
        client: text(),
        response: text(),
        system: Some(id),
        copy_of: Some(id),
        was: text(),
        format: text(),
        from: text(),
        proof: text(),
    };
    let line = serde_json::to_value(&record).unwrap();
    validate("journal", &line);
    let written: BTreeSet<&String> = line.as_object().unwrap().keys().collect();
    let journal = document("journal");
    let properties = journal["properties"].as_object().unwrap();
    assert_eq!(written, properties.keys().collect());
    for field in written {
        let mut other = line.clone();
        other[field] = json!([[1]]);
        assert!(!schema("journal").is_valid(&other), "{field} may be of any type");
    }
    let format = include_str!("../../docs/format.md");
    let section = format.split("## 11. ").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let fields: Vec<&str> =
        rows.flat_map(|row| row.split(", ")).map(|field| field.trim_matches('`')).collect();
    assert!(fields.len() > 25, "{fields:?}");
    for field in fields {
        assert!(properties.contains_key(field), "{field} is in docs/format.md alone");
    }
}
