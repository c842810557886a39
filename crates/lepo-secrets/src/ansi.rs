//! Removes the control sequences of terminals, because a program that colours part of a secret must not hide it.

use std::ops::Range;

use memchr::memchr_iter;

/// The starts of a sequence, without the bracket: the escape character, and its spellings in string literals.
const BEGINS: [&[u8]; 6] = [b"\x1b", b"\\u{1b}", b"\\u001b", b"\\x1b", b"\\033", b"\\e"];

/// Maximum bytes of parameters in a sequence.
const LONGEST: usize = 24;

/// A text without control sequences, and the offsets in the original.
pub struct PlainText {
    pub text: Vec<u8>,
    /// For each sequence, its offset in `text`, and the number of bytes removed up to its end.
    cuts: Vec<(usize, usize)>,
}

impl PlainText {
    /// Removes the sequences; `None` if the text has no sequence.
    pub fn without_ansi(text: &[u8]) -> Option<PlainText> {
        let (mut plain, mut cuts, mut from) = (Vec::new(), Vec::new(), 0);
        for bracket in memchr_iter(b'[', text) {
            let Some(span) = sequence(text, bracket).filter(|span| span.start >= from) else { continue };
            plain.extend(text.get(from..span.start).unwrap_or_default());
            cuts.push((plain.len(), span.end - plain.len()));
            from = span.end;
        }
        if cuts.is_empty() {
            return None;
        }
        plain.extend(text.get(from..).unwrap_or_default());
        Some(PlainText { text: plain, cuts })
    }

    /// Returns the span in the original text.
    pub fn source_span(&self, span: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let before = self.cuts.partition_point(|(at, _)| *at <= offset);
            before.checked_sub(1).and_then(|last| self.cuts.get(last)).map_or(offset, |(_, cut)| offset + cut)
        };
        match span.end.checked_sub(1).filter(|last| *last >= span.start) {
            Some(last) => at(span.start)..at(last) + 1,
            None => at(span.start)..at(span.start),
        }
    }
}

/// Finds the sequence around a bracket.
fn sequence(text: &[u8], bracket: usize) -> Option<Range<usize>> {
    let before = text.get(..bracket)?;
    let begin = BEGINS.iter().find(|begin| before.ends_with(begin))?;
    let mut start = bracket - begin.len();
    // In a string within a string its backslash is escaped too.
    while begin.len() > 1 && start > 0 && text.get(start - 1) == Some(&b'\\') {
        start -= 1;
    }
    let after = text.get(bracket + 1..)?;
    let numbers =
        after.iter().take(LONGEST).take_while(|byte| matches!(byte, b'0'..=b'?' | b' '..=b'/')).count();
    let is_ended = after.get(numbers).is_some_and(|byte| matches!(byte, b'@'..=b'~'));
    is_ended.then(|| start..bracket + 1 + numbers + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_taken_out_and_places_are_those_of_the_text() {
        for (text, plain, span, offset) in [
            ("a\x1b[31mbc\x1b[md", "abcd", 1..3, 6..8),
            ("a\x1b[31mbc\x1b[md", "abcd", 0..4, 0..12),
            ("a\x1b[1mb\x1b[mc", "abc", 0..2, 0..6),
            ("\\u001b[01;31m\\u001b[Kab", "ab", 0..2, 21..23),
            ("x\\\\u001b[0mab", "xab", 1..3, 11..13),
        ] {
            let found = PlainText::without_ansi(text.as_bytes()).unwrap();
            assert_eq!(
                (String::from_utf8_lossy(&found.text).as_ref(), found.source_span(&span)),
                (plain, offset),
                "{text}"
            );
        }
        for text in ["", "a[0]", "\x1b[", "\x1b[31", "\x1b[3\n", "e[1m", "[31m"] {
            assert!(PlainText::without_ansi(text.as_bytes()).is_none(), "{text:?}");
        }
    }
}
