//! The price of a model's tokens: `price = { in = 3, out = 15, cached = 0.3 }`, per million tokens, in the currency of
//! the user's choice.

use super::reader::Section;
use crate::error::Result;

/// Prices of a million tokens, in millionths of the currency, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Tokens of requests.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Tokens of requests that the provider had in its cache; those of requests if it is not said.
    pub cached: u64,
}

/// Reads the table `price` of a model, if it has one.
pub fn read_price(section: &mut Section<'_>) -> Result<Option<Price>> {
    let mut table = section.section("price")?;
    let input = table.read("in", |field| field.amount())?;
    let output = table.read("out", |field| field.amount())?;
    let cached = table.read("cached", |field| field.amount())?;
    match (input, output) {
        (Some(input), Some(output)) => {
            table.end()?;
            Ok(Some(Price { input, output, cached: cached.unwrap_or(input) }))
        }
        (None, None) if cached.is_none() => table.end().map(|()| None),
        _ => Err(table.lacks("`price` lacks `in` or `out`", "price = { in = 3, out = 15, cached = 0.3 }")),
    }
}
