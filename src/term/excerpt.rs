//! A bubb in a few words: its first 12 and its last 12 characters, as people count them; or as much
//! as a line of a terminal holds.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clean;

/// Characters (grapheme clusters) kept at each end.
const END: usize = 12;

/// Bytes that hold 25 grapheme clusters with any sane number of combining marks.
const MANY: usize = 4096;

/// White space folded to single spaces and trimmed; the first and last 12 characters with ` ... `
/// between; 24 or fewer whole.
pub fn excerpt(text: &str) -> String {
    let mut front = Folded::new();
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
    // The end is folded from the end, so that a line of 10 MB is not folded whole for 12 characters.
    let mut back = Folded::new();
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

/// The beginning, as it is shown on a terminal: folded, cleaned, no wider than `columns`, and `...`
/// where it is cut.
pub fn excerpt_within(text: &str, columns: usize) -> String {
    cut(&clean(&beginning(text)), columns)
}

/// A text in a column of this width, with spaces behind it.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// One line that is no wider than `columns`, with `...` where it is cut.
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

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The beginning of a text, white space folded to single spaces and trimmed.
fn beginning(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars).take(MANY).collect()
}

/// Words with single spaces between.
struct Folded {
    text: String,
    /// Scalars of the words so far.
    chars: usize,
    /// Some of them may join others to one character, which is slow to tell.
    joins: bool,
}

impl Folded {
    fn new() -> Folded {
        // As much as most excerpts need: they are made by the hundred thousand.
        Folded { text: String::with_capacity(8 * END), chars: 0, joins: false }
    }

    /// Counts a word that was put in; true if more would not change an excerpt.
    fn is_enough(&mut self, word: &str) -> bool {
        for c in word.chars() {
            self.chars += 1;
            self.joins |= !stands_alone(c);
        }
        self.text.len() > MANY || (!self.joins && self.chars > 2 * END)
    }

    /// The offset of the character of this number.
    fn boundary(&self, number: usize) -> Option<usize> {
        match self.joins {
            true => self.text.grapheme_indices(true).map(|(at, _)| at).nth(number),
            false => self.text.char_indices().map(|(at, _)| at).nth(number),
        }
    }

    /// The offset of the last so many characters.
    fn boundary_from_end(&self, number: usize) -> Option<usize> {
        match self.joins {
            true => self.text.grapheme_indices(true).map(|(at, _)| at).nth_back(number - 1),
            false => self.text.char_indices().map(|(at, _)| at).nth_back(number - 1),
        }
    }
}

/// True if a scalar is a grapheme cluster whenever its neighbours stand alone too: printable ASCII, kana,
/// Han and Hangul syllables, which is most texts.
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
            // one person of three scalars and two joiners is one character
            (&"👩\u{200d}💻".repeat(24), &"👩\u{200d}💻".repeat(24)),
            (
                &"👩\u{200d}💻".repeat(25),
                &format!("{} ... {}", "👩\u{200d}💻".repeat(12), "👩\u{200d}💻".repeat(12)),
            ),
            (&"e\u{301}".repeat(24), &"e\u{301}".repeat(24)),
            // a mark alone on a space is a character with it
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
            // wide characters are two columns
            ("한글은 두 칸이다", 16, "한글은 두 칸이다"),
            ("한글은 두 칸이다", 15, "한글은 두 칸..."),
            ("한글은 두 칸이다", 14, "한글은 두..."),
            ("한글", 3, ""),
            // what is made visible is as wide as it is shown
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
