//! A text that must never be printed: a key, a password, a token.

use std::borrow::Cow;
use std::fmt;

/// A text that must never be printed: its `Debug` and `Display` show nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the secret, also where the text has only the beginning of it, as a shortened message does.
    /// A secret of fewer than [`SHORTEST`] bytes stays: it is a word or a part of words.
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

/// The shortest secret that is taken out of texts, in bytes: a shorter one ("none", "lm") is a word.
const SHORTEST: usize = 8;

/// The most bytes of a secret's beginning that have to stand in a text for it to be taken for the secret.
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
