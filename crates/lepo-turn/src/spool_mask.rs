//! Masks an answer on its way to the spool.

use super::Masking;
use lepo_secrets::{Stream, restore};

/// The masking of one answer.
pub struct SpoolMask<'m> {
    /// Set while the answer comes, if anything is looked for.
    stream: Option<Stream>,
    /// The masks of the answer, each with what it stands for.
    truths: Vec<(String, String)>,
    masking: &'m Masking,
}

impl<'m> SpoolMask<'m> {
    /// Begins an answer.
    pub fn new(masking: &'m Masking) -> SpoolMask<'m> {
        SpoolMask { stream: masking.stream(), truths: Vec::new(), masking }
    }

    /// Takes a piece, and appends to the buffer what of the answer is settled.
    pub fn push(&mut self, text: &str, buffer: &mut Vec<u8>) {
        let Some(stream) = &mut self.stream else { return buffer.extend_from_slice(text.as_bytes()) };
        let mut kept = String::new();
        stream.push(text, &mut kept);
        let kept = if self.masking.masks() { kept.as_str() } else { text };
        buffer.extend_from_slice(kept.as_bytes());
    }

    /// Appends what waited until it was known to be no secret: the answer has ended.
    pub fn settle(&mut self, buffer: &mut Vec<u8>) {
        let Some(mut stream) = self.stream.take() else { return };
        let mut kept = String::new();
        stream.finish(&mut kept);
        if self.masking.masks() {
            buffer.extend_from_slice(kept.as_bytes());
        }
        self.truths = self.masking.note_stream(stream, "the answer");
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
