//! An answer while it is written: masked as it arrives, spooled into a draft, and made a bubb at its end.

use std::io::{self, Write};

use super::Masking;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_secrets::{ScreenedBytes, Spool, restore};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{Draft, Store};

/// Maximum bytes to buffer before writing to the draft, so that a burst from the network needs a single
/// write.
const MOST_KEPT_BACK: usize = 32 << 10;

/// An answer written while it arrives. Dropping it before it is published deletes it.
pub struct AnswerSpool<'s> {
    store: &'s Store,
    draft: Draft<'s>,
    masked: Spool,
    /// The masks of the answer, each with the text that it replaced.
    truths: Vec<(String, String)>,
    masking: &'s Masking,
    /// The first disk error, which [`AnswerSpool::publish`] returns: the answer is displayed to its end
    /// before.
    error: Option<Error>,
}

impl<'s> AnswerSpool<'s> {
    /// Creates an answer that would follow `prev` if it were interrupted.
    pub fn new(store: &'s Store, prev: Option<BubbId>, masking: &'s Masking) -> Result<AnswerSpool<'s>> {
        let draft = store.draft_bubb(Role::Assistant, false, prev)?;
        Ok(AnswerSpool { store, draft, masked: masking.spool(), truths: Vec::new(), masking, error: None })
    }

    /// Appends text, which is written once the buffer is full, or by [`AnswerSpool::write`].
    pub fn push(&mut self, text: &str) {
        self.masked.push(text);
        if self.masked.ready() >= MOST_KEPT_BACK {
            self.write();
        }
    }

    /// Writes the text that certainly is not part of a secret.
    pub fn write(&mut self) {
        let AnswerSpool { draft, masked, error, .. } = self;
        masked.write(|screened| append(draft, screened, error));
    }

    /// Writes the remaining text: the answer has ended, so it cannot become a secret any more.
    pub fn finish(&mut self) {
        if let Some(stream) = self.masked.finish() {
            self.truths = self.masking.note_stream(stream, "the answer");
        }
        self.write();
    }

    /// Restarts with an empty answer.
    pub fn begin_again(&mut self, prev: Option<BubbId>) -> Result<()> {
        self.draft = self.store.draft_bubb(Role::Assistant, false, prev)?;
        (self.masked, self.truths, self.error) = (self.masking.spool(), Vec::new(), None);
        Ok(())
    }

    /// Replaces the whole written text by `text`.
    pub fn replace(&mut self, prev: Option<BubbId>, text: &ScreenedBytes<'_>) -> Result<()> {
        self.draft = self.store.draft_bubb(Role::Assistant, false, prev)?;
        append(&mut self.draft, text, &mut self.error);
        Ok(())
    }

    /// Changes the bubb that the answer follows.
    pub fn put_under(&mut self, prev: Option<BubbId>) {
        self.draft.put_under(prev);
    }

    /// Reads the written text from its start, in pieces.
    pub fn read_back(&mut self, mut piece: impl FnMut(&[u8])) -> Result<()> {
        let read = self.draft.read_back(|bytes| {
            piece(bytes);
            Ok(())
        });
        read.map_err(|error| self.draft.failed(error))
    }

    /// Records a disk error, unless an earlier one is recorded.
    pub fn note_failure(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Returns the masks of the answer so far, each with the text that it replaced.
    pub fn truths(&self) -> &[(String, String)] {
        &self.truths
    }

    /// Returns a text of the answer without its masks.
    pub fn as_given(&self, text: &str) -> String {
        restore(text, &self.truths)
    }

    /// Makes the answer a bubb: synced, named by its hash, after the bubb that it follows.
    pub fn publish(self, hidden: bool, not_before: u64) -> Result<BubbName> {
        match self.error {
            Some(error) => Err(error),
            None => self.draft.publish(hidden, not_before),
        }
    }

    /// Like `publish`, but with this time, or as soon after the bubb that it follows as ids allow.
    pub fn publish_at(self, hidden: bool, time: u64) -> Result<BubbName> {
        match self.error {
            Some(error) => Err(error),
            None => self.draft.publish_at(hidden, time),
        }
    }
}

fn append(draft: &mut Draft<'_>, text: &ScreenedBytes<'_>, first_error: &mut Option<Error>) {
    if first_error.is_none() {
        let written: io::Result<()> = draft.write_all(text.bytes());
        *first_error = written.err().map(|error| draft.failed(error));
    }
}
