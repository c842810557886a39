//! Collects the arguments, calls the library, returns an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lepo::cli::run(std::env::args_os().collect()))
}
