//! Reading the directory once: names are the index, so this alone gives the forest.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType, RawDir};

use super::Store;
use crate::bubb::Name;
use crate::conv::Forest;
use crate::error::Result;

/// Bytes of directory entries asked for at a time: a few hundred names a system call.
const BUFFER: usize = 64 << 10;

impl Store {
    /// The names of all bubbs, in no order. What is no regular file is no bubb.
    pub fn names(&self) -> Result<Vec<Name>> {
        let mut names = Vec::new();
        self.each_entry(|file, kind| {
            let Some(name) = Name::parse(file) else { return };
            if kind == FileType::RegularFile {
                if file.iter().any(u8::is_ascii_lowercase) && name.to_string().as_bytes() != file {
                    self.unusual.store(true, Ordering::Relaxed);
                }
                names.push(name);
            }
        })
        .map_err(|error| self.error("cannot read", "", error))?;
        Ok(names)
    }

    /// The forest of all bubbs.
    pub fn forest(&self) -> Result<Forest> {
        Ok(Forest::new(self.names()?))
    }

    /// How the file of a bubb is really spelled, where that is not in upper case.
    pub(super) fn spelling(&self, name: &Name) -> Option<OsString> {
        let mut found = None;
        let canonical = name.to_string();
        self.each_entry(|file, _| {
            if Name::parse(file).as_ref() == Some(name) && (found.is_none() || file == canonical.as_bytes()) {
                found = Some(OsStr::from_bytes(file).to_os_string());
            }
        })
        .ok()?;
        found
    }

    fn each_entry(&self, entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        self.each_entry_of(".", entry)
    }

    /// Tells every entry of a directory of the store, `.` and `..` too. One that is missing has none.
    /// Where the filesystem does not tell an entry's type it is looked up.
    pub(super) fn each_entry_of(&self, dir: &str, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        // A descriptor of its own, because reading a directory moves a position in it.
        let Some(dir) = self.subdir_if_there(dir)? else { return Ok(()) };
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
        let mut entries = RawDir::new(&dir, &mut buffer);
        while let Some(next) = entries.next() {
            let next = next?;
            let kind = match next.file_type() {
                FileType::Unknown => rustix::fs::statat(&dir, next.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            entry(next.file_name().to_bytes(), kind);
        }
        Ok(())
    }
}
