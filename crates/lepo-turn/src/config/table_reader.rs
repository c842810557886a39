//! Reads a TOML table key by key, so that every error can be reported as `FILE:LINE: message` with the
//! allowed values. A derived reader does not do: its error message contains the invalid value, which may be a
//! key, but neither the name of the field nor the line of a model, because the keys that a model may have
//! depend on its provider.

use toml::de::DeTable;

use super::document::ConfigDocument;
use super::field::FieldReader;
use super::setting_value::SettingValue;
use super::source::{SettingSource, SourcedValue};
use lepo_base::closest_name::closest_name;
use lepo_base::error::{Error, Result};

/// Keys of `options`, for the hint about such a key next to it.
const OPTIONS: &[&str] = &["temperature", "top_p", "max_tokens", "effort", "seed", "stop"];

/// A table that is being read. Each key is read once; [`TableReader::finish`] rejects the remaining ones.
pub struct TableReader<'d> {
    document: &'d ConfigDocument<'d>,
    /// ` in [http]`; empty for the root table.
    title: String,
    /// Byte offset of the start of the table.
    pub offset: usize,
    table: DeTable<'d>,
    known: Vec<&'static str>,
}

impl<'d> TableReader<'d> {
    pub fn root(document: &'d ConfigDocument<'d>) -> Result<TableReader<'d>> {
        Ok(TableReader::new(document, String::new(), 0, document.root()?))
    }

    /// Creates a reader for a table at a byte offset; `title` is ` in [NAME]`, for messages.
    fn new(
        document: &'d ConfigDocument<'d>,
        title: String,
        offset: usize,
        table: DeTable<'d>,
    ) -> TableReader<'d> {
        let known = Vec::new();
        TableReader { document, title, offset, table, known }
    }

    /// Removes and returns the value of `key`, if the table has it.
    pub fn take_key(&mut self, key: &'static str) -> Option<FieldReader<'d>> {
        self.known.push(key);
        let (name, value) = self.table.remove_entry(key)?;
        let document = self.document;
        let title = self.title.clone();
        Some(FieldReader { document, key, title, offset: name.span().start, value })
    }

    /// Whether the table has this key, and it was not read yet.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns the value of a key that was not read yet, if it is a text.
    pub fn text_of(&self, key: &str) -> Option<String> {
        self.table.get(key)?.get_ref().as_str().map(str::to_string)
    }

    /// Reads the value of `key` with `form`, if the table has it.
    pub fn read<T>(
        &mut self,
        key: &'static str,
        form: impl FnOnce(&FieldReader<'d>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.take_key(key).map(|field| form(&field)).transpose()
    }

    /// Reads the value of `key`, if the table has it.
    pub fn get<T: SettingValue>(&mut self, key: &'static str, limits: &T::Limits) -> Result<Option<T>> {
        self.read(key, |field| T::from_toml(field, limits))
    }

    /// Reads the value of `key` with its source, if the table has it.
    pub fn set<T: SettingValue>(
        &mut self,
        key: &'static str,
        limits: &T::Limits,
    ) -> Result<Option<SourcedValue<T>>> {
        self.read(key, |field| {
            Ok(SourcedValue {
                value: T::from_toml(field, limits)?,
                source: field.document.source(field.offset),
            })
        })
    }

    /// Returns the table `key`; an empty one if it is missing.
    pub fn section(&mut self, key: &'static str) -> Result<TableReader<'d>> {
        match self.take_key(key) {
            None => Ok(TableReader::new(self.document, String::new(), 0, DeTable::new())),
            Some(field) => {
                let at = field.offset;
                Ok(TableReader::new(self.document, format!(" in [{key}]"), at, field.table()?))
            }
        }
    }

    /// Returns the tables of the array `key`, in order.
    pub fn sections(&mut self, key: &'static str) -> Result<Vec<TableReader<'d>>> {
        let tables = self.take_key(key).map(FieldReader::tables).transpose()?.unwrap_or_default();
        let section = |(at, table)| TableReader::new(self.document, format!(" in [[{key}]]"), at, table);
        Ok(tables.into_iter().map(section).collect())
    }

    /// Reads all keys of a table that may have any keys, each with its text. An error of `form` is the
    /// message and the hint.
    pub fn texts<T>(
        self,
        form: impl Fn(String, SourcedValue<String>) -> std::result::Result<T, (String, &'static str)>,
    ) -> Result<Vec<T>> {
        let (document, title) = (self.document, self.title);
        let mut texts = Vec::new();
        for (key, value) in self.table {
            let (at, name) = (key.span().start, key.get_ref().to_string());
            let Some(text) = value.get_ref().as_str() else {
                let what = format!("`{name}`{title} is not a text");
                return Err(document.error(at, what, "write it in quotes"));
            };
            let text = SourcedValue { value: text.to_string(), source: document.source(at) };
            texts.push((at, form(name, text).map_err(|(what, allowed)| document.error(at, what, allowed))?));
        }
        texts.sort_by_key(|(at, _)| *at);
        Ok(texts.into_iter().map(|(_, text)| text).collect())
    }

    /// Returns an error about the table as a whole.
    pub fn error(&self, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        self.document.error(self.offset, what, allowed)
    }

    pub fn source(&self) -> SettingSource {
        self.document.source(self.offset)
    }

    /// Changes the title, once the kind of the table is known: ` in …`, for [`TableReader::finish`].
    pub fn rename(&mut self, title: String) {
        self.title = title;
    }

    /// Rejects the first key that was not read.
    pub fn finish(self) -> Result<()> {
        self.unknown().map_or(Ok(()), Err)
    }

    /// Returns the error for a missing key, after all others were read; if an unknown key remains, reports
    /// that instead, as it may be a typo.
    pub fn lacks(&self, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        self.unknown().unwrap_or_else(|| self.error(what, allowed))
    }

    /// Returns the error for a missing key; a remaining key with a similar name is reported instead.
    pub fn lacks_key(&self, wanted: &str, what: impl AsRef<str>, allowed: impl Into<String>) -> Error {
        let slip = self.rest().into_iter().find(|(_, key)| closest_name(key, [wanted].into_iter()).is_some());
        match slip {
            Some((at, key)) => {
                let what = format!("unknown key `{key}`{}", self.title);
                self.document.error(at, what, format!("did you mean `{wanted}`?"))
            }
            None => self.error(what, allowed),
        }
    }

    fn unknown(&self) -> Option<Error> {
        let (at, key) = self.rest().into_iter().next()?;
        let allowed = format!("allowed here: {}", self.known.join(", "));
        let allowed = match closest_name(&key, self.known.iter().copied()) {
            _ if OPTIONS.contains(&&*key) && self.known.contains(&"options") => {
                format!("it is an option of the model: options = {{ {key} = … }}")
            }
            Some(near) => format!("did you mean `{near}`? {allowed}"),
            None => allowed,
        };
        Some(self.document.error(at, format!("unknown key `{key}`{}", self.title), allowed))
    }

    /// Returns the keys that were not read, each with its byte offset, in the order of the file.
    pub fn rest(&self) -> Vec<(usize, String)> {
        let keys = self.table.keys();
        let mut rest: Vec<_> = keys.map(|key| (key.span().start, key.get_ref().to_string())).collect();
        rest.sort();
        rest
    }
}
