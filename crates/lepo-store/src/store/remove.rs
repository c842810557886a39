//! Deletes bubbs in the caller's order, then blobs that only they named, then syncs the directory.
//!
//! If descendants come first, a kill leaves a shorter conv and never a broken one.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::dir::OLD;
use super::handle::Store;
use crate::bubb::{BubbId, BubbName, ContentHash, Day};
use lepo_base::error::Result;
use lepo_base::sys;

#[doc(hidden)]
impl Store {
    /// Deletes bubbs, then blobs, durably when this returns. Missing files are not an error.
    pub fn remove_bubbs(&self, going: &[BubbName], blobs: &[ContentHash]) -> Result<()> {
        self.forget_cached_texts(going)
            .map_err(|error| self.dir.error("cannot delete in", "_cache", error))?;
        let mut days = BTreeSet::new();
        for name in going {
            // Before the bubb: a repeated run does not list a deleted bubb, and would leave its replay file.
            self.forget_replay(name.id)?;
            let removed = remove_bubb(self, name);
            if removed.map_err(|error| self.dir.error("cannot delete", name.to_string(), error))? {
                days.insert(Day::from_id(name.id));
            }
        }
        if !blobs.is_empty() {
            let removed = blobs.iter().try_for_each(|hash| self.remove_blob(hash));
            removed.map_err(|error| self.dir.error("cannot delete in", "_blobs", error))?;
        }
        for day in days {
            let synced = self.day_dir(day).and_then(|dir| Ok(dir.map(sys::sync).transpose()?));
            synced.map_err(|error| self.dir.error("cannot sync", OLD, error))?;
        }
        sys::sync(&self.dir).map_err(|error| self.dir.error("cannot sync", "", error.into()))
    }

    /// Returns the blobs that no bubb of `names` would name if the bubbs of `going` were deleted.
    pub fn blobs_only_of(&self, going: &[BubbName], names: &[BubbName]) -> Result<Vec<ContentHash>> {
        let mut only = BTreeSet::new();
        for name in going {
            only.extend(self.blobs_named_by(name)?);
        }
        let going: BTreeSet<BubbId> = going.iter().map(|name| name.id).collect();
        for name in names.iter().filter(|name| !going.contains(&name.id)) {
            if only.is_empty() {
                break;
            }
            for hash in self.blobs_named_by(name)? {
                only.remove(&hash);
            }
        }
        Ok(only.into_iter().collect())
    }
}

fn remove_bubb(store: &Store, name: &BubbName) -> io::Result<bool> {
    let file = name.to_string();
    let mut found = unlinked(&store.dir.fd, file.as_str())?;
    let mut in_day = false;
    if let Some(dir) = store.day_dir(Day::from_id(name.id))? {
        in_day = unlinked(&dir, file.as_str())?;
        if !found
            && !in_day
            && let Some(file) = store.spelled_in_day(name)
        {
            in_day = unlinked(&dir, file.as_os_str())?;
        }
    }
    found |= in_day;
    if !found && let Some(file) = store.spelled_here(name) {
        unlinked(&store.dir.fd, file.as_os_str())?;
    }
    Ok(in_day)
}

fn unlinked(dir: &OwnedFd, file: impl rustix::path::Arg) -> io::Result<bool> {
    match rustix::fs::unlinkat(dir, file, AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
