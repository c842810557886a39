//! Reading one question from a terminal, line by line.

use std::io::{self, BufRead, Write};

use crate::error::{Error, Result};
use crate::term::say;

/// The next question; `None` at the end: an empty line, `exit`, `/exit`, Ctrl+D.
pub fn prompt() -> Result<Option<String>> {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(b"> ").and_then(|()| stderr.flush());
    let mut line = Vec::new();
    io::stdin()
        .lock()
        .read_until(b'\n', &mut line)
        .map_err(|error| Error::usage("cannot read the terminal").because(error))?;
    let line = String::from_utf8_lossy(&line);
    match line.trim() {
        "" | "exit" | "/exit" => Ok(None),
        question => Ok(Some(question.to_string())),
    }
}

/// Tells what went wrong; the prompt comes again.
pub fn complain(error: &Error) {
    say(&format!("error: {}", error.chain()));
    if let Some(hint) = &error.hint {
        say(&format!("hint: {hint}"));
    }
}
