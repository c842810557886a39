//! Budgets and prices: amounts of money, the limits that hold, and the table `[[prices]]`.

use std::fmt;

use super::document::Set;
use super::field::Field;
use super::form::Form;
use super::reader::Section;
use lepo_base::error::{Error, Result};
use lepo_model::{ModelConfig, Price};

/// Parts of a unit of the currency: a price is millionths of it for a million tokens, so a token costs these.
const UNITS: u128 = 1_000_000_000_000;

/// An amount of money, in the currency of the prices; in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    /// A number as an option says it: finite, not negative.
    ///
    /// # Errors
    /// With what is allowed.
    pub fn parse(text: &str) -> std::result::Result<Money, String> {
        let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
        number
            .map(|number| Money((number * 1e6).round() as u64))
            .ok_or_else(|| "it is a number from 0 to 1000000".into())
    }

    /// In millionths of a millionth, in which costs are added up.
    pub fn units(self) -> u128 {
        u128::from(self.0) * (UNITS / 1_000_000)
    }

    /// These in hundredths of the currency, rounded to the nearest.
    pub fn hundredths(units: u128) -> u128 {
        units.saturating_add(UNITS / 200) / (UNITS / 100)
    }

    /// An amount from these, rounded up.
    pub fn of_units(units: u128) -> Money {
        Money(u64::try_from(units.div_ceil(UNITS / 1_000_000)).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        let short = text.trim_end_matches('0');
        // Two decimals at least, as money is written.
        let least = text.find('.').map_or(text.len(), |at| at + 3);
        f.write_str(text.get(..short.len().max(least)).unwrap_or(&text))
    }
}

impl Form for Option<Money> {
    type Limits = ();

    fn of_field(field: &Field<'_>, (): &()) -> Result<Set<Option<Money>>> {
        Ok(field.set(Some(Money(field.amount()?))))
    }

    fn of_text(variable: &str, text: &str, (): &()) -> Result<Option<Money>> {
        Money::parse(text).map(Some).map_err(|why| Error::usage(format!("{variable}={text:?}: {why}")))
    }

    fn shown(&self) -> String {
        self.map(|money| money.to_string()).unwrap_or_default()
    }
}

/// The limits that hold, each where it is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// `budget.turn`: of each turn.
    pub turn: Option<Money>,
    /// `budget.day`: of a local day, all processes on this store.
    pub day: Option<Money>,
    /// `--max-cost`: of this `do`.
    pub max_cost: Option<Money>,
    /// `--max-tokens-total`: of this `do`, requests and answers.
    pub max_tokens_total: Option<u64>,
}

impl Budgets {
    /// There is a limit.
    pub fn is_any(&self) -> bool {
        self.is_in_money() || self.max_tokens_total.is_some()
    }

    /// There is a limit in money, so prices are needed.
    pub fn is_in_money(&self) -> bool {
        self.turn.is_some() || self.day.is_some() || self.max_cost.is_some()
    }
}

/// The lesser of two limits, a repository's and the user's.
pub fn lower(
    repo: Option<Set<Option<Money>>>,
    user: Option<&Set<Option<Money>>>,
) -> Option<Set<Option<Money>>> {
    match (repo, user) {
        (Some(repo), Some(user)) => match (repo.value, user.value) {
            (Some(theirs), Some(own)) if theirs < own => Some(repo),
            _ => Some(user.clone()),
        },
        (repo, _) => repo,
    }
}

/// One table of `[[prices]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceEntry {
    /// Names of models that it fits; `*` stands for any characters.
    pub model: String,
    /// The price.
    pub price: Price,
}

/// Reads a table of `[[prices]]`.
pub fn read_price_entry(mut section: Section<'_>) -> Result<PriceEntry> {
    const FORM: &str = "[[prices]] has model, input and output, per million tokens, and may have cached";
    let Some(model) = section.take("model") else {
        return Err(section.error("a price without a model", FORM));
    };
    let model = model.text()?.value;
    match super::price::read_amounts(&mut section)? {
        Some(price) => {
            section.end()?;
            Ok(PriceEntry { model, price })
        }
        None => Err(section.error(format!("the price of \"{model}\" has no amounts"), FORM)),
    }
}

/// Prices of tokens: models with a price of their own, and the table.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    pub(super) table: Vec<PriceEntry>,
    pub(super) models: Vec<ModelConfig>,
}

impl Prices {
    /// True if no price is given.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty() && self.models.iter().all(|model| model.price.is_none())
    }

    /// The price of a model by its configured name, and of one that is not configured by its provider's name too.
    pub fn of(&self, name: &str, id: Option<&str>) -> Option<Price> {
        let configured = self.models.iter().find(|model| model.name == name);
        if let Some(price) = configured.and_then(|model| model.price) {
            return Some(price);
        }
        // `PROVIDER:MODEL` is the name of a model that is not configured.
        let id =
            id.or(configured.map(|model| model.model.as_str())).or(name.split_once(':').map(|(_, id)| id));
        let fits =
            |name: &str| self.table.iter().find(|entry| glob(&entry.model, name)).map(|entry| entry.price);
        fits(name).or_else(|| id.filter(|id| !id.is_empty()).and_then(fits))
    }
}

/// True if a pattern fits all of a text; `*` stands for any characters.
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
    fn an_amount_is_finite_and_not_negative() {
        for (text, shown) in [
            ("0", Some("0.00")),
            ("0.5", Some("0.50")),
            ("5", Some("5.00")),
            ("0.000001", Some("0.000001")),
            ("1e2", Some("100.00")),
            ("-0.1", None),
            ("NaN", None),
            ("inf", None),
            ("-inf", None),
            ("1000001", None),
            ("", None),
            ("5 EUR", None),
        ] {
            assert_eq!(Money::parse(text).ok().map(|money| money.to_string()).as_deref(), shown, "{text}");
        }
        assert_eq!(Money::of_units(Money::parse("0.25").unwrap().units()).to_string(), "0.25");
        assert_eq!(Money::of_units(1).to_string(), "0.000001");
        for (millionths, hundredths) in [(0, 0), (4_999, 0), (5_000, 1), (14_999, 1), (1_234_567, 123)] {
            assert_eq!(Money::hundredths(Money(millionths).units()), hundredths, "{millionths}");
        }
        assert_eq!(Money::hundredths(u128::MAX), u128::MAX / (UNITS / 100));
    }

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

    #[test]
    fn a_repository_only_lowers() {
        let set = |amount: Option<u64>| {
            amount.map(|amount| Set {
                value: Some(Money(amount)),
                source: super::super::document::Source::Default,
            })
        };
        for (repo, user, holds) in [
            (Some(5), Some(9), Some(5)),
            (Some(9), Some(5), Some(5)),
            (None, Some(5), Some(5)),
            (Some(5), None, Some(5)),
            (None, None, None),
        ] {
            let user = set(user);
            let lowered = lower(set(repo), user.as_ref()).or(user);
            assert_eq!(lowered.map(|set| set.value), set(holds).map(|set| set.value), "{repo:?}");
        }
    }
}
