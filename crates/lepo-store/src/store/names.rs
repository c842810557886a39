//! Reads as much of the forest as a command needs, so that it pays for no more.

use super::day_folders::DayFolders;
use super::dir::OLD;
use super::handle::Store;
use super::listing::NameListing;
use crate::bubb::{BubbId, BubbName, Day};
use crate::conv::{Forest, ReadScope, SHORTEST, TailScope, ids_beginning};
use lepo_base::error::{Error, Result};

#[doc(hidden)]
impl Store {
    pub fn forest(&self) -> Result<Forest> {
        self.forest_for(&[ReadScope::All { peers: false }])
    }

    /// Loads a forest that answers queries within `wanted` like the whole store's would. Other bubbs may be missing.
    pub fn forest_for(&self, wanted: &[ReadScope]) -> Result<Forest> {
        if !wanted.is_empty() && wanted.iter().all(|wanted| *wanted == ReadScope::Tip) {
            return self.forest_of_tip();
        }
        let mut listing = self.listing()?;
        for wanted in wanted {
            if listing.is_whole() && self.peers().is_empty() {
                break;
            }
            listing.read_scope(wanted)?;
        }
        Ok(listing.into_forest())
    }

    /// Loads the bubbs in readable folders, including other users' stores if `wanted` does, and returns an error for
    /// each unreadable folder.
    pub fn readable_forest(&self, wanted: &ReadScope) -> Result<(Forest, Vec<Error>)> {
        let mut listing = self.listing()?;
        listing.pass_over_unreadable()?;
        listing.read_scope(wanted)?;
        let unreadable = listing.drain_unreadable();
        Ok((listing.into_forest(), unreadable))
    }

    /// Starts a listing, which reads names on demand.
    pub fn listing(&self) -> Result<NameListing<'_>> {
        NameListing::read_recent(self)
    }

    /// Returns the bubbs in `.lepo/` itself, unsorted, the days with a folder, newest first, and errors of unreadable
    /// folders. Also caches which bubbs are in `.lepo/`, so that other files are searched for in their days first.
    pub fn recent_and_days(&self) -> Result<(Vec<BubbName>, Vec<Day>, Vec<Error>)> {
        let recent = self.recent_names()?;
        let (days, failed) = self.days_with_folders();
        self.note_recent(&recent, !days.is_empty() || !failed.is_empty());
        Ok((recent, days, failed))
    }

    /// Returns the days with a folder, newest first, and errors of unreadable months.
    fn days_with_folders(&self) -> (Vec<Day>, Vec<Error>) {
        let (mut days, mut failed) = (Vec::new(), Vec::new());
        let mut calendar = match DayFolders::read(&self.dir) {
            Ok(calendar) => calendar,
            Err(error) => return (days, vec![self.dir.old_error(error)]),
        };
        loop {
            // The calendar has dropped the month that failed, so the loop ends.
            match calendar.pop_newest() {
                Ok(Some(day)) => days.push(day),
                Ok(None) => return (days, failed),
                Err(error) => failed.push(self.dir.old_error(error)),
            }
        }
    }

    /// Whether past days already have folders.
    pub fn has_day_folders(&self) -> bool {
        self.dir.has(OLD).unwrap_or_default()
    }

    /// Returns the bubbs that count in the folder of a day, sorted by id.
    pub fn names_of_day(&self, day: Day) -> Result<Vec<BubbName>> {
        self.read_day(day).map_err(|error| self.dir.old_error(error))
    }

    /// Caches facts about `.lepo/`, and whether any day has a folder.
    pub(super) fn note_recent(&self, recent: &[BubbName], has_days: bool) {
        let oldest = recent.iter().map(|name| name.id.time()).min().unwrap_or(u64::MAX);
        self.last_reading.note_recent(oldest, recent.len());
        self.last_reading.note_days(has_days);
    }

    /// Loads the part for [`ReadScope::Tip`]. Usually the newest thousand bubbs of `.lepo/` suffice and no folder is
    /// read.
    fn forest_of_tip(&self) -> Result<Forest> {
        let newest = self.newest_names()?;
        let day = DayFolders::read(&self.dir).and_then(|mut calendar| calendar.newest());
        let day = day.map_err(|error| self.dir.old_error(error))?;
        let since = newest.forest.complete_since().filter(|_| newest.is_ordered);
        let tells = match day {
            None => newest.is_all || since.is_some(),
            Some(day) => since.is_some_and(|since| day < since),
        };
        if tells {
            return Ok(newest.forest);
        }
        let mut listing = self.listing()?;
        listing.read_scope(&ReadScope::Tip)?;
        Ok(listing.into_forest())
    }
}

impl NameListing<'_> {
    pub(super) fn read_scope(&mut self, scope: &ReadScope) -> Result<()> {
        match scope {
            ReadScope::All { peers } => {
                self.read_since(Day::FIRST)?;
                if *peers { self.read_everyone() } else { Ok(()) }
            }
            ReadScope::Ids(ids) => self.read_paths(ids.iter().copied()),
            ReadScope::Piece(text) => self.read_piece(text),
            ReadScope::Tip => self.read_tails(&TailScope { tip: true, ..TailScope::default() }),
            ReadScope::Tails(tails) => self.read_tails(tails),
            ReadScope::Since { id, judged: true } => self.read_judged(*id),
            ReadScope::Since { id, judged: false } => {
                self.read_paths([*id])?;
                self.read_since(Day::from_id(*id))
            }
        }
    }

    /// Reads the days that a prefix covers. If no id has the prefix, it may be a suffix, which any day may have.
    fn read_piece(&mut self, text: &str) -> Result<()> {
        let range = ids_beginning(text).filter(|_| text.len() >= SHORTEST);
        let Some((low, high)) = range else { return self.read_ending(text) };
        match self.between(low, high)?[..] {
            [] if self.read_foreign(low, high)? => Ok(()),
            [] => self.read_ending(text),
            [one] => self.read_paths([one.id]),
            _ => Ok(()),
        }
    }

    /// Reads all days if `text` can be the suffix of an id.
    fn read_ending(&mut self, text: &str) -> Result<()> {
        let padding = BubbId::LEN.checked_sub(text.len()).filter(|_| text.len() >= SHORTEST);
        let can_end = padding.is_some_and(|padding| {
            BubbId::parse(format!("{}{text}", "0".repeat(padding)).as_bytes()).is_some()
        });
        if can_end { self.read_since(Day::FIRST) } else { Ok(()) }
    }
}
