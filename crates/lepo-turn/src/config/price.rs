//! Reads the price of a model's tokens.

use lepo_base::error::Result;
use lepo_model::Price;

use super::reader::Section;

/// Reads the table `price` of a model, if it has one.
pub fn read_price(section: &mut Section<'_>) -> Result<Option<Price>> {
    let mut table = section.section("price")?;
    let price = read_amounts(&mut table)?;
    table.end()?;
    Ok(price)
}

/// Reads the amounts of a price: `input` or `in`, `output` or `out`, `cached`.
pub fn read_amounts(table: &mut Section<'_>) -> Result<Option<Price>> {
    let mut either = |long, short| {
        let long = table.read(long, |field| field.amount())?;
        Ok(long.or(table.read(short, |field| field.amount())?))
    };
    let (input, output) = (either("input", "in")?, either("output", "out")?);
    let cached = table.read("cached", |field| field.amount())?;
    match (input, output) {
        (Some(input), Some(output)) => Ok(Some(Price { input, output, cached: cached.unwrap_or(input) })),
        (None, None) if cached.is_none() => Ok(None),
        _ => {
            Err(table
                .lacks("`price` needs both `in` and `out`", "price = { in = 3, out = 15, cached = 0.3 }"))
        }
    }
}
