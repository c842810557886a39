//! The settings `tidy`: how many messages `.lepo/` may contain before the messages of past days move to folders; and
//! `keep_removed`: how long removed messages can be brought back.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::mistake::unfit;
use super::setting_value::{SettingValue, WholeNumber};
use lepo_base::time::parse_span;
use lepo_store::bubb::plural;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tidy(Option<WholeNumber<100, 100_000_000>>);

impl Tidy {
    /// Returns the maximum number of bubbs in `.lepo/`; `None` if they never move to folders.
    pub fn limit(self) -> Option<u32> {
        self.0.map(WholeNumber::get)
    }
}

impl Default for Tidy {
    fn default() -> Tidy {
        Tidy(Some(WholeNumber::new(10_000)))
    }
}

impl SettingValue for Tidy {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<Tidy, D::Error> {
        match Value::deserialize(value)? {
            Value::Bool(false) => Ok(Tidy(None)),
            Value::Bool(true) => Err(unfit("cannot be true", "a whole number of messages, or false")),
            value => WholeNumber::from_json(&value).map(|number| Tidy(Some(number))),
        }
    }

    fn to_display(&self) -> String {
        self.0.map_or("false".to_string(), |number| number.to_display())
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
    pub fn description(self) -> String {
        match self.0 {
            millis if millis % DAY == 0 => plural(millis / DAY, "day"),
            millis if millis % HOUR == 0 => plural(millis / HOUR, "hour"),
            millis => plural(millis / 60_000, "minute"),
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
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<RemovedSpan, D::Error> {
        let text = String::deserialize(value)?;
        parse_span(&text).map(RemovedSpan).ok_or_else(|| unfit(format_args!("cannot be \"{text}\""), SPANS))
    }

    fn to_display(&self) -> String {
        self.to_string()
    }

    fn allowed() -> Option<String> {
        Some("a span like 30d; 0d removes at once".to_string())
    }
}
