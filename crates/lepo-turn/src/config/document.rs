//! A TOML file that is read, and values with the line they stand in.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use lepo_base::error::{Error, Result};

/// A file that is being read.
pub struct Document<'a> {
    path: Arc<Path>,
    text: &'a str,
    typed: Option<&'a str>,
    /// A value was refused for its type.
    is_of_wrong_type: Cell<bool>,
}

impl<'a> Document<'a> {
    /// `path` is only named, never opened. A file that is not UTF-8 fails with the line (exit 2).
    pub fn new(path: &Path, bytes: &'a [u8]) -> Result<Document<'a>> {
        let path = Arc::from(path);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Document { path, text, typed: None, is_of_wrong_type: Cell::new(false) }),
            Err(error) => {
                let line = line_at(bytes, error.valid_up_to());
                Err(Error::usage(format!("{}:{line}: not UTF-8", path.display()))
                    .hint("save the file as UTF-8 text"))
            }
        }
    }

    /// The file as it would be with a value that is `typed`, in a shell: its mistakes have no line, and no words about
    /// the form of the file.
    pub fn with_typed(self, typed: &'a str) -> Document<'a> {
        Document { typed: Some(typed), ..self }
    }

    /// The value that is typed, if it is told of that.
    pub fn typed(&self) -> Option<&'a str> {
        self.typed
    }

    /// Notes that a value is refused for its type.
    pub fn note_wrong_type(&self) {
        self.is_of_wrong_type.set(true);
    }

    /// True if a value was refused for its type.
    pub fn is_of_wrong_type(&self) -> bool {
        self.is_of_wrong_type.get()
    }

    /// The root table; a syntax error has file and line (exit 2).
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

    /// The key of the line at a byte offset, if its value is a bare word.
    fn unquoted_at(&self, at: usize) -> Option<&str> {
        let line = self.text.lines().nth(line_at(self.text.as_bytes(), at) - 1)?;
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        let is_word = value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
        (is_key && is_word).then_some(key)
    }

    /// A mistake at a byte offset of the text.
    pub fn error(&self, at: usize, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        let what = what.as_ref();
        let message = match self.typed {
            Some(_) => what.to_string(),
            None => format!("{}: {what}", self.source(at)),
        };
        let allowed: String = allowed.into();
        Error::usage(message).hint(allowed)
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

/// The place that set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing sets it.
    Default,
    /// A line of a file, from 1.
    File {
        /// The file.
        path: Arc<Path>,
        /// The line.
        line: usize,
    },
    /// A variable of the environment.
    Env(&'static str),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File { path, line } => write!(f, "{}:{line}", path.display()),
            Source::Env(name) | Source::Flag(name) => f.write_str(name),
        }
    }
}

/// A value, and the place that set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// Place of the value.
    pub source: Source,
}

impl<T> Set<T> {
    /// Another form of the value, at this place.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Set<U> {
        Set { value: form(self.value), source: self.source }
    }
}
