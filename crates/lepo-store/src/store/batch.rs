//! Writes many bubbs at once, durably: for imports, and for bubbs from other clones.
//!
//! Each bubb is written into a folder in `_tmp/`; one `syncfs` makes all of them durable; then each is renamed to its
//! final path, in the order of arrival, and the folders are synced. A kill leaves the renamed ones and a folder in
//! `_tmp/` that the next batch removes. An existing file of the same name has the same bytes and is not replaced.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, OFlags};

use super::blob_folders::MANY_BLOBS;
use super::blobs::Blob;
use super::day_folders::counts_in;
use super::dir::{FILE, OLD, now};
use super::handle::Store;
use super::listing::NameListing;
use super::stage::{make_stage, remove_stage, sweep_stages};
use super::temporary::rename_new;
use crate::bubb::{BubbId, BubbName, ContentHash, Day, MAX_TIME};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::sys;

/// A batch of more bubbs than this writes bubbs of past days into the folders of these days.
pub const MANY: usize = 5_000;

/// A day counts as past for a batch when it ended at least this many milliseconds ago.
const OVER: u64 = 48 * 60 * 60 * 1000;

/// Bubbs being written. Dropping the batch discards unflushed ones.
pub struct WriteBatch<'s> {
    store: &'s Store,
    tmp: OwnedFd,
    name: String,
    /// The folder in `_tmp/`, locked as long as this process lives.
    stage: OwnedFd,
    listing: NameListing<'s>,
    staged: Vec<BubbName>,
    /// All bubbs staged, flushed or not.
    known: HashSet<BubbId>,
    blobs: BTreeSet<ContentHash>,
    /// Whether bubbs go into folders of days from the start.
    is_large: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedBubb {
    pub name: BubbName,
    /// Whether the store did not have the bubb before.
    pub new: bool,
}

impl<'s> WriteBatch<'s> {
    /// Starts a batch and removes the remains of batches that ended early. With `is_large`, bubbs of past days go into
    /// the folders of their days from the start; otherwise only once the batch has more than [`MANY`] bubbs.
    pub fn new(store: &'s Store, is_large: bool) -> Result<WriteBatch<'s>> {
        let failed = |error: io::Error| store.dir.error("cannot write in", "_tmp", error);
        let tmp = store.dir.subdir("_tmp").map_err(failed)?;
        sweep_stages(&store.dir, &tmp).map_err(failed)?;
        let (name, stage) = make_stage(&tmp).map_err(failed)?;
        Ok(WriteBatch {
            store,
            tmp,
            name,
            stage,
            listing: store.listing()?,
            staged: Vec::new(),
            known: HashSet::new(),
            blobs: BTreeSet::new(),
            is_large,
        })
    }

    /// Returns the name of a bubb, dated `time`, or a millisecond after its prev if that is later.
    pub fn name(role: Role, hidden: bool, prev: Option<BubbId>, time: u64, text: &[u8]) -> Result<BubbName> {
        let time = time.max(prev.map_or(0, |prev| prev.time() + 1));
        if time > MAX_TIME {
            return Err(Error::usage(format!("time {time} does not fit into an id")));
        }
        let id = BubbId::new(time, role, hidden, prev, &ContentHash::from_content(text));
        Ok(BubbName { id, role, hidden, prev })
    }

    /// Adds a bubb dated `time`, or a millisecond after its prev if that is later.
    pub fn add(
        &mut self,
        role: Role,
        hidden: bool,
        prev: Option<BubbId>,
        time: u64,
        text: &[u8],
    ) -> Result<AddedBubb> {
        let name = Self::name(role, hidden, prev, time, text)?;
        Ok(AddedBubb { name, new: self.put(name, text)? })
    }

    /// Adds a bubb whose name is proved; `false` if the store has it already.
    pub fn put(&mut self, name: BubbName, text: &[u8]) -> Result<bool> {
        if self.contains(name.id)? {
            return Ok(false);
        }
        self.stage(&name.to_string(), text).map_err(|error| self.failed(error))?;
        self.known.insert(name.id);
        self.staged.push(name);
        Ok(true)
    }

    /// Whether the bubb is in the store or in this batch.
    pub fn contains(&mut self, id: BubbId) -> Result<bool> {
        Ok(self.known.contains(&id) || self.listing.find_own(id)?.is_some())
    }

    /// Returns the size of a bubb's file, without reading it; `None` for a bubb of this batch, and if the file is
    /// missing.
    pub fn stored_len(&self, name: &BubbName) -> Option<u64> {
        if self.known.contains(&name.id) {
            return None;
        }
        // A single system call in most cases: importing again should cost no more than reading the source.
        let (file, day) = (name.to_string(), Day::from_id(name.id));
        let in_day = self.store.last_reading.has_days().then(|| format!("{OLD}/{day}/{file}"));
        let stat = |path: &str| rustix::fs::statat(&self.store.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok();
        let stat = in_day.as_deref().and_then(stat).or_else(|| stat(&file))?;
        Some(stat.st_size as u64)
    }

    /// Writes a blob, which gets its final path at the next flush.
    pub fn blob(&mut self, from: &mut dyn Read) -> Result<Blob> {
        let read = (|| {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes)?;
            let hash = ContentHash::from_content(&bytes);
            if self.blobs.insert(hash) {
                self.stage(&hash.to_string(), &bytes)?;
            }
            Ok(Blob { hash, len: bytes.len() as u64 })
        })();
        read.map_err(|error| self.failed(error))
    }

    pub fn staged(&self) -> usize {
        self.staged.len()
    }

    /// Moves all bubbs and blobs to their final paths, durable when this returns; returns the number of new bubbs.
    pub fn flush(&mut self) -> Result<usize> {
        if self.staged.is_empty() && self.blobs.is_empty() {
            return Ok(0);
        }
        sys::sync_files_of(&self.stage).map_err(|error| self.failed(error))?;
        let blobs = std::mem::take(&mut self.blobs);
        self.publish_blobs(&blobs)
            .map_err(|error| self.store.dir.error("cannot write in", "_blobs", error))?;
        self.is_large |= self.known.len() > MANY;
        let staged = std::mem::take(&mut self.staged);
        self.publish(&staged).map_err(|error| self.store.dir.error("cannot write in", "", error))
    }

    fn stage(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.stage, file, flags, FILE)?);
        file.write_all(bytes)
    }

    fn publish_blobs(&self, blobs: &BTreeSet<ContentHash>) -> io::Result<()> {
        if blobs.is_empty() {
            return Ok(());
        }
        let many = self.store.count_blobs()? + blobs.len() > MANY_BLOBS;
        // Sorted by name, so that each folder is synced once.
        let mut open = None::<(String, OwnedFd)>;
        for hash in blobs {
            let name = hash.to_string();
            let shard = name.get(..2).unwrap_or_default();
            let into = many || self.store.has_blob_folder(hash)?;
            let folder = if into { shard } else { "" };
            if open.as_ref().is_none_or(|(opened, _)| opened != folder) {
                let next = self.store.blob_folder(hash, into)?;
                if let Some((_, dir)) = open.replace((folder.to_string(), next)) {
                    sys::sync(dir)?;
                }
            }
            if let Some((_, dir)) = &open {
                rustix::fs::renameat(&self.stage, name.as_str(), dir, name.as_str())?;
            }
        }
        if let Some((_, dir)) = open {
            sys::sync(dir)?;
        }
        Ok(())
    }

    /// Renames in the order of arrival, so that a kill leaves no bubb without its prev.
    fn publish(&self, staged: &[BubbName]) -> io::Result<usize> {
        let over = Day::from_millis(now().saturating_sub(OVER));
        let (mut touched, mut open) = (BTreeSet::new(), None::<(Day, OwnedFd)>);
        let mut placed = 0;
        for name in staged {
            let (file, day) = (name.to_string(), Day::from_id(name.id));
            let to_day = self.is_large && day < over && counts_in(day, name);
            if to_day && open.as_ref().is_none_or(|(opened, _)| *opened != day) {
                open = Some((day, self.store.make_day_dir(day)?));
            }
            let dir = match &open {
                Some((_, dir)) if to_day => {
                    touched.insert(day);
                    dir
                }
                _ => &self.store.dir.fd,
            };
            placed += usize::from(rename_new((&self.stage, &file), (dir, &file))?);
        }
        for day in touched {
            if let Some(dir) = self.store.day_dir(day)? {
                sys::sync(dir)?;
            }
        }
        sys::sync(&self.store.dir)?;
        Ok(placed)
    }

    fn failed(&self, error: io::Error) -> Error {
        self.store.dir.error("cannot write in", format!("_tmp/{}", self.name), error)
    }
}

impl Drop for WriteBatch<'_> {
    fn drop(&mut self) {
        // If the removal fails, the next batch removes the folder.
        let _ = remove_stage(&self.tmp, &self.name, &self.stage);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn a_batch_is_here_once_however_often_it_comes() {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        let past = 1_700_000_000_000;
        let fill = |batch: &mut WriteBatch<'_>| {
            let root = batch.add(Role::User, false, None, past, b"why?").unwrap();
            let answer = batch.add(Role::Assistant, false, Some(root.name.id), past - 5, b"so").unwrap();
            let recent = batch.add(Role::User, false, Some(answer.name.id), now(), b"and now?").unwrap();
            assert_eq!(answer.name.id.time(), past + 1);
            [root, answer, recent]
        };
        for many in [true, false] {
            let mut batch = WriteBatch::new(&store, many).unwrap();
            let added = fill(&mut batch);
            if many {
                assert!(added.iter().all(|added| added.new));
                assert!(fill(&mut batch)[..2].iter().all(|added| !added.new));
                let blob = batch.blob(&mut &b"bytes"[..]).unwrap();
                assert!(batch.flush().unwrap() >= 3);
                assert_eq!(fs::read(lepo.join("_blobs").join(blob.hash.to_string())).unwrap(), b"bytes");
            } else {
                assert!(added[..2].iter().all(|added| !added.new));
            }
            for added in &added[..2] {
                let day = lepo.join("_old").join(Day::from_id(added.name.id).to_string());
                assert!(day.join(added.name.to_string()).is_file());
            }
        }
        assert_eq!(store.check(&mut |_, _| ()).unwrap(), []);
        assert_eq!(fs::read_dir(lepo.join("_tmp")).unwrap().count(), 0);
    }

    #[test]
    fn what_was_not_flushed_is_gone_and_what_a_kill_left_is_swept() {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        fs::create_dir_all(lepo.join("_tmp/import-1-0")).unwrap();
        fs::write(lepo.join("_tmp/import-1-0/half"), "half").unwrap();
        let mut strays = store.strays().unwrap();
        assert_eq!(strays.len(), 1);
        store.settle_stray(strays.remove(0)).unwrap();
        assert!(!lepo.join("_tmp/import-1-0").exists());
        fs::create_dir_all(lepo.join("_tmp/import-1-0")).unwrap();
        fs::write(lepo.join("_tmp/import-1-0/half"), "half").unwrap();
        let mut batch = WriteBatch::new(&store, false).unwrap();
        assert!(!lepo.join("_tmp/import-1-0").exists());
        batch.add(Role::User, false, None, 5, b"why?").unwrap();
        drop(batch);
        assert!(store.names().unwrap().is_empty());
        assert_eq!(fs::read_dir(lepo.join("_tmp")).unwrap().count(), 0);
    }

    #[test]
    fn batches_that_begin_at_once_do_not_remove_each_other() {
        let dir = TempDir::new().unwrap();
        let store = store(&dir);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let store = &store;
                scope.spawn(move || {
                    for turn in 0..100 {
                        let mut batch = WriteBatch::new(store, false).unwrap();
                        batch.add(Role::User, false, None, 1 + thread * 1000 + turn, b"why?").unwrap();
                        assert_eq!(batch.flush().unwrap(), 1);
                    }
                });
            }
        });
        assert_eq!(store.names().unwrap().len(), 400);
        assert_eq!(fs::read_dir(dir.path().join(STORE).join("_tmp")).unwrap().count(), 0);
    }

    #[test]
    fn a_small_batch_stays_together() {
        let dir = TempDir::new().unwrap();
        let store = store(&dir);
        let mut batch = WriteBatch::new(&store, false).unwrap();
        let added = batch.add(Role::User, false, None, 1_700_000_000_000, b"why?").unwrap();
        assert_eq!(batch.flush().unwrap(), 1);
        assert_eq!(store.recent_names().unwrap(), [added.name]);
        assert_eq!(store.text(&added.name).unwrap(), "why?");
    }
}
