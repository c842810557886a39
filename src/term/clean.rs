//! Makes control characters visible, so that no text can move the cursor, hide itself or send commands to the
//! terminal.

use std::borrow::Cow;

/// Cleans a stream of bytes; a chunk may end inside a character.
#[derive(Debug, Default)]
pub struct Cleaner {
    /// Bytes of an incomplete character.
    partial: Vec<u8>,
    /// The previous character: decides whether a joiner joins emoji.
    last: char,
}

impl Cleaner {
    /// Appends the visible form of `bytes` to `out`; an incomplete character waits for the next chunk.
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

    /// Ends the stream: an incomplete character becomes a replacement character.
    pub fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.partial).is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if is_plain(text) {
            out.push_str(text);
            self.last = text.chars().next_back().unwrap_or(self.last);
            return;
        }
        for c in text.chars() {
            match visible(c, self.last) {
                CharDisplay::AsIs => out.push(c),
                CharDisplay::Picture(picture) => out.push(picture),
                CharDisplay::Code => out.push_str(&format!("<U+{:04X}>", c as u32)),
            }
            self.last = c;
        }
    }
}

/// Returns the visible form of a whole text.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    Cleaner::default().text(text, &mut out);
    Cow::Owned(out)
}

/// Like `clean`, for a name or another short text within a line of lepo's: newlines and tabs are made visible
/// too.
pub fn one_line(text: &str) -> String {
    clean(text).replace('\n', "␊").replace('\t', "␉")
}

/// Whether the text is only printable ASCII, newlines and tabs: a fast path for most texts.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t')
}

enum CharDisplay {
    AsIs,
    Picture(char),
    Code,
}

fn visible(c: char, last: char) -> CharDisplay {
    match c {
        '\n' | '\t' => CharDisplay::AsIs,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).map_or(CharDisplay::Code, CharDisplay::Picture),
        '\u{7f}' => CharDisplay::Picture('␡'),
        // After an emoji a joiner combines two into one picture; elsewhere it is invisible.
        '\u{200d}' if is_pictographic(last) => CharDisplay::AsIs,
        // Requests the emoji form, as in ❤ or the 1 of a keycap.
        '\u{fe0f}'
            if is_pictographic(last) && last != c || matches!(last, '0'..='9' | '#' | '*' | '©' | '®') =>
        {
            CharDisplay::AsIs
        }
        // Characters that reorder text or are blank: fillers and selectors hide inside a name, or pad it.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{e0000}'..='\u{e0fff}' => CharDisplay::Code,
        _ => CharDisplay::AsIs,
    }
}

fn is_pictographic(c: char) -> bool {
    let sign = matches!(
        c,
        '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}' | '㊗' | '㊙'
    );
    // U+2800 in this range is the blank of Braille, and matched earlier.
    sign || matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{27ff}' | '\u{2900}'..='\u{2bff}' | '\u{fe0f}')
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
            ("1\u{fe0f}\u{20e3} ™\u{fe0f} ㊗\u{fe0f}", "1\u{fe0f}\u{20e3} ™\u{fe0f} ㊗\u{fe0f}"),
            ("❤\u{fe0f}\u{fe0f} a\u{fe0f}", "❤\u{fe0f}<U+FE0F> a<U+FE0F>"),
            ("🏴\u{200d}☠\u{fe0f} 👨\u{200d}👩\u{200d}👧", "🏴\u{200d}☠\u{fe0f} 👨\u{200d}👩\u{200d}👧"),
            ("각 ᄒᆞᆫ글", "각 ᄒᆞᆫ글"),
            ("r\u{ad}m\u{34f}\u{3164}\u{ffa0}", "r<U+00AD>m<U+034F><U+3164><U+FFA0>"),
            ("\u{115f}\u{1160}\u{2800}\u{180b}", "<U+115F><U+1160><U+2800><U+180B>"),
            ("\u{1bca0}\u{fff0}\u{1d159}", "<U+1BCA0><U+FFF0><U+1D159>"),
            ("\u{fe00}\u{fe0e}\u{1d173}", "<U+FE00><U+FE0E><U+1D173>"),
        ] {
            assert_eq!(clean(text), shown);
        }
    }

    #[test]
    fn a_name_is_one_line() {
        for (name, shown) in [
            ("plain.md", "plain.md"),
            ("x\nerror: y\t\u{1b}]0;z\u{7}", "x␊error: y␉␛]0;z␇"),
            ("가\r\n", "가␍␊"),
        ] {
            assert_eq!(one_line(name), shown);
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
