//! The conversation of a found bubb: its height, its first question and its root.

use std::collections::{HashMap, HashSet};

use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};

/// A bubb's position in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvPosition {
    /// Number of bubbs from the root to it, including hidden ones and itself.
    pub height: u32,
    /// The first visible question on the path from the root to it.
    pub first: Option<BubbName>,
    /// The first bubb of its conversation.
    pub root: BubbId,
}

/// Positions of many bubbs; a shared trunk is walked once.
pub struct ConvPositions<F> {
    find: F,
    known: HashMap<BubbId, ConvPosition>,
    /// Names that need no lookup, by id.
    given_names: Vec<BubbName>,
}

impl<F: FnMut(BubbId) -> Option<BubbName>> ConvPositions<F> {
    /// Creates an empty cache that looks up names with `find`.
    pub fn new(find: F) -> Self {
        ConvPositions { find, known: HashMap::new(), given_names: Vec::new() }
    }

    /// Sets the names that need no lookup, replacing earlier ones.
    pub fn preload(&mut self, mut names: Vec<BubbName>) {
        names.sort_by_key(|name| name.id);
        self.given_names = names;
    }

    fn find(&mut self, id: BubbId) -> Option<BubbName> {
        let given = self
            .given_names
            .binary_search_by_key(&id, |name| name.id)
            .ok()
            .and_then(|at| self.given_names.get(at));
        given.copied().or_else(|| (self.find)(id))
    }

    /// Returns the position of a bubb. If a prev is missing, or hand-edited names form a cycle, its conversation starts
    /// there.
    pub fn position(&mut self, name: &BubbName) -> ConvPosition {
        let (mut walked, mut seen) = (vec![*name], HashSet::from([name.id]));
        let mut position = ConvPosition { height: 0, first: None, root: name.id };
        let mut at = *name;
        if let Some(known) = self.known.get(&name.id) {
            return *known;
        }
        while let Some(prev) = at.prev {
            if let Some(known) = self.known.get(&prev) {
                position = *known;
                break;
            }
            let Some(found) = self.find(prev).filter(|found| seen.insert(found.id)) else { break };
            walked.push(found);
            at = found;
        }
        for name in walked.into_iter().rev() {
            if position.height == 0 {
                position.root = name.id;
            }
            position.height += 1;
            if position.first.is_none() && name.role == Role::User && !name.hidden {
                position.first = Some(name);
            }
            self.known.insert(name.id, position);
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{forest, id};

    #[test]
    fn a_place_is_height_and_first_question() {
        for (store, bubb, height, first) in [
            ("A s1 head / B u0 A / C a0 B / D u0 C", "D", 4, Some("B")),
            ("A s1 head / B u0 A / C a0 B / D u0 C", "A", 1, None),
            ("A u0 head", "A", 1, Some("A")),
            ("A s1 head / B u1 A / C u0 B", "C", 3, Some("C")),
            ("B u0 A / C a0 B", "C", 2, Some("B")),
            ("A u0 B / B a0 A", "B", 2, Some("A")),
        ] {
            let forest = forest(store);
            let find = |id| forest.find(id).map(|ix| forest.name(ix));
            let mut convs = ConvPositions::new(find);
            let name = find(id(bubb)).unwrap();
            let found = convs.position(&name).root;
            let last = forest.up(forest.find(id(bubb)).unwrap()).last().map(|ix| forest.name(ix));
            // A cycle has no root.
            let root =
                last.filter(|last| find(last.prev.unwrap_or(last.id)).is_none() || last.prev.is_none());
            let root = root.map_or(found, |root| root.id);
            let expected = ConvPosition { height, first: first.and_then(|first| find(id(first))), root };
            assert_eq!(convs.position(&name), expected, "{store} {bubb}");
            assert_eq!(convs.position(&name), expected, "{store} {bubb} again");
            // The preloaded names alone must produce equal positions.
            let mut convs = ConvPositions::new(|_| None);
            convs.preload(forest.all().rev().map(|ix| forest.name(ix)).collect());
            assert_eq!(convs.position(&name), expected, "{store} {bubb} told");
        }
    }
}
