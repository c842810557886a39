//! The output of a command that runs for the model, as the user watches it: its first lines. Each line and each
//! continuation row starts with a mark.

use crate::term::Cleaner;
use crate::term::quote::{GOES_ON, MARK, room, widest};

/// The most visible lines.
const LINES: usize = 20;
/// The most visible bytes of a line.
const LINE: usize = 400;

/// The output of one command so far.
pub struct OutputPreview {
    /// Returns the width of the terminal.
    columns: fn() -> usize,
    cleaner: Cleaner,
    lines: usize,
    /// The bytes of the current line; `None` at its start.
    line: Option<usize>,
    /// The used columns of the current row.
    used_columns: usize,
}

impl OutputPreview {
    pub fn new(columns: fn() -> usize) -> OutputPreview {
        OutputPreview { columns, cleaner: Cleaner::default(), lines: 0, line: None, used_columns: 0 }
    }

    /// Returns the visible part of `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let (mut text, mut shown) = (String::new(), String::new());
        if self.lines > LINES {
            return shown;
        }
        self.cleaner.push(bytes, &mut text);
        let room = room(MARK, (self.columns)());
        for c in text.chars() {
            if self.line.is_none() {
                if self.lines == LINES {
                    self.lines += 1;
                    shown.push_str("  | [the rest is for the model]\n");
                    return shown;
                }
                shown.push_str(MARK);
                self.used_columns = 0;
            }
            let length = self.line.unwrap_or_default();
            if c == '\n' {
                self.line = None;
                self.lines += 1;
                shown.push(c);
            } else {
                self.line = Some(length + c.len_utf8());
                if length < LINE {
                    if self.used_columns + widest(c) > room {
                        shown.push('\n');
                        shown.push_str(GOES_ON);
                        self.used_columns = 0;
                    }
                    self.used_columns += widest(c);
                    shown.push(c);
                }
            }
        }
        shown
    }

    /// Ends the output; returns a line end if the last line lacks one.
    pub fn finish(&mut self) -> &'static str {
        let open = self.line.is_some() && self.lines <= LINES;
        *self = OutputPreview::new(self.columns);
        if open { "\n" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_shown_behind_a_mark() {
        let mut printed = OutputPreview::new(|| 500);
        let pieces: Vec<String> =
            [&b"one\ntw"[..], b"o\n\x1b[2J\xed", b"\x95\x9c"].map(|bytes| printed.push(bytes)).into();
        assert_eq!(pieces.concat(), "  | one\n  | two\n  | ␛[2J한");
        assert_eq!((printed.finish(), printed.finish()), ("\n", ""));
        let many = printed.push("x\n".repeat(100).as_bytes());
        assert_eq!(many.lines().count(), LINES + 1);
        assert!(many.ends_with("  | [the rest is for the model]\n"), "{many}");
        assert_eq!((printed.push(b"more\n"), printed.finish()), (String::new(), ""));
        assert!(printed.push(&[b'x'; 10_000]).len() < 500);
        // A wrapped row cannot pass for a line of lepo's own.
        let mut printed = OutputPreview::new(|| 25);
        let pieces = ["1234567890123456789", "0error: no\n", "가나다라마바사아자차카"]
            .map(|text| printed.push(text.as_bytes()));
        assert_eq!(
            pieces.concat(),
            "  | 12345678901234567890\n  + error: no\n  | 가나다라마바사아자차\n  + 카"
        );
    }
}
