//! The files that a store has besides bubbs: its instructions, `.gitattributes`, `.gitignore`.

use std::io::Write;
use std::path::Path;

use rustix::fs::Mode;

use super::dir::{DIRECTORY, MOST_SETTINGS, OLD};
use super::handle::Store;
use lepo_base::error::Result;
use lepo_base::sys;

/// The file of instructions.
const INSTS: &str = "_insts.toml";

/// The file that is written last into a new store.
pub(super) const MARK: &str = ".gitignore";

/// The files of a store besides bubbs.
#[derive(Clone, Copy)]
pub struct Furniture<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// The files besides bubbs: instructions, `.gitattributes`, `.gitignore`.
    pub fn furniture(&self) -> Furniture<'_> {
        Furniture { store: self }
    }
}

impl Furniture<'_> {
    /// The bytes of `_insts.toml`, if there is one.
    pub fn insts(&self) -> Result<Option<Vec<u8>>> {
        self.settings(INSTS)
    }

    /// The bytes of a file of settings, if it is there; an error where it is larger than any such file.
    pub fn settings(&self, file: &str) -> Result<Option<Vec<u8>>> {
        self.store.dir.read_file_within(file, MOST_SETTINGS)
    }

    /// The bytes of any file that is no message, by its path in the store, if it is there.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        self.store.dir.read_file(path)
    }

    /// Puts a file that is no message in the place of the one of its name, durable when this returns.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.store.dir.put_file(path, bytes)
    }

    /// Makes the missing ones of the files. True if one was missing.
    pub fn complete(&self, insts: &str) -> Result<bool> {
        let instructed = self.complete_one(INSTS, insts)?;
        let listed = self.store.dir.has(MARK)? && self.complete_ignores()?;
        let merged = self.complete_attributes()?;
        // Last, as it tells that the others are there.
        let ignored = self.complete_one(MARK, &self.new_ignores())?;
        let is_completed = instructed || listed || merged || ignored;
        if is_completed {
            // Its parent too: the store itself may be new.
            let parent = rustix::fs::openat(&self.store.dir, "..", DIRECTORY, Mode::empty());
            sys::sync(&self.store.dir)
                .and_then(|()| sys::sync(parent?))
                .map_err(|e| self.store.dir.error("cannot sync", "", e.into()))?;
        }
        Ok(is_completed)
    }

    /// True if making the store was interrupted. In a store with bubbs, missing files were removed by the user.
    pub fn is_unfinished(&self) -> Result<bool> {
        let dir = &self.store.dir;
        Ok(!dir.has(MARK)? && !dir.has(OLD)? && self.store.names().recent()?.is_empty())
    }

    /// The file gets its name when it is complete: half a file would be taken for the user's own text later.
    fn complete_one(&self, file: &str, text: &str) -> Result<bool> {
        let dir = &self.store.dir;
        if dir.has(file)? {
            return Ok(false);
        }
        let written = dir.temporary("furniture").and_then(|mut tmp| {
            tmp.file.write_all(text.as_bytes())?;
            tmp.file.sync_all()?;
            tmp.replace(&dir.fd, file)
        });
        written.map(|()| true).map_err(|error| dir.error("cannot write", file, error))
    }
}
