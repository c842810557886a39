//! A mistake in a file or a variable: its source, its key, and the allowed values. It never contains the value, except
//! where the allowed values are a fixed list.

use std::fmt;

use serde::de::{Expected, Unexpected};

use super::source::SettingSource;
use lepo_base::error::Error;

/// Separates the allowed values from the rest in a message of [`unfit`]; no hint has a line break.
const ALLOWED: char = '\n';

/// A mistake, without a source until the reader of its key has added it.
#[derive(Debug)]
pub struct Mistake {
    key: Option<MistakenKey>,
    form: MistakeForm,
}

/// The key of a value.
#[derive(Debug, Clone)]
pub struct MistakenKey {
    pub source: SettingSource,
    /// Empty for a mistake in a table as a whole.
    pub key: String,
    /// ` in [NAME]`; empty for the root table.
    pub title: String,
    /// The kind of the value: `string`.
    pub kind: &'static str,
    /// The text of a variable.
    pub word: Option<String>,
}

impl MistakenKey {
    pub fn new(key: &str, title: &str, source: SettingSource, kind: &'static str) -> MistakenKey {
        MistakenKey { source, key: key.to_string(), title: title.to_string(), kind, word: None }
    }
}

#[derive(Debug)]
enum MistakeForm {
    /// The type of the value; holds the allowed values, as in `it is …`.
    Type(String),
    /// The right type, and out of range.
    Range(String),
    /// What is wrong with the value, and what is allowed.
    Unfit(String, String),
}

impl Mistake {
    /// Creates a mistake about a table or a file as a whole, which no key begins.
    pub fn at(source: SettingSource, what: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        Mistake::of(MistakenKey::new("", "", source, ""), what, allowed)
    }

    /// Creates a mistake about the value of a key.
    pub fn of(key: MistakenKey, what: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        Mistake { key: Some(key), form: MistakeForm::Unfit(what.into(), allowed.into()) }
    }

    /// Creates the mistake of a value of another type than `allowed`.
    pub fn of_type(key: MistakenKey, allowed: String) -> Mistake {
        Mistake { key: Some(key), form: MistakeForm::Type(allowed) }
    }

    /// Adds the key, unless the mistake has one already, of a table within.
    pub fn or_at(self, key: impl FnOnce() -> MistakenKey) -> Mistake {
        if self.key.is_some() {
            return self;
        }
        let key = key();
        let form = match self.form {
            MistakeForm::Type(expected) => MistakeForm::Type(in_own_words(expected, &key)),
            form => form,
        };
        Mistake { key: Some(key), form }
    }

    /// Tells of an entry of a list, if the mistake is its type.
    pub fn in_list(self) -> Mistake {
        match self.form {
            MistakeForm::Type(_) => serde::de::Error::custom(format_args!(
                "has an entry that is not a string{ALLOWED}it is {TEXTS}"
            )),
            form => Mistake { form, ..self },
        }
    }

    pub fn is_of_type(&self) -> bool {
        matches!(self.form, MistakeForm::Type(_))
    }

    /// Returns the error for a file.
    pub fn in_file(self) -> Error {
        self.into_error(None)
    }

    /// Returns the error for a value that the user typed in a shell: it has no line, and does not mention the format of
    /// the file.
    pub fn in_typed(self, text: &str) -> Error {
        self.into_error(Some(text))
    }

    fn into_error(self, typed: Option<&str>) -> Error {
        let (kind, name) = self.key.as_ref().map_or(("", ""), |key| (key.kind, key.key.as_str()));
        let (what, allowed) = match self.form {
            MistakeForm::Type(allowed) => {
                let allowed = match typed {
                    Some(_) => allowed.trim_end_matches(UNQUOTED).to_string(),
                    None => allowed,
                };
                let what = typed.map_or(format!("is a TOML {kind}"), |text| format!("cannot be \"{text}\""));
                (what, format!("`{name}` is {allowed}"))
            }
            MistakeForm::Range(allowed) => ("is out of range".into(), format!("`{name}` is {allowed}")),
            MistakeForm::Unfit(what, allowed) => (what, allowed),
        };
        let its = format!("`{name}` is");
        match self.key {
            None => Error::usage(what).hint(allowed),
            Some(MistakenKey { source, word: Some(word), .. }) => {
                let allowed = allowed.replacen(&its, "it is", 1);
                Error::usage(format!("{source} cannot be \"{word}\"")).hint(allowed)
            }
            Some(MistakenKey { source, key, title, .. }) => {
                let what = if key.is_empty() { what } else { format!("`{key}`{title} {what}") };
                let line = if typed.is_some() { String::new() } else { format!("{source}: ") };
                Error::usage(line + &what).hint(allowed)
            }
        }
    }
}

const TEXTS: &str = "a list of texts in quotes";

/// End of the words for true and false in a file.
const UNQUOTED: &str = ", without quotes";

/// Returns the allowed values in the words of this program, where `expected` is in the words of serde.
fn in_own_words(expected: String, MistakenKey { key, title, .. }: &MistakenKey) -> String {
    match expected.as_str() {
        "a string" => "a text in quotes".to_string(),
        "a boolean" => format!("true or false{UNQUOTED}"),
        "a sequence" => TEXTS.to_string(),
        "a map" => table_form(key, title),
        text if text.starts_with("struct ") => table_form(key, title),
        _ => expected,
    }
}

/// Describes how the table of a key is written.
pub fn table_form(key: &str, title: &str) -> String {
    match title.is_empty() {
        true => format!("a table: its keys are under a line [{key}]"),
        false => format!("a table, as in {key} = {{ … }}"),
    }
}

/// Creates the error for a value of the right type that is not allowed.
pub fn unfit<E: serde::de::Error>(what: impl fmt::Display, allowed: impl fmt::Display) -> E {
    E::custom(format_args!("{what}{ALLOWED}{allowed}"))
}

impl serde::de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Mistake {
        let message = message.to_string();
        let (what, allowed) = message.rsplit_once(ALLOWED).unwrap_or((&message, ""));
        Mistake { key: None, form: MistakeForm::Unfit(what.to_string(), allowed.to_string()) }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake { key: None, form: MistakeForm::Type(expected.to_string()) }
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake { key: None, form: MistakeForm::Range(expected.to_string()) }
    }
}

impl std::error::Error for Mistake {}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.form)
    }
}
