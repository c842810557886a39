//! Splits painted text into the lines of a pane, with a style for each part: a pane draws cells, not escape sequences.

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::escape_sequence::pieces;

/// Columns between tab stops, as in the other lines of a pane.
const TAB: usize = 4;

/// A line of a pane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaintedLine {
    pub text: String,
    /// Byte ranges of `text` in order; text between them is plain.
    pub styles: Vec<(Range<usize>, Style)>,
}

impl PaintedLine {
    fn push(&mut self, text: &str, style: Style) {
        let start = self.text.len();
        self.text.push_str(text);
        match self.styles.last_mut() {
            _ if style == Style::new() => {}
            Some((range, last)) if *last == style && range.end == start => range.end = self.text.len(),
            _ => self.styles.push((start..self.text.len(), style)),
        }
    }
}

/// Returns the lines of a painted text, at most `columns` wide: what is wider, like a line of code, is broken between
/// characters. Links are omitted.
pub fn painted_lines(painted: &str, columns: usize) -> Vec<PaintedLine> {
    let columns = columns.max(2);
    let (mut lines, mut line, mut taken, mut style) = (Vec::new(), PaintedLine::default(), 0, Style::new());
    for piece in pieces(painted) {
        if let Some(sequence) = piece.strip_prefix('\u{1b}') {
            style = sequence.strip_prefix('[').map_or(style, |codes| styled(style, codes));
            continue;
        }
        for character in piece.graphemes(true) {
            if character == "\n" {
                lines.push(std::mem::take(&mut line));
                taken = 0;
                continue;
            }
            let wide = if character == "\t" { TAB - taken % TAB } else { character.width() };
            if taken + wide > columns && taken > 0 {
                lines.push(std::mem::take(&mut line));
                taken = 0;
            }
            match character {
                "\t" => line.push(&" ".repeat(wide), style),
                character => line.push(character, style),
            }
            taken += wide;
        }
    }
    lines.push(line);
    lines
}

/// Applies the codes of an SGR sequence (ECMA-48, 8.3.117) that [`super::Paint`] writes.
fn styled(style: Style, codes: &str) -> Style {
    codes.trim_end_matches('m').split(';').fold(style, |style, code| match code {
        "1" => style.add_modifier(Modifier::BOLD),
        "2" => style.add_modifier(Modifier::DIM),
        "3" => style.add_modifier(Modifier::ITALIC),
        "4" => style.add_modifier(Modifier::UNDERLINED),
        "9" => style.add_modifier(Modifier::CROSSED_OUT),
        "31" => style.fg(Color::Red),
        "32" => style.fg(Color::Green),
        "33" => style.fg(Color::Yellow),
        "35" => style.fg(Color::Magenta),
        "36" => style.fg(Color::Cyan),
        _ => Style::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn painted_text_has_styles_and_fits() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        for (painted, columns, shown) in [
            ("", 10, &[("", &[][..])][..]),
            ("a \u{1b}[1mb\u{1b}[0m c", 10, &[("a b c", &[(2..3, bold)])]),
            ("\u{1b}[1mab\ncd\u{1b}[0m", 10, &[("ab", &[(0..2, bold)]), ("cd", &[(0..2, bold)])]),
            ("abc\u{1b}[1mdef", 4, &[("abcd", &[(3..4, bold)]), ("ef", &[(0..2, bold)])]),
            ("가나다", 5, &[("가나", &[]), ("다", &[])]),
            ("\tx\n", 10, &[("    x", &[]), ("", &[])]),
            ("\u{1b}]8;;a:m\u{7}me\u{1b}]8;;\u{7}", 10, &[("me", &[])]),
            ("\u{1b}[1;32ma\u{1b}[0m", 10, &[("a", &[(0..1, bold.fg(Color::Green))])]),
        ] {
            let lines = painted_lines(painted, columns);
            let lines: Vec<_> = lines.iter().map(|line| (line.text.as_str(), &*line.styles)).collect();
            assert_eq!(lines, shown, "{painted:?}");
        }
    }

    #[test]
    fn each_code_that_is_painted_has_a_style() {
        for code in ["1", "2", "3", "4", "9", "31", "32", "33", "35", "36"] {
            assert_ne!(styled(Style::new(), &format!("{code}m")), Style::new(), "{code}");
        }
    }
}
