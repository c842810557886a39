//! `lepo stats`: prints token use from the journal.

mod table;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Context;
use super::repo_files::read_settings;
use crate::stats::{GroupBy, TallyKeys, TallyRow, TallyRows, tally};
use crate::term::{excerpt_within, print_status};
use crate::ui::{ShortIds, text_or_warn};
use lepo_base::error::{Error, Result};
use lepo_base::time::{self, DayEnd};
use lepo_store::bubb::{BubbId, model_label};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{Store, now};

/// Print usage statistics: tokens, times, failures
///
/// Counts from the journal, with one row per local day: questions, answers, failed requests, request tokens
/// (including those from the provider's cache, also shown separately), answer tokens, and the median times to the
/// first text and to the end. The cost is shown if the price of a model is known: from [[prices]], with model, input,
/// output and cached per million tokens, or from price in its [[models]].
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo stats\n  lepo stats --since 7d --by model\n  lepo stats --by day,model\n  \
    lepo stats --by week --csv > weeks.csv\n  lepo stats --json | jq .total.out"
)]
pub struct StatsArgs {
    /// Count only since WHEN: a date, or a span like 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Group the rows by day, week, model or conv
    ///
    /// day,model groups by both.
    #[arg(long, value_parser = GroupBy::parse, default_value = "day", value_name = "WHAT")]
    by: GroupBy,
    /// Print one JSON document: {"rows": [...], "total": {...}}; times in milliseconds
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values, with a heading
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub fn run_stats(args: StatsArgs, context: &mut Context<'_>) -> Result<u8> {
    let since = match &args.since {
        None => 0,
        Some(text) => time::parse(text, now(), DayEnd::First).ok_or_else(|| {
            Error::usage(format!("--since {text:?} is not a time")).hint(format!("it is {}", time::FORMS))
        })?,
    };
    let store = context.store()?;
    let forest = store.forest()?;
    let prices = read_settings(context)?.prices();
    let mut keys = TallyKeys::new(&forest, args.by, since);
    let rows =
        tally(store.journal().records(), args.by, &|name: &str| prices.price_of(name, None), |record| {
            keys.key_for(record)
        });
    if args.json {
        context.out.document(&StatsDocument { rows: &rows.rows, total: &rows.total });
    } else if args.csv {
        csv(&rows, context);
    } else if rows.rows.is_empty() {
        print_status("no usage yet: the journal has no answers");
    } else {
        let subjects = (args.by == GroupBy::Conv).then(|| Subjects::new(&store, &forest));
        let names = |row: &TallyRow| match args.by {
            GroupBy::Conv => subjects.as_ref().and_then(|subjects| subjects.find(row)),
            GroupBy::Day | GroupBy::Week | GroupBy::Model | GroupBy::DayAndModel => None,
        };
        let columns = context.out.columns();
        let ids = rows.rows.iter().filter_map(|row| BubbId::parse(row.key.as_bytes()));
        let shorts = ShortIds::on_terminal(context.out.is_terminal(), ids);
        let keys =
            |row: &TallyRow| match BubbId::parse(row.key.as_bytes()).filter(|_| args.by == GroupBy::Conv) {
                Some(id) => shorts.show(id),
                None => model_label(&row.key).to_string(),
            };
        let lines = table::lines(&rows, columns, context.paint, keys, names);
        for line in lines {
            // Model names and question texts are cleaned in the lines.
            context.out.trusted(&line);
            context.out.trusted("\n");
        }
    }
    Ok(0)
}

/// A single document: rows of statistics, and their total.
#[derive(Serialize, JsonSchema)]
pub struct StatsDocument<'d> {
    rows: &'d [TallyRow],
    total: &'d TallyRow,
}

struct Subjects<'s> {
    store: &'s Store,
    forest: &'s Forest,
    titles: HashMap<BubbId, String>,
    /// The oldest child of each bubb.
    first: HashMap<Ix, Ix>,
}

impl<'s> Subjects<'s> {
    fn new(store: &'s Store, forest: &'s Forest) -> Subjects<'s> {
        let first = forest.all().rev().filter_map(|ix| Some((forest.prev(ix)?, ix))).collect();
        Subjects { store, forest, titles: store.titles(), first }
    }

    /// Returns the title of a conversation, else its first question.
    fn find(&self, row: &TallyRow) -> Option<String> {
        let root = BubbId::parse(row.key.as_bytes())?;
        if let Some(title) = self.titles.get(&root) {
            return Some(title.clone());
        }
        let next = std::iter::successors(self.forest.find(root), |ix| self.first.get(ix).copied()).take(8);
        let question = next.into_iter().find(|&ix| self.forest.is_question(ix))?;
        text_or_warn(self.store, &self.forest.name(question)).map(|text| excerpt_within(&text, 60))
    }
}

fn csv(rows: &TallyRows, context: &mut Context<'_>) {
    context.out.line("key,questions,answers,failures,in,cached,out,first_ms,ms,cost");
    for row in &rows.rows {
        let key = match row.key.contains([',', '"', '\n']) {
            true => format!("\"{}\"", row.key.replace('"', "\"\"")),
            false => row.key.clone(),
        };
        let some = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let cost = row.cost.map(|cost| cost.to_string()).unwrap_or_default();
        let TallyRow { questions, answers, failures, input, cached, output, first_ms, ms, .. } = row;
        let (first_ms, ms) = (some(*first_ms), some(*ms));
        context.out.line(&format!(
            "{key},{questions},{answers},{failures},{input},{cached},{output},{first_ms},{ms},{cost}"
        ));
    }
}
