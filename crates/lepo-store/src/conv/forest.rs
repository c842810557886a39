//! All names of a store, sorted by id. A bubb's prev is searched for on first use: of a million names, most commands
//! follow only a few.
//!
//! Walks are loops, never recursion: a conv may have 100,000 bubbs, and hand-edited file names can form a circle.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::bubb::{BubbId, BubbName};

/// Index of a bubb in its [`Forest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ix(pub(super) u32);

/// A day in milliseconds: a bubb dated more than this after now is *dated ahead*.
pub const AHEAD: u64 = 24 * 60 * 60 * 1000;

/// Marks a bubb without a prev, or with a prev that is not in the store.
const NONE: u32 = u32::MAX;
/// Marks a prev that has not been searched for yet.
const UNKNOWN: u32 = u32::MAX - 1;

impl Ix {
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

pub struct Forest {
    names: Vec<BubbName>,
    /// Atomic only so that a shared reference can cache a lookup.
    prevs: Vec<AtomicU32>,
    ordered: bool,
    /// Bubbs of other users' stores, each with the index of its store.
    foreign: HashMap<BubbId, usize>,
    /// The latest time, in milliseconds since 1970, of a bubb not dated ahead.
    latest: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvEnd {
    /// A root, as in an intact conv.
    Root,
    /// A bubb whose prev, this id, is missing.
    Missing(BubbId),
    /// A bubb whose prev, this id, is already part of the conv.
    Cycle(BubbId),
}

/// The path from a root to a bubb.
#[derive(Debug, Clone)]
pub struct Conv {
    /// The bubbs, root first.
    pub path: Vec<Ix>,
    /// Where the path ends; anything but a root means that the conv is incomplete.
    pub end: ConvEnd,
}

impl Forest {
    /// Sorts `names`. If two files have the same id, the first in name order counts.
    pub fn new(mut names: Vec<BubbName>) -> Forest {
        let rest = |name: &BubbName| (name.prev, name.role, name.hidden);
        let order = |a: &BubbName, b: &BubbName| a.id.cmp(&b.id).then_with(|| rest(a).cmp(&rest(b)));
        names.sort_unstable_by(order);
        names.dedup_by_key(|name| name.id);
        let prevs = names.iter().map(|_| AtomicU32::new(UNKNOWN)).collect();
        let ordered = names.iter().all(|name| name.prev.is_none_or(|prev| prev < name.id));
        Forest { names, prevs, ordered, foreign: HashMap::new(), latest: u64::MAX }
    }

    /// Sets the time after which bubbs count as dated ahead; without it no bubb does.
    pub fn seen_at(self, now: u64) -> Forest {
        Forest { latest: now.saturating_add(AHEAD), ..self }
    }

    /// Whether the bubb is dated more than a day after the `now` of [`seen_at`](Self::seen_at).
    pub fn is_ahead(&self, ix: Ix) -> bool {
        self.name(ix).id.time() > self.latest
    }

    /// Creates a forest that includes bubbs of other users' stores; `foreign` maps them to the index of their store.
    pub fn with_foreign(names: Vec<BubbName>, foreign: HashMap<BubbId, usize>) -> Forest {
        Forest { foreign, ..Forest::new(names) }
    }

    /// Returns the index of the other user's store that has the bubb; `None` for the user's own bubbs.
    pub fn store_of(&self, ix: Ix) -> Option<usize> {
        if self.foreign.is_empty() { None } else { self.foreign.get(&self.name(ix).id).copied() }
    }

    /// Whether it has bubbs of other users.
    pub(super) fn is_union(&self) -> bool {
        !self.foreign.is_empty()
    }

    /// Returns the forest of the user's own bubbs; `None` if all are.
    pub(super) fn own_bubbs(&self) -> Option<Forest> {
        let own = self.names.iter().filter(|name| !self.foreign.contains_key(&name.id)).copied();
        self.is_union().then(|| Forest { latest: self.latest, ..Forest::new(own.collect()) })
    }

    /// Whether every bubb is newer than its prev. lepo writes no other order, but hand-edited names may have one.
    pub(super) fn is_ordered(&self) -> bool {
        self.ordered
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn find(&self, id: BubbId) -> Option<Ix> {
        self.names.binary_search_by_key(&id, |name| name.id).ok().map(|i| Ix(i as u32))
    }

    pub fn name(&self, ix: Ix) -> BubbName {
        self.names[ix.at()]
    }

    /// Returns the previous bubb if it is in the forest.
    pub fn prev(&self, ix: Ix) -> Option<Ix> {
        match self.prevs[ix.at()].load(Ordering::Relaxed) {
            NONE => None,
            UNKNOWN => {
                let prev = self.look_up_prev(ix);
                self.prevs[ix.at()].store(prev.map_or(NONE, |prev| prev.0), Ordering::Relaxed);
                prev
            }
            prev => Some(Ix(prev)),
        }
    }

    /// Gallops back from `ix` in doubling steps, then searches the last step, because a prev is usually near.
    fn look_up_prev(&self, ix: Ix) -> Option<Ix> {
        let wanted = self.names[ix.at()].prev?;
        let (mut low, mut high, mut step) = (ix.at(), self.names.len(), 1);
        while low > 0 && self.names[low].id > wanted {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        let found = self.names[low..high].binary_search_by_key(&wanted, |name| name.id);
        found.ok().map(|i| Ix((low + i) as u32))
    }

    /// Returns the bubbs with ids from `low` to `high`, both included, oldest first.
    pub fn between(&self, low: BubbId, high: BubbId) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        let from = self.names.partition_point(|name| name.id < low);
        let to = self.names.partition_point(|name| name.id <= high);
        (from as u32..to.max(from) as u32).map(Ix)
    }

    /// Returns all bubbs, the oldest id first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        (0..self.names.len() as u32).map(Ix)
    }

    /// Returns the bubbs whose prev is `ix`, oldest first.
    pub fn children(&self, ix: Ix) -> impl Iterator<Item = Ix> {
        let id = self.name(ix).id;
        self.all().filter(move |&child| self.names[child.at()].prev == Some(id))
    }

    /// Walks from a bubb to its prev and on to the root. In a circle the walk ends after at most three rounds
    /// (Brent's method, with a landmark that moves ever farther), so it needs no memory.
    pub fn up(&self, from: Ix) -> impl Iterator<Item = Ix> {
        let (mut landmark, mut steps, mut reach) = (from, 0u32, 1u32);
        std::iter::successors(Some(from), move |&ix| {
            let prev = self.prev(ix).filter(|&prev| prev != landmark)?;
            steps += 1;
            if steps == reach {
                (landmark, steps, reach) = (prev, 0, reach.saturating_mul(2));
            }
            Some(prev)
        })
    }

    pub fn conv(&self, leaf: Ix) -> Conv {
        let mut path = vec![leaf];
        let mut last = leaf;
        // Every circle has a link to a newer bubb, so bubbs need remembering only from the first such link on.
        let mut passed: Option<HashSet<Ix>> = None;
        let end = loop {
            let Some(wanted) = self.names[last.at()].prev else { break ConvEnd::Root };
            let Some(prev) = self.prev(last) else { break ConvEnd::Missing(wanted) };
            if prev >= last && passed.is_none() {
                passed = Some(path.iter().copied().collect());
            }
            if passed.as_mut().is_some_and(|passed| !passed.insert(prev)) {
                break ConvEnd::Cycle(wanted);
            }
            path.push(prev);
            last = prev;
        };
        path.reverse();
        Conv { path, end }
    }

    /// Returns the bubbs in the conv of `to` that are not in the conv of `from`, oldest first.
    pub fn beyond(&self, from: Ix, to: Ix) -> Vec<Ix> {
        let mut shared = vec![false; self.len()];
        for ix in self.up(from) {
            shared[ix.at()] = true;
        }
        let mut path = self.conv(to).path;
        path.retain(|ix| !shared[ix.at()]);
        path
    }

    /// Returns these bubbs without the ancestors of earlier ones in the list.
    pub fn ends_among(&self, ids: &[BubbId]) -> Vec<BubbId> {
        let mut before: HashSet<Ix> = HashSet::new();
        let mut ends = Vec::new();
        for (id, ix) in ids.iter().filter_map(|id| Some((*id, self.find(*id)?))) {
            if !before.contains(&ix) {
                ends.push(id);
                before.extend(self.up(ix));
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn a_conv_goes_from_its_root_to_its_bubb() {
        for (store, leaf, path, end) in [
            ("A s1 head / B u0 A / C a0 B", "C", "ABC", ConvEnd::Root),
            ("A s1 head / B u0 A / C a0 B / D a0 B", "D", "ABD", ConvEnd::Root),
            ("B u0 A / C a0 B", "C", "BC", ConvEnd::Missing(id("A"))),
            ("A u0 B / B u0 A", "B", "AB", ConvEnd::Cycle(id("B"))),
            ("A u0 A", "A", "A", ConvEnd::Cycle(id("A"))),
            ("A u0 B / B u0 A", "A", "BA", ConvEnd::Cycle(id("A"))),
            ("A u0 C / B u0 A / C u0 B", "B", "CAB", ConvEnd::Cycle(id("B"))),
            ("A u0 C / B u0 A / C u0 B / D a0 C", "D", "ABCD", ConvEnd::Cycle(id("C"))),
            ("A u0 B / B u0 head / C a0 A", "C", "BAC", ConvEnd::Root),
        ] {
            let forest = fixture::forest(store);
            let conv = forest.conv(forest.find(id(leaf)).unwrap());
            assert_eq!(fixture::letters(&forest, &conv.path), path, "{store}");
            assert_eq!(conv.end, end, "{store}");
        }
    }

    #[test]
    fn walking_up_a_circle_ends() {
        let forest = fixture::forest("A u0 B / B u0 A");
        assert!(forest.up(forest.find(id("A")).unwrap()).count() < 7);
        let forest = fixture::forest("A u0 C / B u0 A / C u0 B / D a0 C / E a0 D");
        assert!(forest.up(forest.find(id("E")).unwrap()).count() < 12);
    }

    #[test]
    fn a_conv_of_a_hundred_thousand_is_no_trouble() {
        let forest = fixture::chain(100_000);
        let leaf = forest.all().next_back().unwrap();
        assert_eq!(forest.conv(leaf).path.len(), 100_000);
    }
}
