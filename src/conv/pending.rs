//! Requests that wait for a person's consent. The forest's shape tells; there is no other state.

use super::tails::Below;
use super::{Forest, Ix};

impl Forest {
    /// The pending requests, newest first: a hidden bubb that is a request, has no child, and whose
    /// nearest visible ancestor was not gone on from by a newer visible bubb. `is_request` looks at a
    /// bubb's text; it is asked only where the rest holds.
    pub fn pending(&self, mut is_request: impl FnMut(Ix) -> bool) -> Vec<Ix> {
        let below = Below::of(self);
        let waits = |ix: Ix| {
            let overtaken = || {
                let newest = self.nearest_visible(ix).and_then(|ancestor| below.visible[ancestor.at()]);
                newest.is_some_and(|newest| newest > ix)
            };
            self.name(ix).hidden && !below.child[ix.at()] && !overtaken()
        };
        self.all().rev().filter(|&ix| waits(ix) && is_request(ix)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

    #[test]
    fn a_request_waits_until_it_or_its_question_is_gone_on_from() {
        for (store, requests, pending) in [
            ("A s1 head / B u0 A / C s1 B / D s1 C", "D", "D"),
            // only what is a request, and hidden
            ("A s1 head / B u0 A / C s1 B / D s1 C", "C", ""),
            ("A s1 head / B u0 A / C s0 B", "C", ""),
            // answered: it has a child
            ("A s1 head / B u0 A / C s1 B / D s1 C", "CD", "D"),
            // the question was answered later another way
            ("A s1 head / B u0 A / C s1 B / D a0 B", "C", ""),
            ("A s1 head / B u0 A / C s1 B / D s1 B / E a0 D", "C", ""),
            // … but an older answer, from before a retry, is no matter
            ("A s1 head / B u0 A / C a0 B / D s1 B", "D", "D"),
            // a newer conv elsewhere neither
            ("A s1 head / B u0 A / C s1 B / D u0 A", "C", "C"),
            // two that wait in one turn's side branches, newest first
            ("A u0 head / B s1 A / C s1 A", "BC", "CB"),
            // hidden all the way
            ("A s1 head / B s1 A", "B", "B"),
        ] {
            let forest = fixture::forest(store);
            let requests: Vec<_> = requests.chars().filter_map(|c| forest.find(id(&c.to_string()))).collect();
            let found = forest.pending(|ix| requests.contains(&ix));
            assert_eq!(fixture::letters(&forest, &found), pending, "{store}");
        }
    }

    #[test]
    fn texts_are_looked_at_only_where_a_request_can_wait() {
        let forest = fixture::forest("A s1 head / B u0 A / C s1 B / D a0 B / E s1 D");
        let mut looked = Vec::new();
        forest.pending(|ix| {
            looked.push(ix);
            false
        });
        assert_eq!(fixture::letters(&forest, &looked), "E");
    }
}
