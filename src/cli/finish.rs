//! Ends a command: flushes its output, or reports the error.

use crate::term::{Out, print_status};
use lepo_base::error::{Error, ExitKind};
use lepo_base::hint::HintTarget;

/// Finishes the output of a command; returns the exit code.
pub fn end(mut out: Out) -> u8 {
    out.finish().map_or_else(|error| report(&error), |()| 0)
}

pub fn report(error: &Error) -> u8 {
    report_at(error, HintTarget::SHELL)
}

/// Like `report`, with the hint phrased for `at`.
pub fn report_at(error: &Error, at: HintTarget<'_>) -> u8 {
    let hint = error.hint_for(at);
    if matches!(error.kind, ExitKind::Pending) {
        // A pending request is not an error: prints the request and the two commands that decide on it.
        print_status(&error.chain());
        hint.iter().flat_map(|hint| hint.lines()).for_each(|line| print_status(&format!("  {line}")));
        return error.kind.exit_code();
    }
    print_status(&format!("error: {}", error.chain()));
    if let Some(hint) = hint {
        print_status(&format!("hint: {hint}"));
    }
    error.kind.exit_code()
}
