//! The part of a forest that a command needs, so that no more is read.

use std::collections::HashSet;

use super::address::{Address, AddressSpec, BranchLookup, file_name};
use super::{Forest, Ix, NearestAncestor};
use crate::bubb::{BubbId, BubbName, Day};
use lepo_base::error::Result;

/// A part of a forest. Every bubb comes with its conv.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadScope {
    /// All bubbs of this store, and with `peers` all in other users' stores.
    All {
        peers: bool,
    },
    Ids(Vec<BubbId>),
    /// The bubbs whose id starts with a text; without any, those whose id ends with it.
    Piece(String),
    /// The newest tail alone, and the least time of a new root.
    Tip,
    Tails(TailScope),
    /// A bubb, and all bubbs of this store that are not older; if `judged`, instead all that decide whether the bubb is
    /// answered or overtaken.
    Since {
        id: BubbId,
        judged: bool,
    },
}

/// The newest tails of this store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TailScope {
    pub count: usize,
    /// Counts all leaves, also those whose visible message was continued.
    pub include_spent: bool,
    /// Includes all other tails that answer the same questions.
    pub siblings: bool,
    /// The least and the greatest id of the tails that count.
    pub within: Option<(BubbId, BubbId)>,
    /// Includes what [`ReadScope::Tip`] does.
    pub tip: bool,
}

/// How far a store has been read.
pub(crate) struct ReadReach {
    /// The newest day that was not read with all later ones.
    pub unread: Option<Day>,
    /// The oldest day of a bubb in `.lepo/` that is not newer than its prev.
    pub disordered: Option<Day>,
    /// Bubbs with a later time are dated ahead, in milliseconds since 1970.
    pub latest: u64,
}

/// The names still to be read for a scope.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadNeed {
    /// All days from this one on.
    pub since: Option<Day>,
    /// Some days before those read, as many as the reader likes.
    pub older: bool,
    /// These bubbs with their convs.
    pub ids: Vec<BubbId>,
}

/// Finds the name of an id, and reads its day if necessary.
pub(crate) type NameLookup<'l> = &'l mut dyn FnMut(BubbId) -> Result<Option<BubbName>>;

impl ReadScope {
    /// This many of the newest tails, and all that [`Tip`](ReadScope::Tip) includes.
    pub fn newest(count: usize) -> ReadScope {
        ReadScope::Tails(TailScope { count, tip: true, ..TailScope::default() })
    }
}

impl TailScope {
    /// Returns the next part to read, given the forest of all names read so far. Nothing is missing once a part is
    /// empty, or has only `ids` that have been read.
    pub(crate) fn need(&self, forest: &Forest, reach: &ReadReach, find: NameLookup<'_>) -> Result<ReadNeed> {
        let is_within = |id: BubbId| self.within.is_none_or(|(low, high)| (low..=high).contains(&id));
        let mut need = self.tails_need(forest, reach, &is_within, find)?;
        if self.siblings && need.has_tails() {
            need.since = self.siblings_since(forest, reach);
        }
        if self.tip && need.has_tails() {
            let is_dated = |id: BubbId| id.time() <= reach.latest;
            let one = TailScope { count: 1, ..TailScope::default() };
            let tip = one.tails_need(forest, reach, &is_dated, find)?;
            let dated = forest.all().rev().filter(|&ix| forest.store_of(ix).is_none());
            let dated = dated.map(|ix| forest.name(ix).id).find(|&id| is_dated(id));
            let since = dated.map(Day::from_id).filter(|&day| tip.has_tails() && reach.is_unread_since(day));
            let ids = [need.ids, tip.ids].concat();
            need = ReadNeed { ids, since: tip.since.or(since), ..tip };
        }
        Ok(need)
    }

    /// Returns what the newest tails that satisfy `fits` need. The first whose day is unread ends the look: it may turn
    /// out to be spent, and then an older one takes its position.
    fn tails_need(
        &self,
        forest: &Forest,
        reach: &ReadReach,
        fits: &dyn Fn(BubbId) -> bool,
        find: NameLookup<'_>,
    ) -> Result<ReadNeed> {
        let own = forest.newest_first(self.include_spent).filter(|&ix| forest.store_of(ix).is_none());
        let ids = own.map(|ix| forest.name(ix).id).filter(|&id| fits(id));
        let ids: Vec<BubbId> = ids.take(self.count).collect();
        for &id in &ids {
            let since =
                if self.include_spent { Day::from_id(id) } else { judged_since(id, reach.disordered, find)? };
            if reach.is_unread_since(since) {
                return Ok(ReadNeed { since: Some(since), ..ReadNeed::default() });
            }
        }
        let least = self.within.map_or(Day::FIRST, |(low, _)| Day::from_id(low));
        if ids.len() < self.count && reach.is_unread_since(least) {
            return Ok(ReadNeed { older: true, ..ReadNeed::default() });
        }
        Ok(ReadNeed { ids, ..ReadNeed::default() })
    }

    /// Returns the day of the oldest last question of the tails, if it is unread: other answers to it are not older.
    fn siblings_since(&self, forest: &Forest, reach: &ReadReach) -> Option<Day> {
        let questions = NearestAncestor::new(Forest::is_question);
        let tails = forest.newest_first(self.include_spent).take(self.count);
        let asked = tails.filter_map(|tail| questions.find(forest, tail));
        let since = asked.map(|question: Ix| Day::from_id(forest.name(question).id)).min()?;
        Some(reach.disordered.map_or(since, |disordered| since.min(disordered)))
            .filter(|&since| reach.is_unread_since(since))
    }
}

impl ReadReach {
    fn is_unread_since(&self, day: Day) -> bool {
        self.unread.is_some_and(|unread| unread >= day)
    }
}

impl ReadNeed {
    /// Whether the tails are known.
    fn has_tails(&self) -> bool {
        self.since.is_none() && !self.older
    }
}

impl AddressSpec {
    /// Returns the parts of the store to read in order to resolve this.
    pub fn read_scopes(&self, branch: &BranchLookup<'_>) -> Result<Vec<ReadScope>> {
        Ok(match self {
            AddressSpec::One(address) => vec![address.read_scope(branch)?],
            AddressSpec::Range(from, to) => vec![from.read_scope(branch)?, to.read_scope(branch)?],
        })
    }

    /// Whether it contains `@`.
    pub fn has_newest(&self) -> bool {
        match self {
            AddressSpec::One(address) => address.base == "@",
            AddressSpec::Range(from, to) => from.base == "@" || to.base == "@",
        }
    }

    /// Replaces `@` by this message.
    pub fn with_newest(mut self, newest: BubbId) -> AddressSpec {
        let replace = |address: &mut Address| {
            if address.base == "@" {
                address.base = newest.to_string();
            }
        };
        match &mut self {
            AddressSpec::One(address) => replace(address),
            AddressSpec::Range(from, to) => {
                replace(from);
                replace(to);
            }
        }
        self
    }
}

impl Address {
    /// Returns the part of the store to read in order to resolve this address.
    pub fn read_scope(&self, branch: &BranchLookup<'_>) -> Result<ReadScope> {
        let text = self.base.as_str();
        if text == "@" {
            return Ok(ReadScope::newest(1));
        }
        if text.contains('/')
            && let Some(id) = branch(text)?
        {
            return Ok(ReadScope::Ids(vec![id]));
        }
        if let Some(file) = file_name(text) {
            return Ok(ReadScope::Ids(
                BubbName::parse(file.as_bytes()).into_iter().map(|name| name.id).collect(),
            ));
        }
        if let Some(id) = branch(text)? {
            return Ok(ReadScope::Ids(vec![id]));
        }
        Ok(match BubbId::parse(text.as_bytes()) {
            Some(id) => ReadScope::Ids(vec![id]),
            None => ReadScope::Piece(text.to_string()),
        })
    }
}

/// Returns the day from which all names must be read to know what follows a bubb, and, if it is hidden, whether its
/// nearest visible ancestor was continued.
pub(crate) fn judged_since(id: BubbId, disordered: Option<Day>, find: NameLookup<'_>) -> Result<Day> {
    let (mut since, mut seen) = (Day::from_id(id), HashSet::new());
    let mut at = find(id)?;
    if at.is_none_or(|name| !name.hidden) {
        return Ok(since);
    }
    // Walk up to the nearest visible bubb or the root.
    while let Some(name) = at.filter(|name| seen.insert(name.id)) {
        since = since.min(Day::from_id(name.id));
        if !name.hidden {
            break;
        }
        at = name.prev.map_or(Ok(None), &mut *find)?;
    }
    Ok(disordered.map_or(since, |disordered| since.min(disordered)))
}

#[cfg(test)]
mod tests {
    use super::super::AHEAD;
    use super::*;
    use lepo_base::role::Role;

    const DAY: u64 = 24 * 60 * 60 * 1000;

    fn day(number: u64) -> Day {
        Day::from_millis(number * DAY)
    }

    fn id(number: u64, index: u8) -> BubbId {
        BubbId::new(number * DAY + u64::from(index), Role::User, false, None, &[index; 32].into())
    }

    /// Reads `DAY TAG PREV` with the index of the prev, or with the day of one that does not exist.
    fn names(text: &str) -> Vec<BubbName> {
        let mut names: Vec<BubbName> = Vec::new();
        for line in text.split(" / ") {
            let [at, tag, prev] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let prev = match prev.strip_prefix('=') {
                Some(missing) => Some(id(missing.parse().unwrap(), 99)),
                None => prev.parse().ok().map(|index: usize| names[index].id),
            };
            let role = Role::from_letter(tag.as_bytes()[0]).unwrap();
            let id = id(at.parse().unwrap(), names.len() as u8);
            names.push(BubbName { id, role, hidden: tag.ends_with('1'), prev });
        }
        names
    }

    #[test]
    fn tails_need_the_days_that_decide_them_and_no_others() {
        let some = |count: usize| TailScope { count, ..TailScope::default() };
        let leaves = |count: usize| TailScope { include_spent: true, ..some(count) };
        let siblings = |count: usize| TailScope { siblings: true, ..some(count) };
        let tip = TailScope { tip: true, ..some(0) };
        let within = |low: u64| TailScope { within: Some((id(low, 0), id(90, 0))), ..some(2) };
        for (store, unread, scope, need) in [
            ("9 u0 - / 9 a0 0", Some(8), some(1), "ids 1"),
            ("9 u0 - / 9 a0 0", Some(9), some(1), "since 9"),
            ("9 u0 - / 9 a0 0", Some(8), some(2), "older"),
            ("9 u0 - / 9 a0 0", None, some(2), "ids 1"),
            ("9 u0 -", None, some(0), ""),
            // The first tail whose day is unread ends the look.
            ("3 u0 - / 6 u0 - / 9 u0 -", Some(8), some(3), "since 6"),
            // The first tail that may count has an older day than those that are unread.
            ("9 u0 -", Some(4), within(5), "ids 0"),
            ("9 u0 -", Some(5), within(5), "older"),
            // A hidden one is judged by what follows the nearest visible one.
            ("5 u0 - / 9 a1 0", Some(7), some(1), "since 5"),
            ("5 u0 - / 9 a1 0", Some(7), leaves(1), "ids 1"),
            ("9 a1 =2", Some(7), some(1), "ids 0"),
            ("4 u0 - / 9 a0 0", Some(6), siblings(1), "since 4 ids 1"),
            ("4 u0 - / 9 a0 0", Some(3), siblings(1), "ids 1"),
            ("4 u0 - / 9 a0 0", Some(9), siblings(1), "since 9"),
            // Bubbs after day 20 are dated ahead.
            ("9 u0 - / 30 u0 -", Some(9), tip.clone(), "since 9"),
            ("9 u0 - / 30 u0 -", Some(8), tip.clone(), "ids 0"),
            ("30 u0 -", Some(8), tip.clone(), "older"),
            ("9 u0 - / 30 u0 -", Some(8), TailScope { count: 1, ..tip }, "ids 1 0"),
        ] {
            let names = names(store);
            let forest = Forest::new(names.clone()).seen_at(20 * DAY - AHEAD);
            let reach = ReadReach { unread: unread.map(day), disordered: None, latest: 20 * DAY };
            let mut find = |id| Ok(names.iter().find(|name| name.id == id).copied());
            let found = scope.need(&forest, &reach, &mut find).unwrap();
            let mut parts: Vec<String> = Vec::new();
            parts.extend(found.since.map(|since| format!("since {}", since.start() / DAY)));
            parts.extend(found.older.then(|| "older".to_string()));
            let index = |id: &BubbId| names.iter().position(|name| name.id == *id).unwrap().to_string();
            let ids: Vec<String> = found.ids.iter().map(index).collect();
            parts.extend((!ids.is_empty()).then(|| format!("ids {}", ids.join(" "))));
            assert_eq!(parts.join(" "), need, "{store}, {unread:?}, {scope:?}");
        }
        let names = names("5 u0 - / 9 a1 0");
        let mut find = |id| Ok(names.iter().find(|name| name.id == id).copied());
        assert_eq!(judged_since(names[1].id, Some(day(3)), &mut find).unwrap(), day(3));
        assert_eq!(judged_since(names[0].id, Some(day(3)), &mut find).unwrap(), day(5));
    }

    #[test]
    fn an_address_wants_what_its_form_may_need() {
        let main = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
        let branch = |name: &str| Ok((name == "main").then_some(main));
        let paths = |ids: &[BubbId]| ReadScope::Ids(ids.to_vec());
        for (text, wanted) in [
            ("@", vec![ReadScope::newest(1)]),
            ("@~3", vec![ReadScope::newest(1)]),
            ("main^", vec![paths(&[main])]),
            ("01jb3z0q4n8v2k5t7w9x1y3z5a", vec![paths(&[main])]),
            ("x/01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md", vec![paths(&[main])]),
            ("README.md", vec![paths(&[])]),
            ("5T7W", vec![ReadScope::Piece("5T7W".into())]),
            ("main..@", vec![paths(&[main]), ReadScope::newest(1)]),
        ] {
            assert_eq!(AddressSpec::parse(text).unwrap().read_scopes(&branch).unwrap(), wanted, "{text}");
        }
    }
}
