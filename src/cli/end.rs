//! The end of a command: its output is whole, or an error is told.

use crate::term::{Out, say};
use lepo_base::error::{Error, Kind};
use lepo_base::hint::At;

/// Ends an output that is all of a command; gives the exit code.
pub fn end(mut out: Out) -> u8 {
    out.finish().map_or_else(|error| report(&error), |()| 0)
}

/// Says what went wrong; the answer is the exit code.
pub fn report(error: &Error) -> u8 {
    report_at(error, At::SHELL)
}

/// The same with its hint as it is read there.
pub fn report_at(error: &Error, at: At<'_>) -> u8 {
    let hint = error.hint_for(at);
    if matches!(error.kind, Kind::Pending) {
        // Not a mistake: what waits, and the two commands that decide on it.
        say(&error.chain());
        hint.iter().flat_map(|hint| hint.lines()).for_each(|line| say(&format!("  {line}")));
        return error.kind.exit_code();
    }
    say(&format!("error: {}", error.chain()));
    if let Some(hint) = hint {
        say(&format!("hint: {hint}"));
    }
    error.kind.exit_code()
}
