//! The height of a conv: the number of its bubbs, including hidden ones.

use super::{Forest, Ix};

impl Forest {
    /// Returns the heights of the convs of `leaves`, in their order.
    pub fn heights(&self, leaves: &[Ix]) -> Vec<u32> {
        let mut heights = Heights::new(self);
        leaves.iter().map(|&leaf| heights.height(leaf)).collect()
    }
}

/// Computes heights of many leaves, walking a shared trunk only once.
pub struct Heights<'f>(Sums<'f, fn(Ix) -> u32>);

impl<'f> Heights<'f> {
    pub fn new(forest: &'f Forest) -> Heights<'f> {
        Heights(Sums::new(forest, |_| 1))
    }

    pub fn height(&mut self, leaf: Ix) -> u32 {
        self.0.sum(leaf)
    }
}

/// Computes sums over the convs of many leaves, walking a shared trunk only once.
pub struct Sums<'f, W> {
    forest: &'f Forest,
    weight: W,
    /// The sum plus 1; 0 means unknown. Cached only along walks in which every bubb is newer than its prev, which
    /// fails only for hand-edited names.
    known: Vec<u32>,
    walked: Vec<Ix>,
}

impl<'f, W: Fn(Ix) -> u32> Sums<'f, W> {
    /// Creates an empty cache that adds up `weight` of each bubb.
    pub fn new(forest: &'f Forest, weight: W) -> Sums<'f, W> {
        Sums { forest, weight, known: vec![0; forest.len()], walked: Vec::new() }
    }

    pub fn sum(&mut self, leaf: Ix) -> u32 {
        self.walked.clear();
        let mut known = 0;
        for ix in self.forest.up(leaf) {
            known = self.known[ix.at()];
            if known > 0 {
                break;
            }
            self.walked.push(ix);
        }
        // If the last bubb of a walk has a prev, the walk went round a circle.
        let is_circle = || self.walked.last().is_some_and(|&last| self.forest.prev(last).is_some());
        if known == 0 && (self.walked.windows(2).any(|pair| pair[1] >= pair[0]) || is_circle()) {
            let path = self.forest.conv(leaf).path;
            return path.into_iter().fold(0, |sum, ix| (self.weight)(ix).saturating_add(sum));
        }
        let mut sum = known.saturating_sub(1);
        for &ix in self.walked.iter().rev() {
            sum = (self.weight)(ix).saturating_add(sum);
            self.known[ix.at()] = sum.saturating_add(1);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;
    use crate::bubb::Kind;

    #[test]
    fn heights_count_every_bubb_hidden_ones_too() {
        for (store, leaf, height) in [
            ("A s1 head", "A", 1),
            ("A s1 head / B u0 A / C a1 B / D t1 C", "D", 4),
            ("B u0 A / C a0 B", "C", 2),
            ("A u0 B / B u0 A / C a0 B", "C", 3),
            ("A u0 B / B u0 head / C a0 A", "C", 3),
        ] {
            let forest = fixture::forest(store);
            assert_eq!(forest.heights(&[forest.find(id(leaf)).unwrap()]), [height], "{store}");
        }
    }

    #[test]
    fn sums_are_of_the_whole_conv_whatever_was_asked_before() {
        for store in ["A s1 head / B u0 A / C a0 B / D a0 B / E u0 D", "A u0 B / B u0 A / C a0 B / D a0 C"] {
            let forest = fixture::forest(store);
            let weight = |ix: Ix| [0, 3][usize::from(forest.name(ix).kind == Kind::User)];
            for order in [forest.all().collect::<Vec<_>>(), forest.all().rev().collect()] {
                let mut sums = Sums::new(&forest, weight);
                for ix in order {
                    let expected: u32 = forest.conv(ix).path.into_iter().map(weight).sum();
                    assert_eq!(sums.sum(ix), expected, "{store}");
                }
            }
        }
    }

    #[test]
    fn heights_of_a_fork_share_their_trunk() {
        let forest = fixture::forest("A s1 head / B u0 A / C a0 B / D a0 B / E u0 D");
        assert_eq!(forest.heights(&forest.tails(false)), [4, 3]);
    }
}
