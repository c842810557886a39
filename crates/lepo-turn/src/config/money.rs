//! Amounts of money, and the limits that hold.

use std::fmt;

use super::document::Set;

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
        number.map(Money::of).ok_or_else(|| "expected a number from 0 to 1000000".into())
    }

    /// This number, rounded.
    pub(super) fn of(number: f64) -> Money {
        Money((number * 1e6).round() as u64)
    }

    /// In millionths.
    pub(super) fn millionths(self) -> u64 {
        self.0
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
