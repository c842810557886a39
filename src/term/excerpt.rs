//! A bubb in a few words: its first 12 and its last 12 characters, as people count them.

use unicode_segmentation::UnicodeSegmentation;

/// Characters (grapheme clusters) kept at each end.
const END: usize = 12;

/// White space folded to single spaces and trimmed; the first and last 12 characters with ` ... `
/// between; 24 or fewer whole.
pub fn excerpt(text: &str) -> String {
    let words = || text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    let folded_front: String = take_chars(words());
    let front: Vec<&str> = folded_front.graphemes(true).take(2 * END + 1).collect();
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

/// Bytes that hold 25 grapheme clusters with any sane number of combining marks.
const MANY: usize = 4096;

fn take_chars<'t>(pieces: impl Iterator<Item = &'t str>) -> String {
    pieces.flat_map(str::chars).take(MANY).collect()
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
    fn a_line_of_ten_megabytes_is_no_trouble() {
        let text = "x".repeat(10 << 20);
        assert_eq!(excerpt(&text), format!("{} ... {}", "x".repeat(12), "x".repeat(12)));
    }
}
