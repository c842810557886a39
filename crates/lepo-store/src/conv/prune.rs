//! Bubbs that only one tail needs and that can be removed with it.

use super::tails::DescendantFlags;
use super::{Forest, Ix};

/// Finds, for several tails in turn, the bubbs to remove with each.
pub struct Pruner<'f> {
    forest: &'f Forest,
    children: Vec<Vec<Ix>>,
    below: DescendantFlags,
    gone: Vec<bool>,
}

impl Forest {
    /// Returns the bubbs that only `tail` needs; see [`Pruner::only`].
    pub fn removable_with(&self, tail: Ix) -> Result<Vec<Ix>, Ix> {
        Pruner::new(self).removable_with(tail)
    }
}

impl<'f> Pruner<'f> {
    /// Creates a pruner for which no bubb is gone yet.
    pub fn new(forest: &'f Forest) -> Pruner<'f> {
        let mut children = vec![Vec::new(); forest.len()];
        for ix in forest.all() {
            if let Some(prev) = forest.prev(ix) {
                children[prev.at()].push(ix);
            }
        }
        Pruner { forest, children, below: DescendantFlags::new(forest), gone: vec![false; forest.len()] }
    }

    /// Treats these bubbs as gone in later calls.
    pub fn mark_gone(&mut self, bubbs: &[Ix]) {
        bubbs.iter().for_each(|ix| self.gone[ix.at()] = true);
    }

    /// Whether the bubb has been marked as gone.
    pub fn is_gone(&self, ix: Ix) -> bool {
        self.gone[ix.at()]
    }

    /// Returns the bubbs to remove with `tail`, each before its prev: all that follow it, the tail itself, and its
    /// ancestors up to the first that another conv needs, with their spent side branches.
    ///
    /// Fails with a visible bubb that follows `tail`, which then is not a tail.
    pub fn removable_with(&mut self, tail: Ix) -> Result<Vec<Ix>, Ix> {
        let going = branch(&self.children, tail, &self.gone);
        if let Some(&visible) = going.iter().rev().skip(1).find(|&&ix| !self.forest.name(ix).hidden) {
            return Err(visible);
        }
        let going = self.with_above(tail, going);
        going.iter().for_each(|ix| self.gone[ix.at()] = false);
        Ok(going)
    }

    fn with_above(&mut self, tail: Ix, mut going: Vec<Ix>) -> Vec<Ix> {
        // Spent chatter next to an answer is not missed; next to other chatter it counts as much as that.
        let chatter = self.forest.is_spent(tail, &self.below);
        self.mark_gone(&going);
        for above in self.forest.up(tail).skip(1) {
            if self.gone[above.at()] {
                break; // a circle
            }
            let needed = |ix: Ix| {
                self.children[ix.at()].is_empty() && (chatter || !self.forest.is_spent(ix, &self.below))
            };
            let Some(branch) = branch_unless(&self.children, above, &self.gone, needed) else { break };
            self.mark_gone(&branch);
            going.extend(branch);
        }
        going
    }
}

/// Returns `root` and all its remaining descendants, each after its own descendants.
fn branch(children: &[Vec<Ix>], root: Ix, gone: &[bool]) -> Vec<Ix> {
    branch_unless(children, root, gone, |_| false).unwrap_or_default()
}

/// Like `branch`, but `None` as soon as a descendant is `needed`.
fn branch_unless(
    children: &[Vec<Ix>],
    root: Ix,
    gone: &[bool],
    needed: impl Fn(Ix) -> bool,
) -> Option<Vec<Ix>> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&ix) = found.get(next) {
        // In a circle the way down leads back to the root and nowhere else.
        for &child in children[ix.at()].iter().filter(|&&child| child != root && !gone[child.at()]) {
            if needed(child) {
                return None;
            }
            found.push(child);
        }
        next += 1;
    }
    found.reverse();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

    #[test]
    fn only_what_no_other_conv_needs() {
        for (store, tail, going) in [
            ("A s1 head / B u0 A / C a0 B", "C", "CBA"),
            // a fork: its trunk stays
            ("A s1 head / B u0 A / C a0 B / D a0 B", "D", "D"),
            ("A s1 head / B u0 A / C a0 B / D u0 A / E a0 D", "C", "CB"),
            // the tool calls of an answer go with it …
            ("A u0 head / B s1 A / C a1 B / D t1 C / E a0 B", "E", "EDCBA"),
            // … but not with another answer to the same question
            ("A u0 head / B s1 A / C a1 B / D a0 B / E s1 A / F a0 E", "F", "FE"),
            ("A u0 head / B s1 A / C a1 B / D a0 B / E s1 A / F a0 E", "D", "DCB"),
            // the rest of an interruption next to the answer
            ("A u0 head / B a1 A / C a0 A", "C", "CBA"),
            ("A u0 head / B a1 A / C a0 A", "B", "B"),
            // two attempts without an answer: each is a tail of its own
            ("A u0 head / B a1 A / C a1 A", "C", "C"),
            // two spent side branches: only the named one is removed
            ("A u0 head / B s1 A / C a1 B / D a1 B / E a0 A", "D", "D"),
            // hidden descendants are removed first
            ("A u0 head / B a0 A / C a1 B / D t1 C", "B", "DCBA"),
            // the first bubb of an incomplete conv; a circle
            ("B u0 A / C a0 B", "C", "CB"),
            ("A u0 B / B u0 A / C a0 A", "C", "CBA"),
        ] {
            let forest = fixture::forest(store);
            let found = forest.removable_with(forest.find(id(tail)).unwrap()).unwrap();
            assert_eq!(fixture::letters(&forest, &found), going, "{store} - {tail}");
        }
    }

    #[test]
    fn of_several_tails_the_last_takes_the_trunk() {
        for (store, tails, going) in [
            ("A s1 head / B u0 A / C a0 B / D a0 B", "DC", "D CBA"),
            ("A s1 head / B u0 A / C a0 B / D u0 A / E a0 D / F u0 head", "ECF", "ED CBA F"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 C", "ED", "EC DBA"),
        ] {
            let forest = fixture::forest(store);
            let mut pruner = super::Pruner::new(&forest);
            let each = tails.chars().map(|tail| {
                let found = pruner.removable_with(forest.find(id(&tail.to_string())).unwrap()).unwrap();
                pruner.mark_gone(&found);
                fixture::letters(&forest, &found)
            });
            assert_eq!(each.collect::<Vec<_>>().join(" "), going, "{store}");
        }
    }

    #[test]
    fn what_something_visible_follows_is_no_tail() {
        for (store, tail, follows) in [
            ("A u0 head / B a0 A", "A", "B"),
            ("A u0 head / B s1 A / C a0 B", "A", "C"),
            ("A u0 B / B u0 A", "A", "B"),
        ] {
            let forest = fixture::forest(store);
            assert_eq!(
                forest.removable_with(forest.find(id(tail)).unwrap()),
                Err(forest.find(id(follows)).unwrap())
            );
        }
    }
}
