//! The place of a bubb's file: in `.lepo/`, or in the folder of its day once that is over.
//!
//! A file may move while it is looked for, always from `.lepo/` into its day. So it is looked for in the one,
//! in the other, and in the first again.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType};

use super::{OLD, Store};
use crate::bubb::{Day, Name};

impl Store {
    /// The path of a bubb's file, as the user would type it, wherever it is now.
    pub fn path_of(&self, name: &Name) -> PathBuf {
        if let Some(other) = self.other_with(name) {
            return other.path_of(name);
        }
        let (file, day) = (name.to_string(), Day::of(name.id));
        let in_day = |file: OsString| self.shown.join(OLD).join(day.month()).join(day.day()).join(file);
        let (has_days, unusual) =
            (self.has_days.load(Ordering::Relaxed), self.unusual.load(Ordering::Relaxed));
        if !has_days && !unusual {
            return self.shown.join(file);
        }
        if !unusual && self.has_left(name) {
            return in_day(file.into());
        }
        if rustix::fs::statat(&self.dir, file.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return self.shown.join(file);
        }
        // A file that may not be opened is there all the same.
        match self.open_in_day(day, OsStr::new(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return in_day(file.into()),
        }
        match (self.spelled_here(name), self.spelled_in_day(name)) {
            (None, Some(file)) => in_day(file),
            (here, _) => self.shown.join(here.unwrap_or(file.into())),
        }
    }

    /// Opens a bubb for reading, wherever it is now; and how many bytes it has.
    pub(super) fn open_placed(&self, name: &Name) -> io::Result<(File, u64)> {
        match self.open_own(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let others = self.others().iter();
                others.map(|(_, store)| store.open_own(name)).find(Result::is_ok).unwrap_or(Err(error))
            }
            opened => opened,
        }
    }

    /// Opens a bubb of this store itself.
    pub(super) fn open_own(&self, name: &Name) -> io::Result<(File, u64)> {
        let file = name.to_string();
        let here = || regular(self.open_any(file.as_str())?);
        let in_day = || regular(self.open_in_day(Day::of(name.id), OsStr::new(&file))?);
        let opened = match self.has_left(name) {
            true => first_found([&in_day, &here, &in_day]),
            false => first_found([&here, &in_day, &here]),
        };
        let Err(error) = opened else { return opened };
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        if let Some(file) = self.spelled_here(name) {
            return regular(self.open_any(file)?);
        }
        match self.spelled_in_day(name) {
            Some(file) => regular(self.open_in_day(Day::of(name.id), &file)?),
            None => Err(error),
        }
    }

    /// Opens what has a bubb's name at the place where it is most likely, whatever it is.
    pub(super) fn open_likely(&self, name: &Name) -> io::Result<OwnedFd> {
        let file = name.to_string();
        match self.has_left(name) {
            true => self.open_in_day(Day::of(name.id), OsStr::new(&file)),
            false => self.open_any(file),
        }
    }

    /// Notes what was read of `.lepo/`, and whether any day has a folder.
    pub(super) fn note_recent(&self, recent: &[Name], has_days: bool) {
        let oldest = recent.iter().map(|name| name.id.time()).min().unwrap_or(u64::MAX);
        self.oldest_recent.store(oldest, Ordering::Relaxed);
        self.seen_recent.store(recent.len(), Ordering::Relaxed);
        self.has_days.store(has_days, Ordering::Relaxed);
    }

    /// `.lepo/` held only newer ones when it was last read.
    fn has_left(&self, name: &Name) -> bool {
        self.has_days.load(Ordering::Relaxed) && name.id.time() < self.oldest_recent.load(Ordering::Relaxed)
    }

    /// True if a bubb of a time that is over has a file in its day.
    pub(super) fn is_in_day(&self, name: &Name, time: u64) -> bool {
        let day = Day::at(time);
        day < Day::at(super::now()) && self.open_in_day(day, OsStr::new(&name.to_string())).is_ok()
    }

    pub(super) fn spelled_here(&self, name: &Name) -> Option<OsString> {
        self.spelling(&self.subdir_if_there(".").ok()??, name)
    }

    pub(super) fn spelled_in_day(&self, name: &Name) -> Option<OsString> {
        self.spelling(&self.day_dir(Day::of(name.id)).ok()??, name)
    }
}

/// Opens the first of these that exists. If none does, the first error other than "not found".
fn first_found(places: [&dyn Fn() -> io::Result<(File, u64)>; 3]) -> io::Result<(File, u64)> {
    let mut failed: Option<io::Error> = None;
    for place in places {
        match place() {
            Ok(opened) => return Ok(opened),
            Err(error) if failed.as_ref().is_none_or(|first| first.kind() == io::ErrorKind::NotFound) => {
                failed = Some(error);
            }
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or(io::ErrorKind::NotFound.into()))
}

/// A bubb is a regular file; anything else under its name is none.
pub(super) fn regular(opened: OwnedFd) -> io::Result<(File, u64)> {
    let stat = rustix::fs::fstat(&opened)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((File::from(opened), stat.st_size as u64))
}
