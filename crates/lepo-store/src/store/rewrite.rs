//! Replaces text in files that are not messages: lines of the journal and of titles, prompts, instructions.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::dir::Dir;
use lepo_base::error::Result;
use lepo_base::sys;

impl Dir {
    /// Replaces the lines for which `change` returns another, atomically. Lines that another process appends in the
    /// meantime follow. Returns whether a line changed.
    pub(super) fn rewrite_lines(
        &self,
        file: &str,
        change: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<bool> {
        let failed = |error| self.error("cannot write", file, error);
        let mut old = match self.open_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        old.read_to_end(&mut bytes).map_err(failed)?;
        let read = bytes.len() as u64;
        let Some(changed) = with_lines(&bytes, change) else { return Ok(false) };
        self.put_file(Path::new(file), &changed)?;
        // Another process may have opened the old file before it was replaced, and appended to it.
        let mut more = Vec::new();
        old.seek(SeekFrom::Start(read)).and_then(|_| old.read_to_end(&mut more)).map_err(failed)?;
        if !more.is_empty() {
            self.append(file, &with_lines(&more, change).unwrap_or(more))?;
        }
        Ok(true)
    }

    /// Replaces a file that is not a message, durable when this returns.
    pub(super) fn put_file(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let put = || -> io::Result<()> {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let dir = match folder {
                Some(folder) => self.open_below(folder)?.ok_or(io::ErrorKind::NotFound)?,
                None => self.fd.try_clone()?,
            };
            let name = path.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidInput)?;
            let mut tmp = self.temporary("furniture")?;
            tmp.file.write_all(bytes)?;
            tmp.file.sync_all()?;
            tmp.replace(&dir, name)?;
            Ok(sys::sync(&dir)?)
        };
        put().map_err(|error| self.error("cannot write", path, error))
    }
}

/// Returns the bytes with changed lines; `None` if no line changes.
fn with_lines(bytes: &[u8], change: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let (mut changed, mut is_any) = (Vec::with_capacity(bytes.len()), false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match change(line) {
            Some(other) => {
                is_any = true;
                changed.extend(other);
            }
            None => changed.extend(line),
        }
    }
    is_any.then_some(changed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn lines_are_replaced_and_what_is_appended_meanwhile_is_kept() {
        let dir = TempDir::new().unwrap();
        let (store, path) = (store(&dir), dir.path().join(STORE).join("_journal.ndjson"));
        fs::write(&path, "a\nb\ntorn").unwrap();
        let mut is_first = true;
        let mut change = |line: &[u8]| {
            if std::mem::take(&mut is_first) {
                // Simulates a process that has already opened the file.
                let mut file = fs::File::options().append(true).open(&path).unwrap();
                file.write_all(b" line\na\n").unwrap();
            }
            line.starts_with(b"a").then(|| b"other\n".to_vec())
        };
        assert!(store.dir.rewrite_lines("_journal.ndjson", &mut change).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "other\nb\ntorn\n line\nother\n");
        assert!(!store.dir.rewrite_lines("_journal.ndjson", &mut |_| None).unwrap());
        assert!(!store.dir.rewrite_lines("_titles", &mut |_| Some(Vec::new())).unwrap());
        assert_eq!(fs::read_dir(dir.path().join(STORE).join("_tmp")).unwrap().count(), 0);
    }
}
