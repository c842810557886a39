//! Parameters of every request: `options`, which each protocol names differently, and `extra`, which goes
//! into the body unchanged.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use super::mistake::unfit;
use super::setting_value::{SettingValue, WholeNumber};
use lepo_model::ModelOptions;

/// Maximum nesting of a value of `extra`.
const DEEPEST: usize = 32;

/// The keys of `options`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct OptionKeys {
    #[serde(deserialize_with = "read_number::<2, _>")]
    temperature: Option<Number>,
    #[serde(deserialize_with = "read_number::<1, _>")]
    top_p: Option<Number>,
    #[serde(deserialize_with = "SettingValue::read")]
    max_tokens: Option<WholeNumber<1, { u32::MAX }>>,
    effort: Option<String>,
    #[serde(deserialize_with = "read_seed")]
    seed: Option<i64>,
    stop: Vec<String>,
}

impl From<OptionKeys> for ModelOptions {
    fn from(keys: OptionKeys) -> ModelOptions {
        ModelOptions {
            temperature: keys.temperature,
            max_tokens: keys.max_tokens.map(|number| number.get().into()),
            effort: keys.effort,
            top_p: keys.top_p,
            seed: keys.seed,
            stop: keys.stop,
            web: false,
        }
    }
}

/// Reads a number from 0 to `MOST`, in the form of the file.
fn read_number<'de, const MOST: u32, D: Deserializer<'de>>(value: D) -> Result<Option<Number>, D::Error> {
    match Value::deserialize(value)? {
        Value::Number(number) if number.as_f64().is_some_and(|n| (0.0..=f64::from(MOST)).contains(&n)) => {
            Ok(Some(number))
        }
        _ => Err(unfit("is not such a number", format_args!("it is a number from 0 to {MOST}"))),
    }
}

fn read_seed<'de, D: Deserializer<'de>>(value: D) -> Result<Option<i64>, D::Error> {
    let seed = Value::deserialize(value)?.as_i64();
    seed.map(Some).ok_or_else(|| unfit("is not a whole number", "it is like 42"))
}

/// Reads `extra`: a table with any values that JSON has.
pub fn read_extra<'de, D: Deserializer<'de>>(value: D) -> Result<Map<String, Value>, D::Error> {
    let extra = Map::deserialize(value)?;
    match extra.values().all(|value| is_sendable(value, 1)) {
        true => Ok(extra),
        false => Err(unfit("cannot go into a request", "it is a table like { top_k = 20 }")),
    }
}

/// Whether a value is not nested too deeply, and all its numbers are finite and not too large.
fn is_sendable(value: &Value, depth: usize) -> bool {
    depth <= DEEPEST
        && match value {
            // A number that is not finite.
            Value::Null => false,
            Value::Number(number) => number.is_i64() || number.is_f64(),
            Value::Array(items) => items.iter().all(|item| is_sendable(item, depth + 1)),
            Value::Object(table) => table.values().all(|value| is_sendable(value, depth + 1)),
            Value::Bool(_) | Value::String(_) => true,
        }
}
