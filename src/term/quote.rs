//! Quotes foreign text within lepo's output: every line of it gets a mark, and every wrapped row another, so
//! that the reader cannot take any of it for lepo's own output, nor a row for a line.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use super::clean;

/// Prefix of every line but the first.
pub const MARK: &str = "  | ";

/// Prefix of a row that continues a line wider than the terminal.
pub const GOES_ON: &str = "  + ";

/// Minimum columns for the text, even on a narrower terminal.
const NARROWEST: usize = 20;

/// Most consecutive blanks, and most consecutive empty lines, to print literally.
const BLANKS: usize = 40;
const EMPTY: usize = 3;

/// Formats `text`, cleaned, after `first` and the marks. Long runs of blanks, which could scroll the rest
/// away, are replaced by their number.
pub fn quote(first: &str, text: &str, columns: usize) -> String {
    let room = room(first, columns);
    let mut out = String::new();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let mut empty = 0;
        if is_blank(line) {
            empty = 1;
            while lines.next_if(|line| is_blank(line)).is_some() {
                empty += 1;
            }
        }
        match empty {
            0 => add(&mut out, first, &with_visible_blanks(&clean(line)), room),
            1..=EMPTY => (0..empty).for_each(|_| add(&mut out, first, "", room)),
            _ => add(&mut out, first, &format!("[… {empty} empty lines …]"), room),
        }
    }
    out
}

/// Columns for the text after `first` and the marks.
pub fn room(first: &str, columns: usize) -> usize {
    columns.saturating_sub(first.len().max(MARK.len()) + 1).max(NARROWEST)
}

fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || c == '\t')
}

fn add(out: &mut String, first: &str, line: &str, room: usize) {
    let begin = if out.is_empty() { first } else { MARK };
    out.push_str(begin);
    // After a blank prefix the text could complete a mark itself.
    let line = match begin.trim().is_empty().then(|| line.chars().next()).flatten() {
        Some(c @ ('|' | '+')) => &format!("<U+{:04X}>{}", c as u32, line.get(1..).unwrap_or_default()),
        _ => line,
    };
    let mut taken = 0;
    let mut put = |text: &str, wide: usize| {
        if taken + wide > room {
            out.push('\n');
            out.push_str(GOES_ON);
            taken = 0;
        }
        out.push_str(text);
        taken += wide;
    };
    for character in line.graphemes(true) {
        let wide = character.chars().map(widest).sum();
        if wide <= room {
            put(character, wide);
        } else {
            character.chars().for_each(|c| put(c.encode_utf8(&mut [0; 4]), widest(c)));
        }
    }
    out.push('\n');
}

/// Returns the most columns that any terminal uses for a scalar. Terminals disagree on joined emoji, on
/// marks, and on the width of ambiguous characters.
pub fn widest(c: char) -> usize {
    match c {
        // Advances to the next multiple of eight columns.
        '\t' => 8,
        ' '..='~' => 1,
        // Marks to which some terminals assign columns, and halves of flags, which others join.
        '\u{302a}'..='\u{302f}'
        | '\u{3099}'..='\u{309a}'
        | '\u{16fe0}'..='\u{16fff}'
        | '\u{1f1e6}'..='\u{1f1ff}' => 2,
        _ => c.width_cjk().unwrap_or(2).max(1),
    }
}

fn with_visible_blanks(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(is_space) {
        let (before, from) = rest.split_at(at);
        let after = from.trim_start_matches(is_space);
        let (blanks, after) = from.split_at(from.len() - after.len());
        out.push_str(before);
        match blanks.chars().count() {
            many if many > BLANKS => out.push_str(&format!("[… {many} blanks …]")),
            _ => out.push_str(blanks),
        }
        rest = after;
    }
    out + rest
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Formats the size of a text to approve that may not fit on the screen: `41 lines, 4000 bytes. `.
pub fn extent(text: &str, columns: usize) -> String {
    let lines = text.split('\n').count();
    match lines > 16 || text.len() > columns.saturating_mul(8) {
        true => format!("{lines} lines, {} bytes. ", text.len()),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::width;
    use super::*;

    #[test]
    fn no_line_stands_without_its_mark() {
        for (first, text, columns, shown) in [
            ("  $ ", "ls", 80, "  $ ls\n"),
            ("  $ ", "ls\n  in /w", 80, "  $ ls\n  |   in /w\n"),
            ("  ", "a\n\nb\r", 80, "  a\n  | \n  | b␍\n"),
            ("  | ", "", 80, "  | \n"),
            ("  ", "12345678901234567890123", 10, "  12345678901234567890\n  + 123\n"),
            ("  ", "가나다라마바사아자차카", 25, "  가나다라마바사아자차\n  + 카\n"),
            ("  ", "a\tb\tc\td", 25, "  a\tb\tc\n  + \td\n"),
            ("  $ ", "ls\n\n\n\n\nrm", 80, "  $ ls\n  | [… 4 empty lines …]\n  | rm\n"),
            ("  $ ", "ls\n \n\t\n\nrm", 80, "  $ ls\n  | \n  | \n  | \n  | rm\n"),
            // A row is distinct from a line, and the text cannot forge a mark.
            ("  ", "12345678901234567890\n123", 10, "  12345678901234567890\n  | 123\n"),
            ("  ", "| x: 1", 80, "  <U+007C> x: 1\n"),
            ("  ", "+ x", 80, "  <U+002B> x\n"),
            ("  $ ", "| x\n+ y", 80, "  $ | x\n  | + y\n"),
            ("  ", "x\u{202e}y\u{1b}[2J", 80, "  x<U+202E>y␛[2J\n"),
        ] {
            assert_eq!(quote(first, text, columns), shown, "{text:?}");
        }
        for columns in [25, 80] {
            let shown = quote("  ", &" 가\tx".repeat(99), columns);
            assert!(shown.lines().skip(1).all(|line| line.starts_with(GOES_ON)), "{shown}");
            assert!(shown.lines().all(|line| width(&line.replace('\t', "12345678")) < columns), "{shown}");
        }
        let padded = quote("  $ ", &format!("ls{}rm", " ".repeat(4000)), 80);
        assert_eq!(padded, "  $ ls[… 4000 blanks …]rm\n");
        // A family of four takes two columns, or eight, or more where joiners are shown.
        let families = quote("  ", &"👨\u{200d}👩\u{200d}👧\u{200d}👦".repeat(20), 40);
        assert!(families.lines().all(|line| line.chars().map(widest).sum::<usize>() <= 40), "{families}");
        let zalgo = quote("  ", &format!("a{}", "\u{301}".repeat(500)), 40);
        assert!(zalgo.lines().skip(1).all(|line| line.starts_with(GOES_ON)) && zalgo.lines().count() > 10);
        for c in ['\u{302e}', '\u{302f}', '\u{16ff0}', '\u{16ff1}', '\u{1f1e6}'] {
            let rows = quote("  ", &format!("a{c}").repeat(60), 80);
            assert!(rows.lines().all(|row| row.matches(c).count() <= 25), "{rows}");
        }
        assert_eq!(extent("ls", 80), "");
        assert_eq!(extent(&"x\n".repeat(41), 80), "42 lines, 82 bytes. ");
        assert_eq!(quote("  ", &"x".repeat(999), usize::MAX).lines().count(), 1);
    }
}
