//! The interface that `lepo-store` promises: what has an example in its documentation is what is recorded.

use std::path::Path;

use crate::paths_in_code::{short, sources};

/// The record, and the files of other crates with a part of it.
const RECORD: &str = "crates/lepo-store/public-interface.txt";
const ELSEWHERE: &[&str] = &["lepo-base/role.rs"];

/// The public items of a source with an example before them, each on a line without what is in its braces; of a type with
/// its public fields and its variants.
fn promised(source: &str) -> Vec<String> {
    let (mut items, mut begun, mut within) = (Vec::new(), None::<String>, None::<&str>);
    let mut fences = 0;
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
        } else if line.starts_with("///") {
            fences += line.matches("```").count();
        } else if !line.starts_with("#[") {
            let is_item = ["pub fn", "pub struct", "pub enum"].iter().any(|begin| line.starts_with(begin));
            begun = (is_item && fences >= 2).then(|| line.to_string());
            fences = 0;
        }
        if let Some(item) = begun.take_if(|item| item.ends_with(['{', '}', ';'])) {
            let is_type = !item.starts_with("pub fn") && item.ends_with('{');
            within = is_type.then_some(if item.starts_with("pub enum") { "enum" } else { "struct" });
            items.push(item.trim_end_matches(['{', ';']).trim().to_string());
        }
    }
    items
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
    // Neither errors with hints, nor names of files, nor another crate's types.
    for other in ["lepo_base", "Error>", "rustix", "BubbName", "Forest"] {
        let named: Vec<&str> = found.lines().filter(|line| line.contains(other)).collect();
        let named: Vec<&&str> = named.iter().filter(|line| !line.contains("StoreError>")).collect();
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
            "pub fn a( b: u8, ) -> u8",
            "pub enum E",
            "    A",
            "    B",
            "pub struct S",
            "    pub f: u8",
            "pub struct T(u8)"
        ]
    );
}
