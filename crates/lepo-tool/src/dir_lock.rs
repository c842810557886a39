//! Locks on a working directory: a command that may write in it runs there alone.
//!
//! Otherwise a command could replace a directory by a link between lepo's check for another command and the mount.
//! Directories above are locked too, shared: a command that may write there could replace this one.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// The locks, released once all their descriptors are closed.
#[derive(Debug, Default)]
pub struct DirLock(Vec<File>);

impl DirLock {
    /// Locks `dir` for one command `alone`, or for several that only read; `None` while another command has it. No-op
    /// on file systems without locks.
    pub fn acquire(dir: &Path, alone: bool) -> io::Result<Option<DirLock>> {
        let own = rustix::process::geteuid().as_raw();
        let mut locks = Vec::new();
        for ancestor in dir.ancestors() {
            let file = match File::open(ancestor) {
                Ok(file) => file,
                Err(error) if ancestor == dir => return Err(error),
                Err(_) => continue,
            };
            // No sandboxed command of this user writes in another user's directory.
            if ancestor != dir && file.metadata()?.uid() != own {
                continue;
            }
            let operation = match alone && ancestor == dir {
                true => FlockOperation::NonBlockingLockExclusive,
                false => FlockOperation::NonBlockingLockShared,
            };
            match rustix::fs::flock(&file, operation) {
                Ok(()) => locks.push(file),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(_) => {}
            }
        }
        Ok(Some(DirLock(locks)))
    }

    /// Returns descriptors of the locks, for a process that may outlive this one.
    pub fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        self.0.iter().map(|file| Ok(file.try_clone()?.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_alone_in_all_that_it_could_change() {
        let temp_dir = tempfile::tempdir().unwrap();
        let (dir, sub, other) = (temp_dir.path(), temp_dir.path().join("sub"), temp_dir.path().join("other"));
        std::fs::create_dir(&sub).unwrap();
        std::fs::create_dir(&other).unwrap();
        let taken = |dir: &Path, alone| DirLock::acquire(dir, alone).unwrap();
        let reads = taken(dir, false).unwrap();
        assert!(taken(dir, false).is_some() && taken(dir, true).is_none() && taken(&sub, true).is_some());
        drop(reads);
        let writes = taken(dir, true).unwrap();
        for (dir, alone) in [(dir, true), (dir, false), (&sub, true), (&sub, false)] {
            assert!(taken(dir, alone).is_none(), "{} {alone}", dir.display());
        }
        let held = writes.descriptors().unwrap();
        drop(writes);
        assert!(taken(dir, true).is_none(), "it is held as long as a descriptor of it is open");
        drop(held);
        let below = taken(&sub, true).unwrap();
        assert!(taken(dir, true).is_none() && taken(&other, true).is_some());
        drop(below);
        assert!(taken(dir, true).is_some());
    }
}
