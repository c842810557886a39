//! Deleting: bubbs in the order given, then what they alone had cut out, then the directory is synced.
//!
//! Given the ones that follow first, a kill in the middle leaves a shorter conv and never a broken one.

use std::collections::BTreeSet;
use std::io;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::Store;
use crate::bubb::{BubbId, Name};
use crate::error::Result;

impl Store {
    /// The blobs that would be named by nothing if these bubbs, of all that `names` lists, were gone.
    pub fn blobs_only_of(&self, going: &[Name], names: &[Name]) -> Result<Vec<String>> {
        let mut only = BTreeSet::new();
        for name in going {
            only.extend(self.blobs_of(name)?);
        }
        let going: BTreeSet<BubbId> = going.iter().map(|name| name.id).collect();
        for name in names.iter().filter(|name| !going.contains(&name.id)) {
            if only.is_empty() {
                break;
            }
            for hash in self.blobs_of(name)? {
                only.remove(&hash);
            }
        }
        Ok(only.into_iter().collect())
    }

    /// Deletes bubbs, then blobs, durably when this returns. One that is gone already is no failure.
    pub fn remove(&self, going: &[Name], blobs: &[String]) -> Result<()> {
        for name in going {
            self.remove_bubb(name).map_err(|error| self.error("cannot delete", name.to_string(), error))?;
        }
        if !blobs.is_empty() {
            let removed = self.subdir("_blobs").and_then(|dir| {
                blobs
                    .iter()
                    .try_for_each(|hash| gone(rustix::fs::unlinkat(&dir, hash.as_str(), AtFlags::empty())))?;
                Ok(rustix::fs::fsync(&dir)?)
            });
            removed.map_err(|error| self.error("cannot delete in", "_blobs", error))?;
        }
        rustix::fs::fsync(&self.dir).map_err(|error| self.error("cannot sync", "", error.into()))
    }

    fn remove_bubb(&self, name: &Name) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.dir, name.to_string(), AtFlags::empty()) {
            Err(Errno::NOENT) => match self.spelling(name) {
                Some(file) => gone(rustix::fs::unlinkat(&self.dir, file, AtFlags::empty())),
                None => Ok(()),
            },
            result => Ok(result?),
        }
    }
}

fn gone(unlinked: rustix::io::Result<()>) -> io::Result<()> {
    match unlinked {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
