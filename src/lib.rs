//! The program `lepo`: commands, the interactive session, and all output. Its libraries are
//! the crates in `crates/`; ARCHITECTURE.md has their map.
//!
//! | module | contains | does not know |
//! |---|---|---|
//! | [`cli`] | the root parser and dispatch | |
//! | [`commands`] | one file or folder a subcommand: resolve, do, print | each other |
//! | [`repl`] | the interactive session | providers |
//! | [`acp`] | turns for an editor that speaks the Agent Client Protocol | providers, the terminal |
//! | [`ui`] | everything that a turn shows | providers, the network |
//! | [`rebase`] | copies of a line of messages, and a line as one text in the editor | providers, the network |
//! | [`rebase_text`] | that text: printed, read back, compared | everything but values |
//! | [`browse`] | the forest on the whole terminal | the network, writing |
//! | [`view`] | the facts of conversations that lists show, the parts of JSON documents | the network, the terminal |
//! | [`term`] | the only writer to a terminal | everything but values |
//! | [`import`] | conversations of other tools as bubbs | terminal, network, environment |
//! | [`stats`] | what was spent, counted from the journal | terminal |
//!
//! The manifests enforce the edges between crates. `tests/e2e/house.rs` checks the rules that a manifest
//! cannot express: who writes to the terminal, who reads the environment, who asks which system this is, who
//! can make a consent value; that no command names another; that the first line of a file says what it is
//! for, and no file has more than 400 lines.
//!
//! Not a library for others: everything public here is for the program and its tests.

mod acp;
mod browse;
pub mod cli;
mod commands;
mod import;
mod rebase;
mod rebase_text;
mod repl;
mod stats;
#[doc(hidden)]
pub mod term;
mod ui;
mod view;

#[doc(hidden)]
pub use commands::completions;
#[doc(hidden)]
pub use ui::explained_notices;

pub use term::report_panics;

/// Runs a helper process (the supervisor, or the start of a sandboxed command) if `args` name one: lepo
/// starts itself under another `argv[0]`. Returns its exit code.
pub fn run_as_helper(args: &[std::ffi::OsString]) -> Option<u8> {
    lepo_process::run_as_keeper(args).or_else(|| lepo_tool::run_sandboxed(args))
}
