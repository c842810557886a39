//! A text that must never be printed: a key, a password, a token.

use std::borrow::Cow;
use std::fmt;

/// A text that must never be printed: `Debug` and `Display` hide it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the text itself, for the code that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Masks the secret in a text, even if the text has only the start of it, as in a truncated message. A secret of
    /// fewer than [`SHORTEST`] bytes is not masked, because it may occur in ordinary text.
    pub fn hide_in<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.len() < SHORTEST {
            return Cow::Borrowed(text);
        }
        let known_by = (self.0.len() * 2 / 3).clamp(SHORTEST, LONGEST_HEAD);
        let (head, tail) = self.0.split_at(self.0.floor_char_boundary(known_by));
        let (mut hidden, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(head) {
            hidden.push_str(before);
            hidden.push_str("[secret]");
            let same = after.chars().zip(tail.chars()).take_while(|(one, other)| one == other);
            rest = after.split_at(same.map(|(c, _)| c.len_utf8()).sum()).1;
        }
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(hidden + rest)
    }
}

/// Minimum length in bytes of a masked secret: a shorter one ("none", "lm") may occur in ordinary text.
const SHORTEST: usize = 8;

/// Maximum number of bytes at the start of a secret that must match for a text to be masked.
const LONGEST_HEAD: usize = 16;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
