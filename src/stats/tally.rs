//! Sums journal records into rows.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use lepo_model::Price;
use lepo_store::bubb::BubbId;
use lepo_store::store::JournalRecord;

/// The subject of a row of figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum GroupBy {
    /// A local day
    #[default]
    Day,
    /// A week, named by its Monday
    Week,
    /// A model
    Model,
    /// A conversation, named by its root
    Conv,
    /// A local day and a model
    #[value(skip)]
    DayAndModel,
}

impl GroupBy {
    /// Parses the value of `--by`.
    ///
    /// # Errors
    ///
    /// Lists the allowed values.
    pub fn parse(text: &str) -> Result<GroupBy, String> {
        match text {
            "day,model" | "model,day" => Ok(GroupBy::DayAndModel),
            one => <GroupBy as clap::ValueEnum>::from_str(one, false)
                .map_err(|_| "it is day, week, model, conv, or day,model".to_string()),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "row")]
pub struct TallyRow {
    /// The day, week, model or conversation.
    pub key: String,
    /// The day, in rows by day and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub day: Option<String>,
    /// The model, in rows by day and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// Questions to a model.
    pub questions: u64,
    /// Complete answers and imported ones.
    pub answers: u64,
    /// Failed requests, and answers that were empty or malformed.
    pub failures: u64,
    /// Tokens of requests, including cached ones.
    #[serde(rename = "in")]
    pub input: u64,
    /// Tokens of requests that the provider's cache served.
    pub cached: u64,
    #[serde(rename = "out")]
    pub output: u64,
    /// Median time from a request to the first text, in milliseconds.
    pub first_ms: Option<u64>,
    /// Median time from a request to the end of the answer, in milliseconds.
    pub ms: Option<u64>,
    pub cost: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TallyRows {
    /// Sorted by key; models and conversations by their tokens, largest first.
    pub rows: Vec<TallyRow>,
    pub total: TallyRow,
}

#[derive(Default)]
struct TallySum {
    row: TallyRow,
    asked: HashSet<BubbId>,
    first: Vec<u64>,
    whole: Vec<u64>,
    /// In units of 10⁻¹².
    cost: Option<u128>,
}

pub struct TallyKey {
    pub key: String,
    pub question: Option<BubbId>,
}

/// Sums the records by the key that the closure returns; `None` omits a record.
pub fn tally(
    records: impl Iterator<Item = JournalRecord>,
    by: GroupBy,
    prices: &impl Fn(&str) -> Option<Price>,
    mut key_of: impl FnMut(&JournalRecord) -> Option<TallyKey>,
) -> TallyRows {
    let (mut sums, mut total): (BTreeMap<String, TallySum>, TallySum) = Default::default();
    for record in records.filter(|record| record.model.is_some() && record.copy_of.is_none()) {
        let Some(TallyKey { key, question }) = key_of(&record) else { continue };
        sums.entry(key).or_default().add(&record, question, prices);
        total.add(&record, question, prices);
    }
    let row =
        |(key, sum): (String, TallySum)| match key.split_once('\t').filter(|_| by == GroupBy::DayAndModel) {
            Some((day, model)) => {
                let key = format!("{day} {model}");
                TallyRow { key, day: Some(day.into()), model: Some(model.into()), ..sum.row() }
            }
            None => TallyRow { key, ..sum.row() },
        };
    let mut rows: Vec<TallyRow> = sums.into_iter().map(row).collect();
    if matches!(by, GroupBy::Model | GroupBy::Conv) {
        rows.sort_by_key(|row| std::cmp::Reverse(row.input + row.output));
    }
    TallyRows { rows, total: TallyRow { key: "total".into(), ..total.row() } }
}

impl TallySum {
    fn add(
        &mut self,
        record: &JournalRecord,
        question: Option<BubbId>,
        prices: &impl Fn(&str) -> Option<Price>,
    ) {
        let row = &mut self.row;
        let (input, output) = (record.input.unwrap_or(0), record.output.unwrap_or(0));
        let cached = record.cached.unwrap_or(0).min(input);
        let answered = record.what == "answer";
        row.answers += u64::from(answered || record.what == "imported");
        row.failures += u64::from(record.failed || matches!(record.what.as_str(), "empty" | "unreadable"));
        row.input = row.input.saturating_add(input);
        row.cached = row.cached.saturating_add(cached);
        row.output = row.output.saturating_add(output);
        self.asked.extend(question);
        if answered {
            self.first.extend(record.first_ms);
            self.whole.extend(record.ms);
        }
        if let Some(price) = record.model.as_deref().and_then(prices) {
            let cost = price.cost(input, cached, output);
            self.cost = Some(self.cost.unwrap_or(0).saturating_add(cost));
        }
    }

    fn row(self) -> TallyRow {
        TallyRow {
            questions: self.asked.len() as u64,
            first_ms: median(self.first),
            ms: median(self.whole),
            cost: self.cost.map(|cost| cost as f64 / 1e12),
            ..self.row
        }
    }
}

/// Returns the median; of an even number of times, the lower middle one.
fn median(mut times: Vec<u64>) -> Option<u64> {
    let middle = times.len().checked_sub(1)? / 2;
    Some(*times.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(what: &str, model: &str, tokens: (u64, u64, u64), ms: u64) -> JournalRecord {
        let (input, cached, output) = tokens;
        JournalRecord {
            what: what.into(),
            model: (!model.is_empty()).then(|| model.into()),
            input: Some(input),
            cached: Some(cached),
            output: Some(output),
            ms: Some(ms),
            first_ms: Some(ms / 10),
            failed: what == "failed",
            ..JournalRecord::default()
        }
    }

    #[test]
    fn tokens_times_failures_and_costs_add_up() {
        let records = [
            record("answer", "a", (1_000_000, 400_000, 200_000), 100),
            record("answer", "b", (10, 20, 5), 900),
            record("answer", "a", (0, 0, 0), 300),
            record("calls", "a", (100, 0, 1), 5_000),
            record("failed", "b", (0, 0, 0), 1),
            record("empty", "a", (7, 0, 0), 1),
            record("command", "", (9, 9, 9), 9),
            record("imported", "b", (1, 0, 1), 7_000),
        ];
        let price = Price { input: 2_000_000, output: 10_000_000, cached: 500_000 };
        let prices = |name: &str| (name == "a").then_some(price);
        let question = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
        let by_model = |record: &JournalRecord| Some(TallyKey { key: record.model.clone()?, question });
        let rows = tally(records.into_iter(), GroupBy::Model, &prices, by_model);
        let keys: Vec<&str> = rows.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["a", "b"]);
        let a = &rows.rows[0];
        assert_eq!((a.questions, a.answers, a.failures), (1, 2, 1));
        assert_eq!((a.input, a.cached, a.output), (1_000_107, 400_000, 200_001));
        assert_eq!((a.first_ms, a.ms), (Some(10), Some(100)));
        assert_eq!(a.cost, Some(3.400_224), "0.600107 M at 2, 0.4 M at 0.5, 0.200001 M at 10");
        let b = &rows.rows[1];
        assert_eq!((b.answers, b.failures, b.cached, b.cost), (2, 1, 10, None));
        assert_eq!(b.ms, Some(900), "an import has no times");
        assert_eq!((rows.total.questions, rows.total.answers, rows.total.failures), (1, 4, 2));
        assert_eq!(rows.total.cost, a.cost);
    }

    #[test]
    fn rows_of_days_stand_in_their_order() {
        let day = |ms: u64| record("answer", "m", (ms, 0, 0), ms);
        let key_of =
            |record: &JournalRecord| Some(TallyKey { key: format!("day {}", record.ms?), question: None });
        let rows = tally([day(3), day(1), day(2)].into_iter(), GroupBy::Day, &|_: &str| None, key_of);
        assert_eq!(
            rows.rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(),
            ["day 1", "day 2", "day 3"]
        );
        assert_eq!(tally([].into_iter(), GroupBy::Day, &|_: &str| None, key_of).total.ms, None);
    }
}
