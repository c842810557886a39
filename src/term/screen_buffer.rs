//! Buffers output until it is longer than the screen, so that a pager starts with its first line or not at all.

use unicode_width::UnicodeWidthChar;

use super::escape_sequence::EscapeState;

/// Output that fits the screen so far.
pub struct ScreenBuffer {
    bytes: Vec<u8>,
    /// Size of the screen in characters.
    columns: usize,
    rows: usize,
    /// Position after the last character.
    column: usize,
    row: usize,
    escape: EscapeState,
    /// Offset after the last complete line, and the rows up to it.
    whole: (usize, usize),
    /// Bytes and rows that are on the screen.
    on_screen: (usize, usize),
}

impl ScreenBuffer {
    pub fn new((columns, rows): (usize, usize)) -> ScreenBuffer {
        ScreenBuffer {
            bytes: Vec::new(),
            columns,
            rows,
            column: 0,
            row: 0,
            escape: EscapeState::default(),
            whole: (0, 0),
            on_screen: (0, 0),
        }
    }

    /// Appends bytes of whole characters; false once the text and a prompt below it need more than the screen.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend_from_slice(bytes);
        for c in String::from_utf8_lossy(bytes).chars() {
            match c {
                c if self.escape.push(c) => {}
                '\n' => (self.row, self.column) = (self.row + 1, 0),
                '\r' => self.column = 0,
                '\t' => self.advance(8 - self.column % 8),
                c => self.advance(c.width().unwrap_or_default()),
            }
            if self.row >= self.rows {
                return false;
            }
            if c == '\n' {
                self.whole.1 = self.row;
            }
        }
        if let Some(at) = bytes.iter().rposition(|&byte| byte == b'\n') {
            self.whole.0 = self.bytes.len() - bytes.len() + at + 1;
        }
        true
    }

    /// Returns the complete lines that are not on the screen yet.
    pub fn next_lines(&mut self) -> Vec<u8> {
        let lines = self.bytes.get(self.on_screen.0..self.whole.0).unwrap_or_default().to_vec();
        self.on_screen = self.whole;
        lines
    }

    /// Returns the number of rows on the screen.
    pub fn shown_rows(&self) -> usize {
        self.on_screen.1
    }

    /// Returns the bytes that are not on the screen yet.
    pub fn into_rest(mut self) -> Vec<u8> {
        self.bytes.split_off(self.on_screen.0)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Advances the position: a terminal wraps before a character that does not fit, not after the last one that does.
    fn advance(&mut self, width: usize) {
        self.column += width;
        if self.column > self.columns {
            (self.row, self.column) = (self.row + 1, width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_full_with_the_line_that_leaves_none_for_a_prompt() {
        for (text, fits) in [
            ("", true),
            ("a\nb\n", true),
            ("a\nb\nc", true),
            ("a\nb\nc\n", false),
            ("12345\n12345\n", true),
            ("12345\n123456\n", false),
            ("123456\n12345", true),
            ("가나\n다라마\n", false),
            ("가나\n다라\n", true),
            ("\u{1b}[31mabcde\u{1b}[0m\n\u{1b}[1mb\u{1b}[0m\n", true),
            ("\u{1b}]8;;a:mm\u{7}abcde\u{1b}]8;;\u{7}\nb\n", true),
            ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}\nb\n", true),
            ("\tb\nc\n", false),
        ] {
            let mut buffer = ScreenBuffer::new((5, 3));
            assert_eq!(buffer.push(text.as_bytes()), fits, "{text:?}");
            assert_eq!(buffer.into_bytes(), text.as_bytes());
            // Character by character, the result is equal.
            let mut buffer = ScreenBuffer::new((5, 3));
            let mut letters = text.chars().map(|c| buffer.push(c.to_string().as_bytes()));
            assert_eq!(letters.all(|fits| fits), fits, "{text:?}");
        }
    }
}
