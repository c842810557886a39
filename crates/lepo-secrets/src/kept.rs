//! Bytes for the disk: a value that only this crate makes. All that writes texts of others takes one, so that a text that
//! nothing has looked at cannot be written by mistake.

use std::borrow::Cow;

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
    /// Bytes that were looked at.
    pub(crate) fn looked_at(bytes: Cow<'t, [u8]>) -> Kept<'t> {
        Kept(bytes)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_texts_are_put_together() {
        let mut kept = Kept::typed("one").into_owned();
        kept.push(&Kept::typed(" two"));
        assert_eq!((kept.bytes(), &*kept.text()), (b"one two".as_slice(), "one two"));
    }
}
