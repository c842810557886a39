//! Records of consent in the state directory, and the reading of files that may not be there.

use std::collections::HashSet;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A record of consent: a file of lines `HASH …` in the state directory that is only ever added to. A line `!HASH …` takes
/// the ones before it back.
#[derive(Debug, Clone)]
pub struct HashFile {
    path: PathBuf,
}

impl HashFile {
    /// The record in this file.
    pub fn at(path: PathBuf) -> HashFile {
        HashFile { path }
    }

    /// The text of the last line of any of these hashes.
    pub fn last(&self, hashes: &[&str]) -> Result<Option<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        let texts = record.lines().filter_map(|line| line.split_once(' '));
        Ok(texts.rev().find(|(of, _)| hashes.contains(of)).map(|(_, text)| text.to_string()))
    }

    /// True if there is a line of this hash.
    pub fn has(&self, hash: &str) -> Result<bool> {
        Ok(self.which(&[hash])?.contains(&true))
    }

    /// The texts behind the hashes.
    pub fn texts(&self) -> Result<Vec<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        Ok(record.lines().filter_map(|line| line.split_once(' ')).map(|(_, text)| text.to_string()).collect())
    }

    /// Of which hashes there is a line that was not taken back, in one reading.
    pub fn which(&self, hashes: &[&str]) -> Result<Vec<bool>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let known: HashSet<&str> = lines(&record).into_iter().map(|(hash, _)| hash).collect();
        Ok(hashes.iter().map(|hash| known.contains(hash)).collect())
    }

    /// The texts of the lines that were not taken back.
    pub fn kept_texts(&self) -> Result<Vec<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        Ok(lines(&record).into_iter().map(|(_, text)| text.to_string()).collect())
    }

    /// Takes back the lines with this text; gives their number.
    pub fn take_back(&self, text: &str) -> Result<usize> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let known = lines(&record).into_iter().filter(|(_, of)| *of == text);
        let taken: Vec<String> = known.map(|(hash, text)| format!("!{hash} {text}")).collect();
        if !taken.is_empty() {
            self.keep(&taken)?;
        }
        Ok(taken.len())
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

/// The lines of a record that were not taken back, each as its hash and its text, in order. One that is not UTF-8 is none.
fn lines(record: &[u8]) -> Vec<(&str, &str)> {
    let mut kept: Vec<(&str, &str)> = Vec::new();
    for line in record.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let (hash, text) = line.split_once(' ').unwrap_or((line, ""));
        match hash.strip_prefix('!') {
            Some(hash) => kept.retain(|(of, _)| *of != hash),
            None if !hash.is_empty() => kept.push((hash, text)),
            None => {}
        }
    }
    kept
}

/// A file's bytes; `None` if there is no such file. Anything else that goes wrong: exit 2.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::usage(format!("cannot read {}", path.display()))
            .because(error)
            .hint("make it a file that you may read, or move it away")),
    }
}
