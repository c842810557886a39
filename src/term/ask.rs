//! Asking a person on the terminal device itself, so that it works inside a pipe too.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};

use super::clean;

/// The controlling terminal, open for a question and its answer.
pub struct Tty {
    write: File,
    read: BufReader<File>,
}

/// The terminal, if there is one to ask on.
pub fn tty() -> Option<Tty> {
    let write = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    let read = BufReader::new(write.try_clone().ok()?);
    Some(Tty { write, read })
}

impl Tty {
    /// Shows text, cleaned.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.write.write_all(clean(text).as_bytes())?;
        self.write.flush()
    }

    /// Asks, and reads one line; `None` at the end of input.
    pub fn ask(&mut self, question: &str) -> io::Result<Option<String>> {
        self.show(question)?;
        let mut line = String::new();
        match self.read.read_line(&mut line)? {
            0 => Ok(None),
            _ => Ok(Some(line.trim().to_string())),
        }
    }
}
