//! All names of a store, sorted by id. A bubb's prev is looked up when it is first asked for: of a million
//! names most commands follow only a few.
//!
//! Walks are loops, never recursion: a conv may be 100,000 long, and hand-edited file names can form a cycle.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::bubb::{BubbId, Name};

/// A bubb's place in its [`Forest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ix(pub(super) u32);

/// A day in milliseconds: a bubb dated further ahead of the clock is *dated ahead*.
pub const AHEAD: u64 = 24 * 60 * 60 * 1000;

/// In place of a prev: there is none, or it is not in the store.
const NONE: u32 = u32::MAX;
/// In place of a prev: not looked up yet.
const UNKNOWN: u32 = u32::MAX - 1;

impl Ix {
    /// Index of the bubb among those of the forest.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// The names of a store as a forest.
pub struct Forest {
    names: Vec<Name>,
    /// Atomic only so that a lookup through a shared reference can be kept.
    prevs: Vec<AtomicU32>,
    ordered: bool,
    /// Bubbs of other people's stores, each with the number of its store.
    foreign: HashMap<BubbId, usize>,
    /// The latest time, in milliseconds since 1970, that is not dated ahead.
    latest: u64,
}

/// The old end of a conv.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At a root, as it should.
    Root,
    /// At a bubb whose prev is not there.
    Missing(BubbId),
    /// At a bubb whose prev had been passed already.
    Cycle(BubbId),
}

/// The path from a root to a bubb.
#[derive(Debug, Clone)]
pub struct Conv {
    /// The bubbs, the root first.
    pub path: Vec<Ix>,
    /// The old end: tells whether the conv is whole.
    pub end: End,
}

impl Forest {
    /// Sorts `names`; of two files that bear one id, the first in name order counts.
    pub fn new(mut names: Vec<Name>) -> Forest {
        let rest = |name: &Name| (name.prev, name.kind, name.hidden);
        let order = |a: &Name, b: &Name| a.id.cmp(&b.id).then_with(|| rest(a).cmp(&rest(b)));
        names.sort_unstable_by(order);
        names.dedup_by_key(|name| name.id);
        let prevs = names.iter().map(|_| AtomicU32::new(UNKNOWN)).collect();
        let ordered = names.iter().all(|name| name.prev.is_none_or(|prev| prev < name.id));
        Forest { names, prevs, ordered, foreign: HashMap::new(), latest: u64::MAX }
    }

    /// The forest as it is at `now`, so that it knows which bubbs are dated ahead; without it none is.
    pub fn seen_at(self, now: u64) -> Forest {
        Forest { latest: now.saturating_add(AHEAD), ..self }
    }

    /// True if a bubb is dated more than a day after the moment of [`seen_at`](Self::seen_at).
    pub fn is_ahead(&self, ix: Ix) -> bool {
        self.name(ix).id.time() > self.latest
    }

    /// A forest in which some bubbs are of other people's stores: `foreign` tells the number of each one's.
    pub fn with_foreign(names: Vec<Name>, foreign: HashMap<BubbId, usize>) -> Forest {
        Forest { foreign, ..Forest::new(names) }
    }

    /// The number of the other person's store that a bubb is of; `None` for the user's own.
    pub fn store_of(&self, ix: Ix) -> Option<usize> {
        if self.foreign.is_empty() { None } else { self.foreign.get(&self.name(ix).id).copied() }
    }

    /// Every bubb is newer than its prev, as in all that lepo writes; hand-edited names may break this.
    pub(super) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The number of bubbs.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// No bubbs at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The bubb of an id.
    pub fn find(&self, id: BubbId) -> Option<Ix> {
        self.names.binary_search_by_key(&id, |name| name.id).ok().map(|i| Ix(i as u32))
    }

    /// The parsed name of a bubb.
    pub fn name(&self, ix: Ix) -> Name {
        self.names[ix.at()]
    }

    /// The bubb before, if it is there.
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

    /// A prev is most often a near neighbour: looked for in steps that double, then between the last two.
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

    /// The bubbs whose ids are between these two, these included, oldest first.
    pub fn between(&self, low: BubbId, high: BubbId) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        let from = self.names.partition_point(|name| name.id < low);
        let to = self.names.partition_point(|name| name.id <= high);
        (from as u32..to.max(from) as u32).map(Ix)
    }

    /// All bubbs, the oldest id first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        (0..self.names.len() as u32).map(Ix)
    }

    /// Bubbs whose prev is `ix`, oldest first.
    pub fn children(&self, ix: Ix) -> impl Iterator<Item = Ix> {
        let id = self.name(ix).id;
        self.all().filter(move |&child| self.names[child.at()].prev == Some(id))
    }

    /// A bubb, its prev, … towards the root. In a circle it ends after at most three rounds
    /// (Brent's method: a landmark moved ever farther on), so that a walk needs no memory.
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

    /// The path from the root to `leaf`.
    pub fn conv(&self, leaf: Ix) -> Conv {
        let mut path = vec![leaf];
        let mut last = leaf;
        // Every circle has a link to a newer bubb: from the first of them on, what was passed is remembered.
        let mut passed: Option<HashSet<Ix>> = None;
        let end = loop {
            let Some(wanted) = self.names[last.at()].prev else { break End::Root };
            let Some(prev) = self.prev(last) else { break End::Missing(wanted) };
            if prev >= last && passed.is_none() {
                passed = Some(path.iter().copied().collect());
            }
            if passed.as_mut().is_some_and(|passed| !passed.insert(prev)) {
                break End::Cycle(wanted);
            }
            path.push(prev);
            last = prev;
        };
        path.reverse();
        Conv { path, end }
    }

    /// Bubbs that the conv of `to` has and that of `from` has not, oldest first.
    pub fn beyond(&self, from: Ix, to: Ix) -> Vec<Ix> {
        let mut shared = vec![false; self.len()];
        for ix in self.up(from) {
            shared[ix.at()] = true;
        }
        let mut path = self.conv(to).path;
        path.retain(|ix| !shared[ix.at()]);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn a_conv_goes_from_its_root_to_its_bubb() {
        for (store, leaf, path, end) in [
            ("A s1 head / B u0 A / C a0 B", "C", "ABC", End::Root),
            ("A s1 head / B u0 A / C a0 B / D a0 B", "D", "ABD", End::Root),
            ("B u0 A / C a0 B", "C", "BC", End::Missing(id("A"))),
            ("A u0 B / B u0 A", "B", "AB", End::Cycle(id("B"))),
            ("A u0 A", "A", "A", End::Cycle(id("A"))),
            ("A u0 B / B u0 A", "A", "BA", End::Cycle(id("A"))),
            ("A u0 C / B u0 A / C u0 B", "B", "CAB", End::Cycle(id("B"))),
            ("A u0 C / B u0 A / C u0 B / D a0 C", "D", "ABCD", End::Cycle(id("C"))),
            ("A u0 B / B u0 head / C a0 A", "C", "BAC", End::Root),
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
