//! Files of `_tmp/`: every file is first written here; dropping one deletes it.
//!
//! A process locks each of its files, so `fsck` can distinguish a file in use from an abandoned one.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::SystemTime;

use rustix::fs::{AtFlags, FlockOperation, OFlags, RenameFlags};
use rustix::io::Errno;

use super::dir::{Dir, FILE};
use crate::bubb::BubbId;
use lepo_base::role::Role;

pub struct TempFile {
    pub(super) dir: OwnedFd,
    pub(super) name: String,
    pub(super) file: File,
    /// Whether another process created it; such a file is not deleted on drop.
    pub(super) found: bool,
}

impl Dir {
    /// Creates a temporary file, named by `what`, the process id and a number.
    pub(super) fn temporary(&self, what: &str) -> io::Result<TempFile> {
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
                    return Ok(TempFile { dir, name, file: File::from(fd), found: false });
                }
            }
        }
    }
}

impl TempFile {
    /// Renames the file to its final name, replacing an existing file.
    pub(super) fn replace(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.dir, self.name.as_str(), dir, name)?)
    }

    /// Renames the file to its final name. An existing file gets the temporary name and is deleted when this value is
    /// dropped, because freeing the space of a large file is slow and nothing should wait for it.
    pub(super) fn exchange(&self, dir: &OwnedFd, name: &str) -> io::Result<()> {
        let tmp = self.name.as_str();
        match rustix::fs::renameat_with(&self.dir, tmp, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            // No file has that name, or the file system cannot exchange names.
            Err(_) => self.replace(dir, name),
        }
    }

    /// Renames the file to its final name; `false` if that exists.
    pub(super) fn publish(&self, dir: &OwnedFd, name: &str) -> io::Result<bool> {
        rename_new((&self.dir, &self.name), (dir, name))
    }
}

/// Renames without replacing a file; `false` if the name exists. Falls back to a link and an unlink on a file system
/// without such a rename.
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

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.found {
            // Errors are ignored: a renamed file no longer has this name.
            let _ = rustix::fs::unlinkat(&self.dir, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// The thing that a file of `_tmp/` was to become, by its name.
pub(super) enum TempKind {
    Bubb(Role, Option<BubbId>),
    Other,
}

impl TempKind {
    /// Whether it belongs to a turn: an unfinished answer, or a claim.
    pub(super) fn is_of_turn(name: &str) -> bool {
        name.starts_with("claim-")
            || matches!(TempKind::parse(name), Some(TempKind::Bubb(Role::Assistant, _)))
    }

    /// Parses `u0-PREV-PID-NONCE`, `a1-head-…`, `branch-PID-NONCE`, `blob-…`, `cache-…`, `furniture-…`, `wire-…` and
    /// `claim-ID`. Any other name is foreign.
    pub(super) fn parse(name: &str) -> Option<TempKind> {
        if let Some(id) = name.strip_prefix("claim-") {
            return BubbId::parse(id.as_bytes()).map(|_| TempKind::Other);
        }
        let mut words = name.split('-');
        let made = match words.next()?.as_bytes() {
            b"blob" | b"branch" | b"cache" | b"furniture" | b"wire" => TempKind::Other,
            [role, b'0' | b'1'] => {
                let prev = words.next()?;
                let prev = match prev {
                    "head" => None,
                    _ => Some(BubbId::parse(prev.as_bytes())?),
                };
                TempKind::Bubb(Role::from_letter(*role)?, prev)
            }
            _ => return None,
        };
        let (process, nonce) = (words.next()?, words.next()?);
        let is_it = words.next().is_none() && process.parse::<u32>().is_ok();
        (is_it && u64::from_str_radix(nonce, 16).is_ok()).then_some(made)
    }
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
