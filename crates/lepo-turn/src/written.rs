//! The way into the store: messages and blobs are written with bytes that were looked at for secrets, or that are the user's
//! own words. Nothing else of lepo calls the writers of `lepo-store`, but for what `tests/e2e/house.rs` lists.

use std::io::{self, Write};

use lepo_base::error::{Error, Result};
use lepo_secrets::Kept;
use lepo_store::bubb::{BubbId, Kind, Name};
use lepo_store::store::{Blob, Draft, Store};

/// Writes a message, durable when this returns. A root gets a time of at least `not_before`.
pub fn write(
    store: &Store,
    (kind, hidden): (Kind, bool),
    prev: Option<BubbId>,
    not_before: u64,
    text: &Kept<'_>,
) -> Result<Name> {
    store.bubbs().write(kind, hidden, prev, not_before, text.bytes())
}

/// Writes a message that was said at `time`, or as soon after its prev as ids allow.
pub fn write_at(
    store: &Store,
    (kind, hidden): (Kind, bool),
    prev: Option<BubbId>,
    time: u64,
    text: &Kept<'_>,
) -> Result<Name> {
    store.bubbs().write_at(kind, hidden, prev, time, text.bytes())
}

/// Keeps a blob, durable when this returns.
pub fn keep_blob(store: &Store, bytes: &Kept<'_>) -> Result<Blob> {
    store.blobs().keep(&mut bytes.bytes())
}

/// An answer that is written while it comes. Dropped before it is published, it is gone.
pub struct Spooled<'s>(Draft<'s>);

impl<'s> Spooled<'s> {
    /// Begins an answer.
    pub fn begin(store: &'s Store, prev: Option<BubbId>) -> Result<Spooled<'s>> {
        store.bubbs().draft(Kind::Assistant, false, prev).map(Spooled)
    }

    /// Appends to it.
    pub fn append(&mut self, more: &Kept<'_>) -> io::Result<()> {
        self.0.write_all(more.bytes())
    }

    /// Changes the message that it follows.
    pub fn put_under(&mut self, prev: Option<BubbId>) {
        self.0.put_under(prev);
    }

    /// The error of a write that failed, told with its path.
    pub fn failed(&self, error: io::Error) -> Error {
        self.0.failed(error)
    }

    /// Reads back what was written, from its beginning, in pieces.
    pub fn read_back(&mut self, piece: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.0.read_back(piece)
    }

    /// Makes it a message: synced, named by its hash, after its prev.
    pub fn publish(self, hidden: bool, not_before: u64) -> Result<Name> {
        self.0.publish(hidden, not_before)
    }
}
