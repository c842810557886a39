//! Child processes: model programs, commands and MCP servers are started, watched and ended here.
//!
//! Each program is started by a keeper, a process of its own that is lepo's program under another
//! `argv[0]`. Where the system has that (see [`lepo_base::sys`]), the keeper is the reaper of all descendants of the
//! program, so whatever loses its parent is still found below the keeper. It ends them when lepo says so, and when
//! its socket to lepo is closed, which happens however lepo ends.

mod configured;
mod empty_folder;
mod keeper;
mod program;
mod report;
mod spec;
mod tree;

use std::ffi::{OsStr, OsString};

use lepo_base::env;

pub use configured::{ConfiguredProgram, FilesChanged, StartFolder, StartGuard};
pub use keeper::run_as_keeper;
pub use program::{Program, Running, own_program};

/// Environment variables with their values.
pub type Environment = Vec<(OsString, OsString)>;

/// lepo's environment without the variables that `hidden` accepts.
pub fn environment(hidden: impl Fn(&OsStr) -> bool) -> Environment {
    env::vars().filter(|(name, _)| !hidden(name)).collect()
}
