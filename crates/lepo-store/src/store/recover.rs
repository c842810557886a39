//! Recovers files that a process left in `_tmp/`: saves text of the user or a model, and removes the rest.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use super::dir::Dir;
use super::handle::Store;
use super::stage::{open_stage, remove_stage};
use super::temporary::{TempFile, TempKind};
use super::walk::{StoreEntry, StoreFolder, walk};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// An empty file younger than this may belong to a process about to lock it.
const NEW: Duration = Duration::from_secs(1);

/// A file of `_tmp/` that no running process has locked.
pub struct StrayFile {
    tmp: TempFile,
    /// Role and prev of an unfinished bubb; `None` if the file is not worth saving.
    saveable: Option<(Role, Option<BubbId>)>,
    /// Why it is worthless, or how much text it contains.
    pub about: String,
    /// Whether it is the folder of a batch.
    is_stage: bool,
}

pub enum StrayOutcome {
    Saved(BubbName),
    Removed,
}

#[doc(hidden)]
impl Store {
    /// Returns the strays, sorted by name.
    pub fn strays(&self) -> Result<Vec<StrayFile>> {
        find_strays(&self.dir).map_err(|error| self.dir.error("cannot read", "_tmp", error))
    }

    /// Saves or removes a stray. If saving fails, it stays unchanged.
    pub fn settle_stray(&self, stray: StrayFile) -> Result<StrayOutcome> {
        let StrayFile { mut tmp, saveable, is_stage, .. } = stray;
        if is_stage {
            let (dir, stage) = (tmp.dir.try_clone(), tmp.file.try_clone().map(OwnedFd::from));
            let removed = dir.and_then(|dir| remove_stage(&dir, &tmp.name, &stage?));
            removed.map_err(|error| self.dir.error("cannot delete", format!("_tmp/{}", tmp.name), error))?;
            return Ok(StrayOutcome::Removed);
        }
        match saveable {
            // Hidden, because it may be incomplete.
            Some((role, prev)) => {
                self.adopt_draft(tmp, role, prev)?.publish(true, 0).map(StrayOutcome::Saved)
            }
            None => {
                tmp.found = false;
                Ok(StrayOutcome::Removed)
            }
        }
    }
}

fn find_strays(dir: &Dir) -> io::Result<Vec<StrayFile>> {
    let mut paths = Vec::new();
    walk(dir, StoreFolder::Temporary, |path, entry| {
        paths.extend((entry == StoreEntry::Temporary).then_some(path));
    })?;
    paths.sort();
    let Some(dir) = dir.subdir_if_there("_tmp")? else { return Ok(Vec::new()) };
    let mut strays = Vec::new();
    for name in paths.iter().filter_map(|path| path.file_name()?.to_str()) {
        // Other processes write at the same time, so each is opened by its name and examined again.
        strays.extend(match TempKind::parse(name) {
            Some(made) => stray(&dir, name, made)?,
            None => stage(&dir, name)?,
        });
    }
    Ok(strays)
}

impl StrayFile {
    /// Whether it belongs to a turn: an unfinished answer, or a claim whose process has ended.
    pub fn is_of_turn(&self) -> bool {
        TempKind::is_of_turn(&self.tmp.name)
    }

    pub fn name(&self) -> &str {
        &self.tmp.name
    }
}

/// Locks and returns the stray of this name; `None` if a running process has it, or it is gone.
fn stray(dir: &OwnedFd, name: &str, made: TempKind) -> io::Result<Option<StrayFile>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(fd) = rustix::fs::openat(dir, name, flags, Mode::empty()) else { return Ok(None) };
    let file = File::from(fd);
    let meta = file.metadata()?;
    let is_new = meta.modified().ok().and_then(|time| time.elapsed().ok()).is_none_or(|age| age < NEW);
    if !meta.is_file() || (meta.len() == 0 && is_new) {
        return Ok(None);
    }
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    // Another recovery may have published the file and deleted this name in the meantime.
    let named = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    if named.is_ok_and(|named| named.st_ino != meta.ino()) || named.is_err() {
        return Ok(None);
    }
    // Read again, because no other process can write it any more.
    let meta = file.metadata()?;
    let (saveable, about) = match made {
        TempKind::Bubb(..) if meta.nlink() == 0 => return Ok(None),
        TempKind::Bubb(..) if meta.nlink() > 1 => (None, "it is a message already".to_string()),
        TempKind::Bubb(..) if meta.len() == 0 => (None, "it is empty".to_string()),
        TempKind::Bubb(role, prev) => {
            (Some((role, prev)), format!("an unfinished message of {} bytes", meta.len()))
        }
        TempKind::Other => (None, "it was never put in its place".to_string()),
    };
    let tmp = TempFile { dir: dir.try_clone()?, name: name.to_string(), file, found: true };
    Ok(Some(StrayFile { tmp, saveable, about, is_stage: false }))
}

/// Locks and returns the folder of a batch whose process has ended. Its files have no final path yet; the next import
/// writes them again.
fn stage(dir: &OwnedFd, name: &str) -> io::Result<Option<StrayFile>> {
    let Ok(stage) = open_stage(dir, name) else { return Ok(None) };
    if rustix::fs::flock(&stage, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    let tmp =
        TempFile { dir: dir.try_clone()?, name: name.to_string(), file: File::from(stage), found: true };
    let about = "an import that ended early; it can be repeated".to_string();
    Ok(Some(StrayFile { tmp, saveable: None, about, is_stage: true }))
}
