//! Reading one bubb: a regular file, opened without following and without waiting.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::Store;
use crate::bubb::{BubbId, Name};
use crate::error::{Error, Result};

impl Store {
    /// A bubb's file, open for reading.
    pub fn open(&self, name: &Name) -> Result<File> {
        Ok(self.open_bubb(name)?.0)
    }

    fn open_bubb(&self, name: &Name) -> Result<(File, u64)> {
        self.open_placed(name).map_err(|error| self.error("cannot read", name.to_string(), error))
    }

    /// A bubb's bytes.
    pub fn read(&self, name: &Name) -> Result<Vec<u8>> {
        let (file, len) = self.open_bubb(name)?;
        let mut bytes = Vec::with_capacity(len as usize);
        // As many as it has, so that one call reads them all: nobody writes to a bubb any more.
        match file.take(len).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.error("cannot read", name.to_string(), error)),
        }
    }

    /// A bubb's bytes, which must be those that its id was made of: one that was edited is exit 2.
    pub fn read_unedited(&self, name: &Name) -> Result<Vec<u8>> {
        let bytes = self.read(name)?;
        let content = Sha256::digest(&bytes).into();
        if BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &content) == name.id {
            return Ok(bytes);
        }
        Err(Error::usage(format!("message {} was edited: its content does not match its id", name.id))
            .hint("`lepo fsck` lists all that were edited; `lepo do --retry` asks the model anew"))
    }

    /// A bubb's text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self, name: &Name) -> Result<String> {
        Ok(lossy(self.read(name)?))
    }

    /// A bubb's text for a line of a listing: one that was listed as a regular file, and is small as most
    /// are, is read by one call, and not asked what it is and how long. In doubt it is read as any other.
    pub fn glance(&self, name: &Name) -> Result<String> {
        let mut bytes = Vec::with_capacity(4 << 10);
        let read = self
            .open_likely(name)
            .and_then(|file| Ok(rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes))?));
        match read {
            Ok(n) if n > 0 && n < bytes.capacity() => Ok(lossy(bytes)),
            _ => self.text(name),
        }
    }

    /// The bytes of `_insts.toml`, if there is one.
    pub fn insts(&self) -> Result<Option<Vec<u8>>> {
        self.furniture("_insts.toml")
    }

    /// The bytes of a file that is no bubb, if it is there.
    pub fn furniture(&self, file: impl AsRef<std::ffi::OsStr>) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.open_file(file.as_ref()).and_then(|mut open| open.read_to_end(&mut bytes)) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error("cannot read", file, error)),
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
