//! Appends whole lines to a file of the store.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;

use super::dir::{Dir, FILE, regular};
use lepo_base::error::Result;

impl Dir {
    /// Appends whole lines with a single `write` if the disk has room, so that lines of several processes do not mix.
    pub(super) fn append(&self, file: &str, lines: &[u8]) -> Result<()> {
        self.append_to(file, lines).map(|_| ()).map_err(|error| self.error("cannot write", file, error))
    }

    /// Appends whole lines, durable when this returns.
    pub(super) fn append_durably(&self, file: &str, lines: &[u8]) -> Result<()> {
        let written = self.append_to(file, lines).and_then(|file| file.sync_all());
        written.map_err(|error| self.error("cannot write", file, error))
    }

    /// Appends whole lines and reads them back; fails if they differ.
    pub(super) fn append_checked(&self, file: &str, lines: &[u8]) -> Result<()> {
        let written = self.append_to(file, lines).and_then(|mut file| {
            // After an append, the position is at the end of the written bytes.
            let mut found = vec![0; lines.len()];
            let from = file
                .stream_position()?
                .checked_sub(lines.len() as u64)
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            file.read_exact_at(&mut found, from)?;
            if found == lines {
                Ok(())
            } else {
                Err(io::Error::other("the file does not contain the lines that were just written"))
            }
        });
        written.map_err(|error| self.error("cannot write", file, error))
    }

    fn append_to(&self, file: &str, lines: &[u8]) -> io::Result<File> {
        let flags = OFlags::RDWR
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let (mut file, size) = regular(rustix::fs::openat(&self.fd, file, flags, FILE)?)?;
        let lines = match ends_torn(&file, size) {
            true => Cow::Owned([b"\n", lines].concat()),
            false => Cow::Borrowed(lines),
        };
        let written = file.write(&lines)?;
        // On a full disk a part is written, and only the next write says why.
        file.write_all(lines.get(written..).unwrap_or_default())?;
        Ok(file)
    }
}

/// Whether a file ends within a line, as after a crash. Appended lines must then start with a newline.
fn ends_torn(file: &File, size: u64) -> bool {
    let mut last = [0];
    let read = size.checked_sub(1).map(|at| file.read_at(&mut last, at));
    matches!(read, Some(Ok(1))) && last != *b"\n"
}
