//! Reading the directory once: names are the index, so this alone gives the forest.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType};

use super::Store;
use crate::bubb::{BubbId, Name};
use crate::conv::Forest;
use lepo_base::error::Result;
use lepo_base::sys;

/// The number of the newest names that are looked at when only the newest tail is wanted.
const NEWEST: usize = 1024;

/// The newest bubbs of `.lepo/`.
pub(super) struct Newest {
    pub(super) forest: Forest,
    /// The names are all that are there.
    pub(super) is_all: bool,
    /// Every bubb of `.lepo/` is newer than what it follows.
    pub(super) is_ordered: bool,
}

impl Store {
    /// The names of all bubbs, oldest first.
    pub fn names(&self) -> Result<Vec<Name>> {
        let forest = self.forest()?;
        Ok(forest.all().map(|ix| forest.name(ix)).collect())
    }

    /// The newest bubbs of `.lepo/`. As bubbs are newer than what they follow, the newest thousand nearly
    /// always tell the newest tail and the least time of a new root. Others are not parsed.
    pub(super) fn newest_recent(&self) -> Result<Newest> {
        let (mut names, mut is_all, mut is_ordered) = (Vec::<Name>::new(), true, true);
        let mut least = [0; BubbId::LEN];
        let (mut oldest, mut seen) = ([u8::MAX; BubbId::LEN], 0);
        self.each_entry(|file, kind| {
            // Written ids compare as the ids do, except in lower case, which only seems newer than it is.
            is_ordered &= !Name::may_precede_its_prev(file);
            let Some(id) = file.first_chunk::<{ BubbId::LEN }>().filter(|id| id[0] <= b'7') else { return };
            (oldest, seen) = (oldest.min(*id), seen + 1);
            if *id < least {
                return;
            }
            names.extend(self.bubb(file, kind));
            if names.len() == 2 * NEWEST {
                let (_, middle, _) = names.select_nth_unstable_by(NEWEST, |a, b| b.id.cmp(&a.id));
                let kept_from = middle.id;
                names.retain(|name| name.id >= kept_from);
                (least, is_all) = (kept_from.ascii(), false);
            }
        })
        .map_err(|error| self.error("cannot read", "", error))?;
        self.oldest_recent.store(BubbId::parse(&oldest).map_or(0, BubbId::time), Ordering::Relaxed);
        self.seen_recent.store(seen, Ordering::Relaxed);
        Ok(Newest { forest: Forest::new(names), is_all, is_ordered })
    }

    /// The parsed name of a file, if it is a bubb's and the file a regular one.
    #[inline]
    pub(super) fn bubb(&self, file: &[u8], kind: FileType) -> Option<Name> {
        let name = Name::parse(file)?;
        if kind != FileType::RegularFile {
            return None;
        }
        if !Name::is_canonical(file) {
            self.unusual.store(true, Ordering::Relaxed);
        }
        Some(name)
    }

    /// The spelling of a bubb's file name in this directory, if that is not in upper case.
    pub(super) fn spelling(&self, dir: &OwnedFd, name: &Name) -> Option<OsString> {
        let mut found = None;
        let canonical = name.to_string();
        self.each_entry_in(dir, |file, _| {
            if Name::parse(file).as_ref() == Some(name) && (found.is_none() || file == canonical.as_bytes()) {
                found = Some(OsStr::from_bytes(file).to_os_string());
            }
        })
        .ok()?;
        found
    }

    /// Tells every entry of `.lepo/` itself.
    pub(super) fn each_entry(&self, entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        self.each_entry_of(".", entry)
    }

    /// Tells every entry of a directory of the store, `.` and `..` too. One that is missing has none.
    pub(super) fn each_entry_of(&self, dir: &str, entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        // A descriptor of its own, because reading a directory moves a position in it.
        let Some(dir) = self.subdir_if_there(dir)? else { return Ok(()) };
        self.each_entry_in(&dir, entry)
    }

    /// Tells every entry of an open directory from where its reading stands. Where the filesystem does not
    /// tell an entry's type it is looked up.
    pub(super) fn each_entry_in(
        &self,
        dir: &OwnedFd,
        mut entry: impl FnMut(&[u8], FileType),
    ) -> io::Result<()> {
        sys::each_entry(dir, |name, kind| {
            let kind = match kind {
                FileType::Unknown => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            entry(name, kind);
        })
    }
}
