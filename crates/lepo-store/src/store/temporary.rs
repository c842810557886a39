//! Files of `_tmp/`: everything is written here first; dropping one removes it.
//!
//! A process holds a lock on each of its files, so `fsck` can tell a file at work from one left behind.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::SystemTime;

use rustix::fs::{AtFlags, FlockOperation, OFlags, RenameFlags};
use rustix::io::Errno;

use super::dir::{Dir, FILE};

/// A file without a place of its own yet.
pub struct Temporary {
    pub(super) dir: OwnedFd,
    pub(super) name: String,
    pub(super) file: File,
    /// Another process made it: on drop it stays where it was found.
    pub(super) found: bool,
}

impl Dir {
    /// Makes a temporary file, named by `what`, the process id and a number.
    pub(super) fn temporary(&self, what: &str) -> io::Result<Temporary> {
        let dir = self.subdir("_tmp")?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let process = std::process::id();
        let mut nonce = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos() as u64);
        loop {
            let name = format!("{what}-{process}-{nonce:x}");
            match rustix::fs::openat(&dir, name.as_str(), flags, FILE) {
                Err(Errno::EXIST) => nonce = nonce.wrapping_add(1),
                Err(error) => return Err(error.into()),
                Ok(fd) => {
                    let _ = rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive);
                    return Ok(Temporary { dir, name, file: File::from(fd), found: false });
                }
            }
        }
    }
}

impl Temporary {
    /// Moves it to its name, replacing a file of that name.
    pub(super) fn replace(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.dir, self.name.as_str(), dir, name)?)
    }

    /// Moves it to its name. A file of that name gets the temporary name, and is removed with this value: to free
    /// the space of a large one takes a while, which nothing waits for.
    pub(super) fn exchange(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        let tmp = self.name.as_str();
        match rustix::fs::renameat_with(&self.dir, tmp, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            // Nothing is there, or the filesystem cannot exchange names.
            Err(_) => self.replace(dir, name),
        }
    }

    /// Moves it to its name; false if a file of that name exists.
    pub(super) fn place(&self, dir: &OwnedFd, name: &str) -> io::Result<bool> {
        rename_new((&self.dir, &self.name), (dir, name))
    }
}

/// A rename that refuses to replace; false if it would. Where the filesystem has none, a link and an unlink.
pub(super) fn rename_new(from: (&OwnedFd, &str), to: (&OwnedFd, &str)) -> io::Result<bool> {
    let renamed = match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty())
                .and_then(|()| rustix::fs::unlinkat(from.0, from.1, AtFlags::empty()))
        }
        result => result,
    };
    match renamed {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.found {
            // An error is fine: a file that was renamed away is gone already.
            let _ = rustix::fs::unlinkat(&self.dir, self.name.as_str(), AtFlags::empty());
        }
    }
}
