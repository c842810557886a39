//! State that an open store caches between calls: the last reading of `.lepo/`, open folders of days, proven blobs.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bubb::{BubbName, ContentHash, Day};

/// The last reading of `.lepo/`: only a hint where to search first, because files may have moved since.
#[derive(Default)]
pub(super) struct LastReading {
    /// Whether a bubb's file had a name that is not in upper case.
    unusual: AtomicBool,
    /// Whether `_old/` had folders of days.
    has_days: AtomicBool,
    /// The time of the oldest bubb in `.lepo/`: an older bubb is in its day.
    oldest: AtomicU64,
    /// The number of bubbs in `.lepo/`.
    count: AtomicUsize,
}

impl LastReading {
    pub(super) fn note_recent(&self, oldest: u64, count: usize) {
        self.oldest.store(oldest, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    pub(super) fn note_days(&self, has_days: bool) {
        self.has_days.store(has_days, Ordering::Relaxed);
    }

    pub(super) fn note_unusual(&self) {
        self.unusual.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_unusual(&self) -> bool {
        self.unusual.load(Ordering::Relaxed)
    }

    pub(super) fn has_days(&self) -> bool {
        self.has_days.load(Ordering::Relaxed)
    }

    pub(super) fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether all bubbs in `.lepo/` were newer, so that this one must be in its day.
    pub(super) fn has_left(&self, name: &BubbName) -> bool {
        self.has_days() && name.id.time() < self.oldest()
    }
}

/// Open folders of days. A folder deleted and re-created in the meantime is opened again.
#[derive(Default)]
pub(super) struct OpenDays(Mutex<HashMap<Day, Arc<OwnedFd>>>);

impl OpenDays {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<Day, Arc<OwnedFd>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The blobs whose bytes are known to match their hashes.
#[derive(Default)]
pub(super) struct ProvenBlobs(Mutex<HashMap<ContentHash, FileStamp>>);

impl ProvenBlobs {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<ContentHash, FileStamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl FileStamp {
    pub(super) fn from_file(file: &File) -> io::Result<FileStamp> {
        let metadata = file.metadata()?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Ok(FileStamp { inode: metadata.ino(), len: metadata.len(), changed })
    }
}
