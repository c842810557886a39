//! Parameters of every request: `options`, which each protocol names differently, and `extra`, which goes
//! into the body unchanged.

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::field::FieldReader;
use super::table_reader::TableReader;
use lepo_base::error::Result;
use lepo_model::ModelOptions;

/// Maximum nesting of a value of `extra`.
const DEEPEST: usize = 32;

pub fn read_options(mut section: TableReader) -> Result<ModelOptions> {
    let number = |field: Option<FieldReader>, most: f64| -> Result<Option<Number>> {
        let Some(field) = field else { return Ok(None) };
        match json(field.value.get_ref(), 0) {
            Some(Value::Number(number)) if number.as_f64().is_some_and(|n| (0.0..=most).contains(&n)) => {
                Ok(Some(number))
            }
            _ => Err(field.error("is not such a number", format!("it is a number from 0 to {most}"))),
        }
    };
    let temperature = number(section.take_key("temperature"), 2.0)?;
    let top_p = number(section.take_key("top_p"), 1.0)?;
    let max_tokens = section.get::<u32>("max_tokens", &(1..=u32::MAX))?;
    let effort = section.get("effort", &())?;
    let seed = section.take_key("seed");
    let seed =
        match seed.map(|field| (json(field.value.get_ref(), 0).and_then(|value| value.as_i64()), field)) {
            Some((None, field)) => return Err(field.error("is not a whole number", "it is like 42")),
            Some((seed, _)) => seed,
            None => None,
        };
    let stop = section.get("stop", &())?;
    section.finish()?;
    Ok(ModelOptions {
        temperature,
        max_tokens: max_tokens.map(u64::from),
        effort,
        top_p,
        seed,
        stop: stop.unwrap_or_default(),
        web: false,
    })
}

/// Reads `extra`: a table with any values.
pub fn read_extra(field: FieldReader) -> Result<Map<String, Value>> {
    let wrong = field.error("cannot go into a request", "it is a table like { top_k = 20 }");
    let table = field.table()?;
    table_json(&table, 0).ok_or(wrong)
}

fn table_json(table: &DeTable<'_>, depth: usize) -> Option<Map<String, Value>> {
    table
        .iter()
        .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref(), depth + 1)?)))
        .collect()
}

/// Converts a TOML value to JSON; `None` if it is nested too deeply or a number that JSON does not have.
fn json(value: &DeValue<'_>, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| json(item.get_ref(), depth + 1)).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => Value::Object(table_json(table, depth)?),
    })
}
