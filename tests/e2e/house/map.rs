//! ARCHITECTURE.md names files and what to look for in them: each file is there, and has the name in the bracket behind it.

use std::path::Path;

use crate::paths_in_code::{short, sources};

/// The words in backticks, each with whether a bracket opens right before it.
fn marked_words(text: &str) -> Vec<(&str, bool)> {
    let mut parts = text.split('`');
    let (mut before, mut words) = (parts.next().unwrap_or_default(), Vec::new());
    while let (Some(word), Some(after)) = (parts.next(), parts.next()) {
        words.push((word, before.ends_with('(')));
        before = after;
    }
    words
}

#[test]
fn what_the_map_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let flows = text.split_once("## Three flows").unwrap().1;
    let paths: Vec<_> = sources().into_iter().map(|file| (format!("/{}", short(&file)), file)).collect();
    let (mut wrong, mut named, mut count) = (Vec::new(), None, 0);
    for (word, is_in_bracket) in marked_words(flows) {
        if word.contains(char::is_whitespace) {
            continue;
        }
        if word.ends_with(".rs") {
            named = match word.strip_prefix("src/") {
                Some(of_program) => paths.iter().find(|(path, _)| path.strip_prefix('/') == Some(of_program)),
                None => paths.iter().find(|(path, _)| path.ends_with(&format!("/{word}"))),
            };
            if named.is_none() {
                wrong.push(format!("{word} is no file"));
            }
            count += 1;
        } else if word.contains('/') && word.ends_with('/') {
            let is_folder = paths.iter().any(|(path, _)| path.contains(&format!("/{word}")));
            if !is_folder && !root.join(word).is_dir() {
                wrong.push(format!("{word} is no folder"));
            }
        } else if let (true, Some((path, file))) = (is_in_bracket, named) {
            let last = word.rsplit("::").next().unwrap_or(word);
            if last.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                let code = std::fs::read_to_string(file).unwrap();
                if !code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == last) {
                    wrong.push(format!("{path} has no {word}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 40, "{count} files are named");
}
