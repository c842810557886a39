//! Collects the arguments, calls the library, returns an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    if let Some(code) = lepo::run_as_helper(&args) {
        return ExitCode::from(code);
    }
    ExitCode::from(lepo::cli::run(args))
}
