//! Lays out a table once it has ended: columns as wide as needed, or as the terminal allows.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::super::Paint;
use super::inline;
use super::style::{Span, Style, paint_spans};
use lepo_base::formula;
use lepo_turn::config::MathNotation;

const BORDER: &str = " │ ";
/// Minimum column width: leaves room for a wide character.
const NARROWEST: usize = 3;

pub fn is_delimiter(line: &str) -> bool {
    let cells = cells(line);
    let is_dashes = |cell: &String| {
        let dashes = cell.trim_matches(':');
        !dashes.is_empty() && dashes.chars().all(|c| c == '-') && cell.len() - dashes.len() <= 2
    };
    !cells.is_empty() && cells.iter().all(is_dashes)
}

/// Renders `lines`, the second of which is the delimiter row. Returns false, and appends nothing, if the
/// table does not fit into `columns`.
pub fn render(
    lines: &[String],
    columns: usize,
    (paint, notation): (Paint, MathNotation),
    out: &mut String,
) -> bool {
    let [head, delimiter, body @ ..] = lines else { return false };
    let sides: Vec<ColumnAlign> = cells(delimiter).iter().map(|cell| ColumnAlign::parse(cell)).collect();
    let row = |line: &String, style: Style| {
        let mut row: Vec<Vec<Span>> = cells(line).iter().map(|cell| spans(cell, notation, style)).collect();
        row.resize(sides.len(), Vec::new());
        row
    };
    let head = row(head, Style::BOLD);
    let body: Vec<_> = body.iter().map(|line| row(line, Style::default())).collect();
    let needed = |column: usize| {
        let cells = std::iter::once(&head).chain(&body).map(|row| width(&row[column]));
        cells.max().unwrap_or_default().max(NARROWEST)
    };
    let mut widths: Vec<usize> = (0..sides.len()).map(needed).collect();
    let borders = BORDER.width() * (sides.len() - 1);
    if !fit(&mut widths, columns.saturating_sub(borders)) {
        return false;
    }
    draw(&head, &widths, &sides, paint, out);
    let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    out.push_str(&paint.dim(&dashes.join("─┼─")));
    out.push('\n');
    for row in &body {
        draw(row, &widths, &sides, paint, out);
    }
    true
}

/// Narrows the widest column until the sum fits into `room`; false if that is impossible.
fn fit(widths: &mut [usize], room: usize) -> bool {
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => return false,
        }
    }
    true
}

#[derive(Clone, Copy)]
enum ColumnAlign {
    Left,
    Middle,
    Right,
}

impl ColumnAlign {
    fn parse(dashes: &str) -> ColumnAlign {
        match (dashes.starts_with(':'), dashes.ends_with(':')) {
            (true, true) => ColumnAlign::Middle,
            (false, true) => ColumnAlign::Right,
            _ => ColumnAlign::Left,
        }
    }
}

/// Splits a row into trimmed cells. A `|` after a backslash, inside code or inside a formula is not a border.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut escaped, mut in_code) = (Vec::new(), String::new(), false, false);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '$' | '\\') && !escaped && !in_code {
            if let Some(end) = formula::find_in_row(rest) {
                let (found, after) = rest.split_at(end);
                cell.push_str(&found.replace("\\|", "|"));
                rest = after;
                continue;
            }
            let dollars = formula::run(rest, '$');
            if dollars > 1 {
                let (run, after) = rest.split_at(dollars);
                cell.push_str(run);
                rest = after;
                continue;
            }
        }
        rest = rest.split_at(c.len_utf8()).1;
        if c == '|' && !escaped && !in_code {
            cells.push(std::mem::take(&mut cell).trim().to_string());
            continue;
        }
        if c == '|' && escaped {
            cell.pop();
        }
        in_code ^= c == '`';
        escaped = c == '\\' && !escaped;
        cell.push(c);
    }
    // The closing border is optional.
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_string());
    }
    cells
}

fn spans(text: &str, notation: MathNotation, style: Style) -> Vec<Span> {
    let mut spans = Vec::new();
    inline::read_whole(text, notation, style, &mut spans);
    spans
}

fn width(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.text.width()).sum()
}

/// Draws a row; it takes several terminal lines if a cell wraps.
fn draw(row: &[Vec<Span>], widths: &[usize], sides: &[ColumnAlign], paint: Paint, out: &mut String) {
    let cells: Vec<Vec<Vec<Span>>> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
    for line in 0..height {
        for (column, cell) in cells.iter().enumerate() {
            if column > 0 {
                out.push_str(&paint.dim(BORDER));
            }
            let spans = cell.get(line).map(Vec::as_slice).unwrap_or_default();
            let spare = widths[column].saturating_sub(width(spans));
            let left = match sides[column] {
                ColumnAlign::Left => 0,
                ColumnAlign::Middle => spare / 2,
                ColumnAlign::Right => spare,
            };
            out.push_str(&" ".repeat(left));
            paint_spans(spans, paint, out);
            if column + 1 < cells.len() {
                out.push_str(&" ".repeat(spare - left));
            }
        }
        out.push('\n');
    }
}

/// Breaks a cell into lines at a space if possible, else between characters.
fn wrap(spans: &[Span], columns: usize) -> Vec<Vec<Span>> {
    let characters: Vec<(&str, &Span)> =
        spans.iter().flat_map(|span| span.text.graphemes(true).map(move |text| (text, span))).collect();
    let (mut lines, mut start) = (Vec::new(), 0);
    while start < characters.len() {
        let (mut end, mut taken, mut space) = (start, 0, None);
        while let Some((text, _)) = characters.get(end) {
            taken += text.width();
            if taken > columns && end > start {
                break;
            }
            if *text == " " {
                space = Some(end);
            }
            end += 1;
        }
        let has_ended = end == characters.len();
        let (stop, next) = match (has_ended, space) {
            (false, _) if characters[end].0 == " " => (end, end + 1),
            (false, Some(space)) if space > start => (space, space + 1),
            _ => (end, end),
        };
        lines.push(join(&characters[start..stop]));
        start = next;
    }
    lines
}

fn join(characters: &[(&str, &Span)]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (text, span) in characters {
        match spans.last_mut() {
            Some(last) if last.style == span.style && last.link == span.link => last.text.push_str(text),
            _ => spans.push(Span { text: text.to_string(), style: span.style, link: span.link.clone() }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    fn drawn(table: &str, columns: usize) -> Option<String> {
        let lines: Vec<String> = table.lines().map(String::from).collect();
        let mut out = String::new();
        let paint = Paint::new(Color::Never, true, |_| None);
        render(&lines, columns, (paint, MathNotation::Unicode), &mut out).then_some(out)
    }

    #[test]
    fn columns_are_as_wide_as_they_need_to_be() {
        for (table, columns, shown) in [
            ("|a|b|\n|-|-|\n|1|2|", 80, "a   │ b\n────┼────\n1   │ 2\n"),
            (
                "| 이름 | n |\n|:--|--:|\n| 가나다라 | 10 |\n| x | 2000 |",
                80,
                "이름     │    n\n─────────┼─────\n가나다라 │   10\nx        │ 2000\n",
            ),
            (
                "|a|b|c|\n|:-:|-|-|\n|12345|\n|1|2|3|4|",
                80,
                "  a   │ b   │ c\n──────┼─────┼────\n12345 │     │ \n  1   │ 2   │ 3\n",
            ),
            ("|a|\n|-|\n|x \\| `y|z`|", 80, "a\n───────\nx | y|z\n"),
            (
                "|word|what it is|\n|-|-|\n|bubb|one message, one file|",
                20,
                "word │ what it is\n─────┼──────────────\nbubb │ one message,\n     │ one file\n",
            ),
            ("|가|나|\n|-|-|\n|가나다라마|x|", 12, "가     │ 나\n───────┼────\n가나다 │ x\n라마   │ \n"),
        ] {
            assert_eq!(drawn(table, columns).as_deref(), Some(shown), "{table}");
        }
        assert_eq!(drawn("|a|b|c|d|\n|-|-|-|-|", 12), None);
    }

    #[test]
    fn the_row_of_dashes() {
        for (line, is_one) in [
            ("|---|---|", true),
            ("| :-- | --: |", true),
            ("|-", true),
            ("|a|-|", false),
            ("||", false),
            ("| |", false),
            ("|--:--|", false),
        ] {
            assert_eq!(is_delimiter(line), is_one, "{line}");
        }
    }
}
