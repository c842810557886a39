//! Finds the bubbs that a search has to read, month by month, newest first; several months in parallel.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Candidates, Filter, Pattern, candidates};
use lepo_base::error::Result;
use lepo_base::read_ahead::few_in_order;
use lepo_store::bubb::{BubbName, Day};
use lepo_store::store::{Store, by_id};

/// Options and progress of a search for candidates.
pub struct SearchOptions<'l> {
    /// Read every file, without the text cache.
    pub no_cache: bool,
    /// Positions of the matches in their conversations will be needed.
    pub is_placed: bool,
    /// Called with the number of days searched so far, and the number of all days.
    pub progress: &'l (dyn Fn(u64, u64) + Sync),
}

/// A month of a store: its days with a folder.
type StoreMonth<'s> = (&'s Store, Vec<Day>);

/// The bubbs in `.lepo/` itself.
struct RecentNames {
    /// All, by id, without duplicates.
    all: Vec<BubbName>,
    /// Those to search that were not returned yet, by id.
    remaining: Vec<BubbName>,
}

impl RecentNames {
    fn new(mut all: Vec<BubbName>, filter: &Filter) -> RecentNames {
        all.sort_unstable_by(by_id);
        all.dedup_by_key(|name| name.id);
        let remaining = all.iter().filter(|name| filter.matches(name)).copied().collect();
        RecentNames { all, remaining }
    }

    /// Moves the bubbs of a month and of later ones into the candidates of that month.
    fn join(&mut self, month: &str, candidates: &mut Candidates) {
        // If an id is also in `.lepo/`, that name wins.
        let is_old = |name: &BubbName| self.all.binary_search_by_key(&name.id, |name| name.id).is_err();
        candidates.names.retain(is_old);
        candidates.above.retain(is_old);
        let newer =
            |names: &[BubbName]| names.partition_point(|name| Day::from_id(name.id).month().as_str() < month);
        candidates.names.extend(self.remaining.drain(newer(&self.remaining)..));
        candidates.names.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
        candidates.names.dedup_by_key(|name| name.id);
        if !candidates.names.is_empty() {
            candidates.above.extend(self.all.iter().skip(newer(&self.all)));
        }
    }
}

/// Passes to `each` the bubbs whose files have to be searched, of a store and its peers: a month at a time, newest
/// first, until it breaks. Bubbs in `.lepo/` itself come with their month.
pub fn by_month(
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    looking: &SearchOptions<'_>,
    mut each: impl FnMut(Candidates) -> ControlFlow<()>,
) -> Result<()> {
    let stores: Vec<&Store> =
        std::iter::once(store).chain(store.peers().iter().map(|(_, store)| store)).collect();
    let (mut names, mut unreadable) = (Vec::new(), Vec::new());
    let mut months: BTreeMap<String, Vec<StoreMonth<'_>>> = BTreeMap::new();
    for store in stores {
        let (recent, days, failed) = store.recent_and_days()?;
        names.extend(recent);
        unreadable.extend(failed);
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
    if !unreadable.is_empty() && each(Candidates { unreadable, ..Candidates::default() }).is_break() {
        return Ok(());
    }
    let total = months.values().flatten().map(|(_, days)| days.len() as u64).sum();
    let (count, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let done = || {
        (looking.progress)(count.fetch_add(1, Ordering::Relaxed) + 1, total);
        if ended.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // Sorted lazily, while the threads are already working.
    let mut recent = LazyCell::new(|| RecentNames::new(names, filter));
    few_in_order(
        months.iter().rev(),
        |(month, parts)| (month, search_month((month, parts), pattern, filter, looking, &done)),
        |(month, mut candidates)| {
            LazyCell::force_mut(&mut recent).join(month, &mut candidates);
            let flow = each(candidates);
            ended.store(flow.is_break(), Ordering::Relaxed);
            flow
        },
    );
    if !ended.into_inner() {
        let mut rest = Candidates::default();
        LazyCell::force_mut(&mut recent).join("", &mut rest);
        let _ = each(rest);
    }
    Ok(())
}

/// Returns the candidates of a month.
fn search_month(
    (month, parts): (&str, &[StoreMonth<'_>]),
    pattern: &Pattern,
    filter: &Filter,
    looking: &SearchOptions<'_>,
    done: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Candidates {
    let mut all = Candidates::default();
    for (store, days) in parts {
        if !looking.no_cache {
            let more = candidates(store, pattern, filter, (month, days), looking.is_placed, done);
            all.names.extend(more.names);
            all.above.extend(more.above);
            all.unreadable.extend(more.unreadable);
            continue;
        }
        for day in days {
            match store.names_of_day(*day) {
                Ok(names) => all.names.extend(names.into_iter().filter(|name| filter.matches(name))),
                Err(error) => all.unreadable.push(error),
            }
            if done().is_break() {
                return all;
            }
        }
    }
    all
}
