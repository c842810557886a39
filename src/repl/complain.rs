//! Telling what went wrong without leaving.

use crate::error::Error;
use crate::term::{columns, say, width};

/// Words of a hint for a shell, and the slash command that does the same.
const HERE: &[(&str, &str)] = &[
    ("`lepo do --retry`", "/retry"),
    ("`lepo do --list-tools`", "/mcp"),
    ("`lepo model ls`", "/set-model"),
    ("`lepo model use", "`/set-model"),
    ("`lepo do --compact`", "/compact"),
    ("`lepo do --approve", "`/approve"),
    ("lepo do --tail ADDR QUESTION", "/tail ADDR"),
    ("--tail goes on elsewhere", "/tail goes on elsewhere"),
    ("with --tail", "with /tail"),
    ("lepo do QUESTION", "type a question"),
    ("`lepo ls`", "/ls"),
    ("with -m NAME", "with /model NAME"),
    (": -m NAME", ": /model NAME"),
];

/// Tells what went wrong in one line, if what to do fits into it; the prompt comes again.
pub fn complain(error: &Error) {
    let told = format!("error: {}", error.chain());
    let hint = error
        .hint
        .as_ref()
        .map(|hint| HERE.iter().fold(hint.clone(), |hint, (shell, here)| hint.replace(shell, here)));
    match hint {
        None => say(&told),
        Some(hint) if hint.contains('\n') => say(&format!("{told}\nhint: {hint}")),
        Some(hint) if width(&told) + width(&hint) + 8 > columns() => say(&format!("{told}\nhint: {hint}")),
        Some(hint) => say(&format!("{told}; hint: {hint}")),
    }
}
