//! Copies of messages onto another base: for `rebase`, for compaction, and for redaction.
//!
//! A copy has the kind, the hidden flag and, unless replaced, the bytes of its original, and its time, or a
//! millisecond after the copy's prev if that is later. So equal copies have equal names: repeating a copy changes
//! nothing, and a message copied onto its own prev is itself.

use super::batch::WriteBatch;
use super::blobs::blobs_in;
use super::dir::now;
use super::handle::Store;
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;
use lepo_base::role::Role;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyParent {
    Base,
    /// An earlier copy, by index.
    Copy(usize),
    /// An existing message; `None` starts a conversation.
    Existing(Option<BubbId>),
}

impl CopyParent {
    fn id(self, base: Option<BubbId>, copies: &[PlannedCopy]) -> Option<BubbId> {
        match self {
            CopyParent::Base => base,
            CopyParent::Existing(id) => id,
            CopyParent::Copy(index) => copies.get(index).map(|copy| copy.name.id),
        }
    }
}

#[derive(Debug, Clone)]
pub struct CopyRequest {
    pub original: BubbName,
    /// Replacement for its bytes.
    pub text: Option<Vec<u8>>,
    pub under: CopyParent,
}

/// A message of an edited line.
#[derive(Debug, Clone)]
pub struct EditedCopy {
    /// The message that it copies; `None` if it is new, and then it has `text`.
    pub original: Option<BubbName>,
    pub role: Role,
    pub hidden: bool,
    /// Its bytes, if not the original's.
    pub text: Option<Vec<u8>>,
    pub under: CopyParent,
    /// The earliest time of the copy.
    pub not_before: u64,
}

/// A planned copy: its name is known, but it is not written yet.
#[derive(Debug, Clone)]
pub struct PlannedCopy {
    /// A new message of an edited line is its own original.
    pub original: BubbName,
    pub name: BubbName,
    /// Whether the store has the copy already.
    pub is_here: bool,
    text: Option<Vec<u8>>,
}

impl PlannedCopy {
    /// Whether it is a new message of an edited line, not a copy.
    pub fn is_new(&self) -> bool {
        self.text.is_some() && self.original.id == self.name.id
    }

    /// Returns the bytes that replace the original's.
    pub fn new_text(&self) -> Option<&[u8]> {
        self.text.as_deref()
    }
}

/// Plans copies onto `base`; without it, the first one starts a conversation. A copy must come after the one it
/// follows.
pub fn plan_copies(
    store: &Store,
    base: Option<BubbId>,
    copying: Vec<CopyRequest>,
) -> Result<Vec<PlannedCopy>> {
    plan(store, base, copying, |original| original.id.time())
}

/// Like [`plan_copies`], but dates each copy `time`, or a millisecond after its prev if that is later.
pub fn plan_redated_copies(
    store: &Store,
    base: Option<BubbId>,
    copying: Vec<CopyRequest>,
    time: u64,
) -> Result<Vec<PlannedCopy>> {
    plan(store, base, copying, |_| time)
}

fn plan(
    store: &Store,
    base: Option<BubbId>,
    copying: Vec<CopyRequest>,
    time: impl Fn(&BubbName) -> u64,
) -> Result<Vec<PlannedCopy>> {
    let mut listing = store.listing()?;
    let mut copies: Vec<PlannedCopy> = Vec::with_capacity(copying.len());
    for CopyRequest { original, text, under } in copying {
        let prev = under.id(base, &copies);
        let read;
        let bytes = match &text {
            Some(text) => text,
            None => {
                read = store.read_bubb(&original)?;
                &read
            }
        };
        let name = WriteBatch::name(original.role, original.hidden, prev, time(&original), bytes)?;
        let here = listing.find_own(name.id)?.is_some();
        copies.push(PlannedCopy { original, name, is_here: here, text });
    }
    Ok(copies)
}

/// Plans the messages of an edited line: copies are dated as [`plan_copies`] does, new messages a millisecond after
/// their prev, none before its `not_before`. So equal lines have equal names.
pub fn plan_edited_copies(
    store: &Store,
    base: Option<BubbId>,
    edited: Vec<EditedCopy>,
) -> Result<Vec<PlannedCopy>> {
    let mut listing = store.listing()?;
    let mut copies: Vec<PlannedCopy> = Vec::with_capacity(edited.len());
    for EditedCopy { original, role, hidden, text, under, not_before } in edited {
        let prev = under.id(base, &copies);
        let time = original.map_or(0, |original| original.id.time()).max(not_before);
        let read;
        let bytes: &[u8] = match (&text, &original) {
            (Some(text), _) => text,
            (None, Some(original)) => {
                read = store.read_bubb(original)?;
                &read
            }
            (None, None) => &[],
        };
        let name = WriteBatch::name(role, hidden, prev, time, bytes)?;
        let here = listing.find_own(name.id)?.is_some();
        copies.push(PlannedCopy { original: original.unwrap_or(name), name, is_here: here, text });
    }
    Ok(copies)
}

/// Plans a chain of copies onto `base`, dated now but not before `not_before`.
pub fn plan_copies_of_now(
    store: &Store,
    base: Option<BubbId>,
    originals: &[BubbName],
    not_before: u64,
) -> Result<Vec<PlannedCopy>> {
    let time = now().max(not_before);
    let mut prev = base;
    let mut copies = Vec::with_capacity(originals.len());
    for original in originals {
        let bytes = store.read_bubb(original)?;
        let name = WriteBatch::name(original.role, original.hidden, prev, time, &bytes)?;
        prev = Some(name.id);
        copies.push(PlannedCopy { original: *original, name, is_here: false, text: None });
    }
    Ok(copies)
}

/// Records in the journal that a message written by other means is a copy.
pub fn note_copy(store: &Store, original: BubbName, name: BubbName) -> Result<()> {
    store.journal().add_copies(&[PlannedCopy { original, name, is_here: true, text: None }])
}

/// Records in the journal that a message is a copy with another text, about which the original's facts say nothing. A
/// journal that cannot be written never fails a command.
pub fn note_edit(store: &Store, original: BubbName, name: BubbName, text: &[u8]) {
    let copy = PlannedCopy { original, name, is_here: true, text: Some(text.to_vec()) };
    if let Err(error) = store.journal().add_copies(&[copy]) {
        tracing::debug!(error = error.chain(), "journal");
    }
}

/// Writes the optional `root` and the missing copies in order, durable when this returns, with a journal line for
/// each original. A kill leaves the first ones, and a repetition completes them. Returns the number written.
pub fn write_copies(store: &Store, root: Option<(BubbName, &[u8])>, copies: &[PlannedCopy]) -> Result<usize> {
    let mut batch = WriteBatch::new(store, false)?;
    if let Some((name, text)) = root {
        batch.put(name, text)?;
    }
    for copy in copies.iter().filter(|copy| !copy.is_here) {
        let read;
        let bytes = match &copy.text {
            Some(text) => text,
            None => {
                read = store.read_bubb(&copy.original)?;
                &read
            }
        };
        if let Some(other) = store.peer_with(&copy.original) {
            for hash in blobs_in(bytes, copy.original.role) {
                if let Some((mut file, _)) = other.open_proven_blob(&hash)? {
                    batch.blob(&mut file)?;
                }
            }
        }
        batch.put(copy.name, bytes)?;
    }
    // Written before the bubbs: after a kill between a request and its result, the journal must say that it is a
    // copy.
    store.journal().add_copies(copies)?;
    batch.flush()
}
