//! The state of a request for consent, which follows from the shape of the forest alone; no other state exists.

use super::{Forest, Ix, NearestAncestor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// The request waits for consent.
    Pending,
    /// The bubb is visible: a message rather than a request.
    Visible,
    /// The request was answered; this bubb follows it.
    Answered(Ix),
    /// This newer visible bubb continues the conv of the request.
    Overtaken(Ix),
}

impl Forest {
    pub fn request_state(&self, request: Ix) -> RequestState {
        if !self.name(request).hidden {
            return RequestState::Visible;
        }
        if let Some(child) = self.children(request).next() {
            return RequestState::Answered(child);
        }
        let Some(ancestor) = self.nearest_visible(request) else { return RequestState::Pending };
        let newer = self.all().rev().take_while(|&ix| ix > request).filter(|&ix| !self.name(ix).hidden);
        let overtaking = self.tails_through(&newer.collect::<Vec<_>>(), &[ancestor]).last().copied();
        overtaking.map_or(RequestState::Pending, RequestState::Overtaken)
    }

    /// Returns all pending requests, newest first, found in one pass. `read` parses a bubb's text; it is called only
    /// for bubbs that are pending by their position.
    pub fn pending<T>(&self, mut read: impl FnMut(Ix) -> Option<T>) -> Vec<(Ix, T)> {
        let (mut child, mut newest) = (vec![false; self.len()], vec![None; self.len()]);
        for ix in self.all().rev() {
            if let Some(prev) = self.prev(ix) {
                child[prev.at()] = true;
            }
            // Each walk stops at a bubb that already has a newer one, so that all walks together are linear.
            let mut at = ix;
            while let Some(prev) =
                self.prev(at).filter(|prev| !self.name(ix).hidden && newest[prev.at()].is_none())
            {
                newest[prev.at()] = Some(ix);
                at = prev;
            }
        }
        let visible = NearestAncestor::new(|forest, ix| !forest.name(ix).hidden);
        let overtaken = |ix: Ix| {
            let newest = visible.find(self, ix).and_then(|ancestor| newest[ancestor.at()]);
            newest.is_some_and(|newest| newest > ix)
        };
        let waits = |ix: Ix| self.name(ix).hidden && !child[ix.at()] && !overtaken(ix);
        self.all().rev().filter(|&ix| waits(ix)).filter_map(|ix| Some((ix, read(ix)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    #[test]
    fn a_request_waits_until_something_follows_or_overtakes_it() {
        let ix = |forest: &Forest, letter: &str| forest.find(id(letter)).unwrap();
        for (store, request, expected, by) in [
            ("A s1 head / B u0 A / C s1 B / D s1 C", "D", "pending", ""),
            ("A s1 head / B u0 A / C s1 B / D s0 C", "D", "visible", ""),
            ("A s1 head / B u0 A / C s1 B / D s1 C", "C", "answered", "D"),
            ("A s1 head / B u0 A / C s1 B / D a0 B", "C", "overtaken", "D"),
            ("A s1 head / B u0 A / C s1 B / D u0 B / E a0 D", "C", "overtaken", "D"),
            // hidden, older and unrelated bubbs do not overtake
            ("A s1 head / B u0 A / C s1 B / D a1 B", "C", "pending", ""),
            ("A s1 head / B u0 A / C a0 B / D s1 B", "D", "pending", ""),
            ("A s1 head / B u0 A / C s1 B / D u0 A", "C", "pending", ""),
            ("A s1 head / B s1 A", "B", "pending", ""),
        ] {
            let forest = fixture::forest(store);
            let expected = match expected {
                "pending" => RequestState::Pending,
                "visible" => RequestState::Visible,
                "answered" => RequestState::Answered(ix(&forest, by)),
                _ => RequestState::Overtaken(ix(&forest, by)),
            };
            assert_eq!(forest.request_state(ix(&forest, request)), expected, "{store}");
            let pending = forest.pending(Some);
            for ix in forest.all() {
                assert_eq!(
                    pending.contains(&(ix, ix)),
                    forest.request_state(ix) == RequestState::Pending,
                    "{store}"
                );
            }
        }
    }

    #[test]
    fn a_long_conversation_beside_a_request_is_walked_once() {
        let mut names = fixture::names("A s1 head / B u0 A / C s1 B");
        names.extend(fixture::chain_after(id("H").time(), 100_000));
        let forest = Forest::new(names);
        assert_eq!(forest.request_state(forest.find(id("C")).unwrap()), RequestState::Pending);
    }

    #[test]
    fn texts_are_looked_at_only_where_a_request_can_wait() {
        let forest = fixture::forest("A s1 head / B u0 A / C s1 B / D a0 B / E s1 D / F s1 D");
        let mut looked = Vec::new();
        let pending = forest.pending(|ix| {
            looked.push(ix);
            (forest.name(ix).id == id("E")).then_some(())
        });
        let pending: Vec<Ix> = pending.into_iter().map(|(ix, ())| ix).collect();
        assert_eq!(fixture::letters(&forest, &looked), "FE");
        assert_eq!(fixture::letters(&forest, &pending), "E");
    }
}
