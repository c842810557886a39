//! Writes a bubb: a file in `_tmp/`, hashed as it grows, synced, then linked to the name that follows from its hash.
//!
//! The name comes last, so a bubb exists whole or not at all. `link` refuses to replace a file, so two writers cannot
//! lose each other's text; if the name exists, the next millisecond yields another.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use rustix::fs::{AtFlags, OFlags, RenameFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::dir::{FILE, now};
use super::handle::Store;
use super::temporary::TempFile;
use crate::bubb::{BubbId, BubbName, MAX_TIME};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::role::Role;
use lepo_base::sys;

/// A bubb being written, also used to spool an answer that is still streaming. Dropping it deletes the file.
pub struct Draft<'s> {
    store: &'s Store,
    tmp: TempFile,
    hasher: Sha256,
    len: u64,
    role: Role,
    prev: Option<BubbId>,
}

#[doc(hidden)]
impl Store {
    /// Writes a whole bubb, dated now but not before `not_before`; durable when this returns.
    pub fn create_bubb(
        &self,
        role: Role,
        hidden: bool,
        prev: Option<BubbId>,
        not_before: u64,
        text: &[u8],
    ) -> Result<BubbName> {
        let mut draft = self.draft_bubb(role, hidden, prev)?;
        draft.write_all(text).map_err(|error| draft.failed(error))?;
        draft.publish(hidden, not_before)
    }

    /// Writes a whole bubb dated `time`, or as soon after its prev as ids allow.
    pub fn create_bubb_at(
        &self,
        role: Role,
        hidden: bool,
        prev: Option<BubbId>,
        time: u64,
        text: &[u8],
    ) -> Result<BubbName> {
        let mut draft = self.draft_bubb(role, hidden, prev)?;
        draft.write_all(text).map_err(|error| draft.failed(error))?;
        draft.publish_at(hidden, time)
    }

    /// Opens a file without a name, deleted when closed, for data too large for memory.
    pub fn scratch_file(&self) -> Result<File> {
        let draft = self.draft_bubb(Role::System, true, None)?;
        draft.tmp.file.try_clone().map_err(|error| draft.failed(error))
    }

    /// Starts a bubb. The temporary name records kind and prev, for `fsck --recover`.
    pub fn draft_bubb(&self, role: Role, hidden: bool, prev: Option<BubbId>) -> Result<Draft<'_>> {
        let prev_text = prev.map_or("head".to_string(), |prev| prev.to_string());
        let tmp = self
            .dir
            .temporary(&format!("{}{}-{prev_text}", role.letter(), u8::from(hidden)))
            .map_err(|error| self.dir.error("cannot write in", "_tmp", error))?;
        Ok(Draft { store: self, tmp, hasher: Sha256::new(), len: 0, role, prev })
    }

    /// Reopens the draft of a process that has ended, with its content.
    pub(super) fn adopt_draft(&self, tmp: TempFile, role: Role, prev: Option<BubbId>) -> Result<Draft<'_>> {
        let mut draft = Draft { store: self, tmp, hasher: Sha256::new(), len: 0, role, prev };
        let (mut hasher, mut len) = (Sha256::new(), 0);
        let read = draft.read_back(|piece| {
            hasher.update(piece);
            len += piece.len() as u64;
            Ok(())
        });
        read.map_err(|error| self.dir.error("cannot read", draft.display_path(), error))?;
        Ok(Draft { hasher, len, ..draft })
    }
}

impl Draft<'_> {
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Changes the prev of the bubb. An answer is spooled after the bubb that it would follow if it were interrupted.
    pub fn put_under(&mut self, prev: Option<BubbId>) {
        self.prev = prev;
    }

    /// Creates the error for a failed write, with the path.
    pub fn failed(&self, error: io::Error) -> Error {
        self.store.dir.error("cannot write", self.display_path(), error)
    }

    fn display_path(&self) -> String {
        format!("_tmp/{}", self.tmp.name)
    }

    /// Reads the content back from its start, in pieces.
    pub fn read_back(&mut self, mut piece: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.tmp.file.rewind()?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match self.tmp.file.read(&mut buffer)? {
                0 => return Ok(()),
                n => piece(&buffer[..n])?,
            }
        }
    }

    /// Syncs the file, names it by its hash and syncs the name. The bubb is dated now, but not before `not_before`,
    /// and after its prev.
    pub fn publish(self, hidden: bool, not_before: u64) -> Result<BubbName> {
        self.publish_at(hidden, now().max(not_before))
    }

    /// Like `publish`, but dated `time`, or as soon after its prev as ids allow.
    pub fn publish_at(mut self, hidden: bool, time: u64) -> Result<BubbName> {
        // A failed fsync must not be retried on the same file: the kernel may have dropped the pages.
        self.tmp.file.sync_all().map_err(|error| self.failed(error))?;
        let content = self.hasher.clone().finalize().into();
        let mut time = time.max(self.prev.map_or(0, |prev| prev.time() + 1));
        let name = loop {
            if time > MAX_TIME {
                return Err(Error::store("no message can follow: the one before has the last possible time")
                    .hint(
                        Hint::from(
                            "fsck reports messages that are dated ahead; continue from an earlier one with ",
                        )
                        .command(HintCommand::Tail),
                    ));
            }
            let id = BubbId::new(time, self.role, hidden, self.prev, &content);
            let name = BubbName { id, role: self.role, hidden, prev: self.prev };
            match self.link(&name) {
                // A bubb dated in the past may already be in the folder of its day.
                _ if self.store.is_in_day(&name, time) => time += 1,
                Ok(()) => break name,
                Err(Errno::EXIST) => time += 1,
                Err(error) => {
                    return Err(self.store.dir.error("cannot write", name.to_string(), error.into()));
                }
            }
        };
        sys::sync(&self.store.dir).map_err(|error| self.store.dir.error("cannot sync", "", error.into()))?;
        self.tmp.found = false; // the file has its name, so the temporary one may go
        Ok(name)
    }

    /// Links the file to its name, without replacing another.
    fn link(&mut self, name: &BubbName) -> std::result::Result<(), Errno> {
        let (dir, file) = (&self.store.dir, name.to_string());
        let tmp = (&self.tmp.dir, self.tmp.name.as_str());
        match rustix::fs::linkat(tmp.0, tmp.1, dir, file.as_str(), AtFlags::empty()) {
            // The file system (FAT, some network and FUSE ones) has no hard links.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {}
            result => return result,
        }
        match rustix::fs::renameat_with(tmp.0, tmp.1, dir, file.as_str(), RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            result => return result,
        }
        // Without both, the file is copied under its final name. A torn copy would be noticed, as the id checks the
        // content.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut copy = File::from(rustix::fs::openat(dir, file.as_str(), flags, FILE)?);
        let copied = self.read_back(|piece| copy.write_all(piece)).and_then(|()| copy.sync_all());
        copied.map_err(|error| {
            let _ = rustix::fs::unlinkat(&self.store.dir, file.as_str(), AtFlags::empty());
            Errno::from_io_error(&error).unwrap_or(Errno::IO)
        })
    }
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.tmp.file.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        self.len += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
