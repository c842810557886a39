//! A bubb in a few words: its first 12 and its last 12 characters, as people count them; or as much
//! as a line of a terminal holds.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clean;

/// Characters (grapheme clusters) kept at each end.
const END: usize = 12;

/// White space folded to single spaces and trimmed; the first and last 12 characters with ` ... `
/// between; 24 or fewer whole.
pub fn excerpt(text: &str) -> String {
    let folded = fold(text);
    let front: Vec<&str> = folded.graphemes(true).take(2 * END + 1).collect();
    if front.len() <= 2 * END {
        return front.concat();
    }
    // The end is folded from the end, so that a line of 10 MB is not folded whole for 12 characters.
    let mut back = Vec::new();
    let mut bytes = 0;
    for piece in text.split_whitespace().rev() {
        bytes += piece.len() + 1;
        back.push(piece);
        if bytes > MANY {
            break;
        }
    }
    back.reverse();
    let back = back.join(" ");
    let mut last: Vec<&str> = back.graphemes(true).rev().take(END).collect();
    last.reverse();
    format!("{} ... {}", front[..END].concat(), last.concat())
}

/// The beginning, as it is shown on a terminal: folded, cleaned, no wider than `columns`, and `...`
/// where it is cut.
pub fn excerpt_within(text: &str, columns: usize) -> String {
    const CUT: &str = "...";
    let folded = fold(text);
    let shown = clean(&folded);
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

/// Bytes that hold 25 grapheme clusters with any sane number of combining marks, or a line of a terminal.
const MANY: usize = 4096;

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The beginning of a text, white space folded to single spaces and trimmed.
fn fold(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars).take(MANY).collect()
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
        ] {
            assert_eq!(excerpt(text), short, "{text:?}");
        }
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

    #[test]
    fn a_line_of_ten_megabytes_is_no_trouble() {
        let text = "x".repeat(10 << 20);
        assert_eq!(excerpt(&text), format!("{} ... {}", "x".repeat(12), "x".repeat(12)));
    }
}
