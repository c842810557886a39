//! `@`, the newest of the user's own tails, and what it decides: the rows of a listing, and the time of a new root.

use super::{Forest, Ix};
use crate::bubb::{BubbId, Day};

impl Forest {
    /// Returns the tails, newest first, as a listing shows them: with `@`, although another user or worktree continued
    /// it. `own` is the `@` of a worktree that shares the store.
    pub fn listed_tails(&self, spent: bool, own: Option<BubbId>) -> Box<dyn Iterator<Item = Ix> + '_> {
        let tails = self.newest_first(spent);
        let newest = match own {
            Some(own) => self.find(own),
            None => self.newest().filter(|_| self.is_union()),
        };
        let Some(newest) = newest else { return Box::new(tails) };
        let mut tails: Vec<Ix> = tails.collect();
        if !tails.contains(&newest) {
            tails.insert(tails.partition_point(|tail| *tail > newest), newest);
        }
        Box::new(tails.into_iter())
    }

    /// Returns `@`: the newest of the user's own tails, ignoring those dated ahead unless all are. Otherwise a
    /// message from a wrong clock would capture every later question until its date has passed. Other users' messages
    /// do not count: a conversation that they continued is still the user's newest.
    pub fn newest(&self) -> Option<Ix> {
        if let Some(own) = self.own_bubbs() {
            return own.newest().and_then(|newest| self.find(own.name(newest).id));
        }
        let mut ahead = None;
        for tail in self.newest_first(false) {
            if !self.is_ahead(tail) {
                return Some(tail);
            }
            ahead.get_or_insert(tail);
        }
        ahead
    }

    /// Returns the day of the oldest bubb on which [`newest`](Self::newest) and [`root_time`](Self::root_time)
    /// depend, if they are right for the whole store although this forest has only its newest bubbs. `None` if all of
    /// these tails are dated ahead, or if the conversation of the newest tail that is not reaches back further.
    pub fn complete_since(&self) -> Option<Day> {
        let newest = self.newest().filter(|&newest| !self.is_ahead(newest))?;
        let visible = self.nearest_visible(newest)?;
        Some(Day::from_id(self.name(visible).id).min(Day::from_millis(self.root_time())))
    }

    /// Returns the least time that makes a new root `@` even if the clock went back. Bubbs dated ahead do not count.
    pub fn root_time(&self) -> u64 {
        let is_own = |ix: &Ix| self.store_of(*ix).is_none();
        let dated = self.all().rev().filter(is_own).find(|&ix| !self.is_ahead(ix));
        dated.map_or(0, |ix| self.name(ix).id.time() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AHEAD;
    use super::super::fixture::{self, id};
    use super::Forest;
    use crate::bubb::BubbId;
    use lepo_base::role::Role;

    #[test]
    fn the_newest_of_a_union_is_that_of_the_own_store_and_is_listed() {
        for (store, foreign, newest, listed) in [
            ("A u0 head / B a0 A / C u0 B", "C", "B", "CB"),
            ("A u0 head / B a0 A / C u0 B / D a0 C", "CD", "B", "DB"),
            ("A u0 head / B a0 A / C u0 B / D u0 head", "C", "D", "DC"),
            ("A u0 head / B a0 A / C u0 B / D u0 A / E a0 D", "C", "E", "EC"),
            ("A u0 head / B a0 A / C u0 B", "AB", "C", "C"),
            ("A u0 head / B a0 A / C a0 A", "", "C", "CB"),
        ] {
            let names = fixture::names(store);
            let others = foreign.chars().map(|letter| (id(&letter.to_string()), 0)).collect();
            let forest = Forest::with_foreign(names, others);
            assert_eq!(forest.newest(), forest.find(id(newest)), "{store}");
            assert_eq!(
                fixture::letters(&forest, &forest.listed_tails(false, None).collect::<Vec<_>>()),
                listed,
                "{store}"
            );
        }
        let names = fixture::names("A u0 head / B a0 A / C u0 B");
        let union = Forest::with_foreign(names, [(id("C"), 0)].into());
        assert_eq!(union.root_time(), id("B").time() + 1);
    }

    #[test]
    fn the_newest_of_a_worktree_is_listed_once() {
        let forest = fixture::forest("A u0 head / B a0 A / C u0 B / D a0 C / E u0 head");
        for (own, listed) in [(None, "ED"), (Some("B"), "EDB"), (Some("D"), "ED"), (Some("G"), "ED")] {
            let tails: Vec<_> = forest.listed_tails(false, own.map(id)).collect();
            assert_eq!(fixture::letters(&forest, &tails), listed, "{own:?}");
        }
    }

    #[test]
    fn the_newest_bubbs_alone_tell_the_newest_tail_or_know_that_they_do_not() {
        for (newest, tells) in [
            // an answer, whose question may be missing
            ("C a0 B", true),
            // tool chatter next to an answer in the forest
            ("C u0 B / D a1 C / E a0 C / F a1 C", true),
            // chatter next to a missing bubb, which may be answered
            ("D a1 C", false),
            ("D a1 C / E t1 D", false),
            ("", false),
        ] {
            let forest = fixture::forest(newest);
            let now = forest.all().next().map_or(0, |ix| forest.name(ix).id.time());
            let forest = forest.seen_at(now);
            assert_eq!(forest.complete_since().is_some(), tells, "{newest}");
            // all dated ahead: an older bubb may be the newest that is not
            assert_eq!(forest.seen_at(0).complete_since(), None, "{newest}");
        }
    }

    #[test]
    fn the_newest_leaves_out_what_is_dated_ahead_unless_all_is() {
        for (store, ahead, newest, tells) in [
            ("A u0 head / B a0 A / C u0 head / D a0 C", "CD", "B", true),
            ("A u0 head / B a0 A / C a0 A", "C", "B", true),
            // a bubb that a later message follows is not a tail
            ("A u0 head / B a0 A / C u0 B", "C", "C", false),
            ("A u0 head / B u0 head / C a0 B", "C", "A", true),
            ("A u0 head / B u0 head", "AB", "B", false),
            // a hidden leaf next to a later answer is spent all the same
            ("A u0 head / B u0 head / C a1 B / D a0 B", "D", "A", true),
            // hidden, next to a missing bubb
            ("C a1 B / D u0 head", "D", "C", false),
        ] {
            let mut names = fixture::names(store);
            let later = |bubb: BubbId| match ahead.chars().any(|letter| id(&letter.to_string()) == bubb) {
                true => BubbId::new(bubb.time() + 10 * AHEAD, Role::User, false, None, &[0; 32].into()),
                false => bubb,
            };
            for name in &mut names {
                (name.id, name.prev) = (later(name.id), name.prev.map(later));
            }
            let forest = Forest::new(names).seen_at(id("A").time());
            let found = forest.newest().map(|ix| forest.name(ix).id);
            assert_eq!(found, Some(later(id(newest))), "{store}");
            assert_eq!(forest.complete_since().is_some(), tells, "{store}");
        }
    }
}
