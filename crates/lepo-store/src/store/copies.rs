//! Copies of messages under another base: for `rebase`, for compaction, and where a secret is taken out.
//!
//! A copy keeps kind, hidden flag and bytes; its time is the original's, or the one after its prev's if that is later.
//! So the same copies have the same names: made twice they are here already, and a message that is copied to where it
//! stands is itself.

use super::batch::Batch;
use super::blobs::blobs_in;
use super::dir::now;
use super::handle::Store;
use crate::bubb::{BubbId, Name};
use lepo_base::error::Result;

/// The message that a copy is to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Under {
    /// The base of all copies.
    Base,
    /// The copy at this place, which comes before.
    Copy(usize),
    /// A message that stays; none begins a conversation.
    Kept(Option<BubbId>),
}

/// A message to be copied.
#[derive(Debug, Clone)]
pub struct Copying {
    /// The message.
    pub original: Name,
    /// Other bytes in the place of its own.
    pub text: Option<Vec<u8>>,
    /// The message that its copy follows.
    pub under: Under,
}

/// A copy that was planned: its name is known, and nothing is written.
#[derive(Debug, Clone)]
pub struct Copy {
    /// The message that is copied.
    pub original: Name,
    /// The name of the copy.
    pub name: Name,
    /// The copy is in the store already.
    pub here: bool,
    text: Option<Vec<u8>>,
}

impl Copy {
    /// The bytes that it has in the place of its original's.
    pub fn words(&self) -> Option<&[u8]> {
        self.text.as_deref()
    }
}

/// Plans copies under a base; without one, the first begins a conversation. Each comes after the one it follows.
pub fn plan_copies(store: &Store, base: Option<BubbId>, copying: Vec<Copying>) -> Result<Vec<Copy>> {
    plan(store, base, copying, |original| original.id.time())
}

/// The same with one time for all: each copy is dated then, or a millisecond after the one it follows.
pub fn plan_redated_copies(
    store: &Store,
    base: Option<BubbId>,
    copying: Vec<Copying>,
    time: u64,
) -> Result<Vec<Copy>> {
    plan(store, base, copying, |_| time)
}

fn plan(
    store: &Store,
    base: Option<BubbId>,
    copying: Vec<Copying>,
    time: impl Fn(&Name) -> u64,
) -> Result<Vec<Copy>> {
    let mut listing = store.names().listing()?;
    let mut copies: Vec<Copy> = Vec::with_capacity(copying.len());
    for Copying { original, text, under } in copying {
        let prev = match under {
            Under::Base => base,
            Under::Kept(id) => id,
            Under::Copy(place) => copies.get(place).map(|copy| copy.name.id),
        };
        let read;
        let bytes = match &text {
            Some(text) => text,
            None => {
                read = store.bubbs().read(&original)?;
                &read
            }
        };
        let name = Batch::name(original.kind, original.hidden, prev, time(&original), bytes)?;
        let here = listing.find_own(name.id)?.is_some();
        copies.push(Copy { original, name, here, text });
    }
    Ok(copies)
}

/// Plans copies of now, in a row under a base: each follows the one before it, and none is older than `not_before`.
pub fn plan_copies_of_now(
    store: &Store,
    base: Option<BubbId>,
    originals: &[Name],
    not_before: u64,
) -> Result<Vec<Copy>> {
    let time = now().max(not_before);
    let mut prev = base;
    let mut copies = Vec::with_capacity(originals.len());
    for original in originals {
        let bytes = store.bubbs().read(original)?;
        let name = Batch::name(original.kind, original.hidden, prev, time, &bytes)?;
        prev = Some(name.id);
        copies.push(Copy { original: *original, name, here: false, text: None });
    }
    Ok(copies)
}

/// Notes in the journal that a message which was written otherwise is a copy of another.
pub fn note_copy(store: &Store, original: Name, name: Name) -> Result<()> {
    store.journal().add_copies(&[Copy { original, name, here: true, text: None }])
}

/// Writes a new root, if there is one, and the copies that are not here yet, in their order, durable when this
/// returns, with the journal's line of each original. Killed, it has written the first ones, and a second time
/// completes it. How many it wrote.
pub fn write_copies(store: &Store, root: Option<(Name, &[u8])>, copies: &[Copy]) -> Result<usize> {
    let mut batch = Batch::begin(store, false)?;
    if let Some((name, text)) = root {
        batch.put(name, text)?;
    }
    for copy in copies.iter().filter(|copy| !copy.here) {
        let read;
        let bytes = match &copy.text {
            Some(text) => text,
            None => {
                read = store.bubbs().read(&copy.original)?;
                &read
            }
        };
        if let Some(other) = store.others().with(&copy.original) {
            for hash in blobs_in(bytes, copy.original.kind) {
                if let Some((mut file, _)) = other.blobs().open_proven(&hash)? {
                    batch.blob(&mut file)?;
                }
            }
        }
        batch.put(copy.name, bytes)?;
    }
    // Before any has its place: killed between a request and its result, the journal knows that it is a copy.
    store.journal().add_copies(copies)?;
    batch.flush()
}
