//! Reads a TOML file, and reports values with their line.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::source::SettingSource;
use lepo_base::error::{Error, Result};

/// A file that is being read.
pub struct ConfigDocument<'a> {
    path: Arc<Path>,
    text: &'a str,
    typed_value: Option<&'a str>,
    /// Whether a value was rejected for its type.
    is_of_wrong_type: Cell<bool>,
}

impl<'a> ConfigDocument<'a> {
    /// Parses `bytes`; `path` is used in messages only. Exit 2 with the line if the file is not UTF-8.
    pub fn new(path: &Path, bytes: &'a [u8]) -> Result<ConfigDocument<'a>> {
        let path = Arc::from(path);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                Ok(ConfigDocument { path, text, typed_value: None, is_of_wrong_type: Cell::new(false) })
            }
            Err(error) => {
                let line = line_at(bytes, error.valid_up_to());
                Err(Error::usage(format!("{}:{line}: not UTF-8", path.display()))
                    .hint("save the file as UTF-8 text"))
            }
        }
    }

    /// Sets the value that the user typed in a shell: errors about it have no line, and do not mention the
    /// format of the file.
    pub fn with_typed(self, typed_value: &'a str) -> ConfigDocument<'a> {
        ConfigDocument { typed_value: Some(typed_value), ..self }
    }

    pub fn typed(&self) -> Option<&'a str> {
        self.typed_value
    }

    pub fn note_wrong_type(&self) {
        self.is_of_wrong_type.set(true);
    }

    pub fn is_of_wrong_type(&self) -> bool {
        self.is_of_wrong_type.get()
    }

    /// Returns the root table. Exit 2 with file and line for a syntax error.
    pub fn root(&self) -> Result<DeTable<'_>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            match self.unquoted_at(at) {
                Some(key) => self.error(
                    at,
                    format!("the value of `{key}` is not in quotes"),
                    format!("a text is in quotes, as in {key} = \"...\"; numbers, true and false are not"),
                ),
                None => self.error(at, error.message(), "the format is TOML, see https://toml.io"),
            }
        })?;
        Ok(table.into_inner())
    }

    /// Returns the key of the line at a byte offset, if its value is an unquoted word.
    fn unquoted_at(&self, at: usize) -> Option<&str> {
        let line = self.text.lines().nth(line_at(self.text.as_bytes(), at) - 1)?;
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        let is_word = value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
        (is_key && is_word).then_some(key)
    }

    /// Returns the error for a byte offset of the text.
    pub fn error(&self, at: usize, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        let what = what.as_ref();
        let message = match self.typed_value {
            Some(_) => what.to_string(),
            None => format!("{}: {what}", self.source(at)),
        };
        let allowed: String = allowed.into();
        Error::usage(message).hint(allowed)
    }

    pub fn source(&self, at: usize) -> SettingSource {
        SettingSource::File { path: Arc::clone(&self.path), line: line_at(self.text.as_bytes(), at) }
    }
}

fn line_at(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or(bytes);
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
