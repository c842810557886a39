//! Shortens a bubb to its first 12 and last 12 characters, as the reader counts them, or to a line of the
//! terminal.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clean;

/// Grapheme clusters at each end.
const END: usize = 12;

/// Bytes that contain 25 grapheme clusters with any sane number of combining marks.
const MANY: usize = 4096;

/// Folds white space to single spaces and trims; then the first and last 12 characters with ` ... ` between
/// them, or the whole text up to 24.
pub fn excerpt(text: &str) -> String {
    let mut front = FoldedText::new();
    for word in text.split_whitespace() {
        front.text.push_str(if front.text.is_empty() { "" } else { " " });
        let word = word.split_at(word.floor_char_boundary(MANY)).0;
        front.text.push_str(word);
        if front.is_enough(word) {
            break;
        }
    }
    if front.boundary(2 * END).is_none() {
        return front.text;
    }
    // Folded from its end, so that a line of 10 MB is not folded whole for 12 characters.
    let mut back = FoldedText::new();
    for word in text.split_whitespace().rev() {
        back.text.insert_str(0, if back.text.is_empty() { "" } else { " " });
        let word = word.split_at(word.ceil_char_boundary(word.len().saturating_sub(MANY))).1;
        back.text.insert_str(0, word);
        if back.is_enough(word) {
            break;
        }
    }
    let first = front.text.split_at(front.boundary(END).unwrap_or_default()).0;
    let last = back.text.split_at(back.boundary_from_end(END).unwrap_or_default()).1;
    [first, " ... ", last].concat()
}

/// Returns the beginning for a terminal: folded, cleaned, at most `columns` wide, with `...` where it is cut.
pub fn excerpt_within(text: &str, columns: usize) -> String {
    cut(&clean(&beginning(text)), columns)
}

pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Cuts a line to at most `columns`, ending it with `...`.
pub fn cut(shown: &str, columns: usize) -> String {
    const CUT: &str = "...";
    let (mut width, mut whole, mut cut) = (0, 0, 0);
    for (at, character) in shown.grapheme_indices(true) {
        width += character.width();
        let end = at + character.len();
        if width + CUT.len() <= columns {
            cut = end;
        }
        if width > columns {
            let cut = shown.get(..cut).unwrap_or_default().trim_end();
            return if columns > CUT.len() { format!("{cut}{CUT}") } else { String::new() };
        }
        whole = end;
    }
    shown.get(..whole).unwrap_or_default().to_string()
}

pub fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// White space is folded to single spaces and trimmed.
fn beginning(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars).take(MANY).collect()
}

struct FoldedText {
    text: String,
    /// Unicode scalars so far.
    chars: usize,
    /// Some scalars may combine into one character: boundaries then need the slow segmentation.
    joins: bool,
}

impl FoldedText {
    fn new() -> FoldedText {
        // Enough for most excerpts: they are made by the hundred thousand.
        FoldedText { text: String::with_capacity(8 * END), chars: 0, joins: false }
    }

    /// Counts an appended word; returns whether more text cannot change the excerpt.
    fn is_enough(&mut self, word: &str) -> bool {
        for c in word.chars() {
            self.chars += 1;
            self.joins |= !stands_alone(c);
        }
        self.text.len() > MANY || (!self.joins && self.chars > 2 * END)
    }

    /// Offset of the character with this index.
    fn boundary(&self, number: usize) -> Option<usize> {
        match self.joins {
            true => self.text.grapheme_indices(true).map(|(at, _)| at).nth(number),
            false => self.text.char_indices().map(|(at, _)| at).nth(number),
        }
    }

    /// Offset of the last `number` characters.
    fn boundary_from_end(&self, number: usize) -> Option<usize> {
        match self.joins {
            true => self.text.grapheme_indices(true).map(|(at, _)| at).nth_back(number - 1),
            false => self.text.char_indices().map(|(at, _)| at).nth_back(number - 1),
        }
    }
}

/// Whether a scalar is a grapheme cluster of its own if its neighbours are too: printable ASCII, kana, Han
/// and Hangul syllables, which covers most texts.
fn stands_alone(c: char) -> bool {
    matches!(c, ' '..='~' | '가'..='힣' | '\u{4e00}'..='\u{9fff}' | '\u{3041}'..='\u{3096}' | '\u{30a0}'..='\u{30ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_text() {
        for (text, short) in [
            ("", ""),
            (" \n\t ", ""),
            ("hello", "hello"),
            ("  hello \n\n world ", "hello world"),
            ("123456789012345678901234", "123456789012345678901234"),
            ("1234567890123456789012345", "123456789012 ... 456789012345"),
            ("What is the capital of France, please?", "What is the  ... nce, please?"),
            (
                "이 아키텍처 어떻게 구성할까? 유저는 천 명이야.",
                "이 아키텍처 어떻게 구 ... ? 유저는 천 명이야.",
            ),
            // An emoji of three scalars and two joiners is one character.
            (&"👩\u{200d}💻".repeat(24), &"👩\u{200d}💻".repeat(24)),
            (
                &"👩\u{200d}💻".repeat(25),
                &format!("{} ... {}", "👩\u{200d}💻".repeat(12), "👩\u{200d}💻".repeat(12)),
            ),
            (&"e\u{301}".repeat(24), &"e\u{301}".repeat(24)),
            // A combining mark after a space forms one character with it.
            (&format!("{} \u{301}", "x".repeat(24)), &format!("xxxxxxxxxxxx ... {} \u{301}", "x".repeat(11))),
            ("가 나 다 라 마 바 사 아 자 차 카 타 파", "가 나 다 라 마 바  ...  아 자 차 카 타 파"),
        ] {
            assert_eq!(excerpt(text), short, "{text:?}");
        }
    }

    #[test]
    fn a_line_of_ten_megabytes_is_no_trouble() {
        let text = "x".repeat(10 << 20);
        assert_eq!(excerpt(&text), format!("{} ... {}", "x".repeat(12), "x".repeat(12)));
    }

    #[test]
    fn as_much_as_a_line_holds() {
        for (text, columns, short) in [
            ("hello", 5, "hello"),
            ("hello, world", 11, "hello, w..."),
            ("hello, world", 12, "hello, world"),
            ("  a \n\t b ", 10, "a b"),
            ("one two three", 7, "one..."),
            // Wide characters take two columns.
            ("한글은 두 칸이다", 16, "한글은 두 칸이다"),
            ("한글은 두 칸이다", 15, "한글은 두 칸..."),
            ("한글은 두 칸이다", 14, "한글은 두..."),
            ("한글", 3, ""),
            // The visible form counts, not the hidden character.
            ("\u{202e}ab", 10, "<U+202E>ab"),
            ("\u{202e}abc", 10, "<U+202E..."),
            ("\u{1b}[31mred", 8, "␛[31mred"),
            ("👩\u{200d}💻👩\u{200d}💻", 4, "👩\u{200d}💻👩\u{200d}💻"),
            ("", 5, ""),
            ("abc", 0, ""),
        ] {
            assert_eq!(excerpt_within(text, columns), short, "{text:?} in {columns}");
        }
    }
}
