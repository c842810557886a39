//! Empty folders of lepo's, as working directories for programs that need no repository.
//!
//! Each start has its own read-only folder: a file that one program leaves in its working directory (`json.py`,
//! `.npmrc`) must not affect the next.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::FlockOperation;

/// Their parent, in lepo's state folder.
const DIR: &str = "empty";

/// Number of names to try for a new one.
const TRIES: usize = 16;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// An empty folder, in use as long as its lock is open, in this process or in another.
#[derive(Debug)]
pub(super) struct EmptyFolder {
    pub path: PathBuf,
    pub lock: File,
}

impl EmptyFolder {
    /// Creates a folder, and removes unused ones.
    pub fn new(state: &Path) -> io::Result<EmptyFolder> {
        let dir = state.join(DIR);
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        // Without this lock, another process could remove the new folder before it is locked.
        let all = File::open(&dir)?;
        let _ = rustix::fs::flock(&all, FlockOperation::LockExclusive);
        remove_unused(&dir);
        let mut failed = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let path = dir.join(new_name());
            match DirBuilder::new().mode(0o500).create(&path) {
                Ok(()) => {
                    let lock = File::open(&path)?;
                    // On a file system without locks the folder is never removed.
                    let _ = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared);
                    return Ok(EmptyFolder { path, lock });
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }
}

fn new_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{}-{count}", std::process::id(), now.as_nanos())
}

/// Removes the folders that no process has locked, with any files that a program of root's created in them.
fn remove_unused(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(lock) = File::open(entry.path()) else { continue };
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    #[test]
    fn each_start_has_an_empty_folder_of_its_own_and_those_of_before_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let [one, two] = [0, 1].map(|_| EmptyFolder::new(state.path()).unwrap());
        assert_ne!(one.path, two.path);
        assert_eq!(one.path.metadata().unwrap().permissions().mode() & 0o777, 0o500);
        assert_eq!(std::fs::read_dir(&one.path).unwrap().count(), 0);
        // A program of root's can write in it anyway.
        std::fs::set_permissions(&two.path, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(two.path.join("json.py"), "x").unwrap();
        let kept_by_another = two.lock.try_clone().unwrap();
        let path = two.path.clone();
        drop(two);
        let _three = EmptyFolder::new(state.path()).unwrap();
        assert!(path.exists() && one.path.exists(), "in use");
        drop(kept_by_another);
        // A program that another test is starting has the lock, too, until it runs.
        let deadline = Instant::now() + Duration::from_secs(30);
        while path.exists() && Instant::now() < deadline {
            EmptyFolder::new(state.path()).unwrap();
        }
        assert!(!path.exists() && one.path.exists());
    }
}
