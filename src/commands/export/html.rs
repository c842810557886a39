//! `lepo export --format html`: reads the content of a page.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::args::ExportArgs;
use super::output::Document;
use crate::commands::address_args::resolve_all;
use crate::stats::{GroupBy, TallyKey, TallyRow, tally};
use crate::ui::{ended_early, warn_incomplete};
use crate::view::Overviews;
use lepo_base::error::{Error, Result};
use lepo_base::read_ahead::in_order;
use lepo_page::{Bar, Figures, Page, PageMessage, PageSelection};
use lepo_store::bubb::{BubbId, plural_in_thousands, thousands};
use lepo_store::conv::{AddressMatch, Forest, Ix};
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

/// Returns the page of the given conversations, or of all.
pub fn documents(args: &ExportArgs, store: &Store) -> Result<Vec<Document>> {
    let forest = &store.forest()?;
    let tips = tips(args, store, forest)?;
    let stopped = StoppedAnswers::new(store, forest);
    let spent = if args.hidden { spent_tails(forest) } else { Vec::new() };
    let picked = lepo_page::pick(forest, &tips, (args.hidden, &|id| stopped.contains(id)), &spent);
    let Some(chosen) = picked.chosen else {
        let nothing = Error::nothing("nothing to show on a page");
        return Err(match forest.is_empty() {
            true => nothing.hint("the store has no messages"),
            false => nothing.hint("all of its messages are hidden; -a shows them too"),
        });
    };
    let title = Overviews::new(store, forest).overview(picked.bubbs[chosen].0).title().map(str::to_string);
    let mut page = Page::new(messages(store, (forest, &stopped), &picked)?, chosen, title);
    page.figures = figures(args, store, forest, &picked);
    Ok(vec![Document { stem: String::new(), text: lepo_page::html(&page).into_bytes() }])
}

/// Sums the token use of the page's messages, or of the whole store with `--all`. Days are in UTC, so that a
/// store produces the same page everywhere.
fn figures(args: &ExportArgs, store: &Store, forest: &Forest, picked: &PageSelection) -> Option<Figures> {
    let shown: HashSet<BubbId> = picked.bubbs.iter().map(|(ix, _)| forest.name(*ix).id).collect();
    let counts = |record: &JournalRecord| args.all || record.bubb.is_some_and(|id| shown.contains(&id));
    let records: Vec<JournalRecord> = store.journal().records().filter(counts).collect();
    let rows = |by: GroupBy, key: &dyn Fn(&JournalRecord) -> Option<String>| {
        tally(records.iter().cloned(), by, &|_: &str| None, |record| {
            Some(TallyKey { key: key(record)?, question: None })
        })
    };
    let day = |record: &JournalRecord| {
        let moment = record.bubb.map_or(record.time, BubbId::time);
        let time = jiff::Timestamp::from_millisecond(i64::try_from(moment).ok()?).ok()?;
        Some(time.strftime("%Y-%m-%d").to_string())
    };
    let (days, models) = (rows(GroupBy::Day, &day), rows(GroupBy::Model, &|record| record.model.clone()));
    let bar = |row: TallyRow| Bar {
        label: row.key,
        input: row.input - row.cached,
        cached: row.cached,
        output: row.output,
    };
    let TallyRow { answers, failures, input, output, .. } = models.total;
    if input + output == 0 {
        return None;
    }
    let failed = if failures > 0 { format!(" · {} failed", thousands(failures)) } else { String::new() };
    let about = format!(
        "{} · {} tokens in · {} out{failed}",
        plural_in_thousands(answers, "answer"),
        thousands(input),
        thousands(output)
    );
    let bars = |rows: Vec<TallyRow>| rows.into_iter().map(bar).collect();
    Some(Figures { about, days: bars(days.rows), models: bars(models.rows) })
}

/// Returns the tails of the page's conversations; the first is displayed first.
fn tips(args: &ExportArgs, store: &Store, forest: &Forest) -> Result<Vec<Ix>> {
    if args.all {
        return Ok(forest.tails(false));
    }
    let mut tips = Vec::new();
    for found in resolve_all(store, (forest, true), &args.addresses)? {
        let AddressMatch::One(found) = found else {
            return Err(Error::usage("a page shows whole conversations, not a range"));
        };
        warn_incomplete(&forest.conv(found.ix));
        tips.push(found.ix);
    }
    Ok(tips)
}

/// Returns the ends of hidden side branches.
fn spent_tails(forest: &Forest) -> Vec<Ix> {
    let tails: HashSet<Ix> = forest.newest_first(false).collect();
    forest.newest_first(true).filter(|ix| !tails.contains(ix)).collect()
}

fn messages(
    store: &Store,
    (forest, stopped): (&Forest, &StoppedAnswers),
    picked: &PageSelection,
) -> Result<Vec<PageMessage>> {
    let (facts, branches) = (store.journal().facts(), store.branches_by_bubb()?);
    let read = |at: usize| -> Result<PageMessage> {
        let (ix, prev) = picked.bubbs[at];
        let mut message = message(store, (forest, stopped), ix, &facts, &branches)?;
        message.prev = prev;
        for &side in picked.sides.get(&at).into_iter().flatten() {
            message.sides.push(self::message(store, (forest, stopped), side, &facts, &branches)?);
        }
        Ok(message)
    };
    let (mut messages, mut failed) = (Vec::with_capacity(picked.bubbs.len()), None);
    in_order(0..picked.bubbs.len(), read, |message| match message {
        Ok(message) => {
            messages.push(message);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    failed.map_or(Ok(messages), Err)
}

fn message(
    store: &Store,
    (forest, stopped): (&Forest, &StoppedAnswers),
    ix: Ix,
    facts: &HashMap<BubbId, JournalRecord>,
    branches: &HashMap<BubbId, Vec<String>>,
) -> Result<PageMessage> {
    let name = forest.name(ix);
    let text = store.text(&name)?;
    let fact = facts.get(&name.id).cloned().unwrap_or_default();
    Ok(PageMessage {
        id: name.id,
        role: name.role,
        hidden: !stopped.is_shown(&name),
        prev: None,
        speaker: store.speaker(forest, &name),
        ended_early: stopped.contains(name.id).then_some("(stopped)").or_else(|| ended_early(&fact)),
        model: fact.model,
        input: fact.input,
        output: fact.output,
        ms: fact.ms,
        branches: branches.get(&name.id).cloned().unwrap_or_default(),
        body: lepo_page::body(name.role, !stopped.is_shown(&name), &text, &|hash| store.blob_bytes(hash)),
        sides: Vec::new(),
    })
}
