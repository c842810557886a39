//! Values of conversations, made message by message from the root: heights, sums, outlines, whether a message is part
//! of one.

use super::{Forest, Ix};

/// Computes the values of many conversations; a trunk that they share is walked once.
pub struct Fold<'f, T, F> {
    forest: &'f Forest,
    step: F,
    /// Filled only along walks in which every message is newer than its prev, which fails only for hand-edited names:
    /// in a circle a value depends on where the walk starts.
    known: Vec<Option<T>>,
    walked: Vec<Ix>,
}

/// The outlines of many conversations.
pub type ConvOutlines<'f> = Fold<'f, ConvOutline, fn(&Forest, Option<ConvOutline>, Ix) -> ConvOutline>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvOutline {
    pub root: Ix,
    /// First visible user bubb.
    pub first: Option<Ix>,
    /// Last visible user bubb, which may be the first.
    pub last: Option<Ix>,
    /// Number of messages, hidden ones too.
    pub messages: u32,
    /// Number of visible user bubbs.
    pub questions: u32,
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

    pub fn outlines(&self) -> ConvOutlines<'_> {
        Fold::new(self, |forest, above, ix| {
            let none = ConvOutline { root: ix, first: None, last: None, messages: 0, questions: 0 };
            let above = above.unwrap_or(none);
            let question = forest.is_question(ix).then_some(ix);
            ConvOutline {
                root: above.root,
                first: above.first.or(question),
                last: question.or(above.last),
                messages: above.messages.saturating_add(1),
                questions: above.questions.saturating_add(u32::from(question.is_some())),
            }
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
    use lepo_base::role::Role;

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
            let weight = |ix: Ix| [0, 3][usize::from(forest.name(ix).role == Role::User)];
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
    fn an_outline_has_the_root_the_outer_questions_and_the_lengths() {
        for (store, leaf, root, questions, lengths) in [
            ("A s1 head / B u0 A / C a0 B / D u0 C", "D", "A", "BD", (4, 2)),
            ("A s1 head / B u0 A / C a0 B / D u0 C", "C", "A", "BB", (3, 1)),
            ("A s1 head / B u1 A / C u0 B", "C", "A", "CC", (3, 1)),
            ("A s1 head / B a0 A", "B", "A", "", (2, 0)),
            ("B u0 A / C a0 B", "C", "B", "BB", (2, 1)),
            ("A u0 B / B u0 A / C a0 B", "C", "A", "AB", (3, 2)),
        ] {
            let forest = fixture::forest(store);
            for order in [forest.all().collect::<Vec<_>>(), forest.all().rev().collect()] {
                let mut outlines = forest.outlines();
                // Later lookups use the cache that earlier ones filled.
                for ix in order {
                    outlines.value(ix);
                }
                let outline = outlines.value(forest.find(id(leaf)).unwrap());
                assert_eq!(forest.name(outline.root).id, id(root), "{store}");
                let outer: Vec<Ix> = outline.first.into_iter().chain(outline.last).collect();
                assert_eq!(fixture::letters(&forest, &outer), questions, "{store}");
                assert_eq!((outline.messages, outline.questions), lengths, "{store}");
            }
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
            let through = forest.tails_through(&forest.tails(false), &named);
            assert_eq!(fixture::letters(&forest, &through), tails, "{store}");
        }
    }
}
