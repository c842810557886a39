//! The setting `tidy`: how many messages `.lepo/` may contain before the messages of past days move to
//! folders.

use std::ops::RangeInclusive;

use super::field::FieldReader;
use super::setting_value::SettingValue;
use lepo_base::error::Result;

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
