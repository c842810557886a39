//! The directory `.lepo`: opened once, without following a link, and worked in relative to that.
//!
//! Knows no network, no terminal and no environment. Nothing in it is edited once written; two
//! writers never wait for each other. The format is lepo-store(5).

mod address;
mod append;
mod attributes;
mod batch;
mod blob_folders;
mod blobs;
mod branches;
mod check;
mod claim;
mod copies;
mod draft;
mod facts;
mod folders;
mod hash;
mod imports;
mod journal;
mod journal_copies;
mod line_ends;
mod listing;
mod offers;
mod old_tree;
mod open;
#[cfg(test)]
mod oracle;
mod others;
mod place;
mod reach;
mod read;
mod read_ahead;
mod recover;
mod remove;
mod scan;
mod sessions;
mod sorted;
mod speaker;
mod stage;
mod temporary;
mod text_cache;
mod tidy;
#[cfg(test)]
mod tidy_tests;
mod titles;
mod unreadable;
mod watch;
mod wire;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use folders::OpenDays;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

pub use batch::{Batch, MANY};
pub use blobs::{Blob, NewBlob, blobs_of_result};
pub use branches::check_branch_name;
pub use check::{Finding, What};
pub use claim::Claim;
pub use copies::{Copy, Copying, Under};
pub use draft::Draft;
pub use facts::FactIndex;
pub use folders::OLD;
pub use imports::{Imported, Imports};
pub use journal::{Entry, Fact, JournalRecord};
pub use offers::Offer;
pub use open::{Made, STORE};
pub use others::{LONGEST_CLONE, is_clone_name};
pub use read_ahead::{few_in_order, in_order, pieces_in_order};
pub use recover::Fate;
pub use sessions::SessionEnd;
pub use sorted::by_id;
pub use text_cache::{CachedText, FolderState, MonthFolder};
pub use tidy::TidyPlan;
pub use watch::Seen;

use lepo_base::error::Error;

/// Mode of every file lepo makes.
const FILE: Mode = Mode::from_raw_mode(0o600);
/// Mode of every directory lepo makes.
const DIR: Mode = Mode::from_raw_mode(0o700);

/// The flags to open a file that may be a bubb's: no link is followed, and nothing is waited for.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// An open store.
pub struct Store {
    dir: OwnedFd,
    /// As it is shown, relative to where the user stands.
    shown: PathBuf,
    /// The directory in which commands of a turn run.
    root: PathBuf,
    /// A scan saw a bubb whose file is not named in upper case.
    unusual: AtomicBool,
    /// The blobs whose bytes are known to be right.
    proven: Mutex<HashMap<String, blobs::Mark>>,
    /// True if `_old/` had folders of days when `.lepo/` was last read.
    has_days: AtomicBool,
    /// The time of the oldest bubb in `.lepo/` when it was last read: an older one is in its day.
    oldest_recent: AtomicU64,
    /// The number of bubbs in `.lepo/` when it was last read.
    seen_recent: AtomicUsize,
    open_days: OpenDays,
    /// The stores of other people, read when they are first asked for.
    others: std::sync::OnceLock<Vec<(String, Store)>>,
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

    /// The path of the store, from the root of the filesystem.
    pub fn path(&self) -> PathBuf {
        // The shown path leads up from the user's directory, then down from the working directory.
        self.root
            .join(self.shown.components().filter(|part| *part != Component::ParentDir).collect::<PathBuf>())
    }

    /// Opens a file in the store for reading; only a regular file, and never by waiting for one.
    fn open_file(&self, name: impl rustix::path::Arg) -> io::Result<File> {
        Ok(place::regular(self.open_any(name)?)?.0)
    }

    /// Opens what is there for reading, following no link and never blocking.
    fn open_any(&self, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.dir, name, READ, Mode::empty())?)
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

    /// Nothing is known of its folders yet.
    fn new(dir: OwnedFd, shown: PathBuf, root: PathBuf) -> Store {
        Store {
            dir,
            shown,
            root,
            unusual: AtomicBool::new(false),
            proven: Mutex::default(),
            has_days: AtomicBool::new(false),
            oldest_recent: AtomicU64::new(0),
            seen_recent: AtomicUsize::new(0),
            open_days: OpenDays::default(),
            others: std::sync::OnceLock::new(),
        }
    }

    /// A store within another one, which has no others of its own.
    fn nested(dir: OwnedFd, shown: PathBuf, root: PathBuf) -> Store {
        let store = Store::new(dir, shown, root);
        let _ = store.others.set(Vec::new());
        store
    }

    /// An error about the folders of days.
    fn old_error(&self, cause: io::Error) -> Error {
        self.error("cannot read", OLD, cause)
    }

    /// An error about something in this store.
    fn error(&self, failed: &str, what: impl AsRef<OsStr>, cause: io::Error) -> Error {
        failure(format!("{failed} {}", self.shown.join(what.as_ref()).display()), cause)
    }
}

/// The hint where something else is in the place of a file or directory of the store.
const IN_PLACE: &str = "it is a link or of another kind; no link is followed in a store: move it away";

/// A store error with its cause, and what to do where the cause tells.
fn failure(message: String, cause: io::Error) -> Error {
    use io::ErrorKind as K;
    let hint = match cause.kind() {
        K::StorageFull => Some("free some space on the disk (or inodes: df -i), then try again"),
        K::QuotaExceeded => Some("the disk quota is used up"),
        K::ReadOnlyFilesystem => Some("the filesystem is read-only; `lepo ls` and `show` still work"),
        K::PermissionDenied => Some("check the owner and mode of the directory"),
        K::FileTooLarge => Some("a file size limit stopped it (ulimit -f)"),
        K::NotADirectory => Some(IN_PLACE),
        _ if cause.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Some(IN_PLACE),
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
