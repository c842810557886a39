//! The rules that neither cargo nor a type can keep: within the program imports run one way and commands do not name
//! each other; one room writes to the terminal, one reads the environment; files are short and say what they are for.

use crate::paths_in_code::{code_of, module_of, paths_in, program_sources, short, sources};

/// Each room of the program, and the rooms it may name: only those above it. What it may name of other crates stands in
/// the manifest.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("import", &[]),
    ("term", &[]),
    ("browse", &["term"]),
    ("ui", &["term"]),
    ("repl", &["term", "ui"]),
    ("acp", &["term", "ui"]),
    ("commands", &["acp", "browse", "import", "repl", "stats", "term", "ui"]),
    ("cli", &["commands", "term"]),
];

/// Crates that only some commands may name: those that ask models or the network, and what few need.
const OUTWARD: &[(&str, &[&str])] = &[
    ("lepo_model", &["acp/", "commands/do/", "commands/model/", "commands/stats/", "repl/", "stats/", "ui/"]),
    // `term` has its thread for a question from the runtime.
    (
        "lepo_net",
        &["acp/", "commands/do/", "commands/model/", "commands/mcp/", "repl/", "term/ask.rs", "ui/"],
    ),
    ("lepo_acp", &["acp/"]),
    ("lepo_import", &["import/", "commands/import/"]),
    ("lepo_sync", &["commands/sync/", "commands/rm/held.rs", "commands/rm/interrupted.rs"]),
    ("lepo_page", &["commands/export/"]),
];

#[test]
fn crates_that_reach_outward_are_named_in_few_places() {
    let mut wrong = Vec::new();
    for file in program_sources() {
        let path = short(&file);
        let code = code_of(&file);
        for (name, may) in OUTWARD {
            if code.contains(&format!("{name}::")) && !may.iter().any(|place| path.starts_with(place)) {
                wrong.push(format!("{path} names {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
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
        }
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

/// Ways to a terminal, each with the files besides `term` that may have it.
const TERMINAL: &[(&str, &[&str])] = &[
    ("print!(", &[]),
    ("println!(", &[]),
    ("stdout().lock", &[]),
    ("stderr().lock", &[]),
    // Asked for the name of their terminal.
    ("stdio::stdout()", &["lepo-base/sys/macos.rs"]),
    ("stdio::stderr()", &["lepo-base/sys/macos.rs"]),
    // The process between lepo and a held command, which has nothing of lepo but its stderr.
    ("&mut io::stderr()", &["lepo-tool/sandbox/landlock.rs"]),
    ("/dev/tty", &["lepo-base/sys/linux/mod.rs", "lepo-base/sys/macos.rs"]),
    // The line editor writes by itself.
    (
        "reedline::",
        &[
            "repl/complete.rs",
            "repl/history.rs",
            "repl/keys.rs",
            "repl/line_feed.rs",
            "repl/menu.rs",
            "repl/reader.rs",
        ],
    ),
];

#[test]
fn only_one_room_writes_to_a_terminal() {
    holds_only_in(TERMINAL, "term/");
}

/// Ways to start a program, and to the folder that it starts in, each with the files that may have it. What a
/// configuration names is started by `lepo-process/configured.rs` alone, what lepo needs of the system is found by
/// `lepo-base/search_path.rs`; the others start lepo's own programs, or what was agreed to, in a sandbox.
const STARTS: &[(&str, &[&str])] = &[
    (
        "Program::new(",
        &[
            "lepo-model/embedded.rs",
            "lepo-process/configured.rs",
            "lepo-tool/sandbox/bubblewrap.rs",
            "lepo-tool/sandbox/landlock.rs",
            "lepo-tool/sandbox/mod.rs",
        ],
    ),
    (
        "Command::new(",
        &[
            "cli.rs",
            "cli/first.rs",
            "commands/browse.rs",
            "lepo-base/search_path.rs",
            "lepo-base/sys/macos.rs",
            "lepo-process/configured.rs",
            "lepo-process/keeper.rs",
            "lepo-process/program.rs",
            "lepo-tool/sandbox/landlock.rs",
        ],
    ),
    (
        "ConfiguredProgram::new(",
        &[
            "lepo-model/acp/agent.rs",
            "lepo-model/cli.rs",
            "lepo-model/key.rs",
            "lepo-tool/mcp/client/process.rs",
            "lepo-turn/held.rs",
        ],
    ),
    // The record of trust in folders; a repository's servers, whose definition is trusted.
    ("StartFolder::trusted(", &["lepo-turn/config/folder_trust.rs", "lepo-turn/configured.rs"]),
];

#[test]
fn programs_are_started_in_few_places() {
    let mut found = vec![false; STARTS.len()];
    let mut wrong = Vec::new();
    for file in libraries() {
        let (path, code) = (short(&file), code_of(&file));
        let code = code.split("#[cfg(test)]").next().unwrap();
        let is_test = path.contains("/tests") || path.ends_with("_tests.rs");
        for (at, (word, may)) in STARTS.iter().enumerate() {
            // `ConfiguredProgram::new` and the like are other words.
            let has = code
                .match_indices(word)
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
            found[at] |= has;
            if has && !is_test && !may.contains(&path.as_str()) {
                wrong.push(format!("{path} has {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(found.iter().all(|found| *found), "a word of the table is not in the code: {found:?}");
}

#[test]
fn only_one_place_reads_the_environment() {
    let ways = ["env::var(", "env::var_os(", "env::vars(", "env::vars_os("];
    for file in libraries().filter(|file| short(file) != "lepo-base/env.rs") {
        let code = code_of(&file);
        for way in ways {
            assert!(!code.contains(&format!("std::{way}")), "{} has {way}", short(&file));
        }
        let imported = code.lines().any(|line| line.trim_start().starts_with("use std::env"));
        assert!(!imported, "{} imports std::env", short(&file));
    }
}

/// Ways to ask which system or processor this is, and what only one system has.
const SYSTEM: &[(&str, &[&str])] = &[
    ("target_os", &[]),
    ("target_arch", &[]),
    ("target_env", &[]),
    ("target_vendor", &[]),
    ("consts::OS", &[]),
    ("std::os::linux", &[]),
    ("std::os::macos", &[]),
    ("\"/proc/self", &[]),
    ("landlock::Ruleset", &[]),
    ("seccompiler::", &[]),
    ("libc::", &[]),
];

#[test]
fn only_one_room_knows_the_system() {
    holds_only_in(SYSTEM, "lepo-base/sys/");
    // Its files offer the same names, whichever of them is compiled.
    let all =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/lepo-base/src/sys/mod.rs"))
            .unwrap();
    let (_, offered) = all.split_once("pub use system::{").unwrap();
    let (offered, _) = offered.split_once("};").unwrap();
    let offered: Vec<&str> = offered.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    assert!(offered.len() > 15, "{offered:?}");
    for (system, place) in [("linux", "lepo-base/sys/linux"), ("macos", "lepo-base/sys/macos.rs")] {
        let code: String = sources()
            .iter()
            .filter(|file| short(file).starts_with(place))
            .map(|file| code_of(file))
            .collect();
        for name in &offered {
            let made =
                ["fn", "const", "struct"].iter().any(|word| code.contains(&format!("pub {word} {name}")));
            assert!(made, "{system} has no {name}");
        }
    }
}

#[test]
fn the_protocol_library_is_named_by_a_client_and_a_server() {
    let serving = ["mod", "handler", "pipe"].map(|file| format!("lepo-tool/mcp/serve/{file}.rs"));
    let serving = serving.each_ref().map(String::as_str);
    holds_only_in(&[("rmcp::", &serving)], "lepo-tool/mcp/client/");
}

/// Words of the Agent Client Protocol.
const ACP: &[(&str, &[&str])] = &[
    ("\"sessionUpdate\"", &[]),
    ("\"session/", &[]),
    ("request_permission", &[]),
    ("\"protocolVersion\"", &[]),
    ("agent_message_chunk", &[]),
];

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

#[test]
fn the_editors_protocol_is_named_in_one_crate() {
    holds_only_in(ACP, "lepo-acp/");
}

/// The source files of lepo and its libraries: not of the programs beside it, which have no terminal and no settings.
fn libraries() -> impl Iterator<Item = std::path::PathBuf> {
    let beside = ["lepo-embedded/", "lepo-import-db/"];
    sources().into_iter().filter(move |file| !beside.iter().any(|program| short(file).starts_with(program)))
}

/// Writers of the store that take any bytes, and ways to a value that they need not look at, each with the files besides
/// `lepo-turn/transcript.rs` and `lepo-turn/spool.rs` that may have it. All others write what `lepo-secrets` has looked at.
const WRITERS: &[(&str, &[&str])] = &[
    (".bubbs().write(", &[]),
    (".bubbs().write_at(", &[]),
    (".bubbs().draft(", &[]),
    // A stream that is masked where it is kept; what another clone wrote, byte for byte.
    (".blobs().keep(", &["lepo-turn/result_text.rs", "lepo-sync/incoming.rs"]),
    // Files that the user attaches.
    (".blobs().begin(", &["lepo-turn/attach/new_file.rs"]),
    // Messages of other clones, and of imports, which mask where they read.
    ("Batch::begin(", &["lepo-sync/incoming.rs", "commands/import/write.rs"]),
    // Copies of messages that are in the store.
    ("write_copies(", &["commands/rebase/mod.rs", "lepo-turn/compact.rs", "lepo-turn/replay/run.rs"]),
    (".replacement().place(", &["commands/rm/redact.rs"]),
    // Messages of the user's own, which `auto` follows unasked: what the user wrote, copied, imported or has in a clone.
    (
        ".prove(",
        &[
            "commands/add.rs",
            "commands/edit.rs",
            "commands/rebase/mod.rs",
            "lepo-sync/incoming.rs",
            "lepo-turn/compact.rs",
        ],
    ),
    (".prove_missing(", &["commands/import/write.rs"]),
    // The user's own words.
    (".titles().set(", &["commands/title.rs", "repl/title.rs"]),
    (
        "Kept::typed(",
        &[
            "commands/do/replay.rs",
            "commands/edit.rs",
            "lepo-turn/agents/sent.rs",
            "lepo-turn/between.rs",
            "lepo-turn/flow.rs",
            "lepo-turn/group/opening.rs",
            "lepo-turn/masking.rs",
        ],
    ),
    // Text that the settings leave alone.
    (
        "Treatment::Leave",
        &[
            "lepo-turn/masking.rs",
            "lepo-secrets/mask.rs",
            "lepo-secrets/spool.rs",
            "lepo-secrets/examples/stream.rs",
        ],
    ),
];

#[test]
fn what_others_say_is_written_by_those_who_looked_at_it() {
    let own = ["lepo-store/", "lepo-turn/spool.rs", "lepo-turn/transcript.rs"];
    for file in libraries().filter(|file| !own.iter().any(|own| short(file).starts_with(own))) {
        if short(&file).ends_with("_tests.rs") {
            continue;
        }
        let code = code_of(&file);
        // A call may stand on several lines.
        let code: String = code.split("#[cfg(test)]").next().unwrap().split_whitespace().collect();
        for (word, may) in WRITERS {
            assert!(
                !code.contains(word) || may.contains(&short(&file).as_str()),
                "{} has {word}",
                short(&file)
            );
        }
    }
}

/// Each word only in files of `room`, and in those that are named beside it. Tests may say anything.
fn holds_only_in(words: &[(&str, &[&str])], room: &str) {
    let mut wrong = Vec::new();
    for file in libraries() {
        let path = short(&file);
        let code = code_of(&file);
        let code = code.split("#[cfg(test)]").next().unwrap();
        for (word, may) in words {
            let is_test = path.contains("/tests") || path.ends_with("_tests.rs");
            if code.contains(word) && !is_test && !path.starts_with(room) && !may.contains(&path.as_str()) {
                wrong.push(format!("{path} has {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Where the words of a hint are made: at the end, for a person or a program. A hint has no other words, so nothing edits
/// them.
const WORDS_OF_HINTS: &[(&str, &[&str])] = &[
    (
        ".hint_for(",
        &[
            "lepo-base/error.rs",
            "acp/failure.rs",
            "acp/turns.rs",
            "cli/end.rs",
            "commands/config.rs",
            "repl/complain.rs",
            "ui/group.rs",
            "ui/new_model/ask.rs",
        ],
    ),
    (".told(At::", &[]),
    // Lines that have a command in them.
    (".told(self.at", &["commands/mod.rs"]),
    (".told(context.at", &[]),
    (
        ".told(at",
        &[
            "lepo-base/error.rs",
            "commands/rm/outcome.rs",
            "commands/rm/remains.rs",
            "commands/sync/told.rs",
            "ui/notices.rs",
            "ui/notices/files.rs",
        ],
    ),
];

#[test]
fn the_words_of_a_hint_are_made_where_it_is_shown() {
    holds_only_in(WORDS_OF_HINTS, "lepo-base/hint");
}

/// Beginnings of lines for a person, which `Line` alone writes: the libraries tell values, as `Notice`, and `ui` has the
/// words.
const WEIGHTS: &[(&str, &[&str])] = &[("\"note: ", &[]), ("\"warning: ", &[])];

#[test]
fn the_weight_of_a_line_is_written_in_one_place() {
    holds_only_in(WEIGHTS, "term/line.rs");
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

/// Words that make a leave to run something, each with the only files that may say them. The type of a leave
/// is closed, but a rule about who calls what is not the compiler's to keep within one crate.
const CONSENT: &[(&str, &[&str])] = &[
    ("by_user(", &["lepo-tool/consent.rs", "lepo-turn/command_runner.rs"]),
    ("Reply::Always", &["lepo-tool/consent.rs", "ui/consent.rs", "acp/consent.rs", "lepo-turn/request.rs"]),
    ("Reply::Yes", &["lepo-tool/consent.rs", "ui/consent.rs", "acp/consent.rs", "lepo-turn/decision.rs"]),
    ("Consent::of(", &["lepo-tool/consent.rs", "lepo-turn/request.rs"]),
    ("runs_unasked(", &["lepo-tool/consent.rs", "lepo-turn/request.rs"]),
    (
        "Verdict::Approve",
        &[
            "lepo-turn/decision.rs",
            "lepo-turn/request.rs",
            "commands/do/args.rs",
            "commands/do/turn.rs",
            "repl/commands.rs",
            "acp/commands.rs",
        ],
    ),
    // Actions of an agent are agreed to where the person answers.
    ("Permit::Once", &["lepo-model/acp/run.rs", "ui/permit.rs", "acp/consent.rs"]),
    ("Permit::Always", &["lepo-model/acp/run.rs", "ui/permit.rs", "acp/consent.rs"]),
];

#[test]
fn a_leave_to_run_something_is_made_in_few_places() {
    for file in sources() {
        let code = code_of(&file);
        let code = code.split("#[cfg(test)]").next().unwrap();
        for (word, may) in CONSENT {
            assert!(
                !code.contains(word) || may.contains(&short(&file).as_str()),
                "{word} in {}",
                short(&file)
            );
        }
    }
}
