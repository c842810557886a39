//! The directory `.lepo`: opened once, without following a link, and worked in relative to that.
//!
//! Knows no network, no terminal and no environment. Nothing in it is edited once written; two
//! writers never wait for each other. The format is lepo-store(5).

mod address;
mod blobs;
mod branches;
mod check;
mod claim;
mod draft;
mod facts;
mod hash;
mod journal;
mod offers;
mod open;
mod read;
mod read_ahead;
mod recover;
mod remove;
mod scan;
mod speaker;
mod temporary;
mod titles;
mod watch;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

pub use blobs::Blob;
pub use branches::check_branch_name;
pub use check::{Finding, What};
pub use claim::Claim;
pub use draft::Draft;
pub use facts::FactIndex;
pub use journal::{Entry, Fact};
pub use offers::Offer;
pub use open::{Made, STORE};
pub use read_ahead::in_order;
pub use recover::{Fate, Stray};
pub use watch::Watch;

use crate::bubb::Name;
use crate::error::Error;

/// Mode of every file lepo makes.
const FILE: Mode = Mode::from_raw_mode(0o600);
/// Mode of every directory lepo makes.
const DIR: Mode = Mode::from_raw_mode(0o700);

/// An open store.
pub struct Store {
    dir: OwnedFd,
    /// As it is shown, relative to where the user stands.
    shown: PathBuf,
    /// Where commands of a turn run.
    root: PathBuf,
    /// A scan saw a bubb whose file is not named in upper case.
    unusual: AtomicBool,
}

impl Store {
    /// The store's path as the user would type it: `.lepo`, `../.lepo`.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The working directory of a turn: where `.lepo` was found; with `--save-to`, where the user stands.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the store is, from the root of the filesystem.
    pub fn path(&self) -> PathBuf {
        // What is shown leads up from where the user stands, then down from the working directory.
        self.root
            .join(self.shown.components().filter(|part| *part != Component::ParentDir).collect::<PathBuf>())
    }

    /// The path of a bubb's file, as the user would type it.
    pub fn path_of(&self, name: &Name) -> PathBuf {
        if self.unusual.load(Ordering::Relaxed)
            && let Some(file) = self.spelling(name)
        {
            return self.shown.join(file);
        }
        self.shown.join(name.to_string())
    }

    /// Opens a file in the store for reading; only a regular file, and never by waiting for one.
    fn open_file(&self, name: impl rustix::path::Arg) -> io::Result<File> {
        Ok(self.open_sized(name)?.0)
    }

    /// The same, and how many bytes it has.
    fn open_sized(&self, name: impl rustix::path::Arg) -> io::Result<(File, u64)> {
        let file = self.open_any(name)?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        Ok((File::from(file), stat.st_size as u64))
    }

    /// Opens what is there for reading, following no link and waiting for nobody.
    fn open_any(&self, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.dir, name, flags, Mode::empty())?)
    }

    /// Opens a directory of the store (`_tmp`, `_branches`, `_blobs`), making it if it is missing.
    fn subdir(&self, name: &str) -> io::Result<OwnedFd> {
        if let Some(dir) = self.subdir_if_there(name)? {
            return Ok(dir);
        }
        match rustix::fs::mkdirat(&self.dir, name, DIR) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.subdir_if_there(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens a directory of the store, if there is one.
    fn subdir_if_there(&self, name: &str) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.dir, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            result => Ok(Some(result?)),
        }
    }

    /// An error about something in this store.
    fn error(&self, failed: &str, what: impl AsRef<OsStr>, cause: io::Error) -> Error {
        failure(format!("{failed} {}", self.shown.join(what.as_ref()).display()), cause)
    }
}

/// A store error with its cause, and what to do where the cause tells.
fn failure(message: String, cause: io::Error) -> Error {
    use io::ErrorKind as K;
    let hint = match cause.kind() {
        K::StorageFull => Some("free some space on the disk (or inodes: df -i), then try again"),
        K::QuotaExceeded => Some("the disk quota is used up"),
        K::ReadOnlyFilesystem => Some("the filesystem is read-only; `lepo ls` and `show` still work"),
        K::PermissionDenied => Some("check the owner and mode of the directory"),
        K::FileTooLarge => Some("a file size limit stopped it (ulimit -f)"),
        _ => None,
    };
    let error = Error::store(message).because(cause);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Milliseconds since 1970 by the clock; 0 before.
pub fn now() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
