//! Bytes for the disk: a value that only this crate makes. All that writes texts of others takes one, so that a text that
//! nothing has looked at cannot be written by mistake.

use std::borrow::Cow;

use super::finder::Found;
use super::mask::Masker;
use super::stream::Stream;
use super::what_is_text::is_binary;

/// The treatment of secrets that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// They are masked.
    Mask,
    /// They are told, and kept.
    Warn,
    /// They are not looked for.
    Leave,
}

/// Bytes that may be written to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept<'t>(Cow<'t, [u8]>);

impl<'t> Kept<'t> {
    /// Words of the user, which are kept as typed, and lepo's own.
    pub fn typed(words: &'t (impl AsRef<[u8]> + ?Sized)) -> Kept<'t> {
        Kept(Cow::Borrowed(words.as_ref()))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as text; those that are not UTF-8 as U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Appends others.
    pub fn push(&mut self, more: &Kept<'_>) {
        self.0.to_mut().extend(more.bytes());
    }

    /// The same, for as long as it is wanted.
    pub fn into_owned(self) -> Kept<'static> {
        Kept(Cow::Owned(self.0.into_owned()))
    }
}

impl Masker {
    /// A text as it is written, and the secrets in it. Bytes that are not UTF-8 stay, and end a secret.
    pub fn kept<'t>(&self, text: &'t [u8], treatment: Treatment) -> (Kept<'t>, Vec<Found>) {
        let (mut kept, mut all) = (None::<Vec<u8>>, Vec::new());
        if treatment == Treatment::Leave {
            return (Kept(Cow::Borrowed(text)), all);
        }
        let mut done = 0;
        for chunk in text.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            let masked = self.mask(valid);
            all.extend(masked.found);
            match (&mut kept, masked.text) {
                (None, Cow::Borrowed(_)) => {}
                (kept, masked) => {
                    let kept = kept.get_or_insert_with(|| text.get(..done).unwrap_or_default().to_vec());
                    kept.extend(masked.bytes());
                    kept.extend(invalid);
                }
            }
            done += valid.len() + invalid.len();
        }
        match kept.filter(|_| treatment == Treatment::Mask) {
            Some(kept) => (Kept(Cow::Owned(kept)), all),
            None => (Kept(Cow::Borrowed(text)), all),
        }
    }

    /// A file as it is written, as [`Masker::kept`] has it; a binary one is not searched.
    pub fn kept_file<'t>(&self, bytes: &'t [u8], treatment: Treatment) -> (Kept<'t>, Vec<Found>) {
        let treatment = if is_binary(bytes) { Treatment::Leave } else { treatment };
        self.kept(bytes, treatment)
    }

    /// Masks a text that is written as it arrives.
    pub fn spool(&self, treatment: Treatment) -> Spool {
        let stream = (treatment != Treatment::Leave).then(|| self.stream());
        Spool { stream, treatment, ready: Vec::new() }
    }
}

/// A text that is written as it arrives, but for what may be the beginning of a secret.
pub struct Spool {
    /// Set until the text has ended, if anything is looked for.
    stream: Option<Stream>,
    treatment: Treatment,
    ready: Vec<u8>,
}

impl Spool {
    /// Takes a piece.
    pub fn push(&mut self, piece: &str) {
        let Some(stream) = &mut self.stream else { return self.ready.extend(piece.bytes()) };
        let mut settled = String::new();
        stream.push(piece, &mut settled);
        let kept = if self.treatment == Treatment::Mask { settled.as_str() } else { piece };
        self.ready.extend(kept.bytes());
    }

    /// Ends the text: what waited is ready. The stream, with what it found; `None` the second time.
    pub fn end(&mut self) -> Option<Stream> {
        let mut stream = self.stream.take()?;
        let mut settled = String::new();
        stream.finish(&mut settled);
        if self.treatment == Treatment::Mask {
            self.ready.extend(settled.bytes());
        }
        Some(stream)
    }

    /// The number of bytes that are ready.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Gives what is ready to a writer, once.
    pub fn write<T>(&mut self, writer: impl FnOnce(&Kept<'_>) -> T) -> T {
        let written = writer(&Kept(Cow::Borrowed(&self.ready)));
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
            let (value, found) = masker.kept(&text, treatment);
            assert_eq!((value.bytes(), found.len()), (kept, count), "{treatment:?}");
            let mut spool = masker.spool(treatment);
            let mut written = Vec::new();
            for piece in ["is ", token.get(..20).unwrap(), token.get(20..).unwrap(), " it"] {
                spool.push(piece);
                spool.write(|kept| written.extend(kept.bytes()));
            }
            assert_eq!(spool.end().map(|stream| stream.tally().count()), (count > 0).then_some(1));
            assert!(spool.end().is_none());
            spool.write(|kept| written.extend(kept.bytes()));
            assert_eq!(spool.ready(), 0);
            let expected = if treatment == Treatment::Mask { "[secret: github-token]" } else { &token };
            assert_eq!(String::from_utf8(written).unwrap(), format!("is {expected} it"));
        }
    }

    #[test]
    fn kept_texts_are_put_together() {
        let mut kept = Kept::typed("one").into_owned();
        kept.push(&Kept::typed(" two"));
        assert_eq!((kept.bytes(), &*kept.text()), (b"one two".as_slice(), "one two"));
    }
}
