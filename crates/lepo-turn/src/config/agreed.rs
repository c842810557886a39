//! The record of trust as a list: consent to a repository's instructions, all that it holds, and what is taken back.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::trust::Trust;
use lepo_base::error::Result;
use lepo_base::hash::hash_of;

/// Prefix of the hash of an agreement, so that none is ever the trust of a file that does something.
const INSTRUCTIONS: &[u8] = b"instructions";

fn hash(path: &Path, text: &str) -> String {
    hash_of(&[INSTRUCTIONS, path.as_os_str().as_bytes(), text.as_bytes()])
}

impl Trust {
    /// Tells which of these instructions, each with its place, a person has agreed to.
    pub fn agreed<'f>(&self, files: impl Iterator<Item = (&'f Path, &'f str)>) -> Result<Vec<bool>> {
        let hashes: Vec<String> = files.map(|(path, text)| hash(path, text)).collect();
        self.record.which(&hashes.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Keeps a person's agreement to these instructions, durable when this returns.
    pub fn agree<'f>(&self, files: impl Iterator<Item = (&'f Path, &'f str)>) -> Result<()> {
        let lines: Vec<String> = files.map(|(path, text)| format!("{} {path:?}", hash(path, text))).collect();
        self.record.keep(&lines)
    }

    /// The paths that the record holds below one of these folders, sorted, as they are written in it.
    pub fn listed(&self, folders: &[&Path]) -> Result<Vec<String>> {
        let mut begins = Vec::new();
        for folder in folders {
            // `"/a/b"` with its last mark taken away begins each path below it.
            begins.push(format!("{:?}", folder.join("")).trim_end_matches('"').to_string());
        }
        let mut paths = self.record.kept_texts()?;
        paths.retain(|path| begins.iter().any(|begin| path.starts_with(begin)));
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Takes back every yes to what is at this path or below it; gives their number.
    pub fn forget(&self, path: &Path) -> Result<usize> {
        let mut taken = self.record.take_back(&format!("{path:?}"))?;
        for below in self.listed(&[path])? {
            taken += self.record.take_back(&below)?;
        }
        Ok(taken)
    }
}
