//! One value of a TOML table, read into the form that is wanted or refused. A refusal names the key
//! and what is allowed; it never shows a value that was not one of a few words.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{Document, Set};
use lepo_base::error::{Error, Result};
use lepo_base::word::{Word, list_words, read_word};

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

    fn wrong_type(&self, wanted: &str) -> Error {
        self.document.note_wrong_type();
        let what = match self.document.typed() {
            Some(text) => format!("cannot be \"{text}\""),
            None => format!("is a TOML {}", self.value.get_ref().type_str()),
        };
        self.error(&what, format!("`{}` is {wanted}", self.key))
    }

    pub(super) fn set<T>(&self, value: T) -> Set<T> {
        Set { value, source: self.document.source(self.at) }
    }

    /// Text that is not blank and has no control characters.
    pub fn text(&self) -> Result<Set<String>> {
        let Some(text) = self.value.get_ref().as_str() else {
            return Err(self.wrong_type("a text in quotes"));
        };
        self.plain(text)?;
        Ok(self.set(text.to_string()))
    }

    fn plain(&self, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Err(self.error("is empty", "give it a value, or leave the key out"));
        }
        match text.chars().any(char::is_control) {
            true => Err(self.error("has a control character", "use plain text")),
            false => Ok(()),
        }
    }

    /// Text of any length, without the line ends it closes with.
    pub fn prose(&self) -> Result<String> {
        match self.value.get_ref().as_str() {
            Some(text) => Ok(text.trim_end_matches(['\r', '\n']).to_string()),
            None => Err(self.wrong_type("a text in quotes")),
        }
    }

    /// One of a few words.
    pub fn word<T: Word>(&self, allowed: &[T]) -> Result<Set<T>> {
        let text = self.text()?.value;
        match read_word(&text, allowed) {
            Some(value) => Ok(self.set(value)),
            None => {
                let what = format!("cannot be \"{text}\"");
                Err(self.error(&what, format!("allowed: {}", list_words(allowed))))
            }
        }
    }

    /// `true` or `false`.
    pub fn yes(&self) -> Result<bool> {
        match self.value.get_ref().as_bool() {
            Some(yes) => Ok(yes),
            None => Err(self.wrong_type(match self.document.typed() {
                Some(_) => "true or false",
                None => "true or false, without quotes",
            })),
        }
    }

    /// A value of `true` or `false`, with its place.
    pub fn flag(&self) -> Result<Set<bool>> {
        self.yes().map(|yes| self.set(yes))
    }

    /// A whole number within a range.
    pub fn number(&self, range: RangeInclusive<u32>) -> Result<Set<u32>> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let Some(number) = self.value.get_ref().as_integer() else {
            return Err(self.wrong_type(&wanted));
        };
        match u32::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) if range.contains(&value) => Ok(self.set(value)),
            _ => Err(self.error("is out of range", format!("`{}` is {wanted}", self.key))),
        }
    }

    /// A time in seconds, whole or decimal, from a tenth of a second to a day.
    pub fn seconds(&self) -> Result<Set<Duration>> {
        let wanted = "a number of seconds from 0.1 to 86400";
        let seconds: Option<f64> = match self.value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => return Err(self.wrong_type(wanted)),
        };
        match seconds {
            Some(seconds) if (0.1..=86400.0).contains(&seconds) => {
                Ok(self.set(Duration::from_secs_f64(seconds)))
            }
            _ => Err(self.error("is out of range", format!("`{}` is {wanted}", self.key))),
        }
    }

    /// An amount of money, whole or decimal, in millionths.
    pub fn amount(&self) -> Result<u64> {
        let wanted = "a number from 0 to 1000000";
        let amount: Option<f64> = match self.value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => return Err(self.wrong_type(wanted)),
        };
        match amount {
            Some(amount) if (0.0..=1e6).contains(&amount) => Ok((amount * 1e6).round() as u64),
            _ => Err(self.error("is out of range", format!("`{}` is {wanted}", self.key))),
        }
    }

    /// An array of texts that are not blank.
    pub fn texts(&self) -> Result<Set<Vec<String>>> {
        let wanted = "a list of texts in quotes";
        let Some(array) = self.value.get_ref().as_array() else {
            return Err(self.wrong_type(wanted));
        };
        let mut texts = Vec::new();
        for item in array {
            let Some(text) = item.get_ref().as_str() else {
                return Err(self.error("has something else than a text", format!("it is {wanted}")));
            };
            self.plain(text)?;
            texts.push(text.to_string());
        }
        Ok(self.set(texts))
    }

    /// An array of paths, absolute or below the home directory with `~/`.
    pub fn paths(&self) -> Result<Set<Vec<PathBuf>>> {
        let paths = self.texts()?;
        let whole = |path: &String| path.starts_with('/') || path.starts_with("~/");
        match paths.value.iter().all(whole) {
            true => Ok(paths.map(|paths| paths.into_iter().map(PathBuf::from).collect())),
            false => Err(self.error("has a relative path", "a path is absolute, or starts with ~/")),
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
