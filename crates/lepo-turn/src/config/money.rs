//! Amounts of money, and the limits in effect.

use std::fmt;
use std::iter::repeat;

/// Units per unit of the currency: a price is in millionths per million tokens, so a token costs this many
/// units.
const UNITS: u128 = 1_000_000_000_000;

/// Units per millionth of the currency.
const MILLIONTH: u64 = 1_000_000;

/// Decimals of [`Money`].
const DECIMALS: usize = 12;

/// Amount of money in the currency of the prices, in the unit of [`Money::units`], so that the smallest budget does not
/// round to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    /// Parses the number of an option: finite, not negative.
    ///
    /// # Errors
    /// Describes the allowed values.
    pub fn parse(text: &str) -> std::result::Result<Money, String> {
        let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
        number.map(Money::from_f64).ok_or_else(|| "expected a number from 0 to 1000000".into())
    }

    /// Converts a number ≥ 0; a positive one never becomes 0.
    pub(super) fn from_f64(number: f64) -> Money {
        // Converts the digits, because 999999.99 × 10¹² is not an exact float.
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction: String = fraction.chars().chain(repeat('0')).take(DECIMALS).collect();
        let units = format!("{whole}{fraction}").parse().unwrap_or(u64::MAX);
        Money(if number > 0.0 { units.max(1) } else { units })
    }

    /// Returns the amount in millionths, rounded to the nearest.
    pub(super) fn millionths(self) -> u64 {
        self.0.saturating_add(MILLIONTH / 2) / MILLIONTH
    }

    /// Returns the amount in millionths of a millionth, in which costs are added up.
    pub fn units(self) -> u128 {
        u128::from(self.0)
    }

    /// Converts units; an amount ≥ 10⁻⁶ is rounded up to millionths.
    pub fn of_units(units: u128) -> Money {
        let step = if units < u128::from(MILLIONTH) { 1 } else { u128::from(MILLIONTH) };
        let units = units.div_ceil(step).saturating_mul(step);
        Money(u64::try_from(units).unwrap_or(u64::MAX))
    }
}

/// Formats a cost in the unit of [`Money::units`] with two decimals, or if that would be 0.00, with its first two
/// significant digits.
pub fn short_cost(units: u128) -> String {
    let cents = units.saturating_add(UNITS / 200) / (UNITS / 100);
    if cents > 0 || units == 0 {
        return format!("{}.{:02}", cents / 100, cents % 100);
    }
    let mut step = 1;
    while units / step >= 100 {
        step *= 10;
    }
    let rounded = (units + step / 2) / step * step;
    Money(u64::try_from(rounded).unwrap_or(u64::MAX)).to_string()
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u64.pow(DECIMALS as u32);
        let text = format!("{}.{:012}", self.0 / unit, self.0 % unit);
        let short = text.trim_end_matches('0');
        // At least two decimals, as usual for money.
        let least = text.find('.').map_or(text.len(), |at| at + 3);
        f.write_str(text.get(..short.len().max(least)).unwrap_or(&text))
    }
}

/// The limits in effect, each where it is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// `budget.turn`: per turn.
    pub turn: Option<Money>,
    /// `budget.day`: per local day, of all processes on this store.
    pub day: Option<Money>,
    /// `--max-cost`: of this `do`.
    pub max_cost: Option<Money>,
    /// `--max-tokens-total`: of this `do`, requests and answers.
    pub max_tokens_total: Option<u64>,
}

impl Budgets {
    /// Whether there is a limit.
    pub fn is_any(&self) -> bool {
        self.is_in_money() || self.max_tokens_total.is_some()
    }

    /// Whether there is a limit in money, which needs prices.
    pub fn is_in_money(&self) -> bool {
        self.turn.is_some() || self.day.is_some() || self.max_cost.is_some()
    }
}

/// Whether a repository's limit may replace the user's: it is lower, or the user has none.
pub fn may_replace(repo: Option<Money>, user: Option<Money>) -> bool {
    repo.zip(user).is_none_or(|(theirs, own)| theirs < own)
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
            ("0.0000004", Some("0.0000004")),
            ("0.000000000001", Some("0.000000000001")),
            ("1e-30", Some("0.000000000001")),
            ("0.1", Some("0.10")),
            ("999999.99", Some("999999.99")),
            ("1000000", Some("1000000.00")),
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
        for (units, shown) in [(1, "0.000000000001"), (999_999, "0.000000999999"), (1_000_001, "0.000002")] {
            assert_eq!(Money::of_units(units).to_string(), shown);
        }
    }

    #[test]
    fn a_cost_that_is_not_nothing_is_not_shown_as_nothing() {
        for (units, shown) in [
            (0, "0.00"),
            (1, "0.000000000001"),
            (126, "0.00000000013"),
            (4_230_000_000, "0.0042"),
            (4_999_999_999, "0.005"),
            (5_000_000_000, "0.01"),
            (14_999_000_000, "0.01"),
            (1_234_567_000_000, "1.23"),
        ] {
            assert_eq!(short_cost(units), shown, "{units}");
        }
        for power in 0..38 {
            let shown = short_cost(10_u128.pow(power));
            assert!(shown.contains('1') && !shown.starts_with("0.00 "), "{power}: {shown}");
        }
    }

    #[test]
    fn a_repository_only_lowers() {
        for (repo, user, is_wanted) in [
            (Some(5), Some(9), true),
            (Some(9), Some(5), false),
            (Some(5), Some(5), false),
            (None, Some(5), true),
            (Some(5), None, true),
        ] {
            assert_eq!(may_replace(repo.map(Money), user.map(Money)), is_wanted, "{repo:?}");
        }
    }
}
