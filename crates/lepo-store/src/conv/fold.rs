//! Values of conversations, made message by message from the root: heights, sums, origins, whether a message is part
//! of one.

use super::{Forest, Ix};
use lepo_base::role::Role;

/// Computes the values of many conversations; a trunk that they share is walked once.
pub struct Fold<'f, T, F> {
    forest: &'f Forest,
    step: F,
    /// Filled only along walks in which every message is newer than its prev, which fails only for hand-edited names:
    /// in a circle a value depends on where the walk starts.
    known: Vec<Option<T>>,
    walked: Vec<Ix>,
}

/// The origins of many conversations.
pub type ConvOrigins<'f> = Fold<'f, ConvOrigin, fn(&Forest, Option<ConvOrigin>, Ix) -> ConvOrigin>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvOrigin {
    pub root: Ix,
    /// First visible user bubb.
    pub question: Option<Ix>,
}

impl<'f, T: Copy, F: Fn(&Forest, Option<T>, Ix) -> T> Fold<'f, T, F> {
    /// `step` makes the value of a message from its prev's, if it has one.
    pub fn new(forest: &'f Forest, step: F) -> Fold<'f, T, F> {
        Fold { forest, step, known: vec![None; forest.len()], walked: Vec::new() }
    }

    /// Returns the value of the conversation that ends with `leaf`.
    pub fn value(&mut self, leaf: Ix) -> T {
        self.walked.clear();
        let mut value = None;
        for ix in self.forest.up(leaf) {
            value = self.known[ix.at()];
            if value.is_some() {
                break;
            }
            self.walked.push(ix);
        }
        // If the last message of a walk has a prev, the walk went round a circle.
        let is_circle = || self.walked.last().is_some_and(|&last| self.forest.prev(last).is_some());
        let is_kept = value.is_some() || self.walked.windows(2).all(|pair| pair[1] < pair[0]) && !is_circle();
        if !is_kept {
            self.walked = self.forest.conv(leaf).path;
            self.walked.reverse();
        }
        for &ix in self.walked.iter().rev() {
            let next = (self.step)(self.forest, value, ix);
            if is_kept {
                self.known[ix.at()] = Some(next);
            }
            value = Some(next);
        }
        value.unwrap_or_else(|| (self.step)(self.forest, None, leaf))
    }
}

impl Forest {
    /// Heights: numbers of messages, hidden ones too.
    pub fn heights(&self) -> Fold<'_, u32, impl Fn(&Forest, Option<u32>, Ix) -> u32> {
        self.sums(|_| 1)
    }

    /// Sums of the weights of all messages.
    pub fn sums<W: Fn(Ix) -> u32>(
        &self,
        weight: W,
    ) -> Fold<'_, u32, impl Fn(&Forest, Option<u32>, Ix) -> u32> {
        Fold::new(self, move |_: &Forest, sum: Option<u32>, ix| {
            weight(ix).saturating_add(sum.unwrap_or_default())
        })
    }

    pub fn origins(&self) -> ConvOrigins<'_> {
        Fold::new(self, |forest, origin, ix| {
            let name = forest.name(ix);
            let is_question = name.kind == Role::User && !name.hidden;
            let origin = origin.unwrap_or(ConvOrigin { root: ix, question: None });
            ConvOrigin { question: origin.question.or(is_question.then_some(ix)), ..origin }
        })
    }

    /// Returns the tails whose conversation contains a message of `named`.
    pub fn tails_through(&self, tails: &[Ix], named: &[Ix]) -> Vec<Ix> {
        let mut is_named = vec![false; self.len()];
        named.iter().for_each(|ix| is_named[ix.at()] = true);
        let mut through = Fold::new(self, |_: &Forest, above: Option<bool>, ix: Ix| {
            above == Some(true) || is_named[ix.at()]
        });
        tails.iter().copied().filter(|&tail| through.value(tail)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

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
            assert_eq!(forest.heights().value(forest.find(id(leaf)).unwrap()), height, "{store}");
        }
    }

    #[test]
    fn sums_are_of_the_whole_conv_whatever_was_asked_before() {
        for store in ["A s1 head / B u0 A / C a0 B / D a0 B / E u0 D", "A u0 B / B u0 A / C a0 B / D a0 C"] {
            let forest = fixture::forest(store);
            let weight = |ix: Ix| [0, 3][usize::from(forest.name(ix).kind == Role::User)];
            for order in [forest.all().collect::<Vec<_>>(), forest.all().rev().collect()] {
                let mut sums = forest.sums(weight);
                for ix in order {
                    let expected: u32 = forest.conv(ix).path.into_iter().map(weight).sum();
                    assert_eq!(sums.value(ix), expected, "{store}");
                }
            }
        }
    }

    #[test]
    fn heights_of_a_fork_share_their_trunk() {
        let forest = fixture::forest("A s1 head / B u0 A / C a0 B / D a0 B / E u0 D");
        let mut heights = forest.heights();
        let found: Vec<u32> = forest.tails(false).into_iter().map(|tail| heights.value(tail)).collect();
        assert_eq!(found, [4, 3]);
    }

    #[test]
    fn a_conv_begins_at_its_root_and_its_first_visible_question() {
        for (store, leaf, root, question) in [
            ("A s1 head / B u0 A / C a0 B / D u0 C", "D", "A", Some("B")),
            ("A s1 head / B u1 A / C u0 B", "C", "A", Some("C")),
            ("A s1 head / B a0 A", "B", "A", None),
            ("B u0 A / C a0 B", "C", "B", Some("B")),
        ] {
            let forest = fixture::forest(store);
            let origin = forest.origins().value(forest.find(id(leaf)).unwrap());
            assert_eq!(forest.name(origin.root).id, id(root), "{store}");
            assert_eq!(origin.question.map(|ix| forest.name(ix).id), question.map(id), "{store}");
        }
        // The second lookup uses the cache that the first one filled, and a circle ends.
        let forest = fixture::forest("A s1 head / B u0 A / C a0 B / D a0 B / E u0 F / F u0 E");
        let mut origins = forest.origins();
        let mut found = |leaf| origins.value(forest.find(id(leaf)).unwrap());
        assert_eq!(found("C"), found("D"));
        assert!(found("F").question.is_some());
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
            let through = forest.tails_through(&forest.tails(false), &named);
            assert_eq!(fixture::letters(&forest, &through), tails, "{store}");
        }
    }
}
