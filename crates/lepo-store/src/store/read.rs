//! Reading one bubb: a regular file, opened without following and without waiting.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::MaybeUninit;

use super::dir::{failure, reserve};
use super::handle::Store;
use super::place::Places;
use crate::bubb::{BubbId, ContentHash, Kind, Name, words};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Act, Hint};
use std::path::PathBuf;

/// The bubbs of a store.
#[derive(Clone, Copy)]
pub struct Bubbs<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// The bubbs: read by their names, written, deleted.
    pub fn bubbs(&self) -> Bubbs<'_> {
        Bubbs { store: self }
    }
}

impl<'s> Bubbs<'s> {
    /// A bubb's file, open for reading.
    pub fn open(&self, name: &Name) -> Result<File> {
        Ok(self.open_bubb(name)?.0)
    }

    fn open_bubb(&self, name: &Name) -> Result<(File, u64)> {
        self.store.places().open_placed(name).map_err(|error| self.unreadable(name, error))
    }

    /// The error of reading a bubb's file, with its path.
    fn unreadable(&self, name: &Name, cause: io::Error) -> Error {
        failure(format!("cannot read {}", self.path(name).display()), cause)
    }

    /// A bubb's bytes.
    pub fn read(&self, name: &Name) -> Result<Vec<u8>> {
        let (file, len) = self.open_bubb(name)?;
        let mut bytes = Vec::new();
        if let Err(error) = reserve(&mut bytes, len) {
            return Err(self.unreadable(name, error));
        }
        // As many as it has, so that one call reads them all: a bubb does not grow any more.
        match file.take(len).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.unreadable(name, error)),
        }
    }

    /// Reads a bubb's bytes into a buffer that is used again for the next one.
    pub fn read_into(&self, name: &Name, bytes: &mut Vec<u8>) -> Result<()> {
        let mut buffer = [MaybeUninit::uninit(); SMALL];
        match small_bytes(self.store.places(), name, &mut buffer) {
            Some(small) => {
                bytes.clear();
                bytes.extend_from_slice(small);
            }
            None => *bytes = self.read(name)?,
        }
        Ok(())
    }

    /// A bubb's bytes, which must be those that its id was made of: one that was edited is exit 2.
    pub fn read_unedited(&self, name: &Name) -> Result<Vec<u8>> {
        let bytes = self.read(name)?;
        let content = ContentHash::from_content(&bytes);
        if BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &content) == name.id {
            return Ok(bytes);
        }
        Err(Error::usage(format!("message {} was edited: its content does not match its id", name.id)).hint(
            Hint::from("`lepo fsck` lists all that were edited; ")
                .command(Act::Retry)
                .words(" asks the model anew"),
        ))
    }

    /// A bubb's text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self, name: &Name) -> Result<String> {
        Ok(lossy(self.read(name)?))
    }

    /// A bubb's text for a line of a listing; of a long one its beginning and its end.
    pub fn glance(&self, name: &Name) -> Result<String> {
        match small(self.store.places(), name) {
            Some(text) => Ok(text),
            None => ends(self.store.places(), name).map_err(|error| self.unreadable(name, error)),
        }
    }

    /// A bubb's text for an excerpt: a question is its words, without its files.
    pub fn words(&self, name: &Name) -> Result<String> {
        let text = self.glance(name)?;
        let other = match name.kind {
            Kind::User => match words(&text) {
                // The text itself, as it has no files.
                Cow::Borrowed(words) if words.len() == text.len() => None,
                words => Some(words.into_owned()),
            },
            Kind::System | Kind::Assistant | Kind::Tool => None,
        };
        Ok(other.unwrap_or(text))
    }

    /// A bubb's text, unless it has more than `most` bytes.
    pub fn text_within(&self, name: &Name, most: u64) -> Result<Option<String>> {
        if let Some(text) = small(self.store.places(), name) {
            return Ok(Some(text).filter(|text| text.len() as u64 <= most));
        }
        let (_, len) = self.open_bubb(name)?;
        if len > most { Ok(None) } else { self.text(name).map(Some) }
    }

    /// The path of a bubb's file, as the user would type it, wherever it is now.
    pub fn path(&self, name: &Name) -> PathBuf {
        self.store.places().path_of(name)
    }
}

/// A text that is small as most are.
fn small(places: Places<'_>, name: &Name) -> Option<String> {
    let mut buffer = [MaybeUninit::uninit(); SMALL];
    let bytes = small_bytes(places, name, &mut buffer)?;
    Some(str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned))
}

/// Reads a bubb that was listed as a regular file by one call, without asking what it is and how long.
/// `None` where that does not tell all.
fn small_bytes<'b>(
    places: Places<'_>,
    name: &Name,
    buffer: &'b mut [MaybeUninit<u8>; SMALL],
) -> Option<&'b [u8]> {
    let file = places.open_likely(name).ok()?;
    let (bytes, _) = rustix::io::read(file, buffer).ok()?;
    (1..SMALL).contains(&bytes.len()).then_some(bytes)
}

/// The whole text, or its beginning and its end with a line between.
fn ends(places: Places<'_>, name: &Name) -> io::Result<String> {
    let (mut file, len) = places.open_placed(name)?;
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

/// Bytes that most bubbs have fewer of.
const SMALL: usize = 4 << 10;

/// Bytes of a long bubb that are read for an excerpt, at each end.
const END: u64 = 64 << 10;

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
