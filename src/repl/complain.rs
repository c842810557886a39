//! Telling what went wrong without leaving.

use crate::error::Error;
use crate::term::say;

/// Tells what went wrong in one line, if what to do fits into it; the prompt comes again.
pub fn complain(error: &Error) {
    let told = format!("error: {}", error.chain());
    match &error.hint {
        None => say(&told),
        Some(hint) if hint.contains('\n') => say(&format!("{told}\nhint: {hint}")),
        Some(hint) => say(&format!("{told}; hint: {hint}")),
    }
}
