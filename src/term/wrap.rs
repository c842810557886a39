//! Breaks lines between words as text arrives, so that no terminal breaks them inside one.
//!
//! A word is buffered until its end is known. Text may be painted and linked: escape sequences take no columns; before a
//! break paint is reset and a link closed, and after it they are set again.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape_sequence::{EscapeState, pieces};
use super::links::OpenLink;

/// Minimum columns for text after the hanging indent.
const NARROWEST: usize = 8;

/// Returns the columns of a line at the moment it is wrapped.
pub type LineWidth = Arc<dyn Fn() -> usize + Send + Sync>;

pub struct Wrap {
    columns: LineWidth,
    column: usize,
    /// Prefix of continuation lines, and its width.
    hang: (String, usize),
    /// Bytes and columns of `hang` that come from marks, not from an indent.
    marked: (usize, usize),
    spaces: usize,
    word: String,
    last: Option<char>,
    /// Paint in force at the end of the output.
    active: String,
    link: OpenLink,
    escape: EscapeState,
    word_width: usize,
    /// The beginning of the word was wider than a line and is printed.
    long: bool,
}

impl Wrap {
    /// `columns` returns the current width of the terminal or pane.
    pub fn new(columns: impl Fn() -> usize + Send + Sync + 'static) -> Wrap {
        Wrap::with_width(Arc::new(columns))
    }

    pub fn with_width(columns: LineWidth) -> Wrap {
        Wrap {
            columns,
            column: 0,
            hang: (String::new(), 0),
            marked: (0, 0),
            spaces: 0,
            word: String::new(),
            last: None,
            active: String::new(),
            link: OpenLink::default(),
            escape: EscapeState::default(),
            word_width: 0,
            long: false,
        }
    }

    /// Writes a mark before the text of a line; continuation lines begin with `again` instead.
    pub fn mark(&mut self, mark: &str, again: &str, out: &mut String) {
        out.push_str(mark);
        self.column += width(mark);
        self.hang.0.push_str(again);
        self.hang.1 += width(again);
        self.marked = (self.hang.0.len(), self.hang.1);
    }

    pub fn push(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            if self.escape.push(c) {
                self.word.push(c);
            } else if c == ' ' || c == '\t' {
                self.flush_word(out);
                self.long = false;
                self.spaces += if c == '\t' { 8 - (self.column + self.spaces) % 8 } else { 1 };
            } else {
                if self.last.is_some_and(|last| may_break(last, c)) {
                    self.flush_word(out);
                    self.long = false;
                }
                self.word.push(c);
                self.last = Some(c);
                self.word_width += c.width().unwrap_or_default();
                if self.word_width > self.room() && c.width() != Some(0) {
                    // No line is wide enough: nothing to wait for.
                    self.flush_word(out);
                    self.long = true;
                }
            }
        }
    }

    /// Writes the buffered word.
    pub fn finish(&mut self, out: &mut String) {
        self.flush_word(out);
    }

    pub fn newline(&mut self, out: &mut String) {
        self.flush_word(out);
        out.push('\n');
        (self.column, self.spaces, self.hang, self.marked, self.long) =
            (0, 0, (String::new(), 0), (0, 0), false);
    }

    /// Ends a line, but not its paragraph: the next one begins with the same marks.
    pub fn hard_break(&mut self, out: &mut String) {
        self.flush_word(out);
        self.hang.0.truncate(self.marked.0);
        self.hang.1 = self.marked.1;
        (self.spaces, self.long) = (0, false);
        self.break_line(out);
    }

    fn room(&self) -> usize {
        (self.columns)().max(self.hang.1 + NARROWEST)
    }

    /// Writes the buffered word: on this line, on the next, or broken if it is wider than any line.
    fn flush_word(&mut self, out: &mut String) {
        if self.last.take().is_none() {
            // Only paint, which has no width.
            let paint = std::mem::take(&mut self.word);
            self.show(&paint, out);
            return;
        }
        self.word_width = 0;
        let word = std::mem::take(&mut self.word);
        let (wide, room) = (width(&word), self.room());
        if self.column == self.hang.1 && self.spaces > 0 && self.spaces < room / 2 {
            // Continuation lines get the indent of an indented line.
            self.hang.0.push_str(&" ".repeat(self.spaces));
            self.hang.1 += self.spaces;
        }
        if self.column + self.spaces + wide <= room {
            self.space(out);
            self.show(&word, out);
            self.column += wide;
        } else if wide <= room - self.hang.1 && !self.long {
            self.spaces = 0;
            self.break_line(out);
            self.show(&word, out);
            self.column += wide;
        } else {
            if self.column + self.spaces < room {
                self.space(out);
            } else if self.spaces > 0 {
                // Without its space the word would be one with the word before it.
                self.break_line(out);
            }
            self.spaces = 0;
            self.show_broken(&word, room, out);
        }
    }

    fn space(&mut self, out: &mut String) {
        out.extend(std::iter::repeat_n(' ', self.spaces));
        self.column += self.spaces;
        self.spaces = 0;
    }

    fn break_line(&mut self, out: &mut String) {
        let (close, open) = self.link.ends();
        out.push_str(&close);
        if !self.active.is_empty() {
            out.push_str("\u{1b}[0m");
        }
        out.push('\n');
        out.push_str(&self.hang.0);
        out.push_str(&self.active);
        out.push_str(open);
        self.column = self.hang.1;
    }

    /// Writes a word wider than a line, broken wherever a line is full.
    fn show_broken(&mut self, word: &str, room: usize, out: &mut String) {
        for piece in pieces(word) {
            if piece.starts_with('\u{1b}') {
                self.show(piece, out);
                continue;
            }
            for cluster in piece.graphemes(true) {
                let wide = cluster.width();
                if self.column + wide > room {
                    self.break_line(out);
                }
                out.push_str(cluster);
                self.column += wide;
            }
        }
    }

    /// Appends text that fits, and records its final paint and link.
    fn show(&mut self, text: &str, out: &mut String) {
        out.push_str(text);
        for piece in pieces(text).filter(|piece| piece.starts_with('\u{1b}')) {
            if !self.link.read(piece) {
                self.active = if piece == "\u{1b}[0m" { String::new() } else { piece.to_string() };
            }
        }
    }
}

fn width(painted: &str) -> usize {
    let texts = pieces(painted).filter(|piece| !piece.starts_with('\u{1b}'));
    texts.flat_map(|text| text.graphemes(true)).map(UnicodeWidthStr::width).sum()
}

/// Whether a line may be broken between two characters without a space: next to a Chinese character or kana,
/// but not Hangul, which uses spaces, and never before a closing mark.
fn may_break(before: char, after: char) -> bool {
    const CLOSING: &str =
        "、。，．！？：；）］｝」』】〉》’”ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.!?:;)]}%";
    const OPENING: &str = "（［｛「『【〈《‘“([{";
    let ideograph = |c: char| {
        matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{20000}'..='\u{3ffff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff60}')
    };
    (ideograph(before) || ideograph(after))
        && !CLOSING.contains(after)
        && !OPENING.contains(before)
        && after.width() != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: fn() -> usize) -> String {
        let (mut wrap, mut out) = (Wrap::new(columns), String::new());
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                wrap.newline(&mut out);
            }
            // The chunks do not change the result.
            line.split_inclusive(' ').for_each(|piece| wrap.push(piece, &mut out));
        }
        wrap.finish(&mut out);
        out
    }

    #[test]
    fn lines_break_between_words() {
        for (text, shown) in [
            ("", ""),
            ("one two", "one two"),
            ("one two three", "one two\nthree"),
            ("one  two three", "one  two\nthree"),
            ("one two \nthree", "one two\nthree"),
            ("ten chars!", "ten chars!"),
            ("ten chars! x", "ten chars!\nx"),
            ("abcdefghijklm", "abcdefghij\nklm"),
            ("ab abcdefghijklm", "ab abcdefg\nhijklm"),
            ("abcdefghi abcdefghijklm", "abcdefghi\nabcdefghij\nklm"),
            ("abcdefghij abcdefghijklm", "abcdefghij\nabcdefghij\nklm"),
            // Korean breaks at spaces, and inside a word only if no line has room for it.
            ("한글은 두 칸", "한글은 두\n칸"),
            ("가나다라마바사", "가나다라마\n바사"),
            // Chinese and kana break anywhere except before a closing mark.
            ("你好世界你好世界", "你好世界你\n好世界"),
            ("你好世界你。好", "你好世界\n你。好"),
            ("ab 你好世界你好", "ab 你好世\n界你好"),
            // Continuation lines are indented like the first.
            ("  - one two three", "  - one\n  two\n  three"),
            ("\u{1b}[1mone two three\u{1b}[0m x", "\u{1b}[1mone two\u{1b}[0m\n\u{1b}[1mthree\u{1b}[0m x"),
            (
                "👩\u{200d}💻👩\u{200d}💻 👩\u{200d}💻👩\u{200d}💻",
                "👩\u{200d}💻👩\u{200d}💻 👩\u{200d}💻👩\u{200d}💻",
            ),
        ] {
            assert_eq!(wrapped(text, || 10), shown, "{text:?}");
        }
    }

    #[test]
    fn a_link_is_closed_at_a_break_and_opened_again() {
        let (open, close) = ("\u{1b}]8;;a:m\u{7}", "\u{1b}]8;;\u{7}");
        for (text, shown) in [
            ("one ‹two› three", "one ‹two›\nthree"),
            ("one ‹two three›", "one ‹two›\n‹three›"),
            ("see ‹abcdefghijklm›", "see ‹abcdef›\n‹ghijklm›"),
            ("‹abcdefghijklmnopqrstuvw› x", "‹abcdefghij›\n‹klmnopqrst›\n‹uvw› x"),
            ("  - ‹one two›", "  - ‹one›\n  ‹two›"),
            (
                "\u{1b}[2m(‹one two three›)\u{1b}[0m",
                "\u{1b}[2m(‹one two›\u{1b}[0m\n\u{1b}[2m‹three›)\u{1b}[0m",
            ),
        ] {
            let [text, shown] = [text, shown].map(|text| text.replace('‹', open).replace('›', close));
            assert_eq!(wrapped(&text, || 10), shown, "{text:?}");
        }
    }

    #[test]
    fn a_mark_is_repeated_as_told() {
        let (mut wrap, mut out) = (Wrap::new(|| 12), String::new());
        wrap.mark("> ", "> ", &mut out);
        wrap.mark("- ", "  ", &mut out);
        wrap.push("one two three", &mut out);
        wrap.newline(&mut out);
        wrap.push("plain", &mut out);
        wrap.finish(&mut out);
        assert_eq!(out, "> - one two\n>   three\nplain");
    }

    #[test]
    fn broken_lines_have_the_room_that_their_own_mark_leaves() {
        let (mut wrap, mut out) = (Wrap::new(|| 12), String::new());
        wrap.mark("long id  ", "  ", &mut out);
        wrap.push("one two three", &mut out);
        wrap.finish(&mut out);
        assert_eq!(out, "long id  one\n  two three");
    }
}
