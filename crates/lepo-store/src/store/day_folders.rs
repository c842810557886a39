//! `_old/YYYY-MM/DD/`: the folders of past days.
//!
//! In the folder of a day, a bubb counts only if it is dated that day and is newer than its prev. So an id determines
//! its folder, and no bubb in it follows one of a later day. No link is followed on any level.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{FileType, Mode};

use super::dir::{Dir, OLD, READ, dir_at, each_entry, make_dir_at};
use super::handle::Store;
use crate::bubb::{BubbName, Day};
use lepo_base::error::Error;

/// Maximum number of folders cached open while bubbs are read.
const KEPT_OPEN: usize = 48;

#[doc(hidden)]
impl Store {
    /// Opens the folder of a day; `None` if it is missing.
    pub(super) fn day_dir(&self, day: Day) -> io::Result<Option<OwnedFd>> {
        let Some(old) = dir_at(&self.dir, OLD)? else { return Ok(None) };
        let month = dir_at(old, day.month()).map_err(|error| in_folder(day.month().as_str(), error))?;
        let Some(month) = month else { return Ok(None) };
        dir_at(month, day.day()).map_err(|error| in_folder(&day.to_string(), error))
    }

    /// Opens the folder of a day, creating it and its parents durably if they are missing.
    pub(super) fn make_day_dir(&self, day: Day) -> io::Result<OwnedFd> {
        let old = make_dir_at(self.dir.as_fd(), OLD)?;
        let month = make_dir_at(old.as_fd(), &day.month())?;
        make_dir_at(month.as_fd(), &day.day())
    }

    /// Opens a file in the folder of a day, and caches the folder's descriptor.
    pub(super) fn open_in_day(&self, day: Day, file: &OsStr) -> io::Result<OwnedFd> {
        let open = |dir: &OwnedFd| -> io::Result<OwnedFd> {
            Ok(rustix::fs::openat(dir, file, READ, Mode::empty())?)
        };
        let kept = self.open_days.lock().get(&day).cloned();
        if let Some(dir) = kept {
            match open(&dir) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => return opened,
            }
        }
        let dir = Arc::new(self.day_dir(day)?.ok_or(io::ErrorKind::NotFound)?);
        let opened = open(&dir)?;
        let mut days = self.open_days.lock();
        if days.len() >= KEPT_OPEN {
            days.clear();
        }
        days.insert(day, dir);
        Ok(opened)
    }

    /// Returns the bubbs that count in the folder of a day, sorted by id; empty if the folder is missing.
    pub(super) fn read_day(&self, day: Day) -> io::Result<Vec<BubbName>> {
        let mut names = Vec::new();
        let Some(dir) = self.day_dir(day)? else { return Ok(names) };
        each_entry(&dir, |file, kind| {
            names.extend(self.bubb_name(file, kind).filter(|name| counts_in(day, name)));
        })
        .map_err(|error| in_folder(&day.to_string(), error))?;
        names.sort_unstable_by_key(|name| (name.id, name.prev, name.role, name.hidden));
        names.dedup_by_key(|name| name.id);
        Ok(names)
    }
}

impl Dir {
    pub(super) fn old_error(&self, cause: io::Error) -> Error {
        self.error("cannot read", OLD, cause)
    }
}

fn in_folder(folder: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{OLD}/{folder}: {error}"))
}

/// Whether a bubb counts in the folder of a day. All code that reads or writes these folders uses this rule.
pub(super) fn counts_in(day: Day, name: &BubbName) -> bool {
    Day::from_id(name.id) == day && name.prev.is_none_or(|prev| prev < name.id)
}

/// The days with a folder, newest first. A month is listed only when its days are needed.
pub(super) struct DayFolders {
    old: Option<OwnedFd>,
    /// The first days of months not listed yet, oldest first; `days` are those listed but not returned yet.
    months: Vec<Day>,
    days: Vec<Day>,
}

impl DayFolders {
    pub(super) fn read(dir: &Dir) -> io::Result<DayFolders> {
        let mut calendar = DayFolders { old: dir_at(dir, OLD)?, months: Vec::new(), days: Vec::new() };
        if let Some(old) = &calendar.old {
            each_entry(old, |file, kind| {
                calendar.months.extend(Day::parse_month(file).filter(|_| kind == FileType::Directory));
            })?;
        }
        calendar.months.sort_unstable();
        Ok(calendar)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.months.is_empty() && self.days.is_empty()
    }

    pub(super) fn newest(&mut self) -> io::Result<Option<Day>> {
        while self.days.is_empty() {
            let (Some(month), Some(old)) = (self.months.pop(), &self.old) else { return Ok(None) };
            let month = month.month();
            let failed = |error| in_folder(month.as_str(), error);
            let Some(dir) = dir_at(old, month.as_str()).map_err(failed)? else { continue };
            let listed = each_entry(&dir, |file, kind| {
                let day = Day::parse(month.as_bytes(), file);
                self.days.extend(day.filter(|_| kind == FileType::Directory));
            });
            listed.map_err(failed)?;
            self.days.sort_unstable();
        }
        Ok(self.days.last().copied())
    }

    /// Removes and returns the newest remaining day.
    pub(super) fn pop_newest(&mut self) -> io::Result<Option<Day>> {
        let newest = self.newest()?;
        self.days.pop();
        Ok(newest)
    }
}
