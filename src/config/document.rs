//! A TOML file as text with lines: what its mistakes are reported against.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::source::Source;
use crate::error::{Error, Result};

/// A file that is being read.
pub struct Document<'a> {
    path: Arc<Path>,
    text: &'a str,
}

impl<'a> Document<'a> {
    /// `path` is only named, never opened. A file that is not UTF-8 fails with the line (exit 2).
    pub fn new(path: &Path, bytes: &'a [u8]) -> Result<Document<'a>> {
        let path = Arc::from(path);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Document { path, text }),
            Err(error) => {
                let line = line_at(bytes, error.valid_up_to());
                Err(Error::usage(format!("{}:{line}: not UTF-8", path.display()))
                    .hint("save the file as UTF-8 text"))
            }
        }
    }

    /// The root table; a syntax error has file and line (exit 2).
    pub fn root(&self) -> Result<DeTable<'_>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, error.message(), "the format is TOML, see https://toml.io")
        })?;
        Ok(table.into_inner())
    }

    /// A mistake at a byte offset of the text.
    pub fn error(&self, at: usize, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        let line = line_at(self.text.as_bytes(), at);
        let what = what.as_ref();
        Error::usage(format!("{}:{line}: {what}", self.path.display())).hint(allowed)
    }

    /// The place of a byte offset.
    pub fn source(&self, at: usize) -> Source {
        Source::File { path: Arc::clone(&self.path), line: line_at(self.text.as_bytes(), at) }
    }
}

fn line_at(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or(bytes);
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
