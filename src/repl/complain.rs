//! Telling what went wrong without leaving.

use crate::term::{columns, say, width};
use lepo_base::error::Error;
use lepo_base::hint::At;

/// Tells what went wrong in one line, if what to do fits into it; the prompt comes again.
pub fn complain(error: &Error) {
    let told = format!("error: {}", error.chain());
    match error.hint_for(At::Session) {
        None => say(&told),
        Some(hint) if hint.contains('\n') => say(&format!("{told}\nhint: {hint}")),
        Some(hint) if width(&told) + width(&hint) + 8 > columns() => say(&format!("{told}\nhint: {hint}")),
        Some(hint) => say(&format!("{told}; hint: {hint}")),
    }
}
