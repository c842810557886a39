//! The types that a setting can have: how each is read from a file and from a variable, and how it is shown.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::Paths;
use super::document::Set;
use super::field::Field;
use super::word::{AutoCompact, EditKeys, EmptyLine, LogLevel, NewConversation, SecretsMode, ThinkingShown};
use lepo_base::error::{Error, Result};
use lepo_base::word::{Word, list_words, read_word};
use lepo_model::Planner;
use lepo_tool::{AutoAccess, ToolMode};

/// A type of settings.
pub trait Form: Sized {
    /// The limits of its values.
    type Limits: ?Sized;

    /// Reads a value of a file.
    fn of_field(field: &Field<'_>, limits: &Self::Limits) -> Result<Set<Self>>;

    /// Reads the value of a variable.
    fn of_text(variable: &str, text: &str, limits: &Self::Limits) -> Result<Self>;

    /// The value as `lepo config` shows it: times in seconds, empty if there is none.
    fn shown(&self) -> String;

    /// The value once the directories of this machine are known.
    fn settled(self, _: &Paths) -> Self {
        self
    }
}

/// Settings whose value is one word of a few.
macro_rules! words {
    ($($word:ty),*) => {$(
        impl Form for $word {
            type Limits = &'static [$word];

            fn of_field(field: &Field<'_>, allowed: &&'static [$word]) -> Result<Set<$word>> {
                field.word(allowed)
            }

            fn of_text(variable: &str, text: &str, allowed: &&'static [$word]) -> Result<$word> {
                read_word(text, allowed)
                    .ok_or_else(|| wrong(variable, text, format!("allowed: {}", list_words(allowed))))
            }

            fn shown(&self) -> String {
                self.word().to_string()
            }
        }
    )*};
}

words!(
    AutoAccess,
    AutoCompact,
    EmptyLine,
    LogLevel,
    NewConversation,
    Planner,
    SecretsMode,
    ToolMode,
    EditKeys,
    ThinkingShown
);

impl Form for u32 {
    type Limits = RangeInclusive<u32>;

    fn of_field(field: &Field<'_>, range: &RangeInclusive<u32>) -> Result<Set<u32>> {
        field.number(range.clone())
    }

    fn of_text(variable: &str, text: &str, range: &RangeInclusive<u32>) -> Result<u32> {
        let allowed = || format!("it is a whole number from {} to {}", range.start(), range.end());
        text.parse()
            .ok()
            .filter(|value| range.contains(value))
            .ok_or_else(|| wrong(variable, text, allowed()))
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Form for bool {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<bool>> {
        field.flag()
    }

    fn of_text(variable: &str, text: &str, (): &()) -> Result<bool> {
        text.parse().map_err(|_| wrong(variable, text, "it is true or false".into()))
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Form for Duration {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<Duration>> {
        field.seconds()
    }

    fn of_text(variable: &str, text: &str, (): &()) -> Result<Duration> {
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.ok_or_else(|| wrong(variable, text, "it is a number of seconds".into()))
    }

    fn shown(&self) -> String {
        self.as_secs_f64().to_string()
    }
}

impl Form for Option<String> {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<Self>> {
        field.text().map(|set| set.map(Some))
    }

    fn of_text(_: &str, text: &str, (): &()) -> Result<Self> {
        Ok(Some(text.to_string()))
    }

    fn shown(&self) -> String {
        self.clone().unwrap_or_default()
    }
}

impl Form for Vec<String> {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<Self>> {
        field.texts()
    }

    fn of_text(_: &str, text: &str, (): &()) -> Result<Self> {
        Ok(text.split(',').map(str::to_string).collect())
    }

    fn shown(&self) -> String {
        self.join(", ")
    }
}

impl Form for Vec<PathBuf> {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<Self>> {
        field.paths()
    }

    fn of_text(_: &str, text: &str, (): &()) -> Result<Self> {
        Ok(std::env::split_paths(text).collect())
    }

    fn shown(&self) -> String {
        self.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// `~/` is the home directory. A path that is not absolute even so is none.
    fn settled(self, paths: &Paths) -> Self {
        let home = |path: PathBuf| match (path.strip_prefix("~"), &paths.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        };
        self.into_iter().map(home).filter(|path| path.is_absolute()).collect()
    }
}

fn wrong(variable: &str, text: &str, allowed: String) -> Error {
    Error::usage(format!("{variable} cannot be \"{text}\"")).hint(allowed)
}
