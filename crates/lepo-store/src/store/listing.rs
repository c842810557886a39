//! The names of a store as far as they have been read: `.lepo/` first and once, days as needed.
//!
//! `.lepo/` is read first because a bubb that moves into its day is in both before it leaves `.lepo/`: whenever the
//! reading happens, it finds the bubb.

use std::collections::{BTreeMap, HashSet};
use std::thread;

use super::day_folders::DayFolders;
use super::dir::now;
use super::handle::Store;
use super::unreadable_folders::UnreadableFolders;
use crate::bubb::{BubbId, BubbName, Day};
use crate::conv::{AHEAD, Forest, ReadReach, TailScope, judged_since};
use lepo_base::error::{Error, Result};
use lepo_base::read_ahead::processors;

/// Minimum number of folders per thread for a second thread to be worth its start.
const DAYS_A_THREAD: usize = 16;

/// The names read so far.
pub struct NameListing<'s> {
    store: &'s Store,
    /// Names in `.lepo/`, sorted, each id once.
    recent: Vec<BubbName>,
    /// Names of the days read, without the ids that are also in `.lepo/`.
    pub(super) days: BTreeMap<Day, Vec<BubbName>>,
    /// The days not read in descending order yet.
    calendar: DayFolders,
    /// The oldest day of a bubb in `.lepo/` that is not newer than its prev, which only hand-edited names can be.
    disordered: Option<Day>,
    /// Grows with each step that may have added names.
    steps: usize,
    built: Option<(usize, Forest)>,
    /// The names of other users' stores; `None` until they are needed, empty if they are excluded.
    peers: Option<Vec<NameListing<'s>>>,
    /// Names found only in those stores, each with the index of its store.
    foreign: BTreeMap<BubbId, (BubbName, usize)>,
    unreadable: UnreadableFolders,
    /// The time of the reading, in milliseconds since 1970.
    pub(super) now: u64,
}

impl<'s> NameListing<'s> {
    pub(super) fn read_recent(store: &'s Store) -> Result<NameListing<'s>> {
        let mut recent = store.recent_names()?;
        recent.dedup_by_key(|name| name.id);
        let disordered = recent.iter().filter(|name| name.prev.is_some_and(|prev| prev >= name.id));
        let disordered = disordered.map(|name| Day::from_id(name.id)).min();
        let calendar = DayFolders::read(&store.dir).map_err(|error| store.dir.old_error(error))?;
        store.note_recent(&recent, !calendar.is_empty());
        Ok(NameListing {
            store,
            recent,
            days: BTreeMap::new(),
            calendar,
            disordered,
            steps: 0,
            built: None,
            peers: None,
            foreign: BTreeMap::new(),
            unreadable: UnreadableFolders::default(),
            now: now(),
        })
    }

    /// From now on, skips unreadable folders, also in other users' stores.
    pub(super) fn pass_over_unreadable(&mut self) -> Result<()> {
        self.unreadable.pass_over();
        self.peers()?.iter_mut().try_for_each(NameListing::pass_over_unreadable)
    }

    /// Returns the errors of the skipped folders, and clears them.
    pub(super) fn drain_unreadable(&mut self) -> Vec<Error> {
        let mut unreadable = self.unreadable.drain();
        let peers = self.peers.iter_mut().flatten();
        peers.for_each(|other| unreadable.extend(other.drain_unreadable()));
        unreadable
    }

    /// Returns the listings of other users' stores, each read only as far as needed.
    fn peers(&mut self) -> Result<&mut Vec<NameListing<'s>>> {
        if self.peers.is_none() {
            let peers = self.store.peers().iter();
            self.peers =
                Some(peers.map(|(_, store)| NameListing::read_recent(store)).collect::<Result<_>>()?);
        }
        Ok(self.peers.get_or_insert_default())
    }

    fn put_foreign(&mut self, names: impl IntoIterator<Item = (BubbName, usize)>) -> Result<()> {
        for (name, number) in names {
            if self.find_own(name.id)?.is_none() && self.foreign.insert(name.id, (name, number)).is_none() {
                self.steps += 1;
            }
        }
        Ok(())
    }

    pub(super) fn read_everyone(&mut self) -> Result<()> {
        let mut found = Vec::new();
        for (number, other) in self.peers()?.iter_mut().enumerate() {
            other.read_since(Day::FIRST)?;
            found.extend(other.merged(other.recent.clone()).into_iter().map(|name| (name, number)));
        }
        self.put_foreign(found)
    }

    /// Reads other users' bubbs with ids from `low` to `high` and their convs; returns whether any were found.
    pub(super) fn read_foreign(&mut self, low: BubbId, high: BubbId) -> Result<bool> {
        let mut found = Vec::new();
        for (number, other) in self.peers()?.iter_mut().enumerate() {
            found.extend(other.between(low, high)?.into_iter().map(|name| (name, number)));
        }
        let is_any = !found.is_empty();
        let ids: Vec<BubbId> = found.iter().map(|(name, _)| name.id).collect();
        self.put_foreign(found)?;
        self.read_paths(ids)?;
        Ok(is_any)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.calendar.is_empty()
    }

    /// Finds the name of an id, in the only folder that can have it, or else in other users' stores.
    pub fn find(&mut self, id: BubbId) -> Result<Option<BubbName>> {
        if let Some(name) = self.find_own(id)? {
            return Ok(Some(name));
        }
        if let Some((name, _)) = self.foreign.get(&id) {
            return Ok(Some(*name));
        }
        for (number, other) in self.peers()?.iter_mut().enumerate() {
            if let Some(name) = other.find_own(id)? {
                self.foreign.insert(id, (name, number));
                self.steps += 1;
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    pub(crate) fn find_own(&mut self, id: BubbId) -> Result<Option<BubbName>> {
        if let Some(name) = find_name(&self.recent, id) {
            return Ok(Some(name));
        }
        let day = Day::from_id(id);
        self.read(day)?;
        Ok(self.days.get(&day).and_then(|names| find_name(names, id)))
    }

    /// Returns the counting names with ids from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: BubbId, high: BubbId) -> Result<Vec<BubbName>> {
        let mut day = Day::from_id(low);
        while day <= Day::from_id(high) {
            self.read(day)?;
            day = day.next();
        }
        let within = |name: &&BubbName| (low..=high).contains(&name.id);
        let days = self.days.range(Day::from_id(low)..=Day::from_id(high)).flat_map(|(_, names)| names);
        Ok(days.chain(&self.recent).filter(within).copied().collect())
    }

    fn read(&mut self, day: Day) -> Result<()> {
        if self.days.contains_key(&day) {
            return Ok(());
        }
        let names = self.store.read_day(day);
        let names = self.unreadable.pass(self.store, names)?.unwrap_or_default();
        self.put(day, names);
        Ok(())
    }

    fn put(&mut self, day: Day, mut names: Vec<BubbName>) {
        self.steps += usize::from(!names.is_empty());
        // If an id is in both, the name in `.lepo/` counts.
        if let Some(oldest) = self.recent.first()
            && names.last().is_some_and(|newest| newest.id >= oldest.id)
        {
            names.retain(|name| find_name(&self.recent, name.id).is_none());
        }
        self.days.insert(day, names);
    }

    /// Reads all days from `since` on.
    pub fn read_since(&mut self, since: Day) -> Result<()> {
        let mut days = Vec::new();
        while self.unreadable.newest_day(&mut self.calendar, self.store)?.is_some_and(|day| day >= since) {
            days.extend(self.unreadable.take_day(&mut self.calendar, self.store)?);
        }
        self.read_all(&days)
    }

    /// Reads the newest `count` days that have not been read.
    pub(super) fn read_older(&mut self, count: usize) -> Result<()> {
        let mut days = Vec::new();
        while days.len() < count
            && let Some(day) = self.unreadable.take_day(&mut self.calendar, self.store)?
        {
            days.push(day);
        }
        self.read_all(&days)
    }

    /// Reads these days, on several threads if there are many.
    pub fn read_all(&mut self, days: &[Day]) -> Result<()> {
        self.steps += usize::from(!days.is_empty());
        let days: Vec<Day> = days.iter().copied().filter(|day| !self.days.contains_key(day)).collect();
        let threads = processors().min(days.len() / DAYS_A_THREAD);
        let store = self.store;
        let read = |days: &[Day]| -> Vec<(Day, std::io::Result<Vec<BubbName>>)> {
            days.iter().map(|&day| (day, store.read_day(day))).collect()
        };
        let read = if threads < 2 {
            read(&days)
        } else {
            let parts = days.chunks(days.len().div_ceil(threads));
            thread::scope(|scope| {
                let started: Vec<_> = parts.map(|part| scope.spawn(|| read(part))).collect();
                let ended = started.into_iter().map(|thread| {
                    thread.join().map_err(|_| Error::store("a thread that read folders ended early"))
                });
                ended.collect::<Result<Vec<_>>>().map(|parts| parts.into_iter().flatten().collect())
            })?
        };
        for (day, names) in read {
            let names = self.unreadable.pass(self.store, names)?.unwrap_or_default();
            self.put(day, names);
        }
        Ok(())
    }

    /// Reads the days that the convs of these bubbs need.
    pub(super) fn read_paths(&mut self, ids: impl IntoIterator<Item = BubbId>) -> Result<()> {
        let mut seen = HashSet::new();
        for id in ids {
            let mut at = Some(id);
            while let Some(id) = at.filter(|&id| seen.insert(id)) {
                at = self.find(id)?.and_then(|name| name.prev);
            }
        }
        Ok(())
    }

    /// Reads as many days as necessary to know the tails of a scope, and their convs.
    pub(super) fn read_tails(&mut self, scope: &TailScope) -> Result<()> {
        let mut more = 1;
        loop {
            let before = self.steps;
            let forest = self.build_forest();
            let unread = self.unreadable.newest_day(&mut self.calendar, self.store)?;
            let reach = ReadReach { unread, disordered: self.disordered, latest: self.now + AHEAD };
            let need = scope.need(&forest, &reach, &mut |id| self.find(id))?;
            self.built = Some((before, forest));
            if let Some(since) = need.since {
                self.read_since(since)?;
            }
            self.read_paths(need.ids)?;
            if need.older && self.steps == before {
                self.read_older(more)?;
                more *= 2;
            }
            if self.steps == before {
                return Ok(());
            }
        }
    }

    /// Reads a bubb with its conv, and all that decides whether it is answered or overtaken.
    pub(super) fn read_judged(&mut self, id: BubbId) -> Result<()> {
        self.read_paths([id])?;
        let disordered = self.disordered;
        let since = judged_since(id, disordered, &mut |id| self.find(id))?;
        self.read_since(since)
    }

    fn build_forest(&mut self) -> Forest {
        match self.built.take() {
            Some((steps, forest)) if steps == self.steps => forest,
            _ => self.forest_of(self.merged(self.recent.clone())),
        }
    }

    fn forest_of(&self, mut names: Vec<BubbName>) -> Forest {
        names.extend(self.foreign.values().map(|(name, _)| *name));
        let foreign = self.foreign.iter().map(|(id, (_, number))| (*id, *number)).collect();
        Forest::with_foreign(names, foreign).seen_at(self.now)
    }

    pub(super) fn into_forest(mut self) -> Forest {
        match self.built.take() {
            Some((steps, forest)) if steps == self.steps => forest,
            _ => {
                let recent = std::mem::take(&mut self.recent);
                let names = self.merged(recent);
                self.forest_of(names)
            }
        }
    }

    /// Returns the names in `.lepo/` itself, sorted by id.
    pub fn recent(&self) -> &[BubbName] {
        &self.recent
    }

    /// Returns the names read so far, sorted by id.
    pub fn read_names(&self) -> Vec<BubbName> {
        self.merged(self.recent.clone())
    }

    /// Merges all names, sorted by id.
    fn merged(&self, recent: Vec<BubbName>) -> Vec<BubbName> {
        if self.days.is_empty() {
            return recent;
        }
        let count = recent.len() + self.days.values().map(Vec::len).sum::<usize>();
        let mut names = Vec::with_capacity(count);
        let mut recent = recent.into_iter().peekable();
        for name in self.days.values().flatten() {
            while let Some(earlier) = recent.next_if(|earlier| earlier.id < name.id) {
                names.push(earlier);
            }
            names.push(*name);
        }
        names.extend(recent);
        names
    }
}

fn find_name(names: &[BubbName], id: BubbId) -> Option<BubbName> {
    let at = names.binary_search_by_key(&id, |name| name.id).ok()?;
    names.get(at).copied()
}
