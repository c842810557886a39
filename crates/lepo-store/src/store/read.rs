//! Reads a bubb: a regular file, opened without following a link and without blocking.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::MaybeUninit;

use rustix::fs::AtFlags;

use super::dir::{OLD, failure, reserve};
use super::handle::Store;
use crate::bubb::{BubbId, BubbName, ContentHash, Day, excerpt_text};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;

#[doc(hidden)]
impl Store {
    pub fn open_bubb(&self, name: &BubbName) -> Result<File> {
        Ok(self.open_with_len(name)?.0)
    }

    fn open_with_len(&self, name: &BubbName) -> Result<(File, u64)> {
        self.open_anywhere(name).map_err(|error| self.unreadable_bubb(name, error))
    }

    fn unreadable_bubb(&self, name: &BubbName, cause: io::Error) -> Error {
        failure(format!("cannot read {}", self.bubb_path(name).display()), cause)
    }

    pub fn read_bubb(&self, name: &BubbName) -> Result<Vec<u8>> {
        let (file, len) = self.open_with_len(name)?;
        let mut bytes = Vec::new();
        if let Err(error) = reserve(&mut bytes, len) {
            return Err(self.unreadable_bubb(name, error));
        }
        // The exact length lets a single call read all bytes; a bubb never grows.
        match file.take(len).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.unreadable_bubb(name, error)),
        }
    }

    /// Reads a bubb's bytes into a reusable buffer.
    pub fn read_bubb_into(&self, name: &BubbName, bytes: &mut Vec<u8>) -> Result<()> {
        let mut buffer = [MaybeUninit::uninit(); SMALL];
        match small_bytes(self, name, &mut buffer) {
            Some(small) => {
                bytes.clear();
                bytes.extend_from_slice(small);
            }
            None => *bytes = self.read_bubb(name)?,
        }
        Ok(())
    }

    /// Reads a bubb's bytes and checks them against its id. An edited bubb is an error with exit code 2.
    pub fn read_unedited(&self, name: &BubbName) -> Result<Vec<u8>> {
        let bytes = self.read_bubb(name)?;
        let content = ContentHash::from_content(&bytes);
        if BubbId::new(name.id.time(), name.role, name.hidden, name.prev, &content) == name.id {
            return Ok(bytes);
        }
        Err(Error::usage(format!("message {} was edited: its content does not match its id", name.id)).hint(
            Hint::from("`lepo fsck` lists all that were edited; ")
                .command(ResumeAction::Retry)
                .text(" asks the model again"),
        ))
    }

    /// Reads a bubb's text, with U+FFFD for bytes that are not UTF-8.
    pub fn text(&self, name: &BubbName) -> Result<String> {
        Ok(lossy(self.read_bubb(name)?))
    }

    /// Reads a bubb's text for a line of a listing; of a long text only its start and its end.
    pub fn glance(&self, name: &BubbName) -> Result<String> {
        match small(self, name) {
            Some(text) => Ok(text),
            None => fill(self, name).map_err(|error| self.unreadable_bubb(name, error)),
        }
    }

    /// Reads a bubb's text for an excerpt, without the attachments of a question.
    pub fn excerpt_text(&self, name: &BubbName) -> Result<String> {
        let text = self.glance(name)?;
        let other = match name.role {
            Role::User => match excerpt_text(&text) {
                // Without attachments the text itself is returned.
                Cow::Borrowed(words) if words.len() == text.len() => None,
                words => Some(words.into_owned()),
            },
            Role::System | Role::Assistant | Role::Tool => None,
        };
        Ok(other.unwrap_or(text))
    }

    /// Reads a bubb's text; `None` if it is longer than `most` bytes.
    pub fn text_within(&self, name: &BubbName, most: u64) -> Result<Option<String>> {
        if let Some(text) = small(self, name) {
            return Ok(Some(text).filter(|text| text.len() as u64 <= most));
        }
        let (_, len) = self.open_with_len(name)?;
        if len > most { Ok(None) } else { self.text(name).map(Some) }
    }

    /// Returns the size in bytes of a bubb's file; `None` if it is not found under its usual name.
    pub fn bubb_size(&self, name: &BubbName) -> Option<u64> {
        let (file, day) = (name.to_string(), Day::from_id(name.id));
        let stat = |path: &str| rustix::fs::statat(&self.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok();
        let in_day = || stat(&format!("{OLD}/{day}/{file}"));
        let found = match self.last_reading.has_days() {
            true if self.last_reading.has_left(name) => in_day().or_else(|| stat(&file)),
            true => stat(&file).or_else(in_day),
            false => stat(&file),
        };
        Some(found?.st_size as u64)
    }
}

fn small(store: &Store, name: &BubbName) -> Option<String> {
    let mut buffer = [MaybeUninit::uninit(); SMALL];
    let bytes = small_bytes(store, name, &mut buffer)?;
    Some(str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned))
}

/// Reads a small bubb with a single system call, without checking type and length, because it was listed as a regular
/// file. `None` if the buffer may not contain all of it.
fn small_bytes<'b>(
    store: &Store,
    name: &BubbName,
    buffer: &'b mut [MaybeUninit<u8>; SMALL],
) -> Option<&'b [u8]> {
    let file = store.open_likely(name).ok()?;
    let (bytes, _) = rustix::io::read(file, buffer).ok()?;
    (1..SMALL).contains(&bytes.len()).then_some(bytes)
}

fn fill(store: &Store, name: &BubbName) -> io::Result<String> {
    let (mut file, len) = store.open_anywhere(name)?;
    let mut bytes = Vec::new();
    if len <= 2 * END {
        file.take(len).read_to_end(&mut bytes)?;
        return Ok(lossy(bytes));
    }
    file.by_ref().take(END).read_to_end(&mut bytes)?;
    bytes.push(b'\n');
    file.seek(SeekFrom::Start(len - END))?;
    file.take(END).read_to_end(&mut bytes)?;
    Ok(lossy(bytes))
}

/// Buffer size in bytes; most bubbs are smaller.
const SMALL: usize = 4 << 10;

/// Bytes read for an excerpt at each end of a long bubb.
const END: u64 = 64 << 10;

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
