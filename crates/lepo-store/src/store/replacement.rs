//! Replaces the text of messages: they and all their descendants get new ids, and the originals are deleted.
//!
//! A record, `_replacing.json`, exists during this. Until every copy is published, the originals are complete; from
//! then on the copies are, and the record alone determines the remaining steps. So repeating the command completes
//! it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rustix::fs::{AtFlags, FlockOperation, Mode};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::batch::WriteBatch;
use super::blobs::{Blob, blob_lines};
use super::copies::PlannedCopy;
use super::dir::DIRECTORY;
use super::handle::Store;
use super::journal::JOURNAL;
use crate::bubb::{Attachment, BubbId, BubbName, ContentHash};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::sys;

pub(super) const REPLACING: &str = "_replacing.json";

const TITLES: &str = "_titles";

/// A message, and the copy that replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedBubb {
    pub from: BubbName,
    pub to: BubbName,
}

/// The record of a started replacement.
///
/// A repository may contain one, so it counts only with a proof by this machine's key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplacementRecord {
    /// The request to which the user agreed, in the caller's form.
    #[serde(rename = "wish")]
    pub request: serde_json::Value,
    /// Set once every copy is published.
    pub replaced: Option<ReplacedFiles>,
    /// A keyed hash of [`ReplacementRecord::proven_bytes`]; empty without a key.
    #[serde(default)]
    pub proof: String,
}

impl ReplacementRecord {
    /// Returns the bytes that the proof covers: the record without the proof.
    pub fn proven_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(&(&self.request, &self.replaced))
            .map_err(|error| Error::store(format!("cannot write {REPLACING}")).because(error))
    }
}

/// Files to delete once every copy is published.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplacedFiles {
    /// The names of messages and of their copies, each after its prev.
    moved: Vec<(BubbName, BubbName)>,
    /// Blobs that no message names any more.
    pub blobs: Vec<ContentHash>,
}

impl ReplacedFiles {
    pub fn new(moved: &[MovedBubb], blobs: Vec<ContentHash>) -> ReplacedFiles {
        ReplacedFiles { moved: moved.iter().map(|moved| (moved.from, moved.to)).collect(), blobs }
    }

    /// Returns the messages, each after its prev.
    pub fn moved_bubbs(&self) -> Vec<MovedBubb> {
        self.moved.iter().map(|&(from, to)| MovedBubb { from, to }).collect()
    }
}

#[derive(Clone, Copy)]
pub struct Replacement<'s> {
    store: &'s Store,
}

#[doc(hidden)]
impl Store {
    /// Returns the operations that replace messages by copies.
    pub fn replacement(&self) -> Replacement<'_> {
        Replacement { store: self }
    }
}

impl Replacement<'_> {
    /// The hint if the record cannot be used.
    pub const REMOVE: &'static str = "remove it, then give the same command again";

    /// Locks the store for a replacement without waiting; fails if another process has the lock.
    pub fn lock(&self) -> Result<File> {
        let dir = &self.store.dir;
        let opened = rustix::fs::openat(&dir.fd, ".", DIRECTORY, Mode::empty());
        let file = File::from(opened.map_err(|error| dir.error("cannot read", "", error.into()))?);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                Err(Error::nothing("another lepo is giving messages of this store new ids"))
            }
            // The file system has no locks.
            _ => Ok(file),
        }
    }

    /// Reads the record of an unfinished replacement; `None` if all are finished.
    pub fn unfinished_record(&self) -> Result<Option<ReplacementRecord>> {
        let dir = &self.store.dir;
        let Some(bytes) = dir.read_file(REPLACING)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::store(format!("cannot read {}", dir.display_path.join(REPLACING).display()))
                .because(error)
                .hint(Self::REMOVE)
        })
    }

    /// Returns the path of the record, for messages.
    pub fn path(&self) -> PathBuf {
        self.store.dir.display_path.join(REPLACING)
    }

    /// Writes the record, durable when this returns.
    pub fn save(&self, record: &ReplacementRecord) -> Result<()> {
        let dir = &self.store.dir;
        let bytes =
            serde_json::to_vec(record).map_err(|error| dir.error("cannot write", REPLACING, error.into()))?;
        dir.put_file(Path::new(REPLACING), &bytes)
    }

    /// Publishes blobs and copies, durable when this returns. The copy of a copy is recorded as one too, so that as a
    /// request it is not pending.
    pub fn publish(&self, copies: &[PlannedCopy], blobs: &[&[u8]]) -> Result<usize> {
        let mut batch = WriteBatch::new(self.store, false)?;
        for mut blob in blobs.iter().copied() {
            batch.blob(&mut blob)?;
        }
        for copy in copies.iter().filter(|copy| !copy.is_here) {
            let read;
            let bytes = match copy.new_text() {
                Some(words) => words,
                None => {
                    read = self.store.read_bubb(&copy.original)?;
                    &read
                }
            };
            batch.put(copy.name, bytes)?;
        }
        self.carry_origins(copies)?;
        batch.flush()
    }

    /// Appends a line with the journal's `copy_of` of each original for its copy.
    fn carry_origins(&self, copies: &[PlannedCopy]) -> Result<()> {
        let ids: HashMap<BubbId, BubbId> =
            copies.iter().filter(|copy| !copy.is_here).map(|copy| (copy.original.id, copy.name.id)).collect();
        let failed = |error| self.store.dir.error("cannot read", JOURNAL, error);
        let journal = match self.store.dir.open_file(JOURNAL) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(failed)?,
        };
        let mut lines = Vec::new();
        for line in BufReader::new(journal).split(b'\n') {
            let mut line = line.map_err(failed)?;
            if memmem::find(&line, b"\"copy_of\"").is_some() && put_ids(&mut line, &ids) {
                lines.extend(line);
                lines.push(b'\n');
            }
        }
        if lines.is_empty() { Ok(()) } else { self.store.dir.append_durably(JOURNAL, &lines) }
    }

    /// Completes a replacement whose copies are all published: branches, titles and the journal name the copies, and
    /// the originals are deleted with blobs that no message names any more. `other_words` returns replacement text
    /// for a line of titles or of the journal, if it needs any.
    pub fn end(
        &self,
        replaced: &ReplacedFiles,
        other_words: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<()> {
        let store = self.store;
        let moved = replaced.moved_bubbs();
        let ids: HashMap<BubbId, BubbId> = moved.iter().map(|moved| (moved.from.id, moved.to.id)).collect();
        for (name, at) in store.branches_or_error()? {
            if let Some(to) = ids.get(&at) {
                store.advance_branch(&name, at, *to)?;
            }
        }
        let mut change = |line: &[u8]| {
            let mut changed = line.to_vec();
            let is_any = put_ids(&mut changed, &ids);
            other_words(&changed).or(is_any.then_some(changed))
        };
        store.dir.rewrite_lines(TITLES, &mut change)?;
        {
            let _lock = store.journal().lock();
            let names: HashMap<BubbId, BubbName> =
                moved.iter().map(|moved| (moved.from.id, moved.from)).collect();
            let as_written = |id| names.get(&id).is_none_or(|name| store.read_unedited(name).is_ok());
            let mut change_line =
                |line: &[u8]| change(line).map(|changed| store.proven_anew(line, changed, &as_written));
            store.dir.rewrite_lines(JOURNAL, &mut change_line)?;
        }
        let stay: HashSet<BubbId> = moved.iter().map(|moved| moved.to.id).collect();
        let mut gone: Vec<BubbName> =
            moved.iter().map(|moved| moved.from).filter(|name| !stay.contains(&name.id)).collect();
        // Descendants are deleted first, so that a kill leaves shorter convs, all with their roots.
        gone.reverse();
        store.remove_bubbs(&gone, &replaced.blobs)?;
        self.forget()
    }

    fn forget(&self) -> Result<()> {
        let dir = &self.store.dir;
        let removed = match rustix::fs::unlinkat(&dir.fd, REPLACING, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => sys::sync(&dir.fd).map_err(io::Error::from),
            Err(error) => Err(error.into()),
        };
        removed.map_err(|error| dir.error("cannot delete", REPLACING, error))
    }
}

/// Replaces the blobs named in the last lines of a message; `None` if no blob has a replacement.
pub fn with_other_blobs(
    bytes: &[u8],
    role: Role,
    other: &dyn Fn(&ContentHash) -> Option<Blob>,
) -> Option<Vec<u8>> {
    let mut lines: Vec<Cow<'_, [u8]>> = bytes.split(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
    let count = blob_lines(bytes, role).len();
    let mut is_any = false;
    for line in lines.iter_mut().rev().take(count) {
        let Ok(words) = std::str::from_utf8(line) else { continue };
        let attached = Attachment::parse(words).filter(|_| role == Role::User);
        let other = match attached {
            Some(file) => other(&file.hash).map(|Blob { hash, len }| Attachment { hash, len, ..file }.line()),
            None => blob_lines(words.as_bytes(), role).first().and_then(other).map(|blob| blob.line()),
        };
        if let Some(other) = other {
            is_any = true;
            *line = Cow::Owned(other.into_bytes());
        }
    }
    is_any.then(|| lines.join(&b'\n'))
}

/// Replaces ids in a text; returns whether there were any to replace.
pub fn put_ids(text: &mut [u8], ids: &HashMap<BubbId, BubbId>) -> bool {
    let mut is_any = false;
    for at in places_of_ids(text).collect::<Vec<_>>() {
        let Some(word) = text.get_mut(at..at + BubbId::LEN) else { continue };
        if let Some(to) = BubbId::parse(word).and_then(|id| ids.get(&id)) {
            word.copy_from_slice(to.to_string().as_bytes());
            is_any = true;
        }
    }
    is_any
}

/// Yields the ids in a text, delimited by characters other than letters and digits.
pub fn ids_in(text: &[u8]) -> impl Iterator<Item = BubbId> + '_ {
    places_of_ids(text).filter_map(|at| BubbId::parse(text.get(at..at + BubbId::LEN)?))
}

/// Yields the offsets of alphanumeric runs as long as an id.
fn places_of_ids(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    let words = text.split(|byte| !byte.is_ascii_alphanumeric()).map(move |word| {
        let begin = at;
        at += word.len() + 1;
        (begin, word.len())
    });
    words.filter(|(_, len)| *len == BubbId::LEN).map(|(begin, _)| begin)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::copies::{CopyParent, CopyRequest, plan_copies};
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn what_cannot_be_read_stops_a_replacement_and_the_same_again_completes_it() {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        let mut batch = WriteBatch::new(&store, false).unwrap();
        let original = batch.add(Role::User, false, None, 5, b"a secret").unwrap().name;
        batch.flush().unwrap();
        store.set_branch("main", original.id).unwrap();
        let copying =
            CopyRequest { original, text: Some(b"a mask".to_vec()), under: CopyParent::Existing(None) };
        let copies = plan_copies(&store, None, vec![copying]).unwrap();
        let to = copies[0].name;
        let replacement = store.replacement();

        fs::create_dir(lepo.join(JOURNAL)).unwrap();
        let error = replacement.publish(&copies, &[]).unwrap_err().to_string();
        assert!(error.contains(JOURNAL), "{error}");
        assert_eq!(store.names().unwrap(), [original]);
        fs::remove_dir(lepo.join(JOURNAL)).unwrap();
        assert_eq!(replacement.publish(&copies, &[]).unwrap(), 1);

        let replaced = ReplacedFiles::new(&[MovedBubb { from: original, to }], Vec::new());
        let record = ReplacementRecord { replaced: Some(replaced.clone()), ..ReplacementRecord::default() };
        replacement.save(&record).unwrap();
        fs::create_dir(lepo.join("_branches/other")).unwrap();
        let error = replacement.end(&replaced, &mut |_| None).unwrap_err().to_string();
        assert!(error.contains("_branches/other"), "{error}");
        assert_eq!(store.read_bubb(&original).unwrap(), b"a secret");
        assert_eq!(replacement.unfinished_record().unwrap(), Some(record));
        fs::remove_dir(lepo.join("_branches/other")).unwrap();
        replacement.end(&replaced, &mut |_| None).unwrap();
        assert_eq!(store.names().unwrap(), [to]);
        assert_eq!(store.branch("main").unwrap(), Some(to.id));
        assert_eq!(replacement.unfinished_record().unwrap(), None);
    }

    #[test]
    fn the_lines_that_end_a_message_name_other_blobs() {
        let [a, b, c] = [0xaa, 0xbb, 0xcc].map(|byte| ContentHash::from([byte; 32]));
        let other = |hash: &ContentHash| (*hash == a).then_some(Blob { hash: b, len: 7 });
        for (text, role, expected) in [
            (
                format!("$ x\n[1,234 bytes: _blobs/{a}]"),
                Role::Tool,
                Some(format!("$ x\n[7 bytes: _blobs/{b}]")),
            ),
            (
                format!("x\n[9 bytes: _blobs/{a}]\n[9 bytes: _blobs/{c}]"),
                Role::Tool,
                Some(format!("x\n[7 bytes: _blobs/{b}]\n[9 bytes: _blobs/{c}]")),
            ),
            (
                format!("q\n\n[image/png 9 bytes a b.png: _blobs/{a}]"),
                Role::User,
                Some(format!("q\n\n[image/png 7 bytes a b.png: _blobs/{b}]")),
            ),
            (format!("q\n\n[image/png 9 bytes a b.png: _blobs/{a}]"), Role::Tool, None),
            (format!("[9 bytes: _blobs/{a}]\nand more"), Role::Tool, None),
            (format!("x\n[9 bytes: _blobs/{c}]"), Role::Tool, None),
        ] {
            let found = with_other_blobs(text.as_bytes(), role, &other);
            assert_eq!(found.map(|bytes| String::from_utf8(bytes).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn ids_in_a_line_are_those_of_the_copies() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let parse = |end: char| BubbId::parse(id(end).as_bytes()).unwrap();
        let ids = HashMap::from([(parse('A'), parse('B')), (parse('C'), parse('D'))]);
        let (a, b, c, d) = (id('A'), id('B'), id('C'), id('D'));
        for (line, expected) in [
            (
                format!("{{\"bubb\":\"{a}\",\"under\":\"{c}\"}}"),
                format!("{{\"bubb\":\"{b}\",\"under\":\"{d}\"}}"),
            ),
            (format!("1 {a} a title\n"), format!("1 {b} a title\n")),
            (a.clone(), b.clone()),
            (format!("x{a}"), format!("x{a}")),
            (format!("{a}x {b} {a}"), format!("{a}x {b} {b}")),
            (String::new(), String::new()),
            ("short".into(), "short".into()),
        ] {
            let mut changed = line.clone().into_bytes();
            let is_any = put_ids(&mut changed, &ids);
            assert_eq!((String::from_utf8(changed).unwrap(), is_any), (expected.clone(), line != expected));
        }
    }
}
