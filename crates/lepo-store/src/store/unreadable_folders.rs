//! Folders of days that cannot be read: an error, or skipped by a search that reports them and continues.

use std::io;

use super::day_folders::DayFolders;
use super::handle::Store;
use crate::bubb::Day;
use lepo_base::error::{Error, Result};

/// The errors of skipped folders; `None` if such a folder is an error.
#[derive(Default)]
pub(super) struct UnreadableFolders(Option<Vec<Error>>);

impl UnreadableFolders {
    pub fn pass_over(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Returns the value read of a folder; `None` if the folder is skipped.
    pub fn pass<T>(&mut self, store: &Store, read: io::Result<T>) -> Result<Option<T>> {
        match (read, &mut self.0) {
            (Ok(read), _) => Ok(Some(read)),
            (Err(error), None) => Err(store.dir.old_error(error)),
            (Err(error), Some(passed)) => {
                passed.push(store.dir.old_error(error));
                Ok(None)
            }
        }
    }

    /// Returns the newest remaining day of a calendar. A month that cannot be listed is skipped.
    pub fn newest_day(&mut self, calendar: &mut DayFolders, store: &Store) -> Result<Option<Day>> {
        loop {
            if let Some(newest) = self.pass(store, calendar.newest())? {
                return Ok(newest);
            }
        }
    }

    /// Removes and returns the newest remaining day of a calendar.
    pub fn take_day(&mut self, calendar: &mut DayFolders, store: &Store) -> Result<Option<Day>> {
        self.newest_day(calendar, store)?;
        calendar.pop_newest().map_err(|error| store.dir.old_error(error))
    }

    pub fn drain(&mut self) -> Vec<Error> {
        self.0.take().unwrap_or_default()
    }
}
