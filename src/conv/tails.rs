//! Where convs can be continued: the tails, and how high each stands.

use super::check::DAY;
use super::{Forest, Ix};

/// For each bubb two facts that need the whole forest: it has a child; its newest visible descendant.
pub(super) struct Below {
    pub(super) child: Vec<bool>,
    pub(super) visible: Vec<Option<Ix>>,
}

impl Below {
    pub(super) fn of(forest: &Forest) -> Below {
        let mut below = Below { child: vec![false; forest.len()], visible: vec![None; forest.len()] };
        for ix in forest.all().rev() {
            if let Some(prev) = forest.prev(ix) {
                below.child[prev.at()] = true;
            }
            if forest.name(ix).hidden {
                continue;
            }
            // Up to the first that knows a newer one already, so that all walks together are linear.
            let mut at = ix;
            while let Some(prev) = forest.prev(at)
                && below.visible[prev.at()].is_none()
            {
                below.visible[prev.at()] = Some(ix);
                at = prev;
            }
        }
        below
    }
}

impl Forest {
    /// The tails, newest first. With `spent`, hidden leaves beside an answered question too.
    pub fn tails(&self, spent: bool) -> Vec<Ix> {
        let below = Below::of(self);
        self.all()
            .rev()
            .filter(|&ix| !below.child[ix.at()])
            .filter(|&ix| spent || !self.is_spent(ix, &below))
            .collect()
    }

    /// The newest tail, `@`.
    pub fn newest(&self) -> Option<Ix> {
        let below = Below::of(self);
        self.all().rev().find(|&ix| !below.child[ix.at()] && !self.is_spent(ix, &below))
    }

    /// The least time for a new root, at `now`, that makes it the newest conv even if the clock went
    /// back. Bubbs dated more than a day ahead do not count.
    pub fn root_time(&self, now: u64) -> u64 {
        let times = self.all().rev().map(|ix| self.name(ix).id.time());
        times.into_iter().find(|&time| time <= now + DAY).map_or(0, |time| time + 1)
    }

    /// A hidden leaf whose nearest visible ancestor has a visible descendant: tool chatter of an answered turn.
    pub(super) fn is_spent(&self, leaf: Ix, below: &Below) -> bool {
        self.name(leaf).hidden
            && self.nearest_visible(leaf).is_some_and(|ancestor| below.visible[ancestor.at()].is_some())
    }

    /// The bubb itself or the first visible one before it.
    pub(super) fn nearest_visible(&self, ix: Ix) -> Option<Ix> {
        self.up(ix).find(|&ix| !self.name(ix).hidden)
    }

    /// Those of `tails` whose conv has one of `named`.
    pub fn through(&self, tails: &[Ix], named: &[Ix]) -> Vec<Ix> {
        // What is known of each bubb passed: whether one of the named is it or is before it.
        let mut known = vec![None; self.len()];
        for ix in named {
            known[ix.at()] = Some(true);
        }
        let mut walked = Vec::new();
        let mut through = |&tail: &Ix| {
            walked.clear();
            let mut found = false;
            for ix in self.up(tail) {
                if let Some(known) = known[ix.at()] {
                    found = known;
                    break;
                }
                walked.push(ix);
            }
            for ix in &walked {
                known[ix.at()] = Some(found);
            }
            found
        };
        tails.iter().copied().filter(|tail| through(tail)).collect()
    }

    /// How many bubbs the conv of each of `leaves` has, in their order.
    pub fn heights(&self, leaves: &[Ix]) -> Vec<u32> {
        // Known heights are kept only for bubbs newer than their prev, all but those that a hand dated.
        let mut known = vec![0u32; self.len()];
        let mut walked = Vec::new();
        leaves
            .iter()
            .map(|&leaf| {
                walked.clear();
                let mut base = 0;
                for ix in self.up(leaf) {
                    if known[ix.at()] > 0 {
                        base = known[ix.at()];
                        break;
                    }
                    walked.push(ix);
                }
                let in_order = walked.windows(2).all(|pair| pair[1] < pair[0]);
                let height = if in_order || base > 0 {
                    for &ix in walked.iter().rev() {
                        base += 1;
                        known[ix.at()] = base;
                    }
                    base
                } else {
                    self.conv(leaf).path.len() as u32
                };
                debug_assert!(height > 0);
                height
            })
            .collect()
    }

    /// The last visible user bubb of the conv that ends at `leaf`.
    pub fn last_question(&self, leaf: Ix) -> Option<Ix> {
        use crate::bubb::Kind;
        self.up(leaf).find(|&ix| {
            let name = self.name(ix);
            name.kind == Kind::User && !name.hidden
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

    #[test]
    fn tails_are_newest_first_and_leave_out_what_is_spent() {
        for (store, tails, all) in [
            ("", "", ""),
            ("A s1 head", "A", "A"),
            ("A s1 head / B u0 A / C a0 B", "C", "C"),
            // a fork
            ("A s1 head / B u0 A / C a0 B / D a0 B", "DC", "DC"),
            // side branch C, D of the answered question B is spent
            ("A s1 head / B u0 A / C a1 B / D t1 C / E a0 B", "E", "ED"),
            // … and is not, while there is no answer
            ("A s1 head / B u0 A / C a1 B / D t1 C", "D", "D"),
            // the question itself continued by another visible bubb
            ("A u0 head / B a1 A / C u0 A / D a0 C", "D", "DB"),
            // hidden all the way to the root: nothing visible to be beside of
            ("A s1 head / B s1 A / C u0 A", "CB", "CB"),
            // a hidden leaf below an answer that nothing follows
            ("A u0 head / B a0 A / C a1 B", "C", "C"),
        ] {
            let forest = fixture::forest(store);
            assert_eq!(fixture::letters(&forest, &forest.tails(false)), tails, "{store}");
            assert_eq!(fixture::letters(&forest, &forest.tails(true)), all, "{store}");
            assert_eq!(forest.newest(), forest.tails(false).first().copied(), "{store}");
        }
    }

    #[test]
    fn tails_through_a_bubb_are_those_whose_conv_has_it() {
        for (store, named, tails) in [
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "B", "DC"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "C", "C"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "EC", "EC"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "", ""),
            ("A u0 B / B u0 A / C a0 B / D a0 A / E u0 head", "B", "DC"),
        ] {
            let forest = fixture::forest(store);
            let named: Vec<_> = named.chars().filter_map(|c| forest.find(id(&c.to_string()))).collect();
            let through = forest.through(&forest.tails(false), &named);
            assert_eq!(fixture::letters(&forest, &through), tails, "{store}");
        }
    }

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

    #[test]
    fn the_last_question_is_visible_and_of_the_user() {
        for (store, leaf, question) in
            [("A s1 head / B u0 A / C a0 B / D u1 C", "D", Some("B")), ("A s1 head / B a0 A", "B", None)]
        {
            let forest = fixture::forest(store);
            let found = forest.last_question(forest.find(id(leaf)).unwrap());
            assert_eq!(found.map(|ix| forest.name(ix).id), question.map(id), "{store}");
        }
    }
}
