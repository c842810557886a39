//! Parameters of every request: `options`, which each wire has its own names for, and
//! `extra`, which goes into the body as it is.

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::field::Field;
use super::reader::Section;
use crate::error::Result;

/// The most levels that a value of `extra` may have.
const DEEPEST: usize = 32;

/// `options = { … }`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The temperature.
    pub temperature: Option<Number>,
    /// The longest answer, thinking included, in tokens.
    pub max_tokens: Option<u64>,
    /// The thinking effort: `none`, `low`, `medium`, `high`, or another word that its server knows.
    pub effort: Option<String>,
    /// The share of likely tokens that are chosen from.
    pub top_p: Option<Number>,
    /// Seed: with the same one a server that can gives the same answer.
    pub seed: Option<i64>,
    /// Texts that end an answer.
    pub stop: Vec<String>,
}

impl Options {
    /// These, and `under` where these say nothing.
    pub fn over(self, under: Options) -> Options {
        Options {
            temperature: self.temperature.or(under.temperature),
            max_tokens: self.max_tokens.or(under.max_tokens),
            effort: self.effort.or(under.effort),
            top_p: self.top_p.or(under.top_p),
            seed: self.seed.or(under.seed),
            stop: if self.stop.is_empty() { under.stop } else { self.stop },
        }
    }
}

/// Reads `options`.
pub fn read_options(mut section: Section) -> Result<Options> {
    let number = |field: Option<Field>, most: f64| -> Result<Option<Number>> {
        let Some(field) = field else { return Ok(None) };
        match json(field.value.get_ref(), 0) {
            Some(Value::Number(number)) if number.as_f64().is_some_and(|n| (0.0..=most).contains(&n)) => {
                Ok(Some(number))
            }
            _ => Err(field.error("is not such a number", format!("it is a number from 0 to {most}"))),
        }
    };
    let temperature = number(section.take("temperature"), 2.0)?;
    let top_p = number(section.take("top_p"), 1.0)?;
    let max_tokens = section.read("max_tokens", |field| field.number(1..=u32::MAX))?;
    let effort = section.read("effort", Field::text)?;
    let seed = section.take("seed");
    let seed =
        match seed.map(|field| (json(field.value.get_ref(), 0).and_then(|value| value.as_i64()), field)) {
            Some((None, field)) => return Err(field.error("is not a whole number", "it is like 42")),
            Some((seed, _)) => seed,
            None => None,
        };
    let stop = section.read("stop", Field::texts)?;
    section.end()?;
    Ok(Options {
        temperature,
        max_tokens: max_tokens.map(|set| set.value.into()),
        effort: effort.map(|set| set.value),
        top_p,
        seed,
        stop: stop.map(|set| set.value).unwrap_or_default(),
    })
}

/// Reads `extra`: a table of any values.
pub fn read_extra(field: Field) -> Result<Map<String, Value>> {
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

/// A TOML value as JSON; none if it is too deep or no number that JSON has.
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
