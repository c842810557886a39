//! Reads the price of a model's tokens.

use lepo_base::error::Result;
use lepo_model::Price;

use super::reader::Section;

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
