//! The interface that `lepo-store` promises: what has an example in its documentation is what is recorded.

use std::path::Path;

use crate::paths_in_code::{short, sources};

/// The record, and the files of other crates with a part of it.
const RECORD: &str = "crates/lepo-store/public-interface.txt";
const ELSEWHERE: &[&str] = &["lepo-base/role.rs"];

/// The public items of a source with an example before them, each on a line without what is in its braces; of a type also
/// its attributes, public fields and variants; before the methods of a type its name.
fn promised(source: &str) -> Vec<String> {
    let (mut items, mut begun, mut within) = (Vec::new(), None::<String>, None::<&str>);
    let (mut fences, mut attributes, mut owner) = (0, Vec::new(), None::<String>);
    for line in source.lines().map(str::trim) {
        if let Some(kind) = within {
            match line {
                "}" => within = None,
                _ if line.starts_with("pub ") => items.push(format!("    {}", line.trim_end_matches(','))),
                _ if kind == "enum" && line.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    items.push(format!("    {}", line.trim_end_matches(',')));
                }
                _ => {}
            }
        } else if let Some(item) = begun.take() {
            begun = Some(format!("{item} {line}"));
        } else if line.starts_with("//") {
            fences += line.matches("```").count();
        } else if line.starts_with("#[derive") || line.starts_with("#[non_exhaustive") {
            attributes.push(line.to_string());
        } else if line.starts_with("impl") && line.ends_with('{') {
            owner = Some(line.trim_end_matches('{').trim().to_string());
        } else if !line.starts_with("#[") {
            let is_item = ["pub fn", "pub struct", "pub enum"].iter().any(|begin| line.starts_with(begin));
            begun = (is_item && fences >= 2).then(|| line.to_string());
            if begun.is_none() {
                attributes.clear();
            }
            fences = 0;
        }
        if let Some(item) = begun.take_if(|item| item.ends_with(['{', '}', ';'])) {
            let is_function = item.starts_with("pub fn");
            let is_body = !is_function && item.ends_with('{');
            within = is_body.then_some(if item.starts_with("pub enum") { "enum" } else { "struct" });
            items.extend(owner.take_if(|_| is_function));
            items.append(&mut attributes);
            items.push(item.trim_end_matches(['{', ';']).trim().to_string());
        }
    }
    items
}

/// The types that the crate exports at its root.
fn exported() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lepo-store/src/lib.rs");
    let source = std::fs::read_to_string(root).unwrap();
    let lists = source.split("pub use ").skip(1).map(|item| item.split_once(';').unwrap().0);
    let names = lists.flat_map(|list| list.rsplit("::").next().unwrap().split(','));
    let names: Vec<String> = names.map(|name| name.trim_matches(['{', '}', ' ', '\n']).to_string()).collect();
    names.into_iter().filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_promised_interface_of_the_store_is_the_recorded_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_of_it = |path: &str| path.starts_with("lepo-store/") || ELSEWHERE.contains(&path);
    let mut found = String::new();
    for file in sources().iter().filter(|file| is_of_it(&short(file))) {
        let items = promised(&std::fs::read_to_string(file).unwrap());
        if !items.is_empty() {
            found += &format!("# {}\n", short(file));
            items.iter().for_each(|item| found += &format!("{item}\n"));
        }
    }
    let sources: String = sources()
        .iter()
        .filter(|file| short(file).starts_with("lepo-store/"))
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    // Neither errors with hints, nor names of files, nor another crate's types.
    for other in ["lepo_base", "Error>", "rustix", "BubbName", "Forest"] {
        assert!(sources.contains(other), "the crate has no {other}: renamed?");
        let lines = found.lines().map(|line| line.replace("StoreError>", ""));
        let named: Vec<String> = lines.filter(|line| line.contains(other)).collect();
        assert!(named.is_empty(), "the interface names {other}: {named:?}");
    }
    let exported = exported();
    assert!(exported.len() >= 10, "{exported:?}");
    for name in exported {
        let is_it = |line: &str| {
            let item = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum "));
            item.is_some_and(|item| item.split(['(', '<', ' ']).next() == Some(&name))
        };
        assert!(found.lines().any(is_it), "{name} is exported, and has no example");
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
fn items_with_an_example_are_read_with_their_fields_and_variants() {
    let example = "/// X.\n/// ```\n/// ```\n";
    let code = format!(
        "impl X {{\n    {example}    pub fn a(\n        b: u8,\n    ) -> u8 {{\n    }}\n    pub fn c() {{}}\n}}\n\
         {example}#[derive(Debug)]\npub enum E {{\n    /// A.\n    A,\n    B,\n}}\n\
         {example}pub struct S {{\n    pub f: u8,\n    g: u8,\n}}\n{example}pub struct T(u8);\npub struct U(u8);\n"
    );
    assert_eq!(
        promised(&code),
        [
            "impl X",
            "pub fn a( b: u8, ) -> u8",
            "#[derive(Debug)]",
            "pub enum E",
            "    A",
            "    B",
            "pub struct S",
            "    pub f: u8",
            "pub struct T(u8)"
        ]
    );
}
