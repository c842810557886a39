//! The difference of two convs after their last common bubb, matched bubb by bubb.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Forest, Ix};
use crate::bubb::BubbName;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BubbPair {
    /// Bubbs of the same kind at the same position of both convs.
    Both(Ix, Ix),
    /// A bubb of the first conv only.
    First(Ix),
    /// A bubb of the second conv only.
    Second(Ix),
}

impl Forest {
    /// Pairs the bubbs of the convs of `a` and `b` after their common ancestor, in order. They are matched by kind,
    /// so that two answers to the same question are compared. Only bubbs for which `is_shown` is true are included.
    pub fn pairs(&self, a: Ix, b: Ix, is_shown: impl Fn(&BubbName) -> bool) -> Vec<BubbPair> {
        let shown = |mut path: Vec<Ix>| {
            path.retain(|&ix| is_shown(&self.name(ix)));
            path
        };
        let (a_only, b_only) = (shown(self.beyond(b, a)), shown(self.beyond(a, b)));
        let kinds = |path: &[Ix]| -> Vec<_> {
            path.iter().map(|&ix| (self.name(ix).role, self.name(ix).hidden)).collect()
        };
        let mut pairs = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &kinds(&a_only), &kinds(&b_only)) {
            let (a, b) = (&a_only[op.old_range()], &b_only[op.new_range()]);
            if let DiffOp::Equal { .. } = op {
                pairs.extend(a.iter().zip(b).map(|(&a, &b)| BubbPair::Both(a, b)));
            } else {
                pairs.extend(a.iter().map(|&a| BubbPair::First(a)));
                pairs.extend(b.iter().map(|&b| BubbPair::Second(b)));
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn convs_are_matched_past_their_fork() {
        for (store, a, b, hidden, pairs) in [
            // two answers to the same question
            ("A u0 head / B a0 A / C a0 A", "B", "C", false, "BC"),
            ("A u0 head / B a0 A / C a0 A", "C", "B", false, "CB"),
            ("A u0 head / B a0 A / C a0 A", "B", "B", false, ""),
            // a conv and its own ancestor
            ("A u0 head / B a0 A / C u0 B", "C", "A", false, "B- C-"),
            ("A u0 head / B a0 A / C u0 B", "A", "C", false, "-B -C"),
            // the second conv is longer
            ("A u0 head / B a0 A / C a0 A / D u0 C / E a0 D", "B", "E", false, "BC -D -E"),
            ("A u0 head / B a0 A / C a0 A / D u0 C / E a0 D", "E", "B", false, "CB D- E-"),
            // another question: kinds match after it
            ("A s1 head / B u0 A / C a0 B / D u0 A / E t0 D / F a0 E", "C", "F", false, "BD -E CF"),
            // hidden bubbs only if `hidden`
            ("A u0 head / B s1 A / C a0 B / D a0 A", "C", "D", false, "CD"),
            ("A u0 head / B s1 A / C a0 B / D a0 A", "C", "D", true, "B- CD"),
            // nothing in common
            ("A u0 head / B u0 head", "A", "B", false, "AB"),
        ] {
            let forest = fixture::forest(store);
            let [a, b] = [a, b].map(|letter| forest.find(id(letter)).unwrap());
            let letter = |ix: Ix| fixture::letters(&forest, &[ix]);
            let found: Vec<String> = forest
                .pairs(a, b, |name| hidden || !name.hidden)
                .into_iter()
                .map(|pair| match pair {
                    BubbPair::Both(a, b) => letter(a) + &letter(b),
                    BubbPair::First(a) => letter(a) + "-",
                    BubbPair::Second(b) => format!("-{}", letter(b)),
                })
                .collect();
            assert_eq!(found.join(" "), pairs, "{store}");
        }
    }
}
