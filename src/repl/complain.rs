//! Prints an error without leaving the session.

use crate::term::{columns, say, width};
use lepo_base::error::Error;
use lepo_base::hint::HintTarget;

/// Prints an error with its hint, on one line if both fit.
pub fn complain(error: &Error) {
    let told = format!("error: {}", error.chain());
    match error.hint_for(HintTarget::Session) {
        None => say(&told),
        Some(hint) if hint.contains('\n') => say(&format!("{told}\nhint: {hint}")),
        Some(hint) if width(&told) + width(&hint) + 8 > columns() => say(&format!("{told}\nhint: {hint}")),
        Some(hint) => say(&format!("{told}; hint: {hint}")),
    }
}
