//! lepo keeps conversations with language models as plain files: one Markdown file a message.
//!
//! The rooms, and what each may not do:
//!
//! | room | holds | does not know |
//! |---|---|---|
//! | [`bubb`] | values: ids, kinds, file names | I/O, the clock |
//! | [`conv`] | the forest: tails, heights, addresses | I/O |
//! | [`store`] | the directory `.lepo` | network, terminal, environment |
//! | [`sync`] | carrying stores between clones with git | terminal, models |
//! | [`search`] | grep and its text cache | terminal |
//! | [`config`] | files and environment, resolved once into `Settings` | models, tools, terminal |
//! | [`model`] | talking to a model | bubbs, terminal |
//! | [`tool`] | acting for a model, with consent | bubbs |
//! | [`browse`] | the forest on the whole terminal | the network, writing |
//! | [`page`] | conversations as a page of HTML | I/O, the store |
//! | [`turn`] | one turn, from question to answer | terminal |
//! | [`ui`] | everything that a turn shows | providers, the network |
//! | [`repl`] | turns in a row, at a prompt | providers |
//! | [`stats`] | what was spent, counted from the journal | terminal |
//! | [`term`] | the only writer to a terminal | everything but values |
//! | [`commands`] | one file a subcommand: resolve, do, print | each other |
//! | [`process`] | child processes: start, watch, end with all they started | everything else |
//! | [`fetch`] | one file from the web | everything but errors |
//! | [`import`] | other tools' histories as bubbs | terminal, network, environment |
//! | [`net`] | the start of every HTTP client, the streams that servers send | everything but threads and errors |
//! | [`runtime`] | the async runtime | everything but errors |
//! | [`sys`] | what differs between Linux and macOS | everything else |
//! | [`env`] | the environment of the process, read only here | everything else |
//! | [`when`] | times as people write and read them | everything but the environment |
//! | [`error`] | errors with hints, exit codes | everything else |
//! | [`cli`] | the root parser and dispatch | |
//!
//! The rules, each kept by a test of `tests/e2e/house.rs`:
//!
//! - Imports run one way: cli → commands → repl → ui → browse → term → import → turn → tool → model → stats →
//!   config → sync → search → store → page → conv → fetch → process → bubb → when, net, runtime, env, sys, error; a table in
//!   the test says which of these. Events go up, values go down. A room re-exports nothing of another.
//! - Rooms are private to the crate; `testing` hands tests, fuzzers and benchmarks what they need.
//! - No command names another.
//! - Only [`term`] writes to a terminal, and text of others is cleaned there.
//! - Only [`env`] reads the environment of the process.
//! - Only [`sys`] asks which system or processor this is (`cfg(target_os)`, `cfg(target_arch)`).
//! - Nothing runs without a consent value, and few places can make one.
//! - A file says in its first line what it is for, and has at most 400 lines.

pub(crate) mod browse;
pub(crate) mod bubb;
pub mod cli;
pub(crate) mod commands;
pub(crate) mod config;
pub(crate) mod conv;
pub(crate) mod env;
pub mod error;
pub(crate) mod fetch;
pub(crate) mod import;
#[doc(hidden)]
pub mod import_db;
pub(crate) mod model;
pub(crate) mod net;
pub(crate) mod page;
pub(crate) mod process;
pub(crate) mod repl;
pub(crate) mod runtime;
pub(crate) mod search;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod sync;
pub(crate) mod sys;
pub(crate) mod term;
#[doc(hidden)]
pub mod testing;
pub(crate) mod tool;
pub(crate) mod turn;
pub(crate) mod ui;
pub(crate) mod when;

pub use term::report_panics;

/// Runs a helper process (a keeper, or the start of a sandboxed command), if `args` are those of one: lepo starts
/// itself under another name. Gives its exit code.
pub fn run_as_helper(args: &[std::ffi::OsString]) -> Option<u8> {
    process::run_as_keeper(args).or_else(|| tool::run_as_held(args))
}
