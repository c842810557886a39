//! The settings `tidy`: how many messages `.lepo/` may contain before the messages of past days move to folders; and
//! `keep_removed`: how long removed messages can be brought back.

use std::ops::RangeInclusive;

use super::field::FieldReader;
use super::setting_value::SettingValue;
use lepo_base::error::{Error, Result};
use lepo_base::time::parse_span;
use lepo_store::bubb::counted;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tidy(Option<u32>);

impl Tidy {
    /// Returns the maximum number of bubbs in `.lepo/`; `None` if they never move to folders.
    pub fn limit(self) -> Option<u32> {
        self.0
    }
}

impl Default for Tidy {
    fn default() -> Tidy {
        Tidy(Some(10_000))
    }
}

impl SettingValue for Tidy {
    type Limits = RangeInclusive<u32>;

    fn from_toml(field: &FieldReader<'_>, range: &RangeInclusive<u32>) -> Result<Tidy> {
        match field.value.get_ref().as_bool() {
            Some(false) => Ok(Tidy(None)),
            Some(true) => Err(field.error("cannot be true", "a whole number of messages, or false")),
            None => u32::from_toml(field, range).map(|number| Tidy(Some(number))),
        }
    }

    fn from_env(variable: &str, text: &str, range: &RangeInclusive<u32>) -> Result<Tidy> {
        match text {
            "false" => Ok(Tidy(None)),
            _ => u32::from_env(variable, text, range).map(|number| Tidy(Some(number))),
        }
    }

    fn to_display(&self) -> String {
        self.0.map_or("false".to_string(), |number| number.to_string())
    }
}

/// How long removed messages stay in `_removed/`, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedSpan(u64);

const HOUR: u64 = 60 * 60 * 1000;
const DAY: u64 = 24 * HOUR;

const SPANS: &str = "a span of days, weeks or hours, like \"30d\"; \"0d\" removes at once";

impl RemovedSpan {
    /// Returns the span in milliseconds; `None` if messages are removed at once.
    pub fn millis(self) -> Option<u64> {
        Some(self.0).filter(|millis| *millis > 0)
    }

    /// Returns the span as a sentence has it: `30 days`.
    pub fn words(self) -> String {
        match self.0 {
            millis if millis % DAY == 0 => counted(millis / DAY, "day"),
            millis if millis % HOUR == 0 => counted(millis / HOUR, "hour"),
            millis => counted(millis / 60_000, "minute"),
        }
    }
}

impl Default for RemovedSpan {
    fn default() -> RemovedSpan {
        RemovedSpan(30 * DAY)
    }
}

/// Days if they are whole, else hours or minutes.
impl std::fmt::Display for RemovedSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            millis if millis % DAY == 0 => write!(f, "{}d", millis / DAY),
            millis if millis % HOUR == 0 => write!(f, "{}h", millis / HOUR),
            millis => write!(f, "{}m", millis / 60_000),
        }
    }
}

impl SettingValue for RemovedSpan {
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<RemovedSpan> {
        let text = String::from_toml(field, &())?;
        let wrong = || field.error(&format!("cannot be \"{text}\""), SPANS);
        parse_span(&text).map(RemovedSpan).ok_or_else(wrong)
    }

    fn from_env(variable: &str, text: &str, (): &()) -> Result<RemovedSpan> {
        let wrong = || Error::usage(format!("{variable} cannot be \"{text}\"")).hint(SPANS);
        parse_span(text).map(RemovedSpan).ok_or_else(wrong)
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed((): &()) -> Option<String> {
        Some("a span like 30d; 0d removes at once".to_string())
    }
}
