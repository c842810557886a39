//! Making control characters visible, so that no text can move a cursor, hide itself or speak to a terminal.

use std::borrow::Cow;

/// Cleans a text that comes in pieces of bytes, which may split a character.
#[derive(Debug, Default)]
pub struct Cleaner {
    /// Bytes of a character that has not ended.
    partial: Vec<u8>,
    /// The last character, which decides whether a joiner joins emoji.
    last: char,
}

impl Cleaner {
    /// Appends the visible form of `bytes` to `out`; an unfinished character waits for the next piece.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        let joined;
        let mut rest = if self.partial.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.text(text, out),
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(good).unwrap_or_default(), out);
                    match error.error_len() {
                        Some(len) => {
                            out.push(char::REPLACEMENT_CHARACTER);
                            rest = &bad[len..];
                        }
                        None => {
                            self.partial = bad.to_vec();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// The end: what never became a character is shown as one that could not be read.
    pub fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.partial).is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            match visible(c, self.last) {
                Visible::AsIs => out.push(c),
                Visible::Picture(picture) => out.push(picture),
                Visible::Code => out.push_str(&format!("<U+{:04X}>", c as u32)),
            }
            self.last = c;
        }
    }
}

/// A whole text, as it may be shown on a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    Cleaner::default().text(text, &mut out);
    Cow::Owned(out)
}

enum Visible {
    AsIs,
    Picture(char),
    Code,
}

fn visible(c: char, last: char) -> Visible {
    match c {
        '\n' | '\t' => Visible::AsIs,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).map_or(Visible::Code, Visible::Picture),
        '\u{7f}' => Visible::Picture('␡'),
        // A joiner after an emoji makes one picture of two; elsewhere it hides.
        '\u{200d}' if is_pictographic(last) => Visible::AsIs,
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => Visible::Code,
        _ => Visible::AsIs,
    }
}

fn is_pictographic(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_or_hides_passes() {
        for (text, shown) in [
            ("plain 한글 日本語\n\ttext", "plain 한글 日本語\n\ttext"),
            ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
            ("a\rb\u{8}\u{7f}\0", "a␍b␈␡␀"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("abc\u{202e}fed\u{2066}", "abc<U+202E>fed<U+2066>"),
            ("a\u{200b}b\u{feff}", "a<U+200B>b<U+FEFF>"),
            ("\u{e0041}", "<U+E0041>"),
            ("👩\u{200d}💻 ok", "👩\u{200d}💻 ok"),
            ("a\u{200d}b", "a<U+200D>b"),
            ("e\u{301} ❤\u{fe0f}", "e\u{301} ❤\u{fe0f}"),
        ] {
            assert_eq!(clean(text), shown);
        }
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let text = "가\u{1b}[2J나\u{9b}👩\u{200d}💻\u{202e}끝".as_bytes();
        let mut whole = String::new();
        Cleaner::default().push(text, &mut whole);
        for cut in 0..=text.len() {
            let (a, b) = text.split_at(cut);
            let (mut cleaner, mut out) = (Cleaner::default(), String::new());
            cleaner.push(a, &mut out);
            cleaner.push(b, &mut out);
            cleaner.finish(&mut out);
            assert_eq!(out, whole, "cut at {cut}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let (mut cleaner, mut out) = (Cleaner::default(), String::new());
        cleaner.push(b"a\xffb\xea\xb0", &mut out);
        cleaner.finish(&mut out);
        assert_eq!(out, "a\u{fffd}b\u{fffd}");
    }
}
