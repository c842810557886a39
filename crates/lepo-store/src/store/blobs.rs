//! Blobs: content that is too large for a bubb or is not text, stored whole under the SHA-256 of its bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

use super::cached_state::FileStamp;
use super::handle::Store;
use super::temporary::TempFile;
use crate::bubb::{Attachment, BubbName, ContentHash, thousands};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::sys;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 of the bytes, which is also the file name.
    pub hash: ContentHash,
    /// Length of the blob in bytes.
    pub len: u64,
}

impl Blob {
    /// Returns the line at the end of a bubb whose text was cut.
    pub fn line(&self) -> String {
        format!("[{} bytes: _blobs/{}]", thousands(self.len), self.hash)
    }
}

/// The largest blob to read into memory, in bytes.
const MOST_SHOWN: usize = 1 << 30;

#[doc(hidden)]
impl Store {
    /// Returns the bytes of a blob; `None` if it cannot be read or does not match its hash.
    pub fn blob_bytes(&self, hash: &ContentHash) -> Option<Vec<u8>> {
        self.read_blob(hash).ok().flatten()
    }

    /// Returns the bytes of a blob; `None` if it is missing or does not match its hash. Fails if it cannot be read.
    pub fn read_blob(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>> {
        let Some((mut file, len)) = self.open_blob(hash)? else { return Ok(None) };
        // A sparse file may claim to be larger than memory.
        let Some(len) = usize::try_from(len).ok().filter(|len| *len <= MOST_SHOWN) else { return Ok(None) };
        let mut bytes = Vec::with_capacity(len);
        let failed = |error| self.dir.error("cannot read", format!("_blobs/{hash}"), error);
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok((ContentHash::from_content(&bytes) == *hash).then_some(bytes))
    }

    /// Stores all bytes of `from`, durable when this returns.
    pub fn write_blob(&self, from: &mut dyn Read) -> Result<Blob> {
        let mut new = self.copy_blob_in(from)?;
        new.publish(self)?;
        Ok(new.blob)
    }

    /// Copies all bytes of `from` into a temporary file. A large blob is synced in the background.
    pub fn copy_blob_in(&self, from: &mut dyn Read) -> Result<NewBlob> {
        let mut begun = || {
            let tmp = self.dir.temporary("blob")?;
            let (blob, syncing) = copy_and_sync(from, &tmp.file)?;
            Ok(NewBlob { blob, tmp, syncing })
        };
        begun().map_err(|error| self.blob_error(error))
    }

    fn blob_error(&self, error: io::Error) -> Error {
        self.dir.error("cannot write in", "_blobs", error)
    }

    /// Returns the blobs named in the last lines of a bubb, in order.
    pub fn blobs_named_by(&self, name: &BubbName) -> Result<Vec<ContentHash>> {
        let mut file = self.open_bubb(name)?;
        blobs_at_end(&mut file, name.role)
            .map_err(|error| self.dir.error("cannot read", name.to_string(), error))
    }

    /// Opens a blob and returns it with its length if its bytes match its hash. A file that this process proved or
    /// wrote, and that has not changed since, is not read again.
    pub fn open_proven_blob(&self, hash: &ContentHash) -> Result<Option<(File, u64)>> {
        let Some((mut file, len)) = self.open_blob(hash)? else { return Ok(None) };
        let failed = |error| self.dir.error("cannot read", format!("_blobs/{hash}"), error);
        let mark = FileStamp::from_file(&file).map_err(failed)?;
        if self.proven.lock().get(hash) == Some(&mark) {
            return Ok(Some((file, len)));
        }
        if copy_hashed(&mut file, &mut io::sink()).map_err(failed)?.0 != *hash {
            return Ok(None);
        }
        file.rewind().map_err(failed)?;
        self.proven.lock().insert(*hash, mark);
        Ok(Some((file, len)))
    }
}

/// A blob without a name yet. Dropping it deletes the file.
pub struct NewBlob {
    pub blob: Blob,
    tmp: TempFile,
    /// The thread that syncs the file, if one was started.
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl NewBlob {
    pub fn file(&self) -> io::Result<File> {
        self.tmp.file.try_clone()
    }

    /// Renames the file to its hash, durable when this returns. A previous, perhaps damaged, blob of that name is
    /// deleted when this value is dropped.
    pub fn publish(&mut self, store: &Store) -> Result<()> {
        let mut published = || {
            match self.syncing.take() {
                Some(thread) => thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?,
                None => self.tmp.file.sync_all()?,
            }
            let hash = &self.blob.hash;
            let folder = store.blob_folder(hash, store.has_many_blobs(hash)?)?;
            self.tmp.exchange(&folder, &hash.to_string())?;
            sys::sync(&folder)?;
            store.proven.lock().insert(*hash, FileStamp::from_file(&self.tmp.file)?);
            Ok(())
        };
        published().map_err(|error| store.blob_error(error))
    }
}

/// Blobs of at least this many bytes are hashed while the disk syncs.
const LARGE: u64 = 1 << 20;

/// Copies all bytes. A large blob is synced by a thread and hashed at the same time.
fn copy_and_sync(
    from: &mut dyn Read,
    mut to: &File,
) -> io::Result<(Blob, Option<JoinHandle<io::Result<()>>>)> {
    let mut hasher = Sha256::new();
    let first = copy(&mut from.take(LARGE), &mut to, &mut |bytes| hasher.update(bytes))?;
    let mut len = first;
    let mut syncing = None;
    if first == LARGE {
        len += copy(from, &mut to, &mut |_| {})?;
        let written = to.try_clone()?;
        // If no thread can be spawned, the file is synced when the blob gets its name.
        syncing = std::thread::Builder::new().spawn(move || written.sync_all()).ok();
        to.seek(SeekFrom::Start(first))?;
        copy(&mut to, &mut io::sink(), &mut |bytes| hasher.update(bytes))?;
    }
    Ok((Blob { hash: hasher.finalize().into(), len }, syncing))
}

/// Copies all bytes; returns their SHA-256 and their number.
fn copy_hashed(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(ContentHash, u64)> {
    let mut hasher = Sha256::new();
    let len = copy(from, to, &mut |bytes| hasher.update(bytes))?;
    Ok((hasher.finalize().into(), len))
}

/// Copies all bytes and calls `each` with every piece; returns the number of bytes.
fn copy(from: &mut dyn Read, to: &mut dyn Write, each: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
    let (mut len, mut buffer) = (0, vec![0; 128 << 10]);
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return Ok(len),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&buffer[..n])?;
        each(&buffer[..n]);
        len += n as u64;
    }
}

/// Number of bytes at the end of a bubb to search for blob lines: about 500 lines.
const END: u64 = 64 << 10;

/// Returns the hashes in the last lines of a bubb's file, in order.
pub(super) fn blobs_at_end(file: &mut File, role: Role) -> io::Result<Vec<ContentHash>> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(blob_lines(&end, role))
}

/// Returns the hashes in the last lines of a bubb's text, in order: blob lines, and in a user bubb attachment lines.
/// In text of a model or a tool, a line like an attachment is only text.
pub(super) fn blob_lines(text: &[u8], role: Role) -> Vec<ContentHash> {
    let named = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok()?;
        let attached = || Attachment::parse(line).filter(|_| role == Role::User).map(|file| file.hash);
        blob_line(line).or_else(attached)
    };
    let mut hashes: Vec<ContentHash> = text.rsplit(|&byte| byte == b'\n').map_while(named).collect();
    hashes.reverse();
    hashes
}

/// Returns the hashes in the last lines of a bubb's bytes, in order.
pub fn blobs_in(bytes: &[u8], role: Role) -> Vec<ContentHash> {
    let end = bytes.len().saturating_sub(END as usize);
    blob_lines(bytes.get(end..).unwrap_or_default(), role)
}

/// Returns the hashes in the blob lines at the end of a result.
pub fn blobs_of_result(text: &str) -> Vec<ContentHash> {
    blob_lines(text.as_bytes(), Role::Tool)
}

/// Parses `[1,234,567 bytes: _blobs/SHA256]` and returns the hash.
fn blob_line(line: &str) -> Option<ContentHash> {
    let line = line.strip_prefix('[')?.strip_suffix(']')?;
    let (len, hash) = line.split_once(" bytes: _blobs/")?;
    let is_len = !len.is_empty() && len.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    ContentHash::parse(hash).filter(|_| is_len)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn a_blob_that_cannot_be_read_is_not_taken_for_none() {
        let dir = TempDir::new().unwrap();
        let (store, folder) = (store(&dir), dir.path().join(STORE).join("_blobs"));
        let blob = store.write_blob(&mut &b"bytes"[..]).unwrap();
        assert_eq!(store.read_blob(&blob.hash).unwrap().unwrap(), b"bytes");
        let hash = ContentHash::from([0xaa; 32]);
        assert_eq!(store.read_blob(&hash).unwrap(), None);
        fs::create_dir(folder.join(hash.to_string())).unwrap();
        let error = store.read_blob(&hash).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains(&hash.to_string()), "{error}");
        assert_eq!(store.blob_bytes(&hash), None);
    }

    #[test]
    fn a_bubb_names_the_blobs_in_the_lines_that_end_it() {
        let (a, b) = (ContentHash::from([0xaa; 32]), ContentHash::from([0x0f; 32]));
        let line = |hash: &ContentHash| Blob { hash: *hash, len: 1_234_567 }.line();
        for (text, hashes) in [
            (String::new(), vec![]),
            (line(&a), vec![&a]),
            (format!("$ make\n{}\n{}", line(&a), line(&b)), vec![&a, &b]),
            (format!("{}\nand more", line(&a)), vec![]),
            (format!("see {}", line(&a)), vec![]),
            (format!("{}\n", line(&a)), vec![]),
            (format!("[12 bytes: _blobs/{}]", "A".repeat(64)), vec![]),
            (format!("[ bytes: _blobs/{a}]"), vec![]),
            ("[12 bytes: _blobs/../../etc/passwd]".to_string(), vec![]),
        ] {
            assert_eq!(
                blob_lines(text.as_bytes(), Role::Tool),
                hashes.into_iter().copied().collect::<Vec<_>>(),
                "{text}"
            );
        }
    }

    #[test]
    fn attachment_lines_count_in_a_user_bubb_only() {
        let text = format!("why?\n\n[image/png 1,234 bytes a b.png: _blobs/{}]", "a".repeat(64));
        for role in Role::ALL {
            let found = blob_lines(text.as_bytes(), role);
            assert_eq!(found.len(), usize::from(role == Role::User), "{role:?}");
        }
    }
}
