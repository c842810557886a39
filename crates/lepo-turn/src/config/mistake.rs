//! A mistake in a file or a variable: its source, its key, and the allowed values; never the value, except where the
//! allowed values are a fixed list.

use std::fmt;

use serde::de::{Expected, Unexpected};

use super::source::SettingSource;
use lepo_base::error::Error;

/// Separates the allowed values from the rest in a message of [`unfit`]; no hint has a line break.
const ALLOWED: char = '\n';

/// End of the hint for true and false in a file.
const UNQUOTED: &str = ", without quotes";

/// A mistake, without a source until the reader of its key has added it.
#[derive(Debug)]
pub struct Mistake {
    form: MistakeForm,
    source: Option<SettingSource>,
    /// The key, as a message begins with it; empty for a mistake in a table as a whole.
    subject: String,
    what: String,
    /// The allowed values; of a type and a range only the end of `KEY is …`, until the key is known.
    allowed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MistakeForm {
    /// Another type.
    Type,
    /// The right type, and out of range.
    Range,
    /// Anything else.
    Unfit,
}

impl Mistake {
    fn new(form: MistakeForm, what: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        Mistake { form, source: None, subject: String::new(), what: what.into(), allowed: allowed.into() }
    }

    /// Creates a mistake about a table or a file as a whole, which no key begins.
    pub fn at(source: SettingSource, what: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        Mistake { source: Some(source), ..Mistake::new(MistakeForm::Unfit, what, allowed) }
    }

    /// Adds the key with the title of its table, and the kind of its value or the text of a variable; unless the mistake
    /// has a key already, of a table within.
    pub fn with_key(
        self,
        (key, title): (&str, &str),
        source: &SettingSource,
        kind: &str,
        word: Option<&str>,
    ) -> Mistake {
        if self.source.is_some() {
            return self;
        }
        let allowed = match (self.form, word) {
            (MistakeForm::Unfit, _) => self.allowed,
            (_, Some(_)) => format!("it is {}", self.allowed),
            (_, None) => format!("`{key}` is {}", in_own_words(self.allowed, key, title)),
        };
        let (subject, what) = match (word, self.form) {
            (Some(word), _) => (String::new(), format!("cannot be \"{word}\"")),
            (None, MistakeForm::Type) => (format!("`{key}`{title} "), format!("is a TOML {kind}")),
            (None, _) => (format!("`{key}`{title} "), self.what),
        };
        Mistake { form: self.form, source: Some(source.clone()), subject, what, allowed }
    }

    /// Names an entry of a list, if the mistake is its type.
    pub fn in_list(self) -> Mistake {
        match self.form {
            MistakeForm::Type => unfit("has an entry that is not a string", format_args!("it is {TEXTS}")),
            MistakeForm::Range | MistakeForm::Unfit => self,
        }
    }

    pub fn is_of_type(&self) -> bool {
        self.form == MistakeForm::Type
    }

    /// Returns the error for a file.
    pub fn file_error(self) -> Error {
        let line = match &self.source {
            Some(source @ SettingSource::Env(_)) => format!("{source} "),
            source => source.as_ref().map_or(String::new(), |source| format!("{source}: ")),
        };
        Error::usage(line + &self.subject + &self.what).hint(self.allowed)
    }

    /// Returns the error for a value that the user typed in a shell: it has no line, and does not mention the format of
    /// the file.
    pub fn typed_error(self, text: &str) -> Error {
        let what = if self.is_of_type() { format!("cannot be \"{text}\"") } else { self.what };
        Error::usage(self.subject + &what).hint(self.allowed.trim_end_matches(UNQUOTED))
    }
}

const TEXTS: &str = "a list of texts in quotes";

/// Describes the allowed values as this program does; `expected` is serde's description.
fn in_own_words(expected: String, key: &str, title: &str) -> String {
    match expected.as_str() {
        "a string" => "a text in quotes".to_string(),
        "a boolean" => format!("true or false{UNQUOTED}"),
        "a sequence" => TEXTS.to_string(),
        text if text != "a map" && !text.starts_with("struct ") => expected,
        _ if title.is_empty() => format!("a table: its keys are under a line [{key}]"),
        _ => format!("a table, as in {key} = {{ … }}"),
    }
}

/// Creates the error for a value of the right type, which is not allowed.
pub fn unfit<E: serde::de::Error>(what: impl fmt::Display, allowed: impl fmt::Display) -> E {
    E::custom(format_args!("{what}{ALLOWED}{allowed}"))
}

/// Creates the error for a value of another type than `expected`.
pub fn wrong_type<E: serde::de::Error>(expected: &dyn Expected) -> E {
    E::invalid_type(Unexpected::Unit, expected)
}

impl serde::de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Mistake {
        let message = message.to_string();
        let (what, allowed) = message.rsplit_once(ALLOWED).unwrap_or((&message, ""));
        Mistake::new(MistakeForm::Unfit, what, allowed)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::new(MistakeForm::Type, "", expected.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::new(MistakeForm::Range, "is out of range", expected.to_string())
    }
}

impl std::error::Error for Mistake {}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
