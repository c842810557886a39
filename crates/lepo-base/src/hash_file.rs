//! Records of consent in the state directory, and reading of files that may be missing.

use std::collections::{HashMap, HashSet};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A record of consent: an append-only file of lines `HASH …` in the state directory. A line `!HASH …` revokes the
/// earlier lines with that hash.
#[derive(Debug, Clone)]
pub struct HashFile {
    path: PathBuf,
}

impl HashFile {
    /// Creates a handle for the record at `path`.
    pub fn at(path: PathBuf) -> HashFile {
        HashFile { path }
    }

    /// Returns the text of the last line with any of these hashes.
    pub fn last(&self, hashes: &[&str]) -> Result<Option<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        let texts = record.lines().filter_map(|line| line.split_once(' '));
        Ok(texts.rev().find(|(hash, _)| hashes.contains(hash)).map(|(_, text)| text.to_string()))
    }

    /// Returns the hashes whose last line has one of these texts.
    pub fn hashes_of(&self, texts: &[&str]) -> Result<Vec<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        let last: HashMap<&str, &str> = record.lines().filter_map(|line| line.split_once(' ')).collect();
        let mut found: Vec<String> = last
            .into_iter()
            .filter(|(_, text)| texts.contains(text))
            .map(|(hash, _)| hash.to_string())
            .collect();
        found.sort();
        Ok(found)
    }

    /// Whether the record has an unrevoked line with this hash.
    pub fn contains(&self, hash: &str) -> Result<bool> {
        Ok(self.contains_each(&[hash])?.contains(&true))
    }

    /// Returns the text field of every line.
    pub fn texts(&self) -> Result<Vec<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        Ok(record.lines().filter_map(|line| line.split_once(' ')).map(|(_, text)| text.to_string()).collect())
    }

    /// Returns, for each hash, whether it has an unrevoked line; reads the file once.
    pub fn contains_each(&self, hashes: &[&str]) -> Result<Vec<bool>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let known: HashSet<&str> = lines(&record).into_iter().map(|(hash, _)| hash).collect();
        Ok(hashes.iter().map(|hash| known.contains(hash)).collect())
    }

    /// Returns the text of every unrevoked line.
    pub fn active_texts(&self) -> Result<Vec<String>> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        Ok(lines(&record).into_iter().map(|(_, text)| text.to_string()).collect())
    }

    /// Revokes the lines with this text; returns their number.
    pub fn revoke(&self, text: &str) -> Result<usize> {
        let record = read_if_there(&self.path)?.unwrap_or_default();
        let known = lines(&record).into_iter().filter(|(_, known_text)| *known_text == text);
        let taken: Vec<String> = known.map(|(hash, text)| format!("!{hash} {text}")).collect();
        if !taken.is_empty() {
            self.append(&taken)?;
        }
        Ok(taken.len())
    }

    /// Appends lines with a single write, so that they are written whole or not at all; durable when this returns.
    pub fn append(&self, lines: &[String]) -> Result<()> {
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

/// Returns hash and text of every unrevoked line, in order. Lines that are not UTF-8 are skipped.
fn lines(record: &[u8]) -> Vec<(&str, &str)> {
    let mut kept: Vec<(&str, &str)> = Vec::new();
    for line in record.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let (hash, text) = line.split_once(' ').unwrap_or((line, ""));
        match hash.strip_prefix('!') {
            Some(hash) => kept.retain(|(other, _)| *other != hash),
            None if !hash.is_empty() => kept.push((hash, text)),
            None => {}
        }
    }
    kept
}

/// Reads a file; `None` if it is missing. Any other failure has exit code 2.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::usage(format!("cannot read {}", path.display()))
            .because(error)
            .hint("make it a file that you may read, or move it away")),
    }
}
