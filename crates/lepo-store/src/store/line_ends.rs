//! Line ends changed by git or an editor: the original bytes of a message or a blob are known if its id or hash
//! proves them.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use super::blob_folders::BLOBS;
use super::finding::FindingKind;
use super::handle::Store;
use crate::bubb::{BubbId, BubbName, ContentHash};
use lepo_base::error::{Error, Result};
use lepo_base::sys;

#[doc(hidden)]
impl Store {
    /// Restores the line ends of all messages and blobs whose names prove the original ones. Returns each file, with
    /// the error if it cannot be written. `progress` receives the number of files checked and the total.
    pub fn restore_line_ends(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<(String, Option<Error>)>> {
        let mut files = self.check(progress)?;
        files.retain(|finding| finding.what == FindingKind::LineEnds);
        let restore = |file: &str| -> Result<()> {
            let Some(bytes) = before_line_ends(self, file) else { return Ok(()) };
            put_back(self, file, &bytes).map_err(|error| self.dir.error("cannot write", file, error))
        };
        let restored = |file: String| {
            let error = restore(&file).err();
            (file, error)
        };
        Ok(files.into_iter().map(|finding| restored(finding.name)).collect())
    }
}

/// Returns the bytes of a bubb or a blob before its line ends were changed, if its name proves them.
pub(super) fn before_line_ends(store: &Store, file: &str) -> Option<Vec<u8>> {
    let bytes = store.dir.read_file(file).ok().flatten()?;
    before(&bytes, |bytes| is_named(file, bytes))
}

fn put_back(store: &Store, file: &str, bytes: &[u8]) -> io::Result<()> {
    let path = Path::new(file);
    let dir = match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        None => store.dir.fd.try_clone()?,
        Some(parent) => store.dir.open_below(parent)?.ok_or(io::ErrorKind::NotFound)?,
    };
    let mut tmp = store.dir.temporary("furniture")?;
    tmp.file.write_all(bytes)?;
    tmp.file.sync_all()?;
    tmp.replace(&dir, &path.file_name().unwrap_or_default().to_string_lossy())?;
    Ok(sys::sync(&dir)?)
}

/// Whether the file's name matches these bytes.
fn is_named(file: &str, bytes: &[u8]) -> bool {
    let hash = ContentHash::from_content(bytes);
    let name = Path::new(file).file_name().unwrap_or_default();
    if Path::new(file).starts_with(BLOBS) {
        return name == OsStr::new(&hash.to_string());
    }
    let name = BubbName::parse(name.as_encoded_bytes());
    name.is_some_and(|name| BubbId::new(name.id.time(), name.role, name.hidden, name.prev, &hash) == name.id)
}

/// Returns the bytes with all line ends as LF or all as CRLF, whichever satisfies `fits`.
fn before(bytes: &[u8], fits: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let (mut short, mut long) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let (text, end) = match line {
            [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => (text, true),
            text => (text, false),
        };
        for (into, ending) in [(&mut short, &b"\n"[..]), (&mut long, b"\r\n")] {
            into.extend(text);
            into.extend(if end { ending } else { b"" });
        }
    }
    [short, long].into_iter().find(|candidate| candidate != bytes && fits(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_proved_is_given_back() {
        for (was, is, found) in [
            ("a\nb\n", "a\r\nb\r\n", true),
            ("a\nb", "a\r\nb", true),
            ("a\r\nb\r\n", "a\nb\n", true),
            ("a\r\nb\n", "a\nb\n", false),
            ("a\rb\n", "a\rb\r\n", true),
            ("a\nb\n", "a\nc\n", false),
            ("a\nb\n", "a\nb\n", false),
            ("", "", false),
        ] {
            let given = before(is.as_bytes(), |bytes| bytes == was.as_bytes());
            assert_eq!(given, found.then(|| was.as_bytes().to_vec()), "{was:?} {is:?}");
        }
    }
}
