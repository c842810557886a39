//! Faults visible in names alone: links that lead nowhere or in a circle, duplicate ids, and dates in the future.

use std::collections::{HashMap, HashSet};

use super::{AHEAD, Forest, Ix};
use crate::bubb::{BubbId, BubbName};

/// A fault of a name in the context of all names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// The prev, this id, is missing.
    Dangling(BubbId),
    /// The bubb is in a circle of this length. Reported once per circle.
    Cycle(usize),
    /// An earlier name, at this index, has the same id.
    Duplicate(usize),
    /// The bubb is dated more than a day in the future.
    Future,
}

/// Returns the flaws of `names`, which must be all names of a store, each with the index of its name.
pub fn flaws(names: &[BubbName], now: u64) -> Vec<(usize, Flaw)> {
    let forest = Forest::new(names.to_vec());
    let mut found = Vec::new();
    let mut first: HashMap<BubbId, usize> = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if let Some(prev) = name.prev.filter(|&prev| forest.find(prev).is_none()) {
            found.push((index, Flaw::Dangling(prev)));
        }
        if name.id.time() > now + AHEAD {
            found.push((index, Flaw::Future));
        }
        let before = *first.entry(name.id).or_insert(index);
        if before != index {
            found.push((index, Flaw::Duplicate(before)));
        }
    }
    let circles = circles(&forest);
    let oldest: HashSet<BubbName> = circles.iter().map(|(ix, _)| forest.name(*ix)).collect();
    let mut indices: HashMap<BubbName, usize> = HashMap::with_capacity(oldest.len());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| oldest.contains(name)) {
        indices.entry(*name).or_insert(index);
    }
    for (ix, length) in circles {
        found.extend(indices.get(&forest.name(ix)).map(|&index| (index, Flaw::Cycle(length))));
    }
    found
}

/// Returns the oldest bubb of each circle, and the circle's length.
fn circles(forest: &Forest) -> Vec<(Ix, usize)> {
    let mut found = Vec::new();
    // The start of the walk that first reached each bubb; a walk that meets itself has found a circle.
    let mut walks: Vec<Option<Ix>> = vec![None; forest.len()];
    for from in forest.all() {
        let mut at = from;
        while walks[at.at()].is_none() {
            walks[at.at()] = Some(from);
            match forest.prev(at) {
                Some(prev) => at = prev,
                None => break,
            }
        }
        if walks[at.at()] != Some(from) || forest.prev(at).is_none() {
            continue;
        }
        let mut members = vec![at];
        let mut next = forest.prev(at);
        while let Some(ix) = next.filter(|&ix| ix != at) {
            members.push(ix);
            next = forest.prev(ix);
        }
        found.extend(members.iter().min().map(|&oldest| (oldest, members.len())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn every_flaw_is_found_and_nothing_else() {
        use Flaw::*;
        let now = id("H").time();
        for (store, flaws) in [
            ("", vec![]),
            ("A s1 head / B u0 A / C a0 B / D a0 B", vec![]),
            ("B u0 A / C a0 B", vec![(0, Dangling(id("A")))]),
            ("A u0 A", vec![(0, Cycle(1))]),
            ("A u0 B / B u0 A / C a0 B / D a0 C", vec![(0, Cycle(2))]),
            ("A u0 head / B a0 A / C u0 E / D a0 C / E u0 D", vec![(2, Cycle(3))]),
            ("A u0 B / B u0 A / C a0 D / D a0 C", vec![(0, Cycle(2)), (2, Cycle(2))]),
            ("A u0 head / B a0 A / B a1 A / B a0 A", vec![(2, Duplicate(1)), (3, Duplicate(1))]),
        ] {
            assert_eq!(super::flaws(&fixture::names(store), now), flaws, "{store}");
        }
    }

    #[test]
    fn a_day_ahead_is_not_far() {
        let names = fixture::names("A u0 head");
        let time = id("A").time();
        assert_eq!(flaws(&names, time - AHEAD), []);
        assert_eq!(flaws(&names, time - AHEAD - 1), [(0, Flaw::Future)]);
    }
}
