//! Masks a text while it arrives and is written.

use std::borrow::Cow;

use super::mask::Masker;
use super::screened::{ScreenedBytes, Treatment};
use super::stream::MaskStream;

/// A text that is ready to be written up to a possible start of a secret.
pub struct Spool {
    /// `None` once the text has ended, or if secrets are not searched for.
    stream: Option<MaskStream>,
    treatment: Treatment,
    ready: Vec<u8>,
}

impl Spool {
    /// Starts a text.
    pub fn new(masker: &Masker, treatment: Treatment) -> Spool {
        let stream = (treatment != Treatment::Leave).then(|| MaskStream::new(masker.clone()));
        Spool { stream, treatment, ready: Vec::new() }
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: &str) {
        let Some(stream) = &mut self.stream else { return self.ready.extend(piece.bytes()) };
        let mut settled = String::new();
        stream.push(piece, &mut settled);
        let kept = if self.treatment == Treatment::Mask { settled.as_str() } else { piece };
        self.ready.extend(kept.bytes());
    }

    /// Ends the text, so that all of it is ready. Returns the stream with its secrets; `None` the second time.
    pub fn finish(&mut self) -> Option<MaskStream> {
        let mut stream = self.stream.take()?;
        let mut settled = String::new();
        stream.finish(&mut settled);
        if self.treatment == Treatment::Mask {
            self.ready.extend(settled.bytes());
        }
        Some(stream)
    }

    /// Returns the number of bytes that are ready.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Passes the ready bytes to `writer`, once.
    pub fn write<T>(&mut self, writer: impl FnOnce(&ScreenedBytes<'_>) -> T) -> T {
        let written = writer(&ScreenedBytes::from_screened(Cow::Borrowed(&self.ready)));
        self.ready.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::all;

    #[test]
    fn a_text_is_masked_told_or_left_alone() {
        let token = all().into_iter().find(|row| row.0 == "github-token").unwrap().2;
        let text = [b"a \xff ", token.as_bytes(), b"\xfe end"].concat();
        let masker = Masker::for_imports();
        for (treatment, kept, count) in [
            (Treatment::Mask, b"a \xff [secret: github-token]\xfe end".as_slice(), 1),
            (Treatment::Warn, &text, 1),
            (Treatment::Leave, &text, 0),
        ] {
            let (value, found) = masker.screen(&text, treatment);
            assert_eq!((value.bytes(), found.len()), (kept, count), "{treatment:?}");
            let mut spool = Spool::new(&masker, treatment);
            let mut written = Vec::new();
            for piece in ["is ", token.get(..20).unwrap(), token.get(20..).unwrap(), " it"] {
                spool.push(piece);
                spool.write(|kept| written.extend(kept.bytes()));
            }
            assert_eq!(spool.finish().map(|stream| stream.tally().count()), (count > 0).then_some(1));
            assert!(spool.finish().is_none());
            spool.write(|kept| written.extend(kept.bytes()));
            assert_eq!(spool.ready(), 0);
            let expected = if treatment == Treatment::Mask { "[secret: github-token]" } else { &token };
            assert_eq!(String::from_utf8(written).unwrap(), format!("is {expected} it"));
        }
    }
}
