//! An answer on its way to the disk: masked as it comes, spooled into a draft, a bubb at its end.

use std::io::{self, Write};

use super::Masking;
use lepo_base::error::{Error, Result};
use lepo_secrets::{Kept, Spool, restore};
use lepo_store::bubb::{BubbId, Kind, Name};
use lepo_store::store::{Draft, Store};

/// Bytes kept back from the draft at most; whatever the network gave at once goes to it in one write.
const MOST_KEPT_BACK: usize = 32 << 10;

/// An answer that is written while it comes. Dropped before it is published, it is gone.
pub struct AnswerSpool<'s> {
    store: &'s Store,
    draft: Draft<'s>,
    masked: Spool,
    /// The masks of the answer, each with what it stands for.
    truths: Vec<(String, String)>,
    masking: &'s Masking,
    /// The first error of the disk, which [`AnswerSpool::publish`] gives: the answer is shown to its end before.
    failed: Option<Error>,
}

impl<'s> AnswerSpool<'s> {
    /// Begins an answer that would follow `prev` if it were cut short.
    pub fn begin(store: &'s Store, prev: Option<BubbId>, masking: &'s Masking) -> Result<AnswerSpool<'s>> {
        let draft = store.bubbs().draft(Kind::Assistant, false, prev)?;
        Ok(AnswerSpool { store, draft, masked: masking.spool(), truths: Vec::new(), masking, failed: None })
    }

    /// Takes a piece. It is written once there is enough of it, or by [`AnswerSpool::write`].
    pub fn push(&mut self, text: &str) {
        self.masked.push(text);
        if self.masked.ready() >= MOST_KEPT_BACK {
            self.write();
        }
    }

    /// Writes what is known to be no part of a secret.
    pub fn write(&mut self) {
        let AnswerSpool { draft, masked, failed, .. } = self;
        masked.write(|kept| append(draft, kept, failed));
    }

    /// Writes the rest: the answer has ended, so nothing can turn it into a secret any more.
    pub fn end(&mut self) {
        if let Some(stream) = self.masked.end() {
            self.truths = self.masking.note_stream(stream, "the answer");
        }
        self.write();
    }

    /// Begins anew: nothing of what came is kept.
    pub fn begin_again(&mut self, prev: Option<BubbId>) -> Result<()> {
        self.draft = self.store.bubbs().draft(Kind::Assistant, false, prev)?;
        (self.masked, self.truths, self.failed) = (self.masking.spool(), Vec::new(), None);
        Ok(())
    }

    /// Takes `text` in place of all that was written.
    pub fn replace(&mut self, prev: Option<BubbId>, text: &Kept<'_>) -> Result<()> {
        self.draft = self.store.bubbs().draft(Kind::Assistant, false, prev)?;
        append(&mut self.draft, text, &mut self.failed);
        Ok(())
    }

    /// Changes the bubb that the answer follows.
    pub fn put_under(&mut self, prev: Option<BubbId>) {
        self.draft.put_under(prev);
    }

    /// Reads back what was written, from its beginning, in pieces.
    pub fn read_back(&mut self, mut piece: impl FnMut(&[u8])) -> Result<()> {
        let read = self.draft.read_back(|bytes| {
            piece(bytes);
            Ok(())
        });
        read.map_err(|error| self.draft.failed(error))
    }

    /// Notes an error of the disk, unless there was one before.
    pub fn note_failure(&mut self, error: Error) {
        self.failed.get_or_insert(error);
    }

    /// The masks of what was written, each with what it stands for.
    pub fn truths(&self) -> &[(String, String)] {
        &self.truths
    }

    /// Text that was written, as the model gave it.
    pub fn as_given(&self, text: &str) -> String {
        restore(text, &self.truths)
    }

    /// Makes it a bubb: synced, named by its hash, after the bubb that it follows.
    pub fn publish(self, hidden: bool, not_before: u64) -> Result<Name> {
        match self.failed {
            Some(error) => Err(error),
            None => self.draft.publish(hidden, not_before),
        }
    }

    /// Like `publish`, but with this time, or as soon after the bubb that it follows as ids allow.
    pub fn publish_at(self, hidden: bool, time: u64) -> Result<Name> {
        match self.failed {
            Some(error) => Err(error),
            None => self.draft.publish_at(hidden, time),
        }
    }
}

fn append(draft: &mut Draft<'_>, text: &Kept<'_>, failed: &mut Option<Error>) {
    if failed.is_none() {
        let written: io::Result<()> = draft.write_all(text.bytes());
        *failed = written.err().map(|error| draft.failed(error));
    }
}
