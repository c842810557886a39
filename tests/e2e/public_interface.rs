//! The interface that `lepo-store` promises is the one that is recorded, and each item of it has an example.

use std::path::Path;

use crate::paths_in_code::{code_of, short, sources};

/// The folder of its sources, and the record.
const STABLE: &str = "crates/lepo-store/src/stable";
const RECORD: &str = "crates/lepo-store/public-interface.txt";

/// The public items of a source, each on a line without what is in its braces; variants of an enum and fields too.
fn public(code: &str) -> Vec<String> {
    let (mut items, mut begun, mut within) = (Vec::new(), None::<String>, None::<String>);
    for line in code.lines() {
        let words = line.trim();
        if let Some(name) = &within {
            match words {
                "}" => within = None,
                "" => {}
                _ if words.starts_with('#') => {}
                _ => items.push(format!("{name}::{}", words.trim_end_matches(','))),
            }
            continue;
        }
        let is_item = words.starts_with("pub ") || words.starts_with("impl") && !line.starts_with(' ');
        let is_attribute = words.starts_with("#[derive") || words.starts_with("#[non_exhaustive");
        if begun.is_none() && !is_item {
            items.extend(is_attribute.then(|| words.to_string()));
            continue;
        }
        let item = begun.take().map_or(words.to_string(), |begun| format!("{begun} {words}"));
        // A field ends with a comma, within no bracket.
        let is_whole = item.ends_with(['{', '}', ';']) || item.ends_with(',') && !item.contains('(');
        if !is_whole {
            begun = Some(item);
            continue;
        }
        let shown = item.trim_end_matches(['{', ',', ';']).trim().to_string();
        within = shown.strip_prefix("pub enum ").filter(|_| item.ends_with('{')).map(str::to_string);
        items.push(shown);
    }
    items
}

/// The public items that no example stands before, of those that can have one.
fn without_example(source: &str) -> Vec<String> {
    let (mut missing, mut documents) = (Vec::new(), String::new());
    for line in source.lines().map(str::trim) {
        if line.starts_with("///") {
            documents.push_str(line);
        } else if !line.starts_with("#[") {
            let is_wanted = ["pub fn", "pub struct", "pub enum"].iter().any(|begin| line.starts_with(begin));
            if is_wanted && documents.matches("```").count() < 2 {
                missing.push(line.to_string());
            }
            documents.clear();
        }
    }
    missing
}

#[test]
fn the_promised_interface_of_the_store_is_the_recorded_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(root.join(STABLE)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    let mut found = String::new();
    for file in &files {
        found += &format!("# {}\n", file.file_name().unwrap().to_string_lossy());
        public(&code_of(file)).iter().for_each(|item| found += &format!("{item}\n"));
        let missing = without_example(&std::fs::read_to_string(file).unwrap());
        assert!(missing.is_empty(), "without an example in {}: {missing:#?}", file.display());
    }
    let inner: String = sources()
        .iter()
        .filter(|file| short(file).starts_with("lepo-store/") && !file.starts_with(root.join(STABLE)))
        .map(|file| code_of(file))
        .collect();
    for other in ["lepo_base", "Error", "rustix", "BubbId>", "Name"] {
        assert!(inner.contains(other), "the crate has no {other}: renamed?");
        let in_a_type =
            |line: &&str| line.contains(other) && line.starts_with("pub ") && !line.contains("pub(super)");
        let named: Vec<&str> = found.lines().filter(in_a_type).collect();
        assert!(named.is_empty(), "the interface names {other}: {named:?}");
    }
    let record = root.join(RECORD);
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        std::fs::write(&record, &found).unwrap();
    }
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    let changed = "the interface changed, and with it its version: LEPO_WRITE_DOCS=1 cargo test --test e2e public_interface";
    assert_eq!(recorded, found, "{changed}");
}

#[test]
fn items_are_read_with_their_fields_and_variants() {
    let code = "impl X {\n    pub fn a(\n        b: u8,\n    ) -> u8 {\n    }\n    fn c() {}\n}\npub enum E {\n    #[x]\n    A,\n    B,\n}\npub struct S {\n    pub f: u8,\n    g: u8,\n}\n";
    assert_eq!(
        public(code),
        ["impl X", "pub fn a( b: u8, ) -> u8", "pub enum E", "E::A", "E::B", "pub struct S", "pub f: u8"]
    );
    assert_eq!(without_example("/// X.\npub fn a() {\n/// ```\n/// ```\npub fn b() {"), ["pub fn a() {"]);
}
