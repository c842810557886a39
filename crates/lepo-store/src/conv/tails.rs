//! The tails, newest first, where convs can be continued; found without reading older bubbs if possible.

use std::collections::{HashSet, VecDeque};

use super::{Forest, Ix, NearestAncestor};
use lepo_base::role::Role;

pub(super) struct DescendantFlags {
    child: Vec<bool>,
    visible: Vec<bool>,
    /// The nearest visible ancestor of a hidden bubb, or its root if all its ancestors are hidden.
    above: NearestAncestor,
}

impl DescendantFlags {
    fn none(forest: &Forest) -> DescendantFlags {
        DescendantFlags {
            child: vec![false; forest.len()],
            visible: vec![false; forest.len()],
            above: NearestAncestor::new(|forest, ix| {
                let name = forest.name(ix);
                !name.hidden || name.prev.is_none()
            }),
        }
    }

    pub(super) fn new(forest: &Forest) -> DescendantFlags {
        let mut below = DescendantFlags::none(forest);
        for ix in forest.all() {
            if let Some(prev) = forest.prev(ix) {
                below.child[prev.at()] = true;
            }
            if forest.name(ix).hidden {
                continue;
            }
            // Each walk stops at a bubb that is already marked, so that all walks together are linear.
            let mut at = ix;
            while let Some(prev) = forest.prev(at) {
                if std::mem::replace(&mut below.visible[prev.at()], true) {
                    break;
                }
                at = prev;
            }
        }
        below
    }
}

/// The tails, newest first, computed on demand; see [`Forest::newest_first`].
pub struct Tails<'f> {
    forest: &'f Forest,
    include_spent: bool,
    below: DescendantFlags,
    /// All bubbs from this index on have been recorded in `below`.
    recorded_from: usize,
    /// Leaves found but not yet checked for being spent.
    leaves: VecDeque<Ix>,
}

impl Tails<'_> {
    /// Records the next older bubb in `below`.
    fn step(&mut self) {
        self.recorded_from -= 1;
        let ix = Ix(self.recorded_from as u32);
        if !self.below.child[ix.at()] {
            self.leaves.push_back(ix);
        }
        if let Some(prev) = self.forest.prev(ix) {
            self.below.child[prev.at()] = true;
            self.below.visible[prev.at()] |= self.below.visible[ix.at()] || !self.forest.name(ix).hidden;
        }
    }

    /// Whether a leaf is spent. First records all bubbs that may descend from its nearest visible ancestor.
    fn is_spent(&mut self, leaf: Ix) -> bool {
        if let Some(ancestor) = self.forest.visible_above(leaf, &self.below) {
            while self.recorded_from > ancestor.at() {
                self.step();
            }
        }
        self.forest.is_spent(leaf, &self.below)
    }
}

impl Iterator for Tails<'_> {
    type Item = Ix;

    fn next(&mut self) -> Option<Ix> {
        loop {
            match self.leaves.pop_front() {
                Some(leaf) if self.include_spent || !self.is_spent(leaf) => return Some(leaf),
                Some(_) => {}
                None if self.recorded_from == 0 => return None,
                None => self.step(),
            }
        }
    }
}

impl Forest {
    /// Returns the tails, newest first, and with `include_spent` also hidden leaves next to an answered question. Children
    /// are newer than their prev, so the first tails are found without reading the older bubbs.
    pub fn newest_first(&self, include_spent: bool) -> Tails<'_> {
        if self.is_ordered() {
            let below = DescendantFlags::none(self);
            return Tails {
                forest: self,
                include_spent,
                below,
                recorded_from: self.len(),
                leaves: VecDeque::new(),
            };
        }
        let below = DescendantFlags::new(self);
        let leaves = self.all().rev().filter(|ix| !below.child[ix.at()]).collect();
        Tails { forest: self, include_spent, below, recorded_from: 0, leaves }
    }

    /// Returns all tails, newest first.
    pub fn tails(&self, include_spent: bool) -> Vec<Ix> {
        self.newest_first(include_spent).collect()
    }

    /// Whether `leaf` is hidden and its nearest visible ancestor, or its root if it has none, has a visible
    /// descendant: tool chatter of an answered turn, or hidden bubbs before the first question.
    pub(super) fn is_spent(&self, leaf: Ix, below: &DescendantFlags) -> bool {
        self.visible_above(leaf, below).is_some_and(|ancestor| below.visible[ancestor.at()])
    }

    /// Returns the nearest visible ancestor of a hidden bubb, or its root if all its ancestors are hidden.
    fn visible_above(&self, ix: Ix, below: &DescendantFlags) -> Option<Ix> {
        if self.name(ix).hidden { below.above.find(self, ix) } else { None }
    }

    /// Returns the bubb itself or its nearest visible ancestor.
    pub(super) fn nearest_visible(&self, ix: Ix) -> Option<Ix> {
        self.up(ix).find(|&ix| !self.name(ix).hidden)
    }

    /// Whether the bubb is a visible one of the user.
    pub fn is_question(&self, ix: Ix) -> bool {
        let name = self.name(ix);
        name.role == Role::User && !name.hidden
    }

    /// Returns the last visible user bubb of the conv that ends at `leaf`.
    pub fn last_question(&self, leaf: Ix) -> Option<Ix> {
        self.up(leaf).find(|&ix| self.is_question(ix))
    }

    /// Returns the newest visible question asked at `place` that no visible bubb follows.
    pub fn question_left_at(&self, position: Ix) -> Option<Ix> {
        let mut followed = HashSet::new();
        let visible = self.all().rev().take_while(|&ix| ix > position).filter(|&ix| !self.name(ix).hidden);
        visible.into_iter().find(|&ix| {
            followed.extend(self.prev(ix).and_then(|prev| self.nearest_visible(prev)));
            let is_question = self.name(ix).role == Role::User && self.store_of(ix).is_none();
            is_question && !followed.contains(&ix) && self.is_asked_at(ix, position)
        })
    }

    /// Whether the turn of `leaf` started at `place`: its question was asked there, or answered again.
    pub fn turn_began_at(&self, leaf: Ix, position: Ix) -> bool {
        self.last_question(leaf).is_some_and(|question| {
            self.last_question(position) == Some(question) || self.is_asked_at(question, position)
        })
    }

    /// Whether a question continues `place`, with only the output of `--run` between.
    fn is_asked_at(&self, question: Ix, position: Ix) -> bool {
        let mut before = self.up(question).skip(1);
        before.find(|&ix| ix == position || self.name(ix).role != Role::System) == Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::{Forest, Ix};
    use crate::bubb::{BubbId, BubbName};
    use lepo_base::role::Role;

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
            // … but not while B has no answer
            ("A s1 head / B u0 A / C a1 B / D t1 C", "D", "D"),
            // another visible bubb continues the question itself
            ("A u0 head / B a1 A / C u0 A / D a0 C", "D", "DB"),
            // hidden up to the root: spent by a visible bubb that follows the root
            ("A s1 head / B s1 A / C u0 A", "C", "CB"),
            ("A s1 head / B s1 A", "B", "B"),
            // … and not spent if the root is missing
            ("B s1 A / C s1 B / D u0 B", "DC", "DC"),
            // a hidden leaf below an answer without a follower
            ("A u0 head / B a0 A / C a1 B", "C", "C"),
        ] {
            let forest = fixture::forest(store);
            assert_eq!(fixture::letters(&forest, &forest.tails(false)), tails, "{store}");
            assert_eq!(fixture::letters(&forest, &forest.tails(true)), all, "{store}");
            assert_eq!(forest.newest(), forest.tails(false).first().copied(), "{store}");
        }
    }

    #[test]
    fn a_long_hidden_chain_with_leaves_is_walked_once() {
        let root = fixture::names("A u0 head")[0];
        let (mut names, mut prev) = (vec![root], root.id);
        for time in 1..100_000 {
            let time = root.id.time() + time;
            let mut add = |role, prev| {
                let id = BubbId::new(time, role, true, Some(prev), &[0; 32].into());
                names.push(BubbName { id, role, hidden: true, prev: Some(prev) });
                id
            };
            add(Role::Tool, prev);
            prev = add(Role::Assistant, prev);
        }
        let forest = Forest::new(names);
        assert_eq!(forest.tails(false).len(), 100_000);
        assert_eq!(forest.pending(Some).len(), 100_000);
    }

    #[test]
    fn tails_are_those_of_their_definition_in_any_forest() {
        let mut dice = 7u64;
        let mut roll = |sides: usize| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) as usize % sides
        };
        for round in 0..2000 {
            let letters = ["A", "B", "C", "D", "E", "F", "G", "H"];
            let line = |i: usize| {
                // In every other forest a bubb may link to any bubb, even a newer one or itself.
                let prev = roll(if round % 2 == 0 { i + 1 } else { letters.len() + 1 });
                let prev =
                    if prev == i && round % 2 == 0 { "head" } else { letters.get(prev).unwrap_or(&"head") };
                format!("{} {} {prev}", letters[i], ["u0", "a0", "a1", "s1"][roll(4)])
            };
            let text = (0..letters.len()).map(line).collect::<Vec<_>>().join(" / ");
            let forest = fixture::forest(&text);
            let hidden = |ix: &Ix| forest.name(*ix).hidden;
            let spent = |leaf: Ix| {
                let root = forest.up(leaf).last().filter(|&ix| forest.name(ix).prev.is_none());
                let ancestor = forest.up(leaf).find(|ix| !hidden(ix)).or(root);
                let above =
                    |ix: Ix, at: Ix| forest.prev(ix).is_some_and(|prev| forest.up(prev).any(|up| up == at));
                hidden(&leaf)
                    && ancestor.is_some_and(|at| forest.all().any(|ix| !hidden(&ix) && above(ix, at)))
            };
            let leaves = forest.all().rev().filter(|&ix| forest.children(ix).next().is_none());
            let expected: Vec<Ix> = leaves.filter(|&leaf| !spent(leaf)).collect();
            assert_eq!(forest.tails(false), expected, "{text}");
            assert_eq!(forest.newest(), expected.first().copied(), "{text}");
        }
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

    #[test]
    fn a_question_without_an_answer_is_left_where_it_was_asked() {
        for (store, position, question) in [
            ("A u0 head / B a0 A / C u0 B", "B", Some("C")),
            ("A u0 head / B a0 A / C u0 B / D u0 B", "B", Some("D")),
            ("A u0 head / B a0 A / C u0 B / D u0 B / E a0 D", "B", Some("C")),
            // after the output of a program; hidden chatter is not an answer
            ("A u0 head / B a0 A / C s0 B / D u0 C / E a1 D", "B", Some("D")),
            ("A u0 head / B a0 A / C u0 B / D s1 C / E a0 D", "B", None),
            ("A u0 head / B a0 A / C u0 B / D a0 C / E u0 D", "B", None),
            ("A u0 head / B a0 A / C u0 A", "B", None),
            ("A u0 head / B a0 A", "B", None),
        ] {
            let forest = fixture::forest(store);
            let found = forest.question_left_at(forest.find(id(position)).unwrap());
            assert_eq!(found.map(|ix| forest.name(ix).id), question.map(id), "{store}");
        }
    }

    #[test]
    fn a_turn_began_where_its_question_was_asked_or_answered_again() {
        let store = "A u0 head / B a0 A / C s0 B / D u0 C / E a0 D / F s1 D / G s1 F / H a0 A";
        let forest = fixture::forest(store);
        let at = |letter: &str| forest.find(id(letter)).unwrap();
        for (position, began) in
            [("A", false), ("B", true), ("C", true), ("D", true), ("E", true), ("G", true), ("H", false)]
        {
            assert_eq!(forest.turn_began_at(at("G"), at(position)), began, "{position}");
        }
    }
}
