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
    let front =
        fold(text.split_whitespace(), |word| word.split_at(word.floor_char_boundary(MANY)).0, str::len);
    if boundary(&front, 2 * END).is_none() {
        return front;
    }
    // The end is folded from the end, so that a line of 10 MB is not folded whole for 12 characters.
    let cut = |word: &'_ str| word.ceil_char_boundary(word.len().saturating_sub(MANY));
    let back = fold(text.split_whitespace().rev(), |word| word.split_at(cut(word)).1, |_| 0);
    let first = front.split_at(boundary(&front, END).unwrap_or(front.len())).0;
    let last = match is_plain(&back) {
        true => back.char_indices().nth_back(END - 1),
        false => back.grapheme_indices(true).map(|(at, _)| (at, ' ')).nth_back(END - 1),
    };
    format!("{first} ... {}", back.split_at(last.map_or(0, |(at, _)| at)).1)
}

/// The beginning, as it is shown on a terminal: folded, cleaned, no wider than `columns`, and `...`
/// where it is cut.
pub fn excerpt_within(text: &str, columns: usize) -> String {
    const CUT: &str = "...";
    let folded = beginning(text);
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

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The beginning of a text, white space folded to single spaces and trimmed.
fn beginning(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars).take(MANY).collect()
}

/// Words with single spaces between, each put in at `place`; no more of them than an excerpt needs.
fn fold<'t>(
    words: impl Iterator<Item = &'t str>,
    cut: impl Fn(&'t str) -> &'t str,
    place: impl Fn(&str) -> usize,
) -> String {
    let (mut folded, mut plain, mut chars) = (String::new(), true, 0);
    for word in words {
        let word = cut(word);
        if !folded.is_empty() {
            folded.insert(place(&folded), ' ');
        }
        folded.insert_str(place(&folded), word);
        plain = plain && is_plain(word);
        chars += word.chars().count();
        if folded.len() > MANY || (plain && chars > 2 * END) {
            break;
        }
    }
    folded
}

/// Where the character of this number begins.
fn boundary(text: &str, number: usize) -> Option<usize> {
    match is_plain(text) {
        true => text.char_indices().nth(number).map(|(at, _)| at),
        false => text.grapheme_indices(true).nth(number).map(|(at, _)| at),
    }
}

/// Only letters that are a grapheme cluster each, whatever stands beside them: printable ASCII, kana, Han
/// and Hangul syllables. That is most texts, and to tell clusters apart is slow.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(c, ' '..='~' | '\u{3041}'..='\u{3096}' | '\u{30a0}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'
            | '가'..='힣')
    })
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
