//! Appending whole lines to a file of the store.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::OFlags;

use super::{FILE, Store};
use crate::error::Result;

impl Store {
    /// Appends whole lines to a file by one `write`, so that lines of several processes do not mix.
    pub(super) fn append(&self, file: &str, lines: &[u8]) -> Result<()> {
        self.append_to(file, lines).map(|_| ()).map_err(|error| self.error("cannot write", file, error))
    }

    /// Appends whole lines, durable when this returns.
    pub(super) fn append_durably(&self, file: &str, lines: &[u8]) -> Result<()> {
        let written = self.append_to(file, lines).and_then(|file| file.sync_all());
        written.map_err(|error| self.error("cannot write", file, error))
    }

    fn append_to(&self, file: &str, lines: &[u8]) -> io::Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.dir, file, flags, FILE)?);
        match file.write(lines)? {
            n if n == lines.len() => Ok(file),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}
