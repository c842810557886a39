//! Matches one shape at an anchor, and says whether more text could complete it.

use std::ops::Range;

/// A set of bytes.
pub type Class = fn(u8) -> bool;

/// A piece of a shape after its anchor.
pub enum Part {
    /// These bytes.
    Text(&'static str),
    /// All bytes of a class that follow; their number is within the limits, or the shape does not match.
    Run(Class, usize, usize),
    /// The secret begins here; without this it begins with the anchor.
    From,
    /// The secret ends here; without this it ends with the shape.
    To,
}

/// A kind of secret that can be told by its form.
pub struct Shape {
    /// The word in the mask.
    pub kind: &'static str,
    /// Texts by which the shape is found; one of them begins it.
    pub anchors: &'static [&'static str],
    /// What follows the anchor.
    pub parts: &'static [Part],
    /// What makes the match certain.
    pub check: fn(&Match<'_>) -> bool,
    /// Whether a letter, digit, `_` or `-` before the anchor rules it out.
    pub at_word: bool,
}

/// A shape that was matched.
pub struct Match<'t> {
    text: &'t [u8],
    /// From the anchor to the end of the shape.
    pub whole: Range<usize>,
    /// The secret in it.
    pub secret: Range<usize>,
}

impl Match<'_> {
    /// The bytes of the secret.
    pub fn secret(&self) -> &[u8] {
        self.text.get(self.secret.clone()).unwrap_or_default()
    }

    /// The bytes before the anchor.
    pub fn before(&self) -> &[u8] {
        self.text.get(..self.whole.start).unwrap_or_default()
    }

    /// The bytes from the anchor to the secret.
    pub fn lead(&self) -> &[u8] {
        self.text.get(self.whole.start..self.secret.start).unwrap_or_default()
    }

    /// The bytes from the end of the secret to the end of the shape.
    pub fn tail(&self) -> &[u8] {
        self.text.get(self.secret.end..self.whole.end).unwrap_or_default()
    }
}

/// The outcome at one anchor.
#[derive(Debug, PartialEq)]
pub enum Tried {
    No,
    /// The text ends where the shape goes on, or may go on.
    More,
    /// The span of the secret.
    Yes(Range<usize>),
}

impl Shape {
    /// Matches at an anchor of `anchor` bytes. `is_whole` says that nothing follows the text.
    pub fn try_at(&self, text: &[u8], at: usize, anchor: usize, is_whole: bool) -> Tried {
        if self.at_word && !begins_word(text, at) {
            return Tried::No;
        }
        let (mut place, mut from, mut to) = (at + anchor, at, None);
        for part in self.parts {
            let rest = text.get(place..).unwrap_or_default();
            match part {
                Part::From => from = place,
                Part::To => to = Some(place),
                Part::Text(words) if rest.starts_with(words.as_bytes()) => place += words.len(),
                Part::Text(words) => {
                    let is_cut = !is_whole && words.as_bytes().starts_with(rest);
                    return if is_cut { Tried::More } else { Tried::No };
                }
                Part::Run(class, least, most) => {
                    let run = rest.iter().take(most + 1).take_while(|byte| class(**byte)).count();
                    if run > *most {
                        return Tried::No;
                    }
                    if run == rest.len() && !is_whole {
                        return Tried::More;
                    }
                    if run < *least {
                        return Tried::No;
                    }
                    place += run;
                }
            }
        }
        let mut secret = from..to.unwrap_or(place);
        let full_stops = |range: &Range<usize>| {
            let bytes = text.get(range.clone()).unwrap_or_default();
            bytes.iter().rev().take_while(|byte| **byte == b'.').count()
        };
        secret.end -= full_stops(&secret);
        let matched = Match { text, whole: at..place, secret };
        if (self.check)(&matched) { Tried::Yes(matched.secret) } else { Tried::No }
    }
}

/// Whether a word can begin at a place: after no letter, digit, `_` or `-`, but after an escape as `\n` and `%3D`.
pub fn begins_word(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(3)..at).unwrap_or_default();
    match before {
        [] => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !is_word(*last),
    }
}

/// Letters, digits, `_` and `-`.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_says_no_more_or_yes() {
        let digit: Class = |byte| byte.is_ascii_digit();
        let parts: &'static [Part] = Box::leak(Box::new([Part::Run(digit, 2, 3), Part::Text(";"), Part::To]));
        let shape = Shape { kind: "x", anchors: &["k="], parts, check: |_| true, at_word: true };
        for (text, at, is_whole, expected) in [
            ("k=12;", 0, true, Tried::Yes(0..5)),
            ("k=12;", 0, false, Tried::Yes(0..5)),
            ("k=12", 0, true, Tried::No),
            ("k=12", 0, false, Tried::More),
            ("k=1", 0, false, Tried::More),
            ("k=1;", 0, false, Tried::No),
            ("k=1234;", 0, false, Tried::No),
            ("k=1234", 0, false, Tried::No),
            ("ok=12;", 1, true, Tried::No),
            ("\\nk=12;", 2, true, Tried::Yes(2..7)),
            ("%3Dk=12;", 3, true, Tried::Yes(3..8)),
        ] {
            assert_eq!(shape.try_at(text.as_bytes(), at, 2, is_whole), expected, "{text}");
        }
    }
}
