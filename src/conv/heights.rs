//! The height of a conv: the number of its bubbs, hidden ones too.

use super::{Forest, Ix};

impl Forest {
    /// The heights of the convs of `leaves`, in their order.
    pub fn heights(&self, leaves: &[Ix]) -> Vec<u32> {
        let mut heights = Heights::of(self);
        leaves.iter().map(|&leaf| heights.height(leaf)).collect()
    }
}

/// Heights of many leaves, for which a trunk that they share is walked once.
pub struct Heights<'f> {
    forest: &'f Forest,
    /// Kept only for bubbs newer than their prev: all but some with hand-edited names.
    known: Vec<u32>,
    walked: Vec<Ix>,
}

impl<'f> Heights<'f> {
    /// Of the bubbs of this forest.
    pub fn of(forest: &'f Forest) -> Heights<'f> {
        Heights { forest, known: vec![0; forest.len()], walked: Vec::new() }
    }

    /// The height of the conv of `leaf`, hidden bubbs too.
    pub fn height(&mut self, leaf: Ix) -> u32 {
        self.walked.clear();
        let mut base = 0;
        for ix in self.forest.up(leaf) {
            if self.known[ix.at()] > 0 {
                base = self.known[ix.at()];
                break;
            }
            self.walked.push(ix);
        }
        if base == 0 && self.walked.windows(2).any(|pair| pair[1] >= pair[0]) {
            return self.forest.conv(leaf).path.len() as u32;
        }
        for &ix in self.walked.iter().rev() {
            base += 1;
            self.known[ix.at()] = base;
        }
        base
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

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
    fn heights_of_a_fork_share_their_trunk() {
        let forest = fixture::forest("A s1 head / B u0 A / C a0 B / D a0 B / E u0 D");
        assert_eq!(forest.heights(&forest.tails(false)), [4, 3]);
    }
}
