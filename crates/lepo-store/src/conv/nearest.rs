//! Finds the nearest matching bubb at or above others without walking a path twice.

use std::cell::RefCell;

use super::{Forest, Ix};

/// Steps of a short walk, whose result is not cached.
const SHORT: usize = 16;

/// Not searched yet; other values are [`ABSENT`] or an index plus 2.
const UNKNOWN: u32 = 0;
const ABSENT: u32 = 1;

/// Finds the nearest bubbs that satisfy a predicate, in a single forest.
pub struct NearestAncestor {
    fits: fn(&Forest, Ix) -> bool,
    /// Empty until a walk is long.
    known: RefCell<Vec<u32>>,
}

impl NearestAncestor {
    /// Creates an empty cache for bubbs that satisfy `fits`.
    pub fn new(fits: fn(&Forest, Ix) -> bool) -> NearestAncestor {
        NearestAncestor { fits, known: RefCell::default() }
    }

    /// Returns the bubb itself or its nearest ancestor that fits.
    pub fn find(&self, forest: &Forest, ix: Ix) -> Option<Ix> {
        self.find_beyond(SHORT, forest, ix)
    }

    /// Like `find`, but caches only after `short` steps.
    fn find_beyond(&self, short: usize, forest: &Forest, ix: Ix) -> Option<Ix> {
        let mut walk = forest.up(ix);
        let near = walk.by_ref().take(short).find(|&at| (self.fits)(forest, at));
        near.or_else(|| self.find_far(forest, walk.next()?))
    }

    fn find_far(&self, forest: &Forest, ix: Ix) -> Option<Ix> {
        let mut known = self.known.borrow_mut();
        known.resize(forest.len(), UNKNOWN);
        let (mut steps, mut found) = (0, ABSENT);
        for at in forest.up(ix) {
            if known[at.at()] != UNKNOWN {
                found = known[at.at()];
                break;
            }
            steps += 1;
            if (self.fits)(forest, at) {
                found = at.0 + 2;
                break;
            }
        }
        for at in forest.up(ix).take(steps) {
            known[at.at()] = found;
        }
        found.checked_sub(2).map(Ix)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use lepo_base::role::Role;

    #[test]
    fn the_nearest_is_that_of_a_walk() {
        for store in [
            "A s1 head / B u0 A / C a1 B / D t1 C / E u0 C / F a0 E / G a1 F",
            "B s1 A / C s1 B / D u0 B",
            "A u1 B / B a1 A / C a0 B / D a1 C",
            "A u0 A / B a1 A",
        ] {
            let forest = fixture::forest(store);
            for fits in [(|forest, ix| !forest.name(ix).hidden) as fn(&Forest, Ix) -> bool, |forest, ix| {
                forest.name(ix).role == Role::User
            }] {
                let (up, down) = (forest.all().collect::<Vec<_>>(), forest.all().rev().collect());
                for (order, short) in [(&up, 0), (&down, 0), (&up, 1), (&down, 1), (&up, 2), (&up, SHORT)] {
                    let nearest = NearestAncestor::new(fits);
                    for &ix in order {
                        let walk = forest.up(ix).find(|&at| fits(&forest, at));
                        assert_eq!(nearest.find_beyond(short, &forest, ix), walk, "{store} {short}");
                    }
                }
            }
        }
    }
}
