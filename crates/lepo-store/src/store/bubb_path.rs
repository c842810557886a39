//! The path of a bubb's file: in `.lepo/`, or in the folder of its day once the day is over.
//!
//! A file may move during a lookup, but only from `.lepo/` into its day. So the lookup tries one, then the other, and
//! then the first again.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType};

use super::dir::{OLD, each_entry, regular};
use super::handle::Store;
use crate::bubb::{BubbName, Day};

#[doc(hidden)]
impl Store {
    /// Returns the current path of a bubb's file, as the user would type it.
    pub fn bubb_path(&self, name: &BubbName) -> PathBuf {
        if let Some(other) = self.peer_with(name) {
            return other.bubb_path(name);
        }
        let (file, day) = (name.to_string(), Day::from_id(name.id));
        let in_day =
            |file: OsString| self.dir.display_path.join(OLD).join(day.month()).join(day.day()).join(file);
        let (has_days, unusual) = (self.last_reading.has_days(), self.last_reading.is_unusual());
        if !has_days && !unusual {
            return self.dir.display_path.join(file);
        }
        if !unusual && self.last_reading.has_left(name) {
            return in_day(file.into());
        }
        if rustix::fs::statat(&self.dir, file.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return self.dir.display_path.join(file);
        }
        // A file that cannot be opened exists all the same.
        match self.open_in_day(day, OsStr::new(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return in_day(file.into()),
        }
        match (self.spelled_here(name), self.spelled_in_day(name)) {
            (None, Some(file)) => in_day(file),
            (here, _) => self.dir.display_path.join(here.unwrap_or(file.into())),
        }
    }

    /// Opens a bubb, wherever it is now, and returns its length in bytes.
    pub(super) fn open_anywhere(&self, name: &BubbName) -> io::Result<(File, u64)> {
        match self.open_own(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let peers = self.peers().iter();
                peers.map(|(_, store)| store.open_own(name)).find(Result::is_ok).unwrap_or(Err(error))
            }
            opened => opened,
        }
    }

    pub(super) fn open_own(&self, name: &BubbName) -> io::Result<(File, u64)> {
        let file = name.to_string();
        let here = || regular(self.dir.open_any(file.as_str())?);
        let in_day = || regular(self.open_in_day(Day::from_id(name.id), OsStr::new(&file))?);
        let opened = match self.last_reading.has_left(name) {
            true => first_found([&in_day, &here, &in_day]),
            false => first_found([&here, &in_day, &here]),
        };
        let Err(error) = opened else { return opened };
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        if let Some(file) = self.spelled_here(name) {
            return regular(self.dir.open_any(file)?);
        }
        match self.spelled_in_day(name) {
            Some(file) => regular(self.open_in_day(Day::from_id(name.id), &file)?),
            None => Err(error),
        }
    }

    /// Opens the entry with a bubb's name in its likeliest folder, without checking its type.
    pub(super) fn open_likely(&self, name: &BubbName) -> io::Result<OwnedFd> {
        let file = name.to_string();
        match self.last_reading.has_left(name) {
            true => self.open_in_day(Day::from_id(name.id), OsStr::new(&file)),
            false => self.dir.open_any(file),
        }
    }

    /// Whether `time` is in a past day whose folder has a file of this name.
    pub(super) fn is_in_day(&self, name: &BubbName, time: u64) -> bool {
        let day = Day::from_millis(time);
        day < Day::from_millis(super::now()) && self.open_in_day(day, OsStr::new(&name.to_string())).is_ok()
    }

    pub(super) fn spelled_here(&self, name: &BubbName) -> Option<OsString> {
        self.spelling(&self.dir.subdir_if_there(".").ok()??, name)
    }

    pub(super) fn spelled_in_day(&self, name: &BubbName) -> Option<OsString> {
        self.spelling(&self.day_dir(Day::from_id(name.id)).ok()??, name)
    }

    /// Parses the name of a directory entry; `None` unless it is a regular file with the name of a bubb.
    #[inline]
    pub(super) fn bubb_name(&self, file: &[u8], kind: FileType) -> Option<BubbName> {
        let name = BubbName::parse(file)?;
        if kind != FileType::RegularFile {
            return None;
        }
        if !BubbName::is_canonical(file) {
            self.last_reading.note_unusual();
        }
        Some(name)
    }

    /// Returns the spelling of a bubb's file name in this directory, which may be in lower case.
    pub(super) fn spelling(&self, dir: &OwnedFd, name: &BubbName) -> Option<OsString> {
        let mut found = None;
        let canonical = name.to_string();
        each_entry(dir, |file, _| {
            if BubbName::parse(file).as_ref() == Some(name)
                && (found.is_none() || file == canonical.as_bytes())
            {
                found = Some(OsStr::from_bytes(file).to_os_string());
            }
        })
        .ok()?;
        found
    }
}

/// Opens the first of these that exists. If all fail, returns the first error other than "not found".
fn first_found(sources: [&dyn Fn() -> io::Result<(File, u64)>; 3]) -> io::Result<(File, u64)> {
    let mut failed: Option<io::Error> = None;
    for source in sources {
        match source() {
            Ok(opened) => return Ok(opened),
            Err(error) if failed.as_ref().is_none_or(|first| first.kind() == io::ErrorKind::NotFound) => {
                failed = Some(error);
            }
            Err(_) => {}
        }
    }
    Err(failed.unwrap_or(io::ErrorKind::NotFound.into()))
}
