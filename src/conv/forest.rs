//! All names of a store, sorted by id, with each bubb's prev looked up once.
//!
//! Walks are loops, never recursion: a conv may be 100,000 long, and a hand may have tied a circle.

use crate::bubb::{BubbId, Name};

/// A bubb's place in its [`Forest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ix(pub(super) u32);

const NONE: u32 = u32::MAX;

impl Ix {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The names of a store as a forest.
pub struct Forest {
    names: Vec<Name>,
    prevs: Vec<u32>,
}

/// How a conv ends at its old end.
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
    /// Whether it is whole.
    pub end: End,
}

impl Forest {
    /// Sorts `names`; of two files that bear one id, the first in name order counts.
    pub fn new(mut names: Vec<Name>) -> Forest {
        names.sort_unstable_by_key(|name| (name.id, name.prev, name.kind, name.hidden));
        names.dedup_by_key(|name| name.id);
        let find = |id: BubbId| names.binary_search_by_key(&id, |name| name.id);
        let prevs = names
            .iter()
            .map(|name| name.prev.and_then(|prev| find(prev).ok()).map_or(NONE, |i| i as u32))
            .collect();
        Forest { names, prevs }
    }

    /// How many bubbs there are.
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

    /// What a bubb's name says.
    pub fn name(&self, ix: Ix) -> Name {
        self.names[ix.at()]
    }

    /// The bubb before, if it is there.
    pub fn prev(&self, ix: Ix) -> Option<Ix> {
        match self.prevs[ix.at()] {
            NONE => None,
            prev => Some(Ix(prev)),
        }
    }

    /// All bubbs, the oldest id first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        (0..self.names.len() as u32).map(Ix)
    }

    /// Those whose prev is `ix`, oldest first.
    pub fn children(&self, ix: Ix) -> impl Iterator<Item = Ix> {
        self.all().filter(move |&child| self.prevs[child.at()] == ix.0)
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
        let end = loop {
            let Some(wanted) = self.names[last.at()].prev else { break End::Root };
            let Some(prev) = self.prev(last) else { break End::Missing(wanted) };
            // In a sorted forest only a link to a newer bubb can close a circle.
            if prev >= last && path.contains(&prev) {
                break End::Cycle(wanted);
            }
            path.push(prev);
            last = prev;
        };
        path.reverse();
        Conv { path, end }
    }

    /// What the conv of `to` has and that of `from` has not, oldest first.
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
