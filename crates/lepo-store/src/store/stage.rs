//! The folder in `_tmp/` in which a batch writes, locked as long as its process lives. An unlocked one belongs to a
//! process that has ended, and the next batch removes it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FlockOperation, OFlags};
use rustix::io::Errno;

use super::dir::{DIR, Dir, FILE, each_entry};
use super::handle::Store;
use lepo_base::error::Result;

pub(super) const STAGE: &str = "import-";

/// Whether a batch whose process has ended left a folder, which the next batch removes.
pub fn has_ended_batches(store: &Store) -> Result<bool> {
    let dir = &store.dir;
    let ended = dir.subdir("_tmp").and_then(|tmp| Ok(!ended_stages(dir, &tmp)?.is_empty()));
    ended.map_err(|error| dir.error("cannot write in", "_tmp", error))
}

pub(super) fn sweep_stages(dir: &Dir, tmp: &OwnedFd) -> io::Result<()> {
    for (name, stage) in ended_stages(dir, tmp)? {
        remove_stage(tmp, &name, &stage)?;
    }
    Ok(())
}

/// Locks and returns the folders of batches whose process has ended.
fn ended_stages(dir: &Dir, tmp: &OwnedFd) -> io::Result<Vec<(String, OwnedFd)>> {
    let (mut names, mut ended) = (Vec::new(), Vec::new());
    dir.each_entry_of("_tmp", |file, _| {
        names.extend(
            std::str::from_utf8(file).ok().filter(|name| name.starts_with(STAGE)).map(str::to_string),
        );
    })?;
    for name in names {
        let Ok(stage) = open_stage(tmp, &name) else { continue };
        if rustix::fs::flock(&stage, FlockOperation::NonBlockingLockExclusive).is_ok() {
            ended.push((name, stage));
        }
    }
    Ok(ended)
}

pub(super) fn remove_stage(tmp: &OwnedFd, name: &str, stage: &OwnedFd) -> io::Result<()> {
    let mut files = Vec::new();
    let listed = rustix::fs::openat(stage, ".", OFlags::RDONLY | OFlags::CLOEXEC, FILE);
    let listed = listed.map_err(io::Error::from).and_then(|again| {
        each_entry(&again, |file, _| {
            if file != b"." && file != b".." {
                files.push(file.to_vec());
            }
        })
    });
    match listed {
        // Its process has just removed it and may create another one of this name.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listed => listed?,
    }
    for file in files {
        rustix::fs::unlinkat(stage, file.as_slice(), AtFlags::empty())?;
    }
    match rustix::fs::unlinkat(tmp, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a batch's folder in `_tmp/` and locks it. Until it is locked, another batch may remove it as abandoned.
pub(super) fn make_stage(tmp: &OwnedFd) -> io::Result<(String, OwnedFd)> {
    for number in 0.. {
        let name = format!("{STAGE}{}-{number:x}", std::process::id());
        match rustix::fs::mkdirat(tmp, name.as_str(), DIR) {
            Ok(()) => {}
            Err(Errno::EXIST) => continue,
            Err(error) => return Err(error.into()),
        }
        let stage = match open_stage(tmp, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        // On a file system without locks, no batch can have locked it to remove it.
        let is_held =
            rustix::fs::flock(&stage, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
        let own = rustix::fs::fstat(&stage)?;
        let is_there = rustix::fs::statat(tmp, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|there| (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino));
        if !is_held && is_there {
            return Ok((name, stage));
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

pub(super) fn open_stage(tmp: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(tmp, name, flags, FILE)?)
}
