//! Reads a TOML table key by key, each with its line, so that every mistake can be told as
//! `FILE:LINE: what` with what is allowed. By hand and not by derive: a derived message would
//! show the value it did not like, and some values are keys.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::field::Field;
use lepo_base::error::{Error, Result};

/// A table that is being read. Each key is taken once; [`Section::end`] refuses what is left.
pub struct Section<'d> {
    document: &'d Document<'d>,
    /// ` in [http]`, or nothing for the root.
    title: String,
    /// The byte offset at which the table starts.
    pub at: usize,
    table: DeTable<'d>,
    known: Vec<&'static str>,
}

impl<'d> Section<'d> {
    /// The root table of a file.
    pub fn root(document: &'d Document<'d>) -> Result<Section<'d>> {
        Ok(Section::new(document, String::new(), 0, document.root()?))
    }

    /// A table that starts at a byte offset; `title` is ` in [NAME]`, for messages.
    fn new(document: &'d Document<'d>, title: String, at: usize, table: DeTable<'d>) -> Section<'d> {
        let known = Vec::new();
        Section { document, title, at, table, known }
    }

    /// A key's value, if the table has it.
    pub fn take(&mut self, key: &'static str) -> Option<Field<'d>> {
        self.known.push(key);
        let (name, value) = self.table.remove_entry(key)?;
        let document = self.document;
        let title = self.title.clone();
        Some(Field { document, key, title, at: name.span().start, value })
    }

    /// True if the table has a key that was not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The text under a key that was not taken yet, if it is one.
    pub fn text_of(&self, key: &str) -> Option<String> {
        self.table.get(key)?.get_ref().as_str().map(str::to_string)
    }

    /// Reads the value of `key`, if the table has it.
    pub fn read<T>(
        &mut self,
        key: &'static str,
        form: impl FnOnce(&Field<'d>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.take(key).map(|field| form(&field)).transpose()
    }

    /// The table under `key`, empty if it is not there.
    pub fn section(&mut self, key: &'static str) -> Result<Section<'d>> {
        match self.take(key) {
            None => Ok(Section::new(self.document, String::new(), 0, DeTable::new())),
            Some(field) => {
                let at = field.at;
                Ok(Section::new(self.document, format!(" in [{key}]"), at, field.table()?))
            }
        }
    }

    /// The tables of the array `key`, in order.
    pub fn sections(&mut self, key: &'static str) -> Result<Vec<Section<'d>>> {
        let tables = self.take(key).map(Field::tables).transpose()?.unwrap_or_default();
        let section = |(at, table)| Section::new(self.document, format!(" in [[{key}]]"), at, table);
        Ok(tables.into_iter().map(section).collect())
    }

    /// All keys of a table that may have any, each with its text, as `form` reads them; a mistake of it is what is
    /// wrong, and what is allowed.
    pub fn texts<T>(
        self,
        form: impl Fn(String, Set<String>) -> std::result::Result<T, (String, &'static str)>,
    ) -> Result<Vec<T>> {
        let (document, title) = (self.document, self.title);
        let mut texts = Vec::new();
        for (key, value) in self.table {
            let (at, name) = (key.span().start, key.get_ref().to_string());
            let Some(text) = value.get_ref().as_str() else {
                let what = format!("`{name}`{title} is not a text");
                return Err(document.error(at, what, "write it in quotes"));
            };
            let text = Set { value: text.to_string(), source: document.source(at) };
            texts.push((at, form(name, text).map_err(|(what, allowed)| document.error(at, what, allowed))?));
        }
        texts.sort_by_key(|(at, _)| *at);
        Ok(texts.into_iter().map(|(_, text)| text).collect())
    }

    /// A mistake in this table as a whole.
    pub fn error(&self, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        self.document.error(self.at, what, allowed)
    }

    /// The place of this table, for messages.
    pub fn source(&self) -> Source {
        self.document.source(self.at)
    }

    /// Names the table by what it turned out to be: ` in …`, for [`Section::end`].
    pub fn rename(&mut self, title: String) {
        self.title = title;
    }

    /// Refuses the first key that was not taken.
    pub fn end(self) -> Result<()> {
        self.unknown().map_or(Ok(()), Err)
    }

    /// A key is missing that has to be there, once all others were taken; one that was misspelled is told instead.
    pub fn lacks(&self, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        self.unknown().unwrap_or_else(|| self.error(what, allowed))
    }

    fn unknown(&self) -> Option<Error> {
        let (at, key) = self.rest().into_iter().next()?;
        let allowed = format!("allowed here: {}", self.known.join(", "));
        Some(self.document.error(at, format!("unknown key `{key}`{}", self.title), allowed))
    }

    /// The keys that were not taken, each with its byte offset, in the order of the file.
    pub fn rest(&self) -> Vec<(usize, String)> {
        let keys = self.table.keys();
        let mut rest: Vec<_> = keys.map(|key| (key.span().start, key.get_ref().to_string())).collect();
        rest.sort();
        rest
    }
}

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
