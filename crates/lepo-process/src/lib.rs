//! Child processes: starts, watches and terminates model programs, commands and MCP servers.
//!
//! A supervisor starts each program: a separate process that runs lepo's program under another `argv[0]`. If the system
//! supports it (see [`lepo_base::sys`]), the supervisor is the reaper of all descendants of the program, so a process
//! that loses its parent is still found below the supervisor. The supervisor terminates them when lepo asks for it, and
//! when its socket to lepo is closed, which happens however lepo exits.

mod configured;
mod empty_folder;
mod program;
mod report;
mod spec;
mod supervisor;
mod terminate;

use std::ffi::{OsStr, OsString};

use lepo_base::env;

pub use configured::{ConfiguredProgram, FilesChanged, StartFolder, StartGuard};
pub use program::{Program, RunningProgram, own_program};
pub use supervisor::run_as_keeper;

/// Environment variables with their values.
pub type Environment = Vec<(OsString, OsString)>;

/// Returns lepo's environment without the variables that `hidden` accepts.
pub fn environment(hidden: impl Fn(&OsStr) -> bool) -> Environment {
    env::vars().filter(|(name, _)| !hidden(name)).collect()
}
