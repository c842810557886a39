//! lepo reads every store of `tests/vectors/` as docs/format.md says.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::common::vectors::{Vector, each_vector, sha256};
use crate::home::Home;

/// The document that a command prints, whatever its exit code.
fn document(vector: &Vector, args: &[&str]) -> Value {
    let ran = vector.home.lepo(args);
    serde_json::from_str(&ran.out)
        .unwrap_or_else(|_| panic!("{}: {args:?}: {}{}", vector.name, ran.out, ran.err))
}

fn list<'d>(document: &'d Value, key: &str) -> &'d Vec<Value> {
    document[key].as_array().unwrap()
}

#[test]
fn tails_heights_and_the_newest_are_those_of_the_format() {
    each_vector(|vector| {
        let name = &vector.name;
        let tails = vector.home.lepo(&["ls"]).out;
        let texts: Vec<&str> = tails.lines().map(|line| line.split_inclusive(')').next().unwrap()).collect();
        assert_eq!(texts, vector.listed(), "{name}");
        let newest = vector.home.lepo(&["resolve", "@"]);
        assert_eq!(
            newest.out.trim(),
            vector.expected["@"].as_str().unwrap_or_default(),
            "{name}: {}",
            newest.err
        );
        assert_eq!(newest.code == 0, vector.expected["@"].is_string(), "{name}");
    });
}

#[test]
fn conversations_and_texts_are_those_of_the_format() {
    each_vector(|vector| {
        let name = &vector.name;
        let mut read = BTreeSet::new();
        for (tail, path) in vector.by_id("conversations") {
            let ran = vector.home.lepo(&["show", "-a", "--json", tail]);
            let document: Value = serde_json::from_str(&ran.out).unwrap();
            let texts = list(&document, "bubbs").iter();
            read.extend(texts.filter_map(|bubb| {
                Some((bubb["id"].as_str()?.to_string(), sha256(bubb["text"].as_str()?.as_bytes())))
            }));
            let ids: Vec<&Value> = list(&document, "bubbs").iter().map(|bubb| &bubb["id"]).collect();
            assert_eq!(ids, path.as_array().unwrap().iter().collect::<Vec<_>>(), "{name}");
            let is_broken = vector.ids("incomplete").contains(&tail);
            assert_eq!(ran.err.contains("incomplete conversation"), is_broken, "{name}: {}", ran.err);
        }
        for (id, hash) in vector.by_id("texts") {
            // The text of a document that is the same to the byte, or the bytes alone.
            if read.contains(&(id.to_string(), hash.as_str().unwrap().to_string())) {
                continue;
            }
            let shown = vector.home.command(&["show", "--one", id]).output().unwrap();
            assert_eq!(sha256(&shown.stdout), hash.as_str().unwrap(), "{name}: {id}");
        }
    });
}

#[test]
fn fsck_finds_what_the_format_names_and_nothing_else() {
    each_vector(|vector| {
        let document = document(vector, &["fsck", "--json"]);
        let line = |found: &Value| {
            format!("{} {}", found["what"].as_str().unwrap(), found["name"].as_str().unwrap())
        };
        let mut found: Vec<String> = list(&document, "findings").iter().map(line).collect();
        found.sort();
        assert_eq!(found, vector.findings(), "{}", vector.name);
    });
}

#[test]
fn branches_titles_and_facts_are_those_of_the_format() {
    each_vector(|vector| {
        let name = &vector.name;
        if vector.expected["branches"].is_object() {
            let document = document(vector, &["branch", "--json"]);
            let branches = list(&document, "branches").iter();
            let parsed: Vec<(&str, &Value)> =
                branches.map(|branch| (branch["name"].as_str().unwrap(), &branch["id"])).collect();
            assert_eq!(parsed, vector.by_id("branches").collect::<Vec<_>>(), "{name}");
        }
        for (tail, title) in vector.by_id("titles") {
            let document = document(vector, &["ls", "--json"]);
            let row = list(&document, "tails").iter().find(|told| told["id"] == tail).unwrap();
            assert_eq!(&row["title"], title, "{name}: {tail}");
        }
        for (key, field) in [("models", "model"), ("speakers", "speaker")] {
            for (id, expected) in vector.by_id(key) {
                let document = document(vector, &["show", "-a", "--one", "--json", id]);
                assert_eq!(&document["bubbs"][0][field], expected, "{name}: {id}");
            }
        }
        if vector.expected["pending"].is_array() {
            let document = document(vector, &["ls", "--pending", "--json"]);
            let found: Vec<&Value> = list(&document, "pending").iter().map(|told| &told["id"]).collect();
            assert_eq!(found, vector.ids("pending"), "{name}");
        }
    });
}

#[test]
fn blobs_and_attachments_are_those_of_the_format() {
    each_vector(|vector| {
        let name = &vector.name;
        for (id, hashes) in vector.by_id("blobs") {
            let shown = vector.home.lepo(&["show", "--one", "--blobs", id]);
            // A missing one is told on stderr instead.
            let message = format!("{}{}", shown.out, shown.err);
            for hash in hashes.as_array().unwrap() {
                assert!(message.contains(hash.as_str().unwrap()), "{name}: {message}");
            }
            assert_eq!(message.lines().count(), hashes.as_array().unwrap().len(), "{name}: {message}");
        }
        for (id, names) in vector.by_id("attachments") {
            let document = document(vector, &["show", "--one", "--json", id]);
            let files = document["bubbs"][0]["attachments"].as_array().into_iter().flatten();
            let file_names: Vec<&Value> = files.map(|file| &file["name"]).collect();
            assert_eq!(file_names, names.as_array().unwrap().iter().collect::<Vec<_>>(), "{name}: {id}");
        }
    });
}

/// A file of the repository as text.
fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The examples of docs/format.md, 4.1: what stands behind each word, without the spaces between digits.
fn worked_examples() -> Vec<Vec<(String, String)>> {
    let page = page("docs/format.md");
    let section = page.split("### 4.1").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```").skip(1).step_by(2);
    let pairs = |block: &str| {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for line in block.lines().filter(|line| !line.is_empty()) {
            let (word, value) = line.split_at(18);
            match word.trim() {
                "" => pairs.last_mut().unwrap().1.push_str(&value.replace(' ', "")),
                word => pairs.push((word.to_string(), value.replace(' ', ""))),
            }
        }
        pairs
    };
    blocks.map(pairs).collect()
}

#[test]
fn the_worked_bytes_of_the_format_are_right_and_stand_in_the_manual_too() {
    let examples = worked_examples();
    let home = Home::new();
    home.ok(&["init"]);
    let manual = page("docs/manual/lepo-store.5.md");
    for (example, content) in examples.iter().zip(["hello", "안녕\n"]) {
        let value = |word: &str| &example.iter().find(|(known, _)| known == word).unwrap().1;
        let unhex = |digits: &str| -> Vec<u8> {
            digits
                .as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect()
        };
        let (decimal, time) = value("time").split_once('=').unwrap();
        assert_eq!(u64::from_str_radix(time, 16).unwrap(), decimal.parse::<u64>().unwrap());
        assert_eq!(value("SHA-256(content)"), &sha256(content.as_bytes()));
        let hashed = unhex(value("hashed"));
        assert_eq!(hashed.len(), 61);
        assert!(value("hashed").ends_with(value("SHA-256(content)").as_str()));
        assert_eq!(value("its SHA-256"), &sha256(&hashed));
        home.write(&format!("work/.lepo/{}", value("name")), content);
        for (word, told) in example.iter().filter(|_| content == "hello") {
            let spaced = manual.replace([' ', '\n'], "");
            assert!(spaced.contains(told.as_str()), "lepo-store(5) lacks {word} {told}");
        }
    }
    assert_eq!(examples.len(), 2);
    assert_eq!(home.ok(&["fsck"]), "");
    let document: Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    assert_eq!(document["tails"][0]["height"], 2);
}
