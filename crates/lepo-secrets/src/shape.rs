//! Matches a shape at an anchor, and decides whether more text could complete it.

use std::ops::Range;

/// A set of bytes.
pub type Class = fn(u8) -> bool;

/// A part of a shape after its anchor.
pub enum ShapePart {
    /// This text.
    Text(&'static str),
    /// All following bytes of a class; if their number is outside the limits, the shape does not match.
    Run(Class, usize, usize),
    /// This number of bytes of a class, whatever follows: for shapes that a checksum makes certain.
    Exactly(Class, usize),
    /// The secret starts here; by default it starts with the anchor.
    From,
    /// The secret ends here; by default it ends with the shape.
    To,
}

/// A kind of secret with a recognisable format.
pub struct Shape {
    /// Its name in the mask.
    pub kind: &'static str,
    /// The texts that may start the shape, by which it is found.
    pub anchors: &'static [&'static str],
    /// The parts after the anchor.
    pub parts: &'static [ShapePart],
    /// The check that makes the match certain.
    pub check: fn(&ShapeMatch<'_>) -> bool,
    /// Whether a letter, digit, `_` or `-` before the anchor rules it out.
    pub at_word: bool,
}

/// A match of a shape.
pub struct ShapeMatch<'t> {
    text: &'t [u8],
    /// From the anchor to the end of the shape.
    pub range: Range<usize>,
    /// The span of the secret.
    pub secret: Range<usize>,
}

impl ShapeMatch<'_> {
    pub fn secret(&self) -> &[u8] {
        self.text.get(self.secret.clone()).unwrap_or_default()
    }

    /// Returns the bytes before the anchor.
    pub fn before(&self) -> &[u8] {
        self.text.get(..self.range.start).unwrap_or_default()
    }

    /// Returns the bytes from the anchor to the secret.
    pub fn lead(&self) -> &[u8] {
        self.text.get(self.range.start..self.secret.start).unwrap_or_default()
    }

    /// Returns the bytes from the end of the secret to the end of the shape.
    pub fn tail(&self) -> &[u8] {
        self.text.get(self.secret.end..self.range.end).unwrap_or_default()
    }
}

/// The result at an anchor.
#[derive(Debug, PartialEq)]
pub enum AnchorResult {
    No,
    /// The text ends inside the shape, or where the shape may continue.
    More,
    /// The span of the secret.
    Yes(Range<usize>),
}

impl Shape {
    /// Matches at `at`, after an anchor of `anchor` bytes. `is_whole` means that no text follows.
    pub fn try_at(&self, text: &[u8], at: usize, anchor: usize, is_whole: bool) -> AnchorResult {
        if self.at_word && !begins_word(text, at) {
            return AnchorResult::No;
        }
        let (mut offset, mut from, mut to) = (at + anchor, at, None);
        for part in self.parts {
            let rest = text.get(offset..).unwrap_or_default();
            match part {
                ShapePart::From => from = offset,
                ShapePart::To => to = Some(offset),
                ShapePart::Text(words) if rest.starts_with(words.as_bytes()) => offset += words.len(),
                ShapePart::Text(words) => {
                    let is_cut = !is_whole && words.as_bytes().starts_with(rest);
                    return if is_cut { AnchorResult::More } else { AnchorResult::No };
                }
                ShapePart::Run(class, least, most) => {
                    let run = rest.iter().take(most + 1).take_while(|byte| class(**byte)).count();
                    if run > *most {
                        return AnchorResult::No;
                    }
                    if run == rest.len() && !is_whole {
                        return AnchorResult::More;
                    }
                    if run < *least {
                        return AnchorResult::No;
                    }
                    offset += run;
                }
                ShapePart::Exactly(class, count) => {
                    let run = rest.iter().take(*count).take_while(|byte| class(**byte)).count();
                    if run < *count {
                        let is_cut = run == rest.len() && !is_whole;
                        return if is_cut { AnchorResult::More } else { AnchorResult::No };
                    }
                    offset += run;
                }
            }
        }
        let mut secret = from..to.unwrap_or(offset);
        let full_stops = |range: &Range<usize>| {
            let bytes = text.get(range.clone()).unwrap_or_default();
            bytes.iter().rev().take_while(|byte| **byte == b'.').count()
        };
        secret.end -= full_stops(&secret);
        let matched = ShapeMatch { text, range: at..offset, secret };
        if (self.check)(&matched) { AnchorResult::Yes(matched.secret) } else { AnchorResult::No }
    }
}

/// Whether a word can start at `at`: not after a letter, digit, `_` or `-`, except at the end of an escape like `\n`,
/// `%3D`, `\x22` and `\u0022`, or of a terminal's control sequence, which programs write for colours.
pub fn begins_word(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(LONGEST_ESCAPE)..at).unwrap_or_default();
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match before {
        [] => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if is_hex(&[*high, *low]) => true,
        [.., b'\\', b'x', high, low] if is_hex(&[*high, *low]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        [.., last] => !is_word(*last) || ends_control_sequence(before),
    }
}

/// Maximum bytes of an escape before a word.
const LONGEST_ESCAPE: usize = 24;

/// Whether a text ends with a sequence like `ESC [ 1;31 m`; the escape character may be spelled `\u{1b}`, `\x1b`,
/// `\033` or `\e`.
fn ends_control_sequence(text: &[u8]) -> bool {
    let Some((last, before)) = text.split_last() else { return false };
    let numbers =
        before.iter().rev().take_while(|byte| byte.is_ascii_digit() || b";:?".contains(byte)).count();
    let begun = before.get(..before.len() - numbers).unwrap_or_default();
    let begins = ["\u{1b}[", "\\u{1b}[", "\\u001b[", "\\x1b[", "\\033[", "\\e["];
    last.is_ascii_alphabetic() && begins.iter().any(|begin| begun.ends_with(begin.as_bytes()))
}

pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_says_no_more_or_yes() {
        let digit: Class = |byte| byte.is_ascii_digit();
        let parts: &'static [ShapePart] =
            Box::leak(Box::new([ShapePart::Run(digit, 2, 3), ShapePart::Text(";"), ShapePart::To]));
        let shape = Shape { kind: "x", anchors: &["k="], parts, check: |_| true, at_word: true };
        for (text, at, is_whole, expected) in [
            ("k=12;", 0, true, AnchorResult::Yes(0..5)),
            ("k=12;", 0, false, AnchorResult::Yes(0..5)),
            ("k=12", 0, true, AnchorResult::No),
            ("k=12", 0, false, AnchorResult::More),
            ("k=1", 0, false, AnchorResult::More),
            ("k=1;", 0, false, AnchorResult::No),
            ("k=1234;", 0, false, AnchorResult::No),
            ("k=1234", 0, false, AnchorResult::No),
            ("ok=12;", 1, true, AnchorResult::No),
            ("\\nk=12;", 2, true, AnchorResult::Yes(2..7)),
            ("%3Dk=12;", 3, true, AnchorResult::Yes(3..8)),
            ("\u{1b}[01;32mk=12;", 8, true, AnchorResult::Yes(8..13)),
            ("\\u{1b}[32mk=12;", 10, true, AnchorResult::Yes(10..15)),
            ("\\u0022k=12;", 6, true, AnchorResult::Yes(6..11)),
            ("\\x22k=12;", 4, true, AnchorResult::Yes(4..9)),
            ("32mk=12;", 3, true, AnchorResult::No),
        ] {
            assert_eq!(shape.try_at(text.as_bytes(), at, 2, is_whole), expected, "{text}");
        }
    }
}
