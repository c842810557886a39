//! Reading one question from a terminal, line by line.

use std::io::{self, BufRead, Write};

use crate::error::{Error, Result};
use crate::term::say;

/// The next question; `None` at the end: an empty line, `exit`, `/exit`, Ctrl+D. Dropped, the line
/// that it waits for is lost.
pub async fn prompt() -> Result<Option<String>> {
    let read = tokio::task::spawn_blocking(read_line).await;
    read.map_err(io::Error::other)
        .flatten()
        .map_err(|error| Error::usage("cannot read the terminal").because(error))
}

fn read_line() -> io::Result<Option<String>> {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(b"> ").and_then(|()| stderr.flush());
    drop(stderr);
    let mut line = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line);
    Ok(match line.trim() {
        "" | "exit" | "/exit" => None,
        question => Some(question.to_string()),
    })
}

/// Tells what went wrong; the prompt comes again.
pub fn complain(error: &Error) {
    say(&format!("error: {}", error.chain()));
    if let Some(hint) = &error.hint {
        say(&format!("hint: {hint}"));
    }
}
