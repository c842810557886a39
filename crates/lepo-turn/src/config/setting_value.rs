//! Types of setting values: how to read them from a file and from a variable, and how to display them.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use toml::de::DeValue;

use super::Paths;
use super::field::FieldReader;
use super::money::Money;
use super::setting_enums::{
    AttentionSignal, AutoCompact, CallHistory, EditKeys, EmptyLine, LogLevel, MathNotation, NewConversation,
    SecretsMode, ThinkingShown,
};
use lepo_base::error::{Error, Result};
use lepo_base::keyword::{Keyword, list_words, parse_keyword};
use lepo_model::{AgentAccess, CacheLife, Planner, Provider, Wire};
use lepo_tool::{AutoAccess, ToolMode};

/// A type of value, used by settings and by keys of models.
pub trait SettingValue: Sized {
    type Limits: ?Sized;

    fn from_toml(field: &FieldReader<'_>, limits: &Self::Limits) -> Result<Self>;

    fn from_env(variable: &str, text: &str, limits: &Self::Limits) -> Result<Self>;

    /// Returns the value as `lepo config` prints it: durations in seconds, empty if unset.
    fn to_display(&self) -> String;

    /// Describes the allowed values, if they can be listed or have bounds.
    fn allowed(_: &Self::Limits) -> Option<String> {
        None
    }

    /// Resolves the value against the directories of this machine.
    fn with_home(self, _: &Paths) -> Self {
        self
    }
}

/// Implements the trait for enums whose values are spelled as a word.
macro_rules! words {
    ($($word:ty),*) => {$(
        impl SettingValue for $word {
            type Limits = &'static [$word];

            fn from_toml(field: &FieldReader<'_>, allowed: &&'static [$word]) -> Result<$word> {
                let text = String::from_toml(field, &())?;
                let wrong = || field.error(&format!("cannot be \"{text}\""), one_of(allowed));
                parse_keyword(&text, allowed).ok_or_else(wrong)
            }

            fn from_env(variable: &str, text: &str, allowed: &&'static [$word]) -> Result<$word> {
                parse_keyword(text, allowed).ok_or_else(|| wrong(variable, text, one_of(allowed)))
            }

            fn to_display(&self) -> String {
                self.as_str().to_string()
            }

            fn allowed(words: &&'static [$word]) -> Option<String> {
                Some(list_words(words))
            }
        }
    )*};
}

words!(
    AgentAccess,
    AutoAccess,
    AutoCompact,
    EmptyLine,
    LogLevel,
    MathNotation,
    AttentionSignal,
    NewConversation,
    Planner,
    Provider,
    SecretsMode,
    CallHistory,
    ToolMode,
    EditKeys,
    ThinkingShown,
    CacheLife,
    Wire
);

impl SettingValue for u32 {
    type Limits = RangeInclusive<u32>;

    fn from_toml(field: &FieldReader<'_>, range: &RangeInclusive<u32>) -> Result<u32> {
        let wanted = whole_number(range);
        let number = field.value.get_ref().as_integer().ok_or_else(|| field.wrong_type(&wanted))?;
        let value = u32::from_str_radix(number.as_str(), number.radix()).ok();
        value.filter(|value| range.contains(value)).ok_or_else(|| field.out_of_range(&wanted))
    }

    fn from_env(variable: &str, text: &str, range: &RangeInclusive<u32>) -> Result<u32> {
        let value = text.parse().ok().filter(|value| range.contains(value));
        value.ok_or_else(|| wrong(variable, text, format!("it is {}", whole_number(range))))
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed(range: &RangeInclusive<u32>) -> Option<String> {
        Some(format!("{} to {}", range.start(), range.end()))
    }
}

impl SettingValue for bool {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<bool> {
        let wanted = match field.document.typed() {
            Some(_) => "true or false",
            None => "true or false, without quotes",
        };
        field.value.get_ref().as_bool().ok_or_else(|| field.wrong_type(wanted))
    }

    fn from_env(variable: &str, text: &str, (): &()) -> Result<bool> {
        text.parse().map_err(|_| wrong(variable, text, "it is true or false".into()))
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed((): &()) -> Option<String> {
        Some("true | false".to_string())
    }
}

impl SettingValue for Duration {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<Duration> {
        decimal(field, 0.1..=86400.0, "a number of seconds from 0.1 to 86400").map(Duration::from_secs_f64)
    }

    fn from_env(variable: &str, text: &str, (): &()) -> Result<Duration> {
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.ok_or_else(|| wrong(variable, text, "it is a number of seconds".into()))
    }

    fn to_display(&self) -> String {
        self.as_secs_f64().to_string()
    }

    fn allowed((): &()) -> Option<String> {
        Some("0.1 to 86400 seconds".to_string())
    }
}

impl SettingValue for Money {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<Money> {
        decimal(field, 0.0..=1e6, "a number from 0 to 1000000").map(Money::from_f64)
    }

    fn from_env(variable: &str, text: &str, (): &()) -> Result<Money> {
        Money::parse(text).map_err(|why| Error::usage(format!("{variable}={text:?}: {why}")))
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed((): &()) -> Option<String> {
        Some("0 to 1000000".to_string())
    }
}

/// A text that is not blank and has no control characters.
impl SettingValue for String {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<String> {
        let text = field.value.get_ref().as_str().ok_or_else(|| field.wrong_type("a text in quotes"))?;
        plain(field, text)
    }

    fn from_env(_: &str, text: &str, (): &()) -> Result<String> {
        Ok(text.to_string())
    }

    fn to_display(&self) -> String {
        self.clone()
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    type Limits = T::Limits;

    fn from_toml(field: &FieldReader<'_>, limits: &T::Limits) -> Result<Option<T>> {
        T::from_toml(field, limits).map(Some)
    }

    fn from_env(variable: &str, text: &str, limits: &T::Limits) -> Result<Option<T>> {
        T::from_env(variable, text, limits).map(Some)
    }

    fn to_display(&self) -> String {
        self.as_ref().map(T::to_display).unwrap_or_default()
    }

    fn allowed(limits: &T::Limits) -> Option<String> {
        T::allowed(limits)
    }
}

/// Texts, each of them not blank.
impl SettingValue for Vec<String> {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<Vec<String>> {
        let wanted = "a list of texts in quotes";
        let array = field.value.get_ref().as_array().ok_or_else(|| field.wrong_type(wanted))?;
        let other = || field.error("has an entry that is not a string", format!("it is {wanted}"));
        array.iter().map(|item| plain(field, item.get_ref().as_str().ok_or_else(other)?)).collect()
    }

    fn from_env(_: &str, text: &str, (): &()) -> Result<Vec<String>> {
        Ok(text.split(',').map(str::to_string).collect())
    }

    fn to_display(&self) -> String {
        self.join(", ")
    }
}

/// Paths, absolute or below the home directory with `~/`.
impl SettingValue for Vec<PathBuf> {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<Vec<PathBuf>> {
        let paths = Vec::<String>::from_toml(field, &())?;
        match paths.iter().all(|path| path.starts_with('/') || path.starts_with("~/")) {
            true => Ok(paths.into_iter().map(PathBuf::from).collect()),
            false => Err(field.error("has a relative path", "a path is absolute, or starts with ~/")),
        }
    }

    fn from_env(_: &str, text: &str, (): &()) -> Result<Vec<PathBuf>> {
        Ok(std::env::split_paths(text).collect())
    }

    fn to_display(&self) -> String {
        self.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Replaces `~/` by the home directory. Drops a path that is still not absolute.
    fn with_home(self, paths: &Paths) -> Self {
        let home = |path: PathBuf| match (path.strip_prefix("~"), &paths.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        };
        self.into_iter().map(home).filter(|path| path.is_absolute()).collect()
    }
}

/// Reads an integer or a decimal number.
fn decimal(field: &FieldReader<'_>, range: RangeInclusive<f64>, expected: &str) -> Result<f64> {
    let number = match field.value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => return Err(field.wrong_type(expected)),
    };
    number.filter(|number| range.contains(number)).ok_or_else(|| field.out_of_range(expected))
}

fn plain(field: &FieldReader<'_>, text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(field.error("is empty", "give it a value, or leave the key out"));
    }
    match text.chars().any(char::is_control) {
        true => Err(field.error("has a control character", "use plain text")),
        false => Ok(text.to_string()),
    }
}

fn whole_number(range: &RangeInclusive<u32>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}

fn one_of<T: Keyword>(allowed: &[T]) -> String {
    format!("allowed: {}", list_words(allowed))
}

fn wrong(variable: &str, text: &str, allowed: String) -> Error {
    Error::usage(format!("{variable} cannot be \"{text}\"")).hint(allowed)
}
