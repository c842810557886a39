//! Folders of days that cannot be read: an error, or passed over where a search names them and goes on.

use std::io;

use super::folders::Calendar;
use super::handle::Store;
use crate::bubb::Day;
use lepo_base::error::{Error, Result};

/// The folders that were passed over; none where such a folder is an error.
#[derive(Default)]
pub(super) struct Unreadable(Option<Vec<Error>>);

impl Unreadable {
    /// Passes over folders from here on.
    pub fn pass_over(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// The value read of a folder; none where the folder is passed over.
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

    /// The newest day of a calendar that was not given yet. A month that cannot be listed is not given again.
    pub fn newest_day(&mut self, calendar: &mut Calendar, store: &Store) -> Result<Option<Day>> {
        loop {
            if let Some(newest) = self.pass(store, calendar.newest())? {
                return Ok(newest);
            }
        }
    }

    /// The same, given.
    pub fn take_day(&mut self, calendar: &mut Calendar, store: &Store) -> Result<Option<Day>> {
        self.newest_day(calendar, store)?;
        calendar.take().map_err(|error| store.dir.old_error(error))
    }

    /// An error for each that was passed over.
    pub fn take(&mut self) -> Vec<Error> {
        self.0.take().unwrap_or_default()
    }
}
