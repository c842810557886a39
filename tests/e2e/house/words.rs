//! Words that stand in few files only: ways to the terminal, to a process, to the system, to the store and to a leave
//! to run something. A word that the code no longer has guards nothing, so each of them is looked for as well.

use std::path::{Path, PathBuf};

use super::libraries;
use crate::paths_in_code::{code_of, short, sources};

/// Words, each with the files besides those of a rule's own that may have it.
type Table = &'static [(&'static str, &'static [&'static str])];

/// Words that are nowhere, and are to stay away: each with a part of it that the code has, or nothing for a name of the
/// standard library or of cargo, which nobody renames.
const NOWHERE: &[(&str, &str)] = &[
    ("print!(", ""),
    ("println!(", ""),
    ("stdout().lock", ""),
    ("target_vendor", ""),
    ("consts::OS", ""),
    ("std::os::linux", ""),
    ("std::os::macos", ""),
    (".render(HintTarget::", ".render("),
    (".render(context.at", ".render("),
    // Its variant is named so by a derive.
    ("agent_message_chunk", "AgentMessageChunk"),
];

/// The code of a file, without its tests: as it stands, and without white space, as a call may stand on several lines.
struct Code {
    path: String,
    lines: String,
    squeezed: String,
}

impl Code {
    fn read(file: &Path) -> Code {
        let code = code_of(file);
        let lines = code.split("#[cfg(test)]").next().unwrap().to_string();
        Code { path: short(file), squeezed: lines.split_whitespace().collect(), lines }
    }

    /// True if it has the word. Before a type's name nothing else of a name stands: `ConfiguredProgram::new` is another
    /// word than `Program::new`.
    fn has(&self, word: &str) -> bool {
        let code = if word.contains(' ') { &self.lines } else { &self.squeezed };
        let is_type = word.starts_with(|c: char| c.is_ascii_uppercase());
        code.match_indices(word).any(|(at, _)| {
            let goes_on = code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            !(is_type && goes_on)
        })
    }
}

/// The code of files that are no tests.
fn codes_without_tests(files: impl IntoIterator<Item = PathBuf>) -> Vec<Code> {
    let is_test = |path: &str| path.contains("/tests") || path.ends_with("_tests.rs");
    files.into_iter().filter(|file| !is_test(&short(file))).map(|file| Code::read(&file)).collect()
}

/// The faults of a table: files of none of the `rooms` (beginnings of paths) that have a word and are not named beside
/// it, named files that do not have it, and words that no file has.
fn faults(table: Table, rooms: &[&str], files: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let codes = codes_without_tests(files);
    let mut wrong = Vec::new();
    for room in rooms {
        if !codes.iter().any(|code| code.path.starts_with(room)) {
            wrong.push(format!("{room} has no file"));
        }
    }
    for (word, may) in table {
        let having: Vec<&str> =
            codes.iter().filter(|code| code.has(word)).map(|code| code.path.as_str()).collect();
        let is_own = |path: &&&str| rooms.iter().any(|room| path.starts_with(room));
        for path in having.iter().filter(|path| !is_own(path) && !may.contains(path)) {
            wrong.push(format!("{path} has {word}"));
        }
        for path in may.iter().filter(|path| !having.contains(path)) {
            wrong.push(format!("{path} no longer has {word}"));
        }
        match NOWHERE.iter().find(|(nowhere, _)| nowhere == word) {
            None if having.is_empty() => wrong.push(format!("{word} is nowhere in the code: renamed?")),
            Some((_, part)) if !codes.iter().any(|code| part.is_empty() || code.has(part)) => {
                wrong.push(format!("{part} is nowhere in the code, so {word} guards nothing: renamed?"));
            }
            _ => {}
        }
    }
    wrong
}

/// Each word of the table is only in files of these rooms, and in those that are named beside it.
fn hold_only_in(table: Table, rooms: &[&str]) {
    let wrong = faults(table, rooms, libraries());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Ways to a terminal, each with the files besides `term` that may have it.
const TERMINAL: Table = &[
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
            "repl/line_end.rs",
            "repl/menu.rs",
            "repl/reader.rs",
        ],
    ),
];

#[test]
fn only_one_room_writes_to_a_terminal() {
    hold_only_in(TERMINAL, &["term/"]);
}

/// Ways to start a program, and to the folder that it starts in, each with the files that may have it. What a
/// configuration names is started by `lepo-process/configured.rs` alone, what lepo needs of the system is found by
/// `lepo-base/search_path.rs`; the others start lepo's own programs, or what was agreed to, in a sandbox.
const STARTS: Table = &[
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
            "cli/first_word.rs",
            "commands/browse.rs",
            "commands/do/proxy/program.rs",
            "lepo-base/search_path.rs",
            "lepo-base/sys/macos.rs",
            "lepo-process/configured.rs",
            "lepo-process/supervisor.rs",
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
            "lepo-turn/agent_sandbox.rs",
        ],
    ),
    // The record of trust in folders; a repository's servers, whose definition is trusted.
    ("StartFolder::trusted(", &["lepo-turn/config/folder_trust.rs", "lepo-turn/configuration.rs"]),
];

#[test]
fn programs_are_started_in_few_places() {
    hold_only_in(STARTS, &[]);
}

/// Ways to ask which system or processor this is, and what only one system has.
const SYSTEM: Table = &[
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
    hold_only_in(SYSTEM, &["lepo-base/sys/"]);
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

/// The library of the Model Context Protocol, in a client and in a server.
const MCP: Table = &[(
    "rmcp::",
    &["lepo-tool/mcp/serve/mod.rs", "lepo-tool/mcp/serve/handler.rs", "lepo-tool/mcp/serve/pipe.rs"],
)];

#[test]
fn the_protocol_library_is_named_by_a_client_and_a_server() {
    hold_only_in(MCP, &["lepo-tool/mcp/client/"]);
}

/// Words of the Agent Client Protocol.
const ACP: Table = &[
    ("\"sessionUpdate\"", &[]),
    ("\"session/", &[]),
    ("request_permission", &[]),
    // MCP has the same key.
    ("\"protocolVersion\"", &["lepo-tool/mcp/client/normalise.rs"]),
    ("agent_message_chunk", &[]),
];

#[test]
fn the_editors_protocol_is_named_in_one_crate() {
    hold_only_in(ACP, &["lepo-acp/"]);
}

/// Writers of the store that take any bytes, and ways to a value that they need not look at, each with the files besides
/// `lepo-turn/turn_path.rs` and `lepo-turn/spool.rs` that may have it. All others write what `lepo-secrets` has looked at.
const WRITERS: Table = &[
    (".create_bubb(", &[]),
    (".create_bubb_at(", &[]),
    (".draft_bubb(", &[]),
    // For other programs.
    ("AppendedMessage", &[]),
    // A stream that is masked where it is kept; what another clone wrote, byte for byte; images in a program's request.
    (".write_blob(", &["lepo-turn/result_text.rs", "lepo-sync/incoming.rs", "lepo-proxy/recorder.rs"]),
    // Files that the user attaches.
    (".copy_blob_in(", &["lepo-turn/attach/new_file.rs"]),
    // Messages of other clones, and of imports, which mask where they read.
    ("WriteBatch::new(", &["lepo-sync/incoming.rs", "commands/import/write.rs"]),
    // Copies of messages that are in the store.
    (
        "write_copies(",
        &[
            "commands/rebase/mod.rs",
            "lepo-turn/conversation/compact.rs",
            "lepo-turn/replay/run.rs",
            "rebase/text_edit.rs",
        ],
    ),
    (".replacement().publish(", &["commands/rm/redact.rs"]),
    // Messages of the user's own, which `auto` follows unasked: what the user wrote, copied, imported or has in a clone.
    (
        ".prove(",
        &[
            "commands/add.rs",
            "commands/edit.rs",
            "commands/rebase/mod.rs",
            "lepo-sync/incoming.rs",
            "lepo-turn/conversation/compact.rs",
            "rebase/text_edit.rs",
        ],
    ),
    (".prove_missing(", &["commands/import/write.rs"]),
    // The user's own words.
    (".set_title(", &["ui/changes.rs"]),
    (
        "ScreenedBytes::typed(",
        &[
            "commands/do/replay.rs",
            "commands/edit.rs",
            "lepo-turn/instructions/opening.rs",
            "lepo-turn/masking.rs",
            "lepo-turn/stopped_answer.rs",
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
    hold_only_in(WRITERS, &["lepo-store/", "lepo-turn/spool.rs", "lepo-turn/turn_path.rs"]);
}

/// Where the words of a hint are made: at the end, for a person or a program. A hint has no other words, so nothing edits
/// them.
const WORDS_OF_HINTS: Table = &[
    (
        ".hint_for(",
        &[
            "lepo-base/error.rs",
            "acp/failure.rs",
            "acp/turns.rs",
            "cli/finish.rs",
            "commands/config.rs",
            "repl/error_line.rs",
            "ui/group.rs",
            "ui/new_model/ask.rs",
            "view/json.rs",
        ],
    ),
    (".render(HintTarget::", &[]),
    // Lines that have a command in them.
    (".render(self.at", &["commands/mod.rs"]),
    (".render(context.at", &[]),
    (
        ".render(at",
        &[
            "lepo-base/error.rs",
            "commands/rm/outcome.rs",
            "commands/rm/remaining_copies.rs",
            "commands/sync/report.rs",
            "repl/rebase.rs",
            "ui/notices.rs",
            "ui/notices/files.rs",
        ],
    ),
];

#[test]
fn the_words_of_a_hint_are_made_where_it_is_shown() {
    hold_only_in(WORDS_OF_HINTS, &["lepo-base/hint"]);
}

/// Beginnings of lines for a person, which `Line` alone writes: the libraries tell values, as `Notice`, and `ui` has the
/// words.
const WEIGHTS: Table = &[("\"note: ", &[]), ("\"warning: ", &[])];

#[test]
fn the_weight_of_a_line_is_written_in_one_place() {
    hold_only_in(WEIGHTS, &["term/status_line.rs"]);
}

/// Words that make a leave to run something, each with the only files that may say them. The type of a leave
/// is closed, but a rule about who calls what is not the compiler's to keep within one crate.
const CONSENT: Table = &[
    ("by_user(", &["lepo-tool/consent.rs", "lepo-turn/command_runner.rs"]),
    (
        "ConsentReply::Always",
        &["lepo-tool/consent.rs", "ui/consent.rs", "acp/consent.rs", "lepo-turn/request.rs"],
    ),
    (
        "ConsentReply::Yes",
        &["lepo-tool/consent.rs", "ui/consent.rs", "acp/consent.rs", "lepo-turn/decision.rs"],
    ),
    ("Consent::from_reply(", &["lepo-turn/request.rs"]),
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
    ("PermissionReply::Once", &["lepo-model/acp/answer.rs", "ui/agent_permission.rs", "acp/consent.rs"]),
    ("PermissionReply::Always", &["lepo-model/acp/answer.rs", "ui/agent_permission.rs", "acp/consent.rs"]),
];

#[test]
fn a_leave_to_run_something_is_made_in_few_places() {
    let wrong = faults(CONSENT, &[], sources());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_word_that_is_nowhere_is_in_a_table_and_away() {
    let tables = [TERMINAL, STARTS, SYSTEM, MCP, ACP, WRITERS, WORDS_OF_HINTS, WEIGHTS, CONSENT];
    let codes = codes_without_tests(libraries());
    for (word, _) in NOWHERE {
        assert!(tables.iter().any(|table| table.iter().any(|(other, _)| other == word)), "{word}");
        assert!(!codes.iter().any(|code| code.has(word)), "{word} is in the code, to be taken off the list");
    }
}

#[test]
fn a_table_that_a_rename_forgot_is_a_fault() {
    // Whatever the code is called today, nothing of these rows is in it.
    const FORGOTTEN: Table = &[("Renamed\u{0}::new(", &[]), ("\u{0}", &["lepo-base/gone.rs"])];
    assert_eq!(
        faults(FORGOTTEN, &["no-such-room/"], libraries()),
        [
            "no-such-room/ has no file",
            "Renamed\u{0}::new( is nowhere in the code: renamed?",
            "lepo-base/gone.rs no longer has \u{0}",
            "\u{0} is nowhere in the code: renamed?",
        ]
    );
    // In one file too many.
    let wrong = faults(&[("WeirdlyNamed", &[]), ("pub mod", &[])], &["lepo-"], libraries());
    assert!(wrong.iter().any(|fault| fault.ends_with(" has pub mod")), "{wrong:?}");
}
