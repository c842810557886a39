//! The house: imports run one way, files are one idea each and say what they are for.

use std::path::{Path, PathBuf};

/// Each room, and the rooms it may name.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("tls", &[]),
    ("when", &[]),
    ("bubb", &[]),
    ("process", &[]),
    ("fetch", &["error", "tls"]),
    ("conv", &["bubb", "error"]),
    ("page", &["bubb", "conv", "error"]),
    ("store", &["bubb", "conv", "error"]),
    ("search", &["bubb", "conv", "error", "store"]),
    ("config", &["error"]),
    ("model", &["bubb", "config", "error", "process", "tls"]),
    ("tool", &["config", "error", "process", "tls"]),
    ("turn", &["bubb", "config", "conv", "error", "fetch", "model", "store", "tool"]),
    ("term", &["bubb", "error"]),
    ("ui", &["bubb", "config", "conv", "error", "model", "store", "term", "tool", "turn", "when"]),
    ("repl", &["bubb", "config", "conv", "error", "store", "term", "turn", "ui"]),
    ("commands", &["when", "bubb", "config", "conv", "error", "repl", "search", "store", "term", "ui"]),
    ("cli", &["commands", "error", "term"]),
];

/// The commands that may talk to anybody; and `ls`, which knows a waiting request by its form.
const OUTWARD: &[(&str, &[&str])] = &[
    ("commands/do", &["model", "turn", "tool"]),
    ("commands/model.rs", &["model"]),
    ("commands/repo_files.rs", &["turn"]),
    ("commands/ls.rs", &["tool"]),
    ("commands/export", &["page"]),
];

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for file in sources() {
        let path = short(&file);
        let room = path.split(['/', '.']).next().unwrap();
        let Some((_, may)) = MAY_NAME.iter().find(|(name, _)| *name == room) else { continue };
        let outward =
            OUTWARD.iter().filter(|(place, _)| path.starts_with(place)).flat_map(|(_, rooms)| *rooms);
        let may: Vec<&str> = may.iter().chain(outward).copied().collect();
        for named in rooms_named(&std::fs::read_to_string(&file).unwrap()) {
            if named != room && !may.contains(&named.as_str()) {
                wrong.push(format!("{path} names {named}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    let mut lengths = Vec::new();
    for file in sources() {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} has no header", short(&file));
        let lines = text.lines().count();
        assert!(lines <= 400, "{} has {lines} lines", short(&file));
        lengths.push(lines);
    }
    lengths.sort_unstable();
    let ninth = lengths[lengths.len() * 9 / 10];
    assert!(ninth <= 350, "nine of ten files are to be under 350 lines, not {ninth}");
}

#[test]
fn the_protocol_library_is_named_in_one_room() {
    for file in sources() {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("rmcp::") || short(&file).starts_with("tool/mcp"), "{}", short(&file));
    }
}

/// Words that make a leave to run something, each with the only files that may say them. The type of a leave
/// is closed, but a rule about who calls what is not the compiler's to keep within one crate.
const CONSENT: &[(&str, &[&str])] = &[
    ("by_user(", &["tool/consent.rs", "turn/command_runner.rs"]),
    ("Reply::Yes", &["tool/consent.rs", "ui/consent.rs", "turn/decision.rs"]),
    ("Consent::of(", &["tool/consent.rs", "turn/request.rs"]),
    ("runs_unasked(", &["tool/consent.rs", "turn/request.rs"]),
    (
        "Verdict::Approve",
        &["turn/decision.rs", "turn/request.rs", "commands/do/args.rs", "commands/do/turn.rs"],
    ),
];

#[test]
fn a_leave_to_run_something_is_made_in_few_places() {
    for file in sources() {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (word, may) in CONSENT {
            assert!(
                !code.contains(word) || may.contains(&short(&file).as_str()),
                "{word} in {}",
                short(&file)
            );
        }
    }
}

/// `crate::x` and the list of `crate::{x, y}`.
fn rooms_named(text: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1).map(word).collect::<Vec<_>>())
        .filter(|room| !room.is_empty())
        .collect()
}

fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files
}

fn short(file: &Path) -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    file.strip_prefix(src).unwrap().to_string_lossy().into_owned()
}
