//! The files of a store besides bubbs: instructions, `.gitattributes`, `.gitignore`.

use std::io::Write;
use std::path::Path;

use rustix::fs::Mode;

use super::dir::{DIRECTORY, MOST_SETTINGS, OLD};
use super::handle::Store;
use lepo_base::error::Result;
use lepo_base::sys;

const INSTS: &str = "_insts.toml";

/// The file written last into a new store, so that it marks a complete one.
pub(super) const MARK: &str = ".gitignore";

#[doc(hidden)]
impl Store {
    /// Reads `_insts.toml`; `None` if it is missing.
    pub fn insts(&self) -> Result<Option<Vec<u8>>> {
        self.read_settings_file(INSTS)
    }

    /// Reads a file of settings; `None` if it is missing. Fails if it is too large for one.
    pub fn read_settings_file(&self, file: &str) -> Result<Option<Vec<u8>>> {
        self.dir.read_file_within(file, MOST_SETTINGS)
    }

    /// Reads any file that is not a message, by its path in the store; `None` if it is missing.
    pub fn read_meta(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        self.dir.read_file(path)
    }

    /// Replaces a file that is not a message, durable when this returns.
    pub fn put_meta(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.dir.put_file(path, bytes)
    }

    /// Creates the missing files; returns whether there were any.
    pub fn complete_meta(&self, insts: &str) -> Result<bool> {
        let instructed = self.complete_meta_file(INSTS, insts)?;
        let listed = self.dir.has(MARK)? && self.complete_ignores()?;
        let merged = self.complete_attributes()?;
        // Written last, because it marks the others as complete.
        let ignored = self.complete_meta_file(MARK, &self.new_ignores())?;
        let is_completed = instructed || listed || merged || ignored;
        if is_completed {
            // The parent is synced too, because the store itself may be new.
            let parent = rustix::fs::openat(&self.dir, "..", DIRECTORY, Mode::empty());
            sys::sync(&self.dir)
                .and_then(|()| sys::sync(parent?))
                .map_err(|e| self.dir.error("cannot sync", "", e.into()))?;
        }
        Ok(is_completed)
    }

    /// Whether the creation of the store was interrupted. In a store with bubbs, the user has removed the missing
    /// files.
    pub fn is_unfinished(&self) -> Result<bool> {
        let dir = &self.dir;
        Ok(!dir.has(MARK)? && !dir.has(OLD)? && self.recent_names()?.is_empty())
    }

    /// Names the file only when it is complete: half a file would later pass for the user's own text.
    fn complete_meta_file(&self, file: &str, text: &str) -> Result<bool> {
        let dir = &self.dir;
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
