//! Token prices: a model's own, and the table `[[prices]]`.

use serde::Deserialize;

use super::mistake::Mistake;
use super::money::Money;
use super::reader::ConfigReader;
use super::setting_value::SettingValue;
use super::source::SettingSource;
use lepo_model::{ModelConfig, Price};

/// A table of `[[prices]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceEntry {
    /// Model name pattern; `*` matches any characters.
    pub model: String,
    pub price: Price,
}

/// The amounts of a price.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AmountKeys {
    #[serde(deserialize_with = "SettingValue::read")]
    input: Option<Money>,
    #[serde(deserialize_with = "SettingValue::read")]
    r#in: Option<Money>,
    #[serde(deserialize_with = "SettingValue::read")]
    output: Option<Money>,
    #[serde(deserialize_with = "SettingValue::read")]
    out: Option<Money>,
    #[serde(deserialize_with = "SettingValue::read")]
    cached: Option<Money>,
}

impl AmountKeys {
    /// Returns the price, if there are amounts; `source` is the source of its table.
    pub fn price(self, source: &SettingSource) -> Result<Option<Price>, Mistake> {
        let input = self.input.or(self.r#in).map(Money::millionths);
        let output = self.output.or(self.out).map(Money::millionths);
        let cached = self.cached.map(Money::millionths);
        match (input, output) {
            (Some(input), Some(output)) => Ok(Some(Price { input, output, cached: cached.unwrap_or(input) })),
            (None, None) if cached.is_none() => Ok(None),
            _ => Err(Mistake::at(
                source.clone(),
                "`price` needs both `in` and `out`",
                "price = { in = 3, out = 15, cached = 0.3 }",
            )),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PricedModel {
    model: Option<String>,
}

/// Reads a table of `[[prices]]`.
pub fn read_price_entry(mut reader: ConfigReader<'_>) -> Result<PriceEntry, Mistake> {
    const FORM: &str = "[[prices]] has model, input and output, per million tokens, and may have cached";
    let source = reader.source.clone();
    let PricedModel { model: Some(model) } = reader.read(&["model"])? else {
        return Err(Mistake::at(source, "a price without a model", FORM));
    };
    let amounts: AmountKeys = reader.read(&["input", "in", "output", "out", "cached"])?;
    reader.finish()?;
    match amounts.price(&source)? {
        Some(price) => Ok(PriceEntry { model, price }),
        None => Err(Mistake::at(source, format!("the price of \"{model}\" has no amounts"), FORM)),
    }
}

/// Prices of tokens: of models, and from the table.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    pub(super) table: Vec<PriceEntry>,
    pub(super) models: Vec<ModelConfig>,
}

impl Prices {
    /// Whether no price is configured.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty() && self.models.iter().all(|model| model.price.is_none())
    }

    /// Returns the price of a model by its configured name, or by the provider's name for it.
    pub fn price_of(&self, name: &str, id: Option<&str>) -> Option<Price> {
        let configured = self.models.iter().find(|model| model.name == name);
        if let Some(price) = configured.and_then(|model| model.price) {
            return Some(price);
        }
        // The name of a model that is not configured is `PROVIDER:MODEL`.
        let id =
            id.or(configured.map(|model| model.model.as_str())).or(name.split_once(':').map(|(_, id)| id));
        let fits =
            |name: &str| self.table.iter().find(|entry| glob(&entry.model, name)).map(|entry| entry.price);
        fits(name).or_else(|| id.filter(|id| !id.is_empty()).and_then(fits))
    }
}

/// Whether a pattern matches a whole text; `*` matches any characters.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, fits) in [
            ("gpt-5*", "gpt-5", true),
            ("gpt-5*", "gpt-5-mini", true),
            ("gpt-5*", "my-gpt-5", false),
            ("*", "", true),
            ("*:free", "qwen:free", true),
            ("*:free", "qwen:paid", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*a", "a", false),
            ("m", "m", true),
            ("m", "mm", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
