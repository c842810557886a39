//! A value of a TOML table with its key, and the errors about it. An error names the key and the allowed
//! values, and never contains the value, except where the allowed values are a fixed list.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::ConfigDocument;
use lepo_base::error::{Error, Result};

/// A value that is being read, with its key.
pub struct FieldReader<'d> {
    pub document: &'d ConfigDocument<'d>,
    pub key: &'static str,
    /// ` in [NAME]`; empty for the root table.
    pub title: String,
    /// Byte offset of the key.
    pub offset: usize,
    pub value: Spanned<DeValue<'d>>,
}

impl<'d> FieldReader<'d> {
    /// Returns an error about this value, which names the key and never the value.
    pub fn error(&self, what: &str, allowed: impl Into<String>) -> Error {
        let what = format!("`{}`{} {what}", self.key, self.title);
        self.document.error(self.offset, what, allowed)
    }

    pub fn wrong_type(&self, allowed_values: &str) -> Error {
        self.document.note_wrong_type();
        let what = match self.document.typed() {
            Some(text) => format!("cannot be \"{text}\""),
            None => format!("is a TOML {}", self.value.get_ref().type_str()),
        };
        self.error(&what, format!("`{}` is {allowed_values}", self.key))
    }

    /// Returns the error for a value that has the right type and is out of range.
    pub fn out_of_range(&self, allowed_values: &str) -> Error {
        self.error("is out of range", format!("`{}` is {allowed_values}", self.key))
    }

    pub fn table(self) -> Result<DeTable<'d>> {
        if !self.value.get_ref().is_table() {
            return Err(self.wrong_type(&match self.title.is_empty() {
                true => format!("a table: its keys are under a line [{}]", self.key),
                false => format!("a table, as in {} = {{ … }}", self.key),
            }));
        }
        match self.value.into_inner() {
            DeValue::Table(table) => Ok(table),
            _ => Ok(DeTable::new()),
        }
    }

    /// Returns an array of tables, each with the byte offset of its start.
    pub fn tables(self) -> Result<Vec<(usize, DeTable<'d>)>> {
        let wrong = || self.wrong_type(&format!("a list of tables, each under a line [[{}]]", self.key));
        let DeValue::Array(array) = self.value.get_ref() else { return Err(wrong()) };
        let table = |item: &Spanned<DeValue<'d>>| match item.get_ref() {
            DeValue::Table(table) => Ok((item.span().start, table.clone())),
            _ => Err(wrong()),
        };
        array.iter().map(table).collect()
    }
}
