//! Lines of a text as a narrow pane shows them: broken between words where that is possible.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a tab goes on to.
const TAB: usize = 4;

/// Appends a line in pieces no wider than `columns`. A word that is wider is broken between characters.
pub fn wrap_line(line: &str, columns: usize, pieces: &mut Vec<String>) {
    let columns = columns.max(2);
    let (mut piece, mut taken) = (String::new(), 0);
    // The place behind the last space, at which the piece may be broken.
    let mut space: Option<(usize, usize)> = None;
    for character in line.graphemes(true) {
        let (text, wide) = match character {
            "\t" => (" ".repeat(TAB - taken % TAB), TAB - taken % TAB),
            character => (character.to_string(), character.width()),
        };
        if taken + wide > columns && !piece.is_empty() {
            if character == " " {
                pieces.push(std::mem::take(&mut piece));
                (taken, space) = (0, None);
                continue;
            }
            let rest = match space.take() {
                Some((at, _)) => piece.split_off(at),
                None => String::new(),
            };
            pieces.push(std::mem::replace(&mut piece, rest));
            taken = piece.width();
        }
        piece.push_str(&text);
        taken += wide;
        if character == " " || character == "\t" {
            space = Some((piece.len(), taken));
        }
    }
    pieces.push(piece);
    for piece in pieces.iter_mut() {
        piece.truncate(piece.trim_end().len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        for (line, columns, pieces) in [
            ("", 10, &[""][..]),
            ("one two three", 9, &["one two", "three"]),
            ("one two three", 7, &["one two", "three"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("a abcdefghij", 4, &["a", "abcd", "efgh", "ij"]),
            ("한국어 단어도 셀 수 있어?", 10, &["한국어", "단어도 셀", "수 있어?"]),
            ("한국어단어도", 5, &["한국", "어단", "어도"]),
            ("\ta\tb", 20, &["    a   b"]),
            ("    indented", 20, &["    indented"]),
        ] {
            let mut made = Vec::new();
            wrap_line(line, columns, &mut made);
            assert_eq!(made, pieces, "{line:?} in {columns}");
            assert!(made.iter().all(|piece| piece.width() <= columns));
        }
    }
}
