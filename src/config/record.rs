//! What a person once said yes to: a file of lines `HASH …` that is only ever added to. It is kept
//! in the state directory, outside every repository.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::file::read_if_there;
use crate::error::{Error, Result};

/// The record at one path; there may be no file yet.
#[derive(Debug, Clone)]
pub struct Record {
    path: PathBuf,
}

impl Record {
    /// The record in this file.
    pub fn at(path: PathBuf) -> Record {
        Record { path }
    }

    /// Whether there is a line of this hash.
    pub fn has(&self, hash: &str) -> Result<bool> {
        Ok(self.which(&[hash])?.contains(&true))
    }

    /// Of which hashes there is a line, in one reading.
    pub fn which(&self, hashes: &[&str]) -> Result<Vec<bool>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let known: Vec<&[u8]> = record
            .split(|&byte| byte == b'\n')
            .filter_map(|line| line.split(|&byte| byte == b' ').next())
            .collect();
        Ok(hashes.iter().map(|hash| known.contains(&hash.as_bytes())).collect())
    }

    /// Adds lines, durable when this returns. One write for all, so that it is whole or not there.
    pub fn keep(&self, lines: &[String]) -> Result<()> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let written = (|| {
            if let Some(dir) = self.path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            }
            let mut record = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            record.write_all(text.as_bytes())?;
            record.sync_all()
        })();
        written.map_err(|error| {
            Error::usage(format!("cannot write {}", self.path.display()))
                .because(error)
                .hint("make its directory writable, or name another one with XDG_STATE_HOME")
        })
    }
}

/// SHA-256 of texts in a row, hexadecimal. Each is told from the next by a zero byte, which none of them holds.
pub fn hash_of(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            hasher.update([0]);
        }
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
