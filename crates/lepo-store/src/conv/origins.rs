//! The origin of a conv: its root, and its first visible question.

use super::{Forest, Ix};
use crate::bubb::Kind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvOrigin {
    pub root: Ix,
    /// First visible user bubb.
    pub question: Option<Ix>,
}

/// Finds the origins of many convs, walking a shared trunk only once.
pub struct ConvOrigins<'f> {
    forest: &'f Forest,
    known: Vec<Option<ConvOrigin>>,
}

impl<'f> ConvOrigins<'f> {
    pub fn new(forest: &'f Forest) -> ConvOrigins<'f> {
        ConvOrigins { forest, known: vec![None; forest.len()] }
    }

    pub fn origin(&mut self, leaf: Ix) -> ConvOrigin {
        let (mut walked, mut origin) = (Vec::new(), None);
        for ix in self.forest.up(leaf) {
            origin = self.known[ix.at()];
            if origin.is_some() {
                break;
            }
            walked.push(ix);
        }
        let root = walked.last().copied().unwrap_or(leaf);
        let mut origin = origin.unwrap_or(ConvOrigin { root, question: None });
        for &ix in walked.iter().rev() {
            let name = self.forest.name(ix);
            if origin.question.is_none() && name.kind == Kind::User && !name.hidden {
                origin.question = Some(ix);
            }
            self.known[ix.at()] = Some(origin);
        }
        origin
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn a_conv_begins_at_its_root_and_its_first_visible_question() {
        for (store, leaf, root, question) in [
            ("A s1 head / B u0 A / C a0 B / D u0 C", "D", "A", Some("B")),
            ("A s1 head / B u1 A / C u0 B", "C", "A", Some("C")),
            ("A s1 head / B a0 A", "B", "A", None),
            ("B u0 A / C a0 B", "C", "B", Some("B")),
        ] {
            let forest = fixture::forest(store);
            let origin = ConvOrigins::new(&forest).origin(forest.find(id(leaf)).unwrap());
            assert_eq!(forest.name(origin.root).id, id(root), "{store}");
            assert_eq!(origin.question.map(|ix| forest.name(ix).id), question.map(id), "{store}");
        }
        // The second lookup uses the cache that the first one filled, and a circle ends.
        let forest = fixture::forest("A s1 head / B u0 A / C a0 B / D a0 B / E u0 F / F u0 E");
        let mut origins = ConvOrigins::new(&forest);
        let mut found = |leaf| origins.origin(forest.find(id(leaf)).unwrap());
        assert_eq!(found("C"), found("D"));
        assert!(found("F").question.is_some());
    }
}
