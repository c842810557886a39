//! Bytes for the disk, as a type that only this crate can create. All code that writes untrusted text requires it, so
//! that unscreened text cannot be written by mistake.

use std::borrow::Cow;

/// The treatment of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Mask them.
    Mask,
    /// Report them, and leave them unmasked.
    Warn,
    /// Do not search for them.
    Leave,
}

/// Bytes that may be written to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenedBytes<'t>(Cow<'t, [u8]>);

impl<'t> ScreenedBytes<'t> {
    /// Wraps screened bytes.
    pub(crate) fn from_screened(bytes: Cow<'t, [u8]>) -> ScreenedBytes<'t> {
        ScreenedBytes(bytes)
    }

    /// Wraps text that the user typed, stored unmasked, or lepo's own text.
    pub fn typed(words: &'t (impl AsRef<[u8]> + ?Sized)) -> ScreenedBytes<'t> {
        ScreenedBytes(Cow::Borrowed(words.as_ref()))
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes as text, with U+FFFD for malformed UTF-8.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Appends other bytes.
    pub fn push(&mut self, more: &ScreenedBytes<'_>) {
        self.0.to_mut().extend(more.bytes());
    }

    /// Copies the bytes if they are borrowed.
    pub fn into_owned(self) -> ScreenedBytes<'static> {
        ScreenedBytes(Cow::Owned(self.0.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_texts_are_put_together() {
        let mut kept = ScreenedBytes::typed("one").into_owned();
        kept.push(&ScreenedBytes::typed(" two"));
        assert_eq!((kept.bytes(), &*kept.text()), (b"one two".as_slice(), "one two"));
    }
}
