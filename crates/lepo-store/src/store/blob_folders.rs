//! Paths of blobs: `_blobs/`, and once that has many, folders named after the first two digits.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::dir::{dir_at, make_dir_at};
use super::handle::Store;
use super::temporary::rename_new;
use crate::bubb::ContentHash;
use lepo_base::error::Result;
use lepo_base::sys;

pub(super) const BLOBS: &str = "_blobs";

/// With more blobs than this in `_blobs/`, they go into folders.
pub(super) const MANY_BLOBS: usize = 10_000;

fn sharded(hash: &ContentHash) -> String {
    format!("{BLOBS}/{}/{hash}", shard_of(hash))
}

pub(super) fn shard_of(hash: &ContentHash) -> String {
    format!("{hash:.2}")
}

/// Whether `name` is two lower-case hexadecimal digits.
pub(super) fn is_shard(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[doc(hidden)]
impl Store {
    /// Opens a blob and returns it with its length; `None` if it is missing.
    pub fn open_blob(&self, hash: &ContentHash) -> Result<Option<(File, u64)>> {
        for name in [format!("{BLOBS}/{hash}"), sharded(hash), format!("{BLOBS}/{hash}")] {
            match self.dir.open_any(name.as_str()).and_then(super::dir::regular) {
                Ok(opened) => return Ok(Some(opened)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.dir.error("cannot read", name, error)),
            }
        }
        Ok(None)
    }

    /// Returns the path of a blob's file as the user would type it.
    pub fn blob_path(&self, hash: &ContentHash) -> std::path::PathBuf {
        let shard = sharded(hash);
        let is_sharded = rustix::fs::statat(&self.dir, shard.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok();
        self.display_path().join(if is_sharded { shard } else { format!("{BLOBS}/{hash}") })
    }

    /// Opens the folder for a new blob: `_blobs/`, or `_blobs/ab/` if `is_large`.
    pub(super) fn blob_folder(&self, hash: &ContentHash, is_large: bool) -> io::Result<OwnedFd> {
        let blobs = self.dir.subdir(BLOBS)?;
        match is_large {
            true => make_dir_at(blobs.as_fd(), &shard_of(hash)),
            false => Ok(blobs),
        }
    }

    pub(super) fn has_many_blobs(&self, hash: &ContentHash) -> io::Result<bool> {
        Ok(self.has_blob_folder(hash)? || self.count_blobs()? > MANY_BLOBS)
    }

    pub(super) fn has_blob_folder(&self, hash: &ContentHash) -> io::Result<bool> {
        Ok(dir_at(self.dir.subdir(BLOBS)?, shard_of(hash))?.is_some())
    }

    pub(super) fn count_blobs(&self) -> io::Result<usize> {
        let mut count = 0;
        self.dir.each_entry_of(BLOBS, |file, _| count += usize::from(file.len() == ContentHash::LEN))?;
        Ok(count)
    }

    /// Moves the blobs of `_blobs/` into folders if there are many; returns the number moved.
    pub(super) fn tidy_blobs(&self, progress: &mut dyn FnMut()) -> io::Result<usize> {
        let mut names = Vec::new();
        self.dir.each_entry_of(BLOBS, |file, kind| {
            let hash = std::str::from_utf8(file).ok().and_then(ContentHash::parse);
            names.extend(hash.filter(|_| kind == FileType::RegularFile));
        })?;
        if names.len() <= MANY_BLOBS {
            return Ok(0);
        }
        names.sort();
        let blobs = self.dir.subdir(BLOBS)?;
        let mut moved = 0;
        for shard in names.chunk_by(|a, b| a.bytes()[0] == b.bytes()[0]) {
            let folder = make_dir_at(blobs.as_fd(), &shard_of(&shard[0]))?;
            for hash in shard {
                let name = hash.to_string();
                match rename_new((&blobs, &name), (&folder, &name)) {
                    Ok(is_new) => moved += usize::from(is_new),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
                progress();
            }
            sys::sync(&folder)?;
        }
        Ok(moved)
    }

    pub(super) fn remove_blob(&self, hash: &ContentHash) -> io::Result<()> {
        for folder in [BLOBS.to_string(), format!("{BLOBS}/{}", shard_of(hash))] {
            let Some(dir) = self.dir.open_below(Path::new(&folder))? else { continue };
            match rustix::fs::unlinkat(&dir, hash.to_string(), AtFlags::empty()) {
                Ok(()) => sys::sync(&dir)?,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
