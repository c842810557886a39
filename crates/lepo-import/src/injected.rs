//! Splits a user's message into the text that the user typed and the text that a program or another agent inserted.

use std::collections::HashSet;
use std::ops::Range;

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    /// A program inserted it.
    pub is_injected: bool,
    pub text: &'t str,
}

/// The marks of a program's texts.
pub struct Injections {
    /// Names of elements, `<name …>…</name>`, which start a line anywhere in a message.
    pub elements: &'static [&'static str],
    /// Prefixes of messages that are entirely the program's.
    pub beginnings: &'static [&'static str],
    /// Prefixes of messages in which the user's text follows a heading, and that heading.
    pub headings: &'static [(&'static str, &'static str)],
}

impl Injections {
    /// Splits a text into its pieces, in order. A text without an insertion is a single piece, unchanged.
    pub fn split<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        if self.beginnings.iter().any(|begin| text.starts_with(begin)) {
            return vec![Piece { is_injected: true, text }];
        }
        let mut found = match self.after_heading(text) {
            Some(own) => vec![(true, 0..own)],
            None => Vec::new(),
        };
        let mut own = found.last().map_or(0, |(_, range)| range.end);
        let mut open_ended = HashSet::new();
        for (begin, _) in text.match_indices('<') {
            if begin < own || !starts_line(text, own, begin) {
                continue;
            }
            if let Some(length) = self.element(text, begin, &mut open_ended) {
                found.extend([(false, own..begin), (true, begin..begin + length)]);
                own = begin + length;
            }
        }
        if found.is_empty() {
            return vec![Piece { is_injected: false, text }];
        }
        found.push((false, own..text.len()));
        merged(text, found)
    }

    /// Returns the offset after the heading that precedes the user's text.
    fn after_heading(&self, text: &str) -> Option<usize> {
        let heading_end = |(begin, heading): &(&str, &str)| {
            let at = text.find(heading).filter(|_| text.trim_start().starts_with(begin))?;
            Some(at + heading.len())
        };
        self.headings.iter().find_map(heading_end)
    }

    /// Returns the length of the element at `begin`, if it is in the table. An element without an end tag counts only
    /// at the start of a text, and extends to its end. `open_ended` caches the elements that have no further end tag.
    fn element(&self, text: &str, begin: usize, open_ended: &mut HashSet<&'static str>) -> Option<usize> {
        let rest = text.get(begin..)?;
        let inside = rest.strip_prefix('<')?;
        let ends_name = |rest: &str| rest.starts_with(['>', ' ', '\n', '/']);
        let name = self.elements.iter().find(|name| inside.strip_prefix(**name).is_some_and(ends_name))?;
        if open_ended.contains(name) {
            return None;
        }
        let close = format!("</{name}>");
        if let Some(at) = rest.find(&close) {
            return Some(at + close.len());
        }
        open_ended.insert(name);
        text.get(..begin)?.trim().is_empty().then_some(rest.len())
    }
}

/// Whether `at` starts a line, or follows an insertion that ends at `own`; blanks may precede it.
fn starts_line(text: &str, own: usize, at: usize) -> bool {
    let before = text.get(own..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// Returns the pieces that are not blank, with consecutive insertions joined and the user's text trimmed.
fn merged(text: &str, found: Vec<(bool, Range<usize>)>) -> Vec<Piece<'_>> {
    let mut merged: Vec<(bool, Range<usize>)> = Vec::with_capacity(found.len());
    for (is_injected, range) in found {
        let Some(piece) = text.get(range.clone()).filter(|piece| !piece.trim().is_empty()) else { continue };
        let start = range.start + (piece.len() - piece.trim_start().len());
        let range = start..start + piece.trim().len();
        match merged.last_mut() {
            Some((true, last)) if is_injected => last.end = range.end,
            _ => merged.push((is_injected, range)),
        }
    }
    let piece = |(is_injected, range)| Some(Piece { is_injected, text: text.get(range)? });
    merged.into_iter().filter_map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Injections = Injections {
        elements: &["channel", "system-reminder", "ide_diagnostics"],
        beginnings: &["Caveat: "],
        headings: &[("# Context", "## My request for Codex:")],
    };

    #[test]
    fn the_persons_words_stay_and_a_programs_are_apart() {
        for (text, expected) in [
            ("plain", "-plain"),
            ("  kept as it is \n", "-  kept as it is \n"),
            ("", "-"),
            ("<channel source=\"x\">hi</channel>", "+<channel source=\"x\">hi</channel>"),
            ("<channels>hi</channels>", "-<channels>hi</channels>"),
            ("is <channel> a tag?", "-is <channel> a tag?"),
            ("what is\n<channel> for", "-what is\n<channel> for"),
            ("<channel>never ends", "+<channel>never ends"),
            (
                "<ide_diagnostics>e</ide_diagnostics>\n\nfix it",
                "+<ide_diagnostics>e</ide_diagnostics>|-fix it",
            ),
            ("fix it\n<system-reminder>r</system-reminder>", "-fix it|+<system-reminder>r</system-reminder>"),
            (
                "<channel>a</channel>\n<system-reminder>b</system-reminder>\nc",
                "+<channel>a</channel>\n<system-reminder>b</system-reminder>|-c",
            ),
            ("<channel>a</channel><channel>b</channel>c", "+<channel>a</channel><channel>b</channel>|-c"),
            ("Caveat: all of it\nx", "+Caveat: all of it\nx"),
            (
                "# Context of it\n\n## My request for Codex:\ndo it",
                "+# Context of it\n\n## My request for Codex:|-do it",
            ),
            ("# Context alone", "-# Context alone"),
        ] {
            let pieces: Vec<String> = WORDS
                .split(text)
                .iter()
                .map(|piece| format!("{}{}", if piece.is_injected { '+' } else { '-' }, piece.text))
                .collect();
            assert_eq!(pieces.join("|"), expected, "{text}");
        }
    }

    #[test]
    fn many_elements_take_no_longer_than_their_length() {
        let text = "<channel>x</channel>\nw\n".repeat(20_000);
        assert_eq!(WORDS.split(&text).len(), 40_000);
        let open = format!("x{}", "\n<channel>".repeat(200_000));
        assert_eq!(WORDS.split(&open).len(), 1);
    }
}
