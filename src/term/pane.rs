//! Wraps lines of a text for a narrow pane, between words where possible.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns between tab stops.
const TAB: usize = 4;

/// Appends `line` in rows of at most `columns`; a wider word is broken between characters.
pub fn wrap_line(line: &str, columns: usize, pieces: &mut Vec<String>) {
    let columns = columns.max(2);
    let (mut piece, mut taken) = (String::new(), 0);
    // Offset and column after the last space: a possible break.
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
