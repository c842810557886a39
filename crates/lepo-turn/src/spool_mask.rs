//! Masks an answer on its way to the spool.

use super::Masking;
use lepo_secrets::{Kept, Spool, restore};

/// The masking of one answer.
pub struct SpoolMask<'m> {
    spool: Spool,
    /// The masks of the answer, each with what it stands for.
    truths: Vec<(String, String)>,
    masking: &'m Masking,
}

impl<'m> SpoolMask<'m> {
    /// Begins an answer.
    pub fn new(masking: &'m Masking) -> SpoolMask<'m> {
        SpoolMask { spool: masking.spool(), truths: Vec::new(), masking }
    }

    /// Takes a piece.
    pub fn push(&mut self, text: &str) {
        self.spool.push(text);
    }

    /// The number of bytes that are settled and not written.
    pub fn ready(&self) -> usize {
        self.spool.ready()
    }

    /// Gives to a writer what of the answer is settled.
    pub fn write(&mut self, writer: impl FnOnce(&Kept<'_>)) {
        self.spool.write(writer);
    }

    /// Settles what waited until it was known to be no secret: the answer has ended.
    pub fn settle(&mut self) {
        if let Some(stream) = self.spool.end() {
            self.truths = self.masking.note_stream(stream, "the answer");
        }
    }

    /// Whether the spool has masks.
    pub fn is_masked(&self) -> bool {
        !self.truths.is_empty()
    }

    /// The spooled text, as the model gave it.
    pub fn as_given(&self, text: &str) -> String {
        restore(text, &self.truths)
    }
}
