//! A temporary store, deleted when its process ends. The next process deletes what killed processes left.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::dir::{failure, now};
use super::handle::store_in;
use super::{STORE, Store};
use lepo_base::error::Result;

/// The file in a temporary store that its process locks: without a lock, the process has ended.
const LOCK: &str = "lock";

/// Deletes its store when dropped.
#[derive(Debug)]
pub struct ScratchStore {
    folder: PathBuf,
    _lock: File,
}

#[doc(hidden)]
impl Store {
    /// Creates a store in `folder`, with these instructions, for the working directory `root`; it is deleted when
    /// dropped.
    pub fn scratch(folder: &Path, root: &Path, insts: &str) -> Result<(Store, ScratchStore)> {
        let failed = |error| failure(format!("cannot make a store in {}", folder.display()), error);
        let scratch = ScratchStore::make(folder).map_err(failed)?;
        let (store, _) = Store::make(&scratch.folder, STORE.as_ref(), insts)?;
        let shown = scratch.folder.join(STORE);
        Ok((store_in(store.dir.fd, shown, root.to_path_buf()), scratch))
    }

    /// Opens an empty `folder` as a store for the working directory `root`, to read from a store that does not exist yet.
    pub fn open_empty(folder: &Path, root: &Path) -> Result<Store> {
        let failed = |error| failure(format!("cannot read {}", folder.display()), error);
        let fd = File::open(folder).map_err(failed)?.into();
        Ok(store_in(fd, STORE.into(), root.to_path_buf()))
    }
}

impl ScratchStore {
    fn make(folder: &Path) -> io::Result<ScratchStore> {
        let private = |recursive| {
            let mut builder = DirBuilder::new();
            builder.recursive(recursive).mode(0o700);
            builder
        };
        private(true).create(folder)?;
        // While a store is being created no process sweeps, because the new store has no lock yet.
        let creating = open_lock(&folder.join(LOCK))?;
        flock(&creating, FlockOperation::LockExclusive)?;
        sweep(folder);
        let dir = folder.join(format!("{}-{}", std::process::id(), now()));
        private(false).create(&dir)?;
        let lock = open_lock(&dir.join(LOCK))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(ScratchStore { folder: dir, _lock: lock })
    }
}

impl Drop for ScratchStore {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Deletes the stores of processes that have ended.
fn sweep(folder: &Path) {
    for dir in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_abandoned = dir.is_dir()
            && open_lock(&dir.join(LOCK))
                .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
        if is_abandoned {
            let _ = fs::remove_dir_all(dir);
        }
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::role::Role;

    #[test]
    fn nothing_is_left_of_it_and_what_a_killed_process_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, root) = (dir.path().join("a/unkept"), dir.path().join("work"));
        fs::create_dir_all(&root).unwrap();
        let stores =
            || fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.path().is_dir()).count();
        let (store, scratch) = Store::scratch(&folder, &root, "x = 1").unwrap();
        store.create_bubb(Role::User, false, None, 0, b"secret").unwrap();
        assert_eq!((store.root(), stores()), (root.as_path(), 1));
        // As after a kill: the store exists, and its lock is free.
        fs::create_dir_all(folder.join("gone/.lepo")).unwrap();
        let (_, second) = Store::scratch(&folder, &root, "").unwrap();
        assert!(!folder.join("gone").exists());
        assert_eq!(stores(), 2);
        drop(scratch);
        assert_eq!(stores(), 1);
        drop(second);
        assert_eq!(stores(), 0);
    }
}
