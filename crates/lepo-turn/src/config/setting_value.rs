//! Types of setting values: how to read them from a file or a variable, and how to display them.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use serde_json::Value;

use super::mistake::{unfit, wrong_type};
use super::money::Money;
use super::setting_enums::{
    AttentionSignal, AutoCompact, CallHistory, EditKeys, EmptyLine, LogLevel, MathNotation, NewConversation,
    SecretsMode, ThinkingShown,
};
use lepo_base::keyword::{Keyword, list_words, parse_keyword};
use lepo_model::{AgentAccess, CacheLife, Planner, Provider, Wire};
use lepo_tool::{AutoAccess, ToolMode};

/// A type of value, used by settings and by keys of models.
pub trait SettingValue: Sized {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Self, D::Error>;

    /// Returns the value as `lepo config` prints it: durations in seconds, empty if unset.
    fn to_display(&self) -> String;

    /// Describes the allowed values, if they can be listed or have bounds.
    fn allowed() -> Option<String> {
        None
    }
}

/// Implements the trait for enums whose values are spelled as a word; each with its values in a file.
macro_rules! words {
    ($($word:ty: $allowed:expr),* $(,)?) => {$(
        impl SettingValue for $word {
            fn read<'de, D: Deserializer<'de>>(value: D) -> Result<$word, D::Error> {
                let text = String::deserialize(value)?;
                let allowed = format_args!("allowed: {}", list_words($allowed));
                parse_keyword(&text, $allowed).ok_or_else(|| unfit(format_args!("cannot be \"{text}\""), allowed))
            }

            fn to_display(&self) -> String {
                self.as_str().to_string()
            }

            fn allowed() -> Option<String> {
                Some(list_words($allowed))
            }
        }
    )*};
}

words! {
    AgentAccess: AgentAccess::ALL,
    AttentionSignal: AttentionSignal::ALL,
    AutoAccess: AutoAccess::ALL,
    AutoCompact: AutoCompact::ALL,
    CacheLife: CacheLife::ALL,
    CallHistory: CallHistory::ALL,
    EditKeys: EditKeys::ALL,
    EmptyLine: EmptyLine::ALL,
    LogLevel: LogLevel::ALL,
    MathNotation: MathNotation::ALL,
    NewConversation: NewConversation::ALL,
    Planner: Planner::ALL,
    Provider: Provider::ALL,
    SecretsMode: SecretsMode::ALL,
    ThinkingShown: ThinkingShown::ALL,
    ToolMode: ToolMode::LASTING,
    Wire: Wire::ALL,
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber<const LEAST: u32, const MOST: u32>(u32);

impl<const LEAST: u32, const MOST: u32> WholeNumber<LEAST, MOST> {
    /// Creates the number; one out of the range becomes the nearest in it.
    pub(super) fn new(number: u32) -> Self {
        WholeNumber(number.clamp(LEAST, MOST))
    }

    /// Returns the number.
    pub fn get(self) -> u32 {
        self.0
    }

    /// Reads the number from a value of any type.
    pub(super) fn from_json<E: serde::de::Error>(value: &Value) -> Result<Self, E> {
        let expected = format!("a whole number from {LEAST} to {MOST}");
        let number = match value {
            Value::Number(number) if !number.is_f64() => number.as_i64().and_then(|n| u32::try_from(n).ok()),
            _ => return Err(wrong_type(&expected.as_str())),
        };
        let number = number.filter(|number| (LEAST..=MOST).contains(number));
        number.map(WholeNumber).ok_or_else(|| E::invalid_value(Unexpected::Unit, &expected.as_str()))
    }
}

impl<const LEAST: u32, const MOST: u32> SettingValue for WholeNumber<LEAST, MOST> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        WholeNumber::from_json(&Value::deserialize(value)?)
    }

    fn to_display(&self) -> String {
        self.0.to_string()
    }

    fn allowed() -> Option<String> {
        Some(format!("{LEAST} to {MOST}"))
    }
}

impl SettingValue for bool {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
        bool::deserialize(value)
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed() -> Option<String> {
        Some("true | false".to_string())
    }
}

/// Seconds.
impl SettingValue for Duration {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
        let seconds = read_decimal(value, 0.1..=86400.0, "a number of seconds from 0.1 to 86400")?;
        Ok(Duration::from_secs_f64(seconds))
    }

    fn to_display(&self) -> String {
        self.as_secs_f64().to_string()
    }

    fn allowed() -> Option<String> {
        Some("0.1 to 86400 seconds".to_string())
    }
}

impl SettingValue for Money {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Money, D::Error> {
        read_decimal(value, 0.0..=1e6, "a number from 0 to 1000000").map(Money::from_f64)
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed() -> Option<String> {
        Some("0 to 1000000".to_string())
    }
}

impl SettingValue for String {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
        String::deserialize(value)
    }

    fn to_display(&self) -> String {
        self.clone()
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
        T::read(value).map(Some)
    }

    fn to_display(&self) -> String {
        self.as_ref().map(T::to_display).unwrap_or_default()
    }

    fn allowed() -> Option<String> {
        T::allowed()
    }
}

impl SettingValue for Vec<String> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
        Vec::deserialize(value)
    }

    fn to_display(&self) -> String {
        self.join(", ")
    }
}

/// Paths, absolute or below the home directory with `~/`.
impl SettingValue for Vec<PathBuf> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<String>::deserialize(value)?;
        match paths.iter().all(|path| path.starts_with('/') || path.starts_with("~/")) {
            true => Ok(paths.into_iter().map(PathBuf::from).collect()),
            false => Err(unfit("has a relative path", "a path is absolute, or starts with ~/")),
        }
    }

    fn to_display(&self) -> String {
        self.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// Reads an integer or a decimal number.
fn read_decimal<'de, D: Deserializer<'de>>(
    value: D,
    range: RangeInclusive<f64>,
    expected: &str,
) -> Result<f64, D::Error> {
    let number = match Value::deserialize(value)? {
        Value::Number(number) => number.as_f64(),
        // A number that is not finite.
        Value::Null => None,
        _ => return Err(wrong_type(&expected)),
    };
    let number = number.filter(|number| range.contains(number));
    number.ok_or_else(|| D::Error::invalid_value(Unexpected::Unit, &expected))
}
