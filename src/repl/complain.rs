//! Prints an error without leaving the session.

use crate::term::{columns, print_status, width};
use lepo_base::error::Error;
use lepo_base::hint::HintTarget;

/// Prints an error with its hint, on one line if both fit.
pub fn complain(error: &Error) {
    let told = format!("error: {}", error.chain());
    match error.hint_for(HintTarget::Session) {
        None => print_status(&told),
        Some(hint) if hint.contains('\n') => print_status(&format!("{told}\nhint: {hint}")),
        Some(hint) if width(&told) + width(&hint) + 8 > columns() => {
            print_status(&format!("{told}\nhint: {hint}"))
        }
        Some(hint) => print_status(&format!("{told}; hint: {hint}")),
    }
}
