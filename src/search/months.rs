//! The bubbs that a search has to look into, month by month, newest first: several months at once, on all
//! processors.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Filter, Pattern, candidates};
use crate::bubb::{BubbId, Day, Name};
use crate::error::{Error, Result};
use crate::store::Store;

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
        recent.extend(store.recent_names()?);
        for day in store.days()? {
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
    let is_recent: HashSet<BubbId> = recent.iter().map(|name| name.id).collect();
    recent.retain(|name| filter.takes(name));
    recent.sort_unstable_by_key(|name| name.id);
    recent.dedup_by_key(|name| name.id);
    let months: Vec<(String, Vec<Part<'_>>)> = months.into_iter().rev().collect();
    let total = months.iter().flat_map(|(_, parts)| parts).map(|(_, days)| days.len() as u64).sum();
    let count = AtomicU64::new(0);
    let done = &|| (looking.progress)(count.fetch_add(1, Ordering::Relaxed) + 1, total);
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    for some in months.chunks(at_once) {
        let found = thread::scope(|scope| {
            let look = |(month, parts): &(String, Vec<Part<'_>>)| {
                of_month((month, parts), pattern, filter, looking.no_cache, done)
            };
            let started: Vec<_> = some.iter().map(|month| scope.spawn(move || look(month))).collect();
            let ended = started.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::store("a thread of the search ended early")))
            });
            ended.collect::<Vec<_>>()
        });
        for ((month, _), names) in some.iter().zip(found) {
            let mut names = names?;
            names.retain(|name| !is_recent.contains(&name.id));
            let newer = recent.partition_point(|name| Day::of(name.id).month() < *month);
            names.extend(recent.drain(newer..));
            names.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
            names.dedup_by_key(|name| name.id);
            if each(names).is_break() {
                return Ok(());
            }
        }
    }
    recent.reverse();
    let _ = each(recent);
    Ok(())
}

/// The part of one month to search.
fn of_month(
    (month, parts): (&str, &[Part<'_>]),
    pattern: &Pattern,
    filter: &Filter,
    no_cache: bool,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    for (store, days) in parts {
        if !no_cache {
            names.extend(candidates(store, pattern, filter, month, days, done)?);
            continue;
        }
        for day in days {
            names.extend(store.bubbs_of_day(*day)?.into_iter().filter(|name| filter.takes(name)));
            done();
        }
    }
    Ok(names)
}
