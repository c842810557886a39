//! Cost of a conversation: the sum over the answers on its path, as far as prices are known. Pure.

use schemars::JsonSchema;
use serde::Serialize;

use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, JournalRecord};
use lepo_turn::config::{Prices, short_cost};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Sum of the known costs, in the unit of [`short_cost`].
    units: u64,
    has_known: bool,
    /// At least one cost is unknown: its model has no price, or no tokens were counted.
    has_unknown: bool,
}

impl Cost {
    /// Returns the cost of one journal line. Copies cost nothing because no request was sent.
    fn from_record(record: &JournalRecord, prices: &Prices) -> Cost {
        let Some(model) = record.model.as_deref().filter(|_| record.copy_of.is_none()) else {
            return Cost::default();
        };
        let has_tokens = record.input.is_some() || record.output.is_some();
        match prices.price_of(model, None).filter(|_| has_tokens) {
            None => Cost { has_unknown: true, ..Cost::default() },
            Some(price) => {
                let count = |tokens: Option<u64>| tokens.unwrap_or(0);
                let units = price.cost(count(record.input), count(record.cached), count(record.output));
                Cost { units: u64::try_from(units).unwrap_or(u64::MAX), has_known: true, has_unknown: false }
            }
        }
    }

    fn plus(self, other: Cost) -> Cost {
        Cost {
            units: self.units.saturating_add(other.units),
            has_known: self.has_known || other.has_known,
            has_unknown: self.has_unknown || other.has_unknown,
        }
    }

    /// Formats the sum with two decimals, more if that would be nothing, and `+` if some answers' cost is unknown; `None`
    /// if all are.
    pub fn text(self) -> Option<String> {
        let more = if self.has_unknown { "+" } else { "" };
        Some(format!("{}{more}", self.sum()?))
    }

    fn sum(self) -> Option<String> {
        self.has_known.then(|| short_cost(u128::from(self.units)))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CostFields {
    /// The total cost of the conversation's answers, to two decimals; null if no price is known. Copies cost nothing.
    #[schemars(range(min = 0))]
    cost: Option<f64>,
    /// The cost of some answers is unknown and not included.
    cost_partial: bool,
}

impl From<Cost> for CostFields {
    fn from(cost: Cost) -> CostFields {
        CostFields {
            cost: cost.sum().and_then(|sum| sum.parse().ok()),
            cost_partial: cost.has_known && cost.has_unknown,
        }
    }
}

/// Costs of many conversations; a shared trunk is summed once.
pub struct Costs<'f> {
    forest: &'f Forest,
    facts: &'f JournalIndex,
    prices: &'f Prices,
    known: Vec<Option<Cost>>,
}

impl<'f> Costs<'f> {
    /// Returns `None` if no prices are set.
    pub fn new(forest: &'f Forest, facts: &'f JournalIndex, prices: &'f Prices) -> Option<Costs<'f>> {
        (!prices.is_empty()).then(|| Costs { forest, facts, prices, known: vec![None; forest.len()] })
    }

    /// Sums the costs on the path from the root to `tail`.
    pub fn cost(&mut self, tail: Ix) -> Cost {
        let (mut walked, mut sum) = (Vec::new(), Cost::default());
        for ix in self.forest.up(tail) {
            if let Some(known) = self.known[ix.at()] {
                sum = known;
                break;
            }
            walked.push(ix);
        }
        for ix in walked.into_iter().rev() {
            let lines = self.facts.records(self.forest.name(ix).id);
            sum = lines.fold(sum, |sum, line| sum.plus(Cost::from_record(&line, self.prices)));
            self.known[ix.at()] = Some(sum);
        }
        sum
    }
}
