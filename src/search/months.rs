//! The bubbs that a search has to look into, month by month, newest first: several months at once, on all
//! processors.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Filter, Pattern, candidates};
use crate::bubb::{BubbId, Day, Name};
use crate::error::Result;
use crate::store::{Store, few_in_order};

/// Progress of a search for candidates.
pub struct Looking<'l> {
    /// Read every file: without the text cache.
    pub no_cache: bool,
    /// Told how many days of how many were looked at.
    pub progress: &'l (dyn Fn(u64, u64) + Sync),
}

/// A month of one store: its days that have a folder.
type Part<'s> = (&'s Store, Vec<Day>);

/// Gives `each` the bubbs in whose files the pattern has to be looked for, of a store and of other people's in
/// it: a month at a time, newest first, until that breaks. What is in `.lepo/` itself comes with its month.
pub fn by_month(
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    looking: &Looking<'_>,
    mut each: impl FnMut(Vec<Name>) -> ControlFlow<()>,
) -> Result<()> {
    let stores: Vec<&Store> =
        std::iter::once(store).chain(store.others().iter().map(|(_, store)| store)).collect();
    let mut recent = Vec::new();
    let mut months: BTreeMap<String, Vec<Part<'_>>> = BTreeMap::new();
    for store in stores {
        let (names, days) = store.recent_and_days()?;
        recent.extend(names);
        for day in days {
            let (start, end) = (day.start(), day.next().start());
            if start > *filter.times.end() || end <= *filter.times.start() {
                continue;
            }
            let parts = months.entry(day.month()).or_default();
            match parts.last_mut().filter(|(last, _)| std::ptr::eq(*last, store)) {
                Some((_, days)) => days.push(day),
                None => parts.push((store, vec![day])),
            }
        }
    }
    recent.sort_unstable_by_key(|name| name.id);
    recent.dedup_by_key(|name| name.id);
    let in_lepo: Vec<BubbId> = recent.iter().map(|name| name.id).collect();
    recent.retain(|name| filter.takes(name));
    let total = months.values().flatten().map(|(_, days)| days.len() as u64).sum();
    let (count, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let done = || {
        (looking.progress)(count.fetch_add(1, Ordering::Relaxed) + 1, total);
        if ended.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut result = Ok(());
    few_in_order(
        months.iter().rev(),
        |(month, parts)| (month, of_month((month, parts), pattern, filter, looking.no_cache, &done)),
        |(month, names)| {
            let names = names.map(|mut names| {
                names.retain(|name| in_lepo.binary_search(&name.id).is_err());
                let newer = recent.partition_point(|name| Day::of(name.id).month() < *month);
                names.extend(recent.drain(newer..));
                names.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
                names.dedup_by_key(|name| name.id);
                names
            });
            let flow = match names {
                Ok(names) => each(names),
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            };
            ended.store(flow.is_break(), Ordering::Relaxed);
            flow
        },
    );
    result?;
    if !ended.into_inner() {
        recent.reverse();
        let _ = each(recent);
    }
    Ok(())
}

/// The part of one month to search.
fn of_month(
    (month, parts): (&str, &[Part<'_>]),
    pattern: &Pattern,
    filter: &Filter,
    no_cache: bool,
    done: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    for (store, days) in parts {
        if !no_cache {
            names.extend(candidates(store, pattern, filter, month, days, done)?);
            continue;
        }
        for day in days {
            names.extend(store.bubbs_of_day(*day)?.into_iter().filter(|name| filter.takes(name)));
            if done().is_break() {
                return Ok(names);
            }
        }
    }
    Ok(names)
}
