//! Recovers files that a process left in `_tmp/`: saves text of the user or a model, and removes the rest.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};

use super::handle::Maintenance;
use super::stage::{STAGE, open_stage, remove_stage};
use super::temporary::TempFile;
use crate::bubb::{BubbId, BubbName, Kind};
use lepo_base::error::Result;

/// An empty file younger than this may belong to a process about to lock it.
const NEW: Duration = Duration::from_secs(1);

/// A file of `_tmp/` that no running process has locked.
pub struct StrayFile {
    tmp: TempFile,
    /// Kind and prev of an unfinished bubb; `None` if the file is not worth saving.
    words: Option<(Kind, Option<BubbId>)>,
    /// Why it is worthless, or how much text it contains.
    pub about: String,
    /// Whether it is the folder of a batch.
    is_stage: bool,
}

pub enum StrayOutcome {
    Saved(BubbName),
    Removed,
}

impl Maintenance<'_> {
    /// Returns the strays, sorted by name, and the names of foreign files in `_tmp/`.
    pub fn strays(&self) -> Result<(Vec<StrayFile>, Vec<String>)> {
        find_strays(&self.store.dir).map_err(|error| self.store.dir.error("cannot read", "_tmp", error))
    }

    /// Saves or removes a stray. If saving fails, it stays unchanged.
    pub fn settle(&self, stray: StrayFile) -> Result<StrayOutcome> {
        let StrayFile { mut tmp, words, is_stage, .. } = stray;
        if is_stage {
            let (dir, stage) = (tmp.dir.try_clone(), tmp.file.try_clone().map(OwnedFd::from));
            let removed = dir.and_then(|dir| remove_stage(&dir, &tmp.name, &stage?));
            removed.map_err(|error| {
                self.store.dir.error("cannot delete", format!("_tmp/{}", tmp.name), error)
            })?;
            return Ok(StrayOutcome::Removed);
        }
        match words {
            // Hidden, because it may be incomplete.
            Some((kind, prev)) => {
                self.store.bubbs().adopt(tmp, kind, prev)?.publish(true, 0).map(StrayOutcome::Saved)
            }
            None => {
                tmp.found = false;
                Ok(StrayOutcome::Removed)
            }
        }
    }
}

fn find_strays(dir: &super::dir::Dir) -> io::Result<(Vec<StrayFile>, Vec<String>)> {
    let (mut strays, mut foreign) = (Vec::new(), Vec::new());
    let Some(dir) = dir.subdir_if_there("_tmp")? else { return Ok((strays, foreign)) };
    let mut names = Vec::new();
    for entry in Dir::read_from(&dir)? {
        names.push(entry?.file_name().to_bytes().to_vec());
    }
    names.retain(|name| name != b"." && name != b"..");
    names.sort();
    for name in names {
        if let Some(name) = std::str::from_utf8(&name).ok().filter(|name| name.starts_with(STAGE)) {
            strays.extend(stage(&dir, name)?);
            continue;
        }
        match std::str::from_utf8(&name).ok().and_then(|name| Some((name, TempKind::parse(name)?))) {
            Some((name, made)) => strays.extend(stray(&dir, name, made)?),
            None => foreign.push(String::from_utf8_lossy(&name).into_owned()),
        }
    }
    Ok((strays, foreign))
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

enum TempKind {
    Bubb(Kind, Option<BubbId>),
    Other,
}

impl TempKind {
    fn is_of_turn(name: &str) -> bool {
        name.starts_with("claim-")
            || matches!(TempKind::parse(name), Some(TempKind::Bubb(Kind::Assistant, _)))
    }

    /// Parses `u0-PREV-PID-NONCE`, `a1-head-…`, `branch-PID-NONCE`, `blob-…`, `cache-…`, `furniture-…`, `wire-…` and
    /// `claim-ID`. Any other name is foreign.
    fn parse(name: &str) -> Option<TempKind> {
        if let Some(id) = name.strip_prefix("claim-") {
            return BubbId::parse(id.as_bytes()).map(|_| TempKind::Other);
        }
        let mut words = name.split('-');
        let made = match words.next()?.as_bytes() {
            b"blob" | b"branch" | b"cache" | b"furniture" | b"wire" => TempKind::Other,
            [kind, b'0' | b'1'] => {
                let prev = words.next()?;
                let prev = match prev {
                    "head" => None,
                    _ => Some(BubbId::parse(prev.as_bytes())?),
                };
                TempKind::Bubb(Kind::from_letter(*kind)?, prev)
            }
            _ => return None,
        };
        let (process, nonce) = (words.next()?, words.next()?);
        let is_it = words.next().is_none() && process.parse::<u32>().is_ok();
        (is_it && u64::from_str_radix(nonce, 16).is_ok()).then_some(made)
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
    let (words, about) = match made {
        TempKind::Bubb(..) if meta.nlink() == 0 => return Ok(None),
        TempKind::Bubb(..) if meta.nlink() > 1 => (None, "it is a message already".to_string()),
        TempKind::Bubb(..) if meta.len() == 0 => (None, "it is empty".to_string()),
        TempKind::Bubb(kind, prev) => {
            (Some((kind, prev)), format!("an unfinished message of {} bytes", meta.len()))
        }
        TempKind::Other => (None, "it was never put in its place".to_string()),
    };
    let tmp = TempFile { dir: dir.try_clone()?, name: name.to_string(), file, found: true };
    Ok(Some(StrayFile { tmp, words, about, is_stage: false }))
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
    Ok(Some(StrayFile { tmp, words: None, about, is_stage: true }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_was_being_made() {
        let id = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
        for (name, form) in [
            (format!("a0-{id}-123-18a2"), "bubb"),
            ("s1-head-1-0".to_string(), "bubb"),
            ("branch-12-1f".to_string(), "other"),
            (format!("claim-{id}"), "other"),
            ("claim-12-1f".to_string(), "foreign"),
            ("blob-12-1f".to_string(), "other"),
            ("wire-12-1f".to_string(), "other"),
            ("cache-12-1f".to_string(), "other"),
            ("a0-head-1".to_string(), "foreign"),
            ("a2-head-1-1".to_string(), "foreign"),
            ("x0-head-1-1".to_string(), "foreign"),
            ("a0-HEAD-1-1".to_string(), "foreign"),
            ("a0-head-1-1-1".to_string(), "foreign"),
            ("a0-head-x-1".to_string(), "foreign"),
            ("notes.txt".to_string(), "foreign"),
        ] {
            let found = match TempKind::parse(&name) {
                Some(TempKind::Bubb(..)) => "bubb",
                Some(TempKind::Other) => "other",
                None => "foreign",
            };
            assert_eq!(found, form, "{name}");
        }
    }
}
