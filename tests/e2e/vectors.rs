//! lepo reads every store of `tests/vectors/` as docs/format.md says.

use serde_json::Value;

use crate::common::vectors::{Vector, each_vector, sha256};

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
        let told: Vec<&str> = tails.lines().map(|line| line.split_inclusive(')').next().unwrap()).collect();
        assert_eq!(told, vector.listed(), "{name}");
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
        for (tail, path) in vector.by_id("conversations") {
            let ran = vector.home.lepo(&["show", "-a", "--json", tail]);
            let document: Value = serde_json::from_str(&ran.out).unwrap();
            let ids: Vec<&Value> = list(&document, "bubbs").iter().map(|bubb| &bubb["id"]).collect();
            assert_eq!(ids, path.as_array().unwrap().iter().collect::<Vec<_>>(), "{name}");
            let is_broken = vector.ids("incomplete").contains(&tail);
            assert_eq!(ran.err.contains("incomplete conversation"), is_broken, "{name}: {}", ran.err);
        }
        for (id, hash) in vector.by_id("texts") {
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
            let told = list(&document, "branches").iter();
            let told: Vec<(&str, &Value)> =
                told.map(|branch| (branch["name"].as_str().unwrap(), &branch["id"])).collect();
            assert_eq!(told, vector.by_id("branches").collect::<Vec<_>>(), "{name}");
        }
        for (tail, title) in vector.by_id("titles") {
            let document = document(vector, &["ls", "--json"]);
            let told = list(&document, "tails").iter().find(|told| told["id"] == tail).unwrap();
            assert_eq!(&told["title"], title, "{name}: {tail}");
        }
        for (key, field) in [("models", "model"), ("speakers", "speaker")] {
            for (id, expected) in vector.by_id(key) {
                let document = document(vector, &["show", "-a", "--one", "--json", id]);
                assert_eq!(&document["bubbs"][0][field], expected, "{name}: {id}");
            }
        }
        if vector.expected["pending"].is_array() {
            let document = document(vector, &["ls", "--pending", "--json"]);
            let told: Vec<&Value> = list(&document, "pending").iter().map(|told| &told["id"]).collect();
            assert_eq!(told, vector.ids("pending"), "{name}");
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
            let told = format!("{}{}", shown.out, shown.err);
            for hash in hashes.as_array().unwrap() {
                assert!(told.contains(hash.as_str().unwrap()), "{name}: {told}");
            }
            assert_eq!(told.lines().count(), hashes.as_array().unwrap().len(), "{name}: {told}");
        }
        for (id, names) in vector.by_id("attachments") {
            let document = document(vector, &["show", "--one", "--json", id]);
            let files = document["bubbs"][0]["attachments"].as_array().into_iter().flatten();
            let told: Vec<&Value> = files.map(|file| &file["name"]).collect();
            assert_eq!(told, names.as_array().unwrap().iter().collect::<Vec<_>>(), "{name}: {id}");
        }
    });
}
