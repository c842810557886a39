//! State that an open store keeps between calls: the last reading of `.lepo/`, open folders of days, proven blobs.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bubb::{ContentHash, Day, Name};

/// Result of the last reading of `.lepo/`: a hint where to look first; files may have moved since.
#[derive(Default)]
pub(super) struct LastReading {
    /// A bubb's file was seen that is not named in upper case.
    unusual: AtomicBool,
    /// `_old/` had folders of days.
    has_days: AtomicBool,
    /// The time of the oldest bubb in `.lepo/`: an older one is in its day.
    oldest: AtomicU64,
    /// The number of bubbs in `.lepo/`.
    count: AtomicUsize,
}

impl LastReading {
    /// Notes the bubbs of `.lepo/`: the time of the oldest, and how many they are.
    pub(super) fn note_recent(&self, oldest: u64, count: usize) {
        self.oldest.store(oldest, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    /// Notes whether any day has a folder.
    pub(super) fn note_days(&self, has_days: bool) {
        self.has_days.store(has_days, Ordering::Relaxed);
    }

    /// Notes a file that is not named in upper case.
    pub(super) fn note_unusual(&self) {
        self.unusual.store(true, Ordering::Relaxed);
    }

    /// True if a file was seen that is not named in upper case.
    pub(super) fn is_unusual(&self) -> bool {
        self.unusual.load(Ordering::Relaxed)
    }

    /// True if any day had a folder.
    pub(super) fn has_days(&self) -> bool {
        self.has_days.load(Ordering::Relaxed)
    }

    /// The time of the oldest bubb in `.lepo/`.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::Relaxed)
    }

    /// The number of bubbs in `.lepo/`.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// True if `.lepo/` held only newer ones.
    pub(super) fn has_left(&self, name: &Name) -> bool {
        self.has_days() && name.id.time() < self.oldest()
    }
}

/// Folders of days that are open. One that was deleted and made anew meanwhile is opened again.
#[derive(Default)]
pub(super) struct OpenDays(Mutex<HashMap<Day, Arc<OwnedFd>>>);

impl OpenDays {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<Day, Arc<OwnedFd>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The blobs whose bytes are known to be right, by their hashes.
#[derive(Default)]
pub(super) struct Proven(Mutex<HashMap<ContentHash, Mark>>);

impl Proven {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<ContentHash, Mark>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The identity of a file and its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl Mark {
    pub(super) fn of(file: &File) -> io::Result<Mark> {
        let metadata = file.metadata()?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Ok(Mark { inode: metadata.ino(), len: metadata.len(), changed })
    }
}
