//! How a request for consent stands. The forest's shape tells; no other state exists.

use super::{Forest, Ix};

/// How a bubb that is a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It waits for consent.
    Pending,
    /// It is visible, so it is something said, no request.
    Visible,
    /// This bubb follows it: what came of it.
    Answered(Ix),
    /// This newer visible bubb goes on from what led to it.
    Overtaken(Ix),
}

impl Forest {
    /// How a request stands.
    pub fn standing(&self, request: Ix) -> Standing {
        if !self.name(request).hidden {
            return Standing::Visible;
        }
        if let Some(child) = self.children(request).next() {
            return Standing::Answered(child);
        }
        let Some(ancestor) = self.up(request).find(|&ix| !self.name(ix).hidden) else {
            return Standing::Pending;
        };
        let newer = self.all().rev().take_while(|&ix| ix > request).filter(|&ix| !self.name(ix).hidden);
        let overtaking = newer.filter(|&ix| self.up(ix).any(|above| above == ancestor)).last();
        overtaking.map_or(Standing::Pending, Standing::Overtaken)
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
            // hidden ones do not overtake, nor does what is older or elsewhere
            ("A s1 head / B u0 A / C s1 B / D a1 B", "C", "pending", ""),
            ("A s1 head / B u0 A / C a0 B / D s1 B", "D", "pending", ""),
            ("A s1 head / B u0 A / C s1 B / D u0 A", "C", "pending", ""),
            ("A s1 head / B s1 A", "B", "pending", ""),
        ] {
            let forest = fixture::forest(store);
            let expected = match expected {
                "pending" => Standing::Pending,
                "visible" => Standing::Visible,
                "answered" => Standing::Answered(ix(&forest, by)),
                _ => Standing::Overtaken(ix(&forest, by)),
            };
            assert_eq!(forest.standing(ix(&forest, request)), expected, "{store}");
        }
    }
}
