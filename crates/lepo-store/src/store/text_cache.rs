//! `_cache/text/YYYY-MM`: files with which the search caches past days. They can be deleted at any time.
//!
//! The `search` crate defines their content; this module knows their paths and how to detect changes of a day's
//! folder.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, FileType, Mode};

use super::dir::{OLD, READ, dir_at, each_entry, make_dir_at, regular};
use super::handle::Store;
use crate::bubb::{BubbName, Day};
use lepo_base::sys::keeps_change_times;

/// The state of a day's folder; it changes whenever an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderState {
    pub inode: u64,
    /// Status change time in nanoseconds since 1970.
    pub ctime: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime: u64,
}

/// The open folder of a month, in which reading the state of a day costs a single system call.
pub struct MonthFolder(OwnedFd);

impl MonthFolder {
    /// Returns the state of a day's folder; `None` if it is missing.
    pub fn state(&self, day: Day) -> Option<FolderState> {
        let folder = rustix::fs::statat(&self.0, day.day(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(folder.st_mode) == FileType::Directory;
        is_folder.then(|| FolderState {
            inode: folder.st_ino,
            ctime: nanoseconds(folder.st_ctime, folder.st_ctime_nsec as i64),
            mtime: nanoseconds(folder.st_mtime, folder.st_mtime_nsec as i64),
        })
    }
}

#[doc(hidden)]
impl Store {
    /// Returns the state of a day's folder; `None` if it is missing.
    pub fn folder_state(&self, day: Day) -> Option<FolderState> {
        self.month_folder(&day.month())?.state(day)
    }

    /// Opens the folder of a month; `None` if it is missing.
    pub fn month_folder(&self, month: &str) -> Option<MonthFolder> {
        Some(MonthFolder(dir_at(dir_at(&self.dir, OLD).ok()??, month).ok()??))
    }

    /// Returns the states of all days' folders, in no order. The state is `None` if the folder changed less than two
    /// seconds before `now` (milliseconds since 1970), because a later change may leave the state equal. Returns
    /// `None` if the file system is not known to maintain ctime.
    pub fn old_states(&self, now: u64) -> Option<Vec<(Day, Option<FolderState>)>> {
        let limit = now.saturating_sub(2_000).saturating_mul(1_000_000);
        let (mut states, mut months) = (Vec::new(), Vec::new());
        let Some(old) = dir_at(&self.dir, OLD).ok()? else { return Some(states) };
        if !keeps_change_times(&old).unwrap_or(false) {
            return None;
        }
        each_entry(&old, |file, kind| {
            months.extend(Day::parse_month(file).filter(|_| kind == FileType::Directory));
        })
        .ok()?;
        for month in months.iter().map(|month| month.month()) {
            let Some(dir) = dir_at(&old, month.as_str()).ok()? else { continue };
            let mut days = Vec::new();
            each_entry(&dir, |file, kind| {
                let day = Day::parse(month.as_bytes(), file);
                days.extend(day.filter(|_| kind == FileType::Directory));
            })
            .ok()?;
            let folder = MonthFolder(dir);
            for day in days {
                let Some(state) = folder.state(day) else { continue };
                states.push((day, Some(state).filter(|state| state.ctime <= limit)));
            }
        }
        Some(states)
    }

    /// Opens the cached file of a month and returns its length; `None` if it is missing.
    pub fn open_month_cache(&self, month: &str) -> Option<(File, u64)> {
        let dir = dir_at(dir_at(&self.dir, "_cache").ok()??, "text").ok()??;
        regular(rustix::fs::openat(&dir, month, READ, Mode::empty()).ok()?).ok()
    }

    /// Starts writing the file of a month.
    pub fn create_month_cache(&self) -> io::Result<MonthCacheWriter<'_>> {
        let cache = make_dir_at(self.dir.as_fd(), "_cache")?;
        let dir = make_dir_at(cache.as_fd(), "text")?;
        let mut mark = self.dir.temporary("cache")?;
        mark.file.write_all(b"*\n")?;
        let made = mark.file.metadata()?;
        let clock = nanoseconds(made.ctime(), made.ctime_nsec());
        // Makes git ignore the cache even in a committed store.
        mark.publish(&cache, ".gitignore")?;
        let keeps_ctime = keeps_change_times(&dir)?;
        Ok(MonthCacheWriter { store: self, dir, clock, keeps_ctime })
    }

    /// Deletes the cached months of these bubbs, so that deleted text is not left there.
    pub(super) fn forget_cached_texts(&self, bubbs: &[BubbName]) -> io::Result<()> {
        let Some(cache) = dir_at(&self.dir, "_cache")? else { return Ok(()) };
        let Some(dir) = dir_at(&cache, "text")? else { return Ok(()) };
        let months: std::collections::BTreeSet<String> =
            bubbs.iter().map(|name| Day::from_id(name.id).month()).collect();
        for month in months {
            match rustix::fs::unlinkat(&dir, month.as_str(), AtFlags::empty()) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> u64 {
    (seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(rest as u64)
}

pub struct MonthCacheWriter<'s> {
    store: &'s Store,
    dir: OwnedFd,
    /// The file system's own time at the start, in nanoseconds since 1970.
    clock: u64,
    keeps_ctime: bool,
}

impl MonthCacheWriter<'_> {
    /// Whether a folder in this state can be recorded: its last change is two seconds older than the start, so that a
    /// later change has a different time.
    pub fn may_record(&self, state: &FolderState) -> bool {
        self.keeps_ctime && state.ctime.saturating_add(2_000_000_000) <= self.clock
    }

    /// Writes the month's file atomically.
    pub fn finish(self, month: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.store.dir.temporary("cache")?;
        file.file.write_all(bytes)?;
        file.replace(&self.dir, month)
    }
}
