//! The rules that neither cargo nor a type can keep: within the program imports run one way and commands do not name
//! each other; one room writes to the terminal, one reads the environment; files are short and say what they are for.

mod flows;
mod map;
mod words;

use std::collections::BTreeSet;

use crate::paths_in_code::{code_of, module_of, paths_in, program_sources, short, sources};

/// Each room of the program, and the rooms it may name: only those above it. What it may name of other crates stands in
/// the manifest.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("import", &[]),
    ("term", &[]),
    ("view", &[]),
    ("ui", &["term", "view"]),
    ("browse", &["term", "ui", "view"]),
    ("rebase_text", &[]),
    ("rebase", &["rebase_text", "term", "ui"]),
    ("repl", &["browse", "rebase", "rebase_text", "term", "ui", "view"]),
    ("acp", &["term", "ui", "view"]),
    (
        "commands",
        &["acp", "browse", "import", "rebase", "rebase_text", "repl", "stats", "term", "ui", "view"],
    ),
    ("cli", &["commands", "term", "ui", "view"]),
];

/// Crates that only some commands may name: those that ask models or the network, and what few need.
const OUTWARD: &[(&str, &[&str])] = &[
    ("lepo_model", &["acp/", "commands/do/", "commands/model/", "repl/", "stats/", "ui/"]),
    // `term` has its thread for a question from the runtime.
    ("lepo_net", &["commands/do/", "commands/model/", "commands/mcp/", "repl/", "term/ask.rs"]),
    ("lepo_acp", &["acp/"]),
    ("lepo_import", &["import/", "commands/import/"]),
    ("lepo_sync", &["commands/sync/", "commands/rm/other_copies.rs"]),
    ("lepo_page", &["commands/export/"]),
    ("lepo_proxy", &["commands/do/proxy/", "import/proxy_tests.rs"]),
];

#[test]
fn crates_that_reach_outward_are_named_in_few_places() {
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for file in program_sources() {
        let path = short(&file);
        let code = code_of(&file);
        for (name, may) in OUTWARD {
            if !code.contains(&format!("{name}::")) {
                continue;
            }
            let allowed: Vec<&str> = may.iter().copied().filter(|place| path.starts_with(place)).collect();
            if allowed.is_empty() {
                wrong.push(format!("{path} names {name}"));
            }
            used.extend(allowed.into_iter().map(|place| (*name, place)));
        }
    }
    for (name, may) in OUTWARD {
        let unused = may.iter().filter(|place| !used.contains(&(*name, **place)));
        wrong.extend(unused.map(|place| format!("{place} no longer names {name}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_run_one_way() {
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for file in program_sources() {
        let path = short(&file);
        let module = module_of(&path);
        let Some(room) = module.first() else { continue };
        let Some((_, may)) = MAY_NAME.iter().find(|(name, _)| name == room) else {
            wrong.push(format!("{path} is in no room of the table"));
            continue;
        };
        for named in paths_in(&module, &code_of(&file)) {
            let Some(other) = named.path.first().filter(|other| *other != room) else { continue };
            // Macros and the like are not of a room.
            let is_room = MAY_NAME.iter().any(|(name, _)| name == other);
            if is_room && !may.contains(&other.as_str()) {
                wrong.push(format!("{path} names {}", named.path.join("::")));
            }
            if is_room && named.handed_on {
                wrong.push(format!("{path} hands on {}", named.path.join("::")));
            }
            used.insert((room.clone(), other.clone()));
        }
    }
    for (room, may) in MAY_NAME {
        let unused = may.iter().filter(|other| !used.contains(&(room.to_string(), other.to_string())));
        wrong.extend(unused.map(|other| format!("{room} no longer names {other}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_room_may_name_one_below_it() {
    for (at, (room, may)) in MAY_NAME.iter().enumerate() {
        for other in *may {
            let above = MAY_NAME.iter().take(at).any(|(name, _)| name == other);
            assert!(above, "{room} may name {other}, which does not stand above it");
        }
    }
}

#[test]
fn no_command_names_another() {
    let all = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/mod.rs")).unwrap();
    let commands: Vec<&str> = all
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(|name| name.trim_start_matches("r#"))
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let mut wrong = Vec::new();
    for file in program_sources() {
        let path = short(&file);
        let module = module_of(&path);
        let [room, own, ..] = module.as_slice() else { continue };
        if room != "commands" {
            continue;
        }
        for named in paths_in(&module, &code_of(&file)) {
            if let [room, other, ..] = named.path.as_slice()
                && room == "commands"
                && other != own
                && commands.contains(&other.as_str())
            {
                wrong.push(format!("{path} names {}", named.path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_one_place_reads_the_environment() {
    let ways = ["env::var(", "env::var_os(", "env::vars(", "env::vars_os("];
    let own: Vec<_> = libraries().filter(|file| short(file) == "lepo-base/env.rs").collect();
    assert!(own.iter().any(|file| ways.iter().any(|way| code_of(file).contains(way))), "{own:?}");
    for file in libraries().filter(|file| short(file) != "lepo-base/env.rs") {
        let code = code_of(&file);
        for way in ways {
            assert!(!code.contains(&format!("std::{way}")), "{} has {way}", short(&file));
        }
        let imported = code.lines().any(|line| line.trim_start().starts_with("use std::env"));
        assert!(!imported, "{} imports std::env", short(&file));
    }
}

#[test]
fn every_crate_has_a_readme_that_its_manifest_names() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut count = 0;
    for dir in std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(manifest) = std::fs::read_to_string(dir.join("Cargo.toml")) else { continue };
        let name = dir.file_name().unwrap().to_str().unwrap();
        let readme = std::fs::read_to_string(dir.join("README.md")).unwrap_or_default();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name} has no README.md");
        assert!(manifest.lines().any(|line| line == "readme = \"README.md\""), "{name}: Cargo.toml names it");
        count += 1;
    }
    assert!(count >= 15, "{count}");
}

/// The source files of lepo and its libraries: not of the programs beside it, which have no terminal and no settings.
fn libraries() -> impl Iterator<Item = std::path::PathBuf> {
    let beside = ["lepo-embedded/", "lepo-import-db/"];
    sources().into_iter().filter(move |file| !beside.iter().any(|program| short(file).starts_with(program)))
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    let (mut lengths, mut wrong) = (Vec::new(), Vec::new());
    for file in sources() {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        if !text.starts_with("//!") {
            wrong.push(format!("{} has no header", short(&file)));
        }
        if lines > 400 {
            wrong.push(format!("{} has {lines} lines", short(&file)));
        }
        lengths.push(lines);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    lengths.sort_unstable();
    let ninth = lengths[lengths.len() * 9 / 10];
    assert!(ninth <= 350, "nine of ten files are to be under 350 lines, not {ninth}");
}
