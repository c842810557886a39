//! Prints an error without leaving the session.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::term::{columns, print_status, width};
use lepo_base::error::Error;
use lepo_base::hint::HintTarget;

/// Whether an error was printed since the last look.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Returns whether an error was printed since the last call.
pub fn take_error_printed() -> bool {
    HAS_PRINTED.swap(false, Ordering::Relaxed)
}

/// Prints an error with its hint, on one line if both fit.
pub fn print_error(error: &Error) {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    let message = format!("error: {}", error.chain());
    match error.hint_for(HintTarget::Session) {
        None => print_status(&message),
        Some(hint) if hint.contains('\n') => print_status(&format!("{message}\nhint: {hint}")),
        Some(hint) if width(&message) + width(&hint) + 8 > columns() => {
            print_status(&format!("{message}\nhint: {hint}"))
        }
        Some(hint) => print_status(&format!("{message}; hint: {hint}")),
    }
}
