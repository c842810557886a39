//! Words of others within lepo's own: every line of them behind a mark, also where the terminal would have
//! begun a new one, so that none of them can be taken for a line of lepo's.

use unicode_segmentation::UnicodeSegmentation;

use super::{clean, width};

/// What stands before every line but the first.
const MARK: &str = "  | ";

/// The least room for a line of them, where a terminal has hardly any.
const NARROWEST: usize = 20;

/// `text`, cleaned, behind `first` and then behind a mark, on a terminal of so many columns.
pub fn marked(first: &str, text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(first.len().max(MARK.len()) + 1).max(NARROWEST);
    let mut out = String::new();
    for line in text.split('\n') {
        let line = clean(line);
        out.push_str(if out.is_empty() { first } else { MARK });
        let mut taken = 0;
        for character in line.graphemes(true) {
            // A tab goes on to the next of eight columns.
            let wide = if character == "\t" { 8 } else { width(character) };
            if taken + wide > room {
                out.push('\n');
                out.push_str(MARK);
                taken = 0;
            }
            out.push_str(character);
            taken += wide;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_stands_without_its_mark() {
        for (first, text, columns, shown) in [
            ("  $ ", "ls", 80, "  $ ls\n"),
            ("  $ ", "ls\n  in /w", 80, "  $ ls\n  |   in /w\n"),
            ("  ", "a\n\nb\r", 80, "  a\n  | \n  | b␍\n"),
            ("  | ", "", 80, "  | \n"),
            ("  ", "12345678901234567890123", 10, "  12345678901234567890\n  | 123\n"),
            ("  ", "가나다라마바사아자차카", 25, "  가나다라마바사아자차\n  | 카\n"),
            ("  ", "a\tb\tc\td", 25, "  a\tb\tc\n  | \td\n"),
            ("  ", "x\u{202e}y\u{1b}[2J", 80, "  x<U+202E>y␛[2J\n"),
        ] {
            assert_eq!(marked(first, text, columns), shown, "{text:?}");
        }
        for columns in [25, 80] {
            let shown = marked("  ", &" 가\tx".repeat(99), columns);
            assert!(shown.lines().skip(1).all(|line| line.starts_with(MARK)), "{shown}");
            assert!(shown.lines().all(|line| width(&line.replace('\t', "12345678")) < columns), "{shown}");
        }
        assert_eq!(marked("  ", &"x".repeat(999), usize::MAX).lines().count(), 1);
    }
}
