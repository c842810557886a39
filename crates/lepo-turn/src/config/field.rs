//! One value of a TOML table with its key, and the mistakes in it. A mistake names the key and what is allowed; it
//! never shows a value that was not one of a few words.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::Document;
use lepo_base::error::{Error, Result};

/// A value that is being read, with the key it stands under.
pub struct Field<'d> {
    /// The file.
    pub document: &'d Document<'d>,
    /// The key.
    pub key: &'static str,
    /// ` in [NAME]`, or nothing for the root.
    pub title: String,
    /// The byte offset at which the key starts.
    pub at: usize,
    /// The value.
    pub value: Spanned<DeValue<'d>>,
}

impl<'d> Field<'d> {
    /// A mistake in this value. It names the key and never shows the value.
    pub fn error(&self, what: &str, allowed: impl Into<String>) -> Error {
        let what = format!("`{}`{} {what}", self.key, self.title);
        self.document.error(self.at, what, allowed)
    }

    /// A mistake in the type of this value.
    pub fn wrong_type(&self, wanted: &str) -> Error {
        self.document.note_wrong_type();
        let what = match self.document.typed() {
            Some(text) => format!("cannot be \"{text}\""),
            None => format!("is a TOML {}", self.value.get_ref().type_str()),
        };
        self.error(&what, format!("`{}` is {wanted}", self.key))
    }

    /// A mistake in a value that has the right type.
    pub fn out_of_range(&self, wanted: &str) -> Error {
        self.error("is out of range", format!("`{}` is {wanted}", self.key))
    }

    /// Text of any length, without the line ends it closes with.
    pub fn prose(&self) -> Result<String> {
        match self.value.get_ref().as_str() {
            Some(text) => Ok(text.trim_end_matches(['\r', '\n']).to_string()),
            None => Err(self.wrong_type("a text in quotes")),
        }
    }

    /// A table.
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

    /// An array of tables, each with the place where it starts.
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
