//! Lays out rows in columns: each is as wide as its widest cell, and makes room where a terminal is too narrow.

use std::borrow::Cow;

use super::{cut, one_line, width};

/// How a column makes room on a narrow terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Is as wide as its widest cell.
    Whole,
    /// Is cut down to `least`.
    Cut,
    /// Is omitted, the greatest number first.
    Drop(u8),
    /// Follows the other columns and gets what remains of the line. Columns with this number or a greater one are
    /// omitted so that it has `least`.
    Rest(u8),
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The minimum width. A column with `Fit::Cut` may be narrower before it is cut.
    pub least: usize,
    /// The maximum width, in a pipe too.
    pub most: usize,
    pub fit: Fit,
    /// Whether the text ends at the right edge.
    pub is_right: bool,
}

impl Column {
    pub const WHOLE: Column = Column { least: 0, most: usize::MAX, fit: Fit::Whole, is_right: false };
    pub const RIGHT: Column = Column { is_right: true, ..Column::WHOLE };
    pub const CUT: Column = Column { fit: Fit::Cut, ..Column::WHOLE };
    pub const REST: Column = Column { fit: Fit::Rest(u8::MAX), ..Column::WHOLE };

    pub const fn at_least(self, least: usize) -> Column {
        Column { least, ..self }
    }
}

/// Columns with their widths. Cells are cleaned for a terminal; for a pipe their bytes do not change.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    /// In the order of `columns`; 0 for an omitted one.
    widths: Vec<usize>,
    rest: Column,
    /// Blanks between two columns.
    gap: usize,
    /// The width of the terminal.
    terminal: Option<usize>,
}

/// Blanks before a rest on a separate line.
const INDENT: usize = 4;

impl Table {
    /// Measures the rows, and makes room on a terminal of this width. A column without text and without a minimum width is
    /// omitted. Cells after the last column are not read.
    pub fn new(
        columns: &[Column],
        gap: usize,
        rows: impl IntoIterator<Item = impl AsRef<[String]>>,
        terminal: Option<usize>,
    ) -> Table {
        let (rest, columns): (Vec<Column>, Vec<Column>) =
            columns.iter().partition(|column| matches!(column.fit, Fit::Rest(_)));
        let rest = rest.first().copied().unwrap_or(Column::REST);
        let widths = vec![0; columns.len()];
        let mut table = Table { columns, widths, rest, gap, terminal };
        for row in rows {
            for (index, cell) in (0..table.widths.len()).zip(row.as_ref()) {
                table.widths[index] = table.widths[index].max(width(&table.visible(cell)));
            }
        }
        for (widest, column) in table.widths.iter_mut().zip(&table.columns) {
            let least = if column.fit == Fit::Cut { 0 } else { column.least };
            *widest = least.max(*widest).min(column.most);
        }
        match terminal {
            Some(columns) => table.within(columns),
            None => table,
        }
    }

    /// Makes room on a terminal of this width.
    pub fn within(&self, terminal: usize) -> Table {
        let mut table = Table { terminal: Some(terminal), ..self.clone() };
        let numbered = (0..).zip(&self.columns).filter_map(|(index, column)| match column.fit {
            Fit::Drop(number) => Some((number, index)),
            _ => None,
        });
        let mut numbered: Vec<(u8, usize)> = numbered.collect();
        numbered.sort_unstable();
        for (number, index) in numbered.into_iter().rev() {
            let is_for_rest = matches!(self.rest.fit, Fit::Rest(from) if number >= from);
            let spare = if is_for_rest { self.gap + self.rest.least } else { 0 };
            if table.fixed_width() + spare <= terminal {
                break;
            }
            table.widths[index] = 0;
        }
        for (index, column) in (0..).zip(&self.columns).filter(|(_, column)| column.fit == Fit::Cut) {
            let (widest, over) = (self.widths[index], table.fixed_width().saturating_sub(terminal));
            table.widths[index] = widest.saturating_sub(over).max(column.least).min(widest);
        }
        table
    }

    /// Whether a column is not omitted.
    pub fn is_shown(&self, index: usize) -> bool {
        self.widths.get(index).is_some_and(|width| *width > 0)
    }

    /// Returns the width of the columns before the rest.
    pub fn fixed_width(&self) -> usize {
        let shown = self.widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + self.gap).sum::<usize>().saturating_sub(self.gap)
    }

    /// Returns the width that remains for the rest.
    pub fn room(&self) -> usize {
        self.terminal.map_or(usize::MAX, |columns| columns.saturating_sub(self.fixed_width() + self.gap))
    }

    /// Returns a row without its rest.
    pub fn line(&self, cells: &[String]) -> String {
        self.painted(cells, |_, cell| cell.to_string()).trim_end().to_string()
    }

    /// Returns a row without its rest, but with the blanks before it. `paint` gets the index of a cell and its text.
    pub fn painted(&self, cells: &[String], paint: impl Fn(usize, &str) -> String) -> String {
        self.join_cells(cells, |index, cell| {
            let blanks = " ".repeat(self.widths[index].saturating_sub(width(cell)));
            match self.columns[index].is_right {
                true => blanks + &paint(index, cell),
                false => paint(index, cell) + &blanks,
            }
        })
    }

    /// Returns the lines of a row; `rest` formats its rest within a width. A rest that would have less than its `least`
    /// after the other cells, or is wider than the room there, is below them.
    pub fn row(&self, cells: &[String], rest: impl Fn(usize) -> String) -> String {
        let plain = |_: usize, cell: &str| cell.to_string();
        let (terminal, room) = (self.terminal.unwrap_or(usize::MAX), self.room());
        let is_wide = self.fixed_width() > terminal;
        let after = rest(room);
        let fits = room >= self.rest.least && after.lines().all(|line| width(line) <= room);
        let (begin, indent, rest) = if fits && !is_wide {
            let begin = self.painted(cells, plain) + &" ".repeat(self.gap);
            (begin, self.fixed_width() + self.gap, after)
        } else {
            // Without blanks more of the rows fit.
            let begin = if is_wide { self.join_cells(cells, plain) } else { self.line(cells) };
            (begin + "\n" + &" ".repeat(INDENT), INDENT, rest(terminal.saturating_sub(INDENT)))
        };
        let lines = rest.replace('\n', &format!("\n{}", " ".repeat(indent)));
        format!("{begin}{lines}").trim_end().to_string()
    }

    fn join_cells(&self, cells: &[String], format: impl Fn(usize, &str) -> String) -> String {
        let shown = cells.iter().enumerate().filter(|(index, _)| self.is_shown(*index));
        let shown = shown.map(|(index, cell)| {
            let (cell, Column { fit, most, .. }) = (self.visible(cell), self.columns[index]);
            match fit == Fit::Cut || most < usize::MAX {
                true => format(index, &cut(&cell, self.widths[index])),
                false => format(index, &cell),
            }
        });
        shown.collect::<Vec<_>>().join(&" ".repeat(self.gap))
    }

    fn visible<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        if self.terminal.is_some() { Cow::Owned(one_line(cell)) } else { Cow::Borrowed(cell) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fold;
    use super::*;

    fn rows() -> [[String; 3]; 3] {
        [["gpt", "1", "on"], ["로컬-모델", "1,234", "off"], ["cafe\u{301}", "20", ""]]
            .map(|row| row.map(String::from))
    }

    #[test]
    fn cells_of_all_scripts_are_aligned_and_control_characters_are_visible() {
        let columns = [Column::WHOLE, Column::RIGHT.at_least(6), Column::WHOLE];
        let table = Table::new(&columns, 2, rows(), None);
        let lines = rows().map(|row| table.line(&row));
        assert_eq!(lines, ["gpt             1  on", "로컬-모델   1,234  off", "cafe\u{301}           20"]);
        let rows =
            [["a\u{7}\u{202e}b".to_string(), "1".to_string()], ["cd\nef".to_string(), "2".to_string()]];
        let shown = |terminal| {
            let table = Table::new(&columns, 1, &rows, terminal);
            rows.each_ref().map(|row| table.line(row))
        };
        assert_eq!(shown(Some(80)), ["a␇<U+202E>b      1", "cd␊ef            2"]);
        assert!(shown(None)[0].starts_with("a\u{7}\u{202e}b"), "bytes of a pipe are not changed");
    }

    #[test]
    fn columns_make_room_in_their_order() {
        let drop = |number| Column { fit: Fit::Drop(number), ..Column::RIGHT };
        let columns = [
            Column::CUT.at_least(6),
            drop(1),
            drop(2),
            Column { fit: Fit::Rest(2), ..Column::REST.at_least(8) },
        ];
        let shown = |terminal| {
            let table = Table::new(&columns, 1, rows(), Some(terminal));
            (table.line(&rows()[1]), table.room())
        };
        for (terminal, line, room) in [
            (28, "로컬-모델 1,234 off", 8),
            // The rest is worth the column with its number, and no other.
            (27, "로컬-모델 1,234", 11),
            (15, "로컬-모델 1,234", 0),
            (14, "로컬-모델", 4),
            (8, "로컬-...", 0),
            (2, "로...", 0),
        ] {
            assert_eq!(shown(terminal), (line.to_string(), room), "{terminal}");
        }
    }

    #[test]
    fn a_column_without_text_is_omitted_and_a_later_row_is_cut_only_where_it_may_be() {
        let columns = [Column::WHOLE, Column { most: 4, ..Column::WHOLE }, Column::WHOLE];
        let measured = [["id", "abcd", ""].map(String::from)];
        let table = Table::new(&columns, 1, &measured, Some(80));
        assert!(table.is_shown(1) && !table.is_shown(2));
        assert_eq!(table.line(&["longer", "abcdefgh", ""].map(String::from)), "longer a...");
        assert_eq!(table.painted(&measured[0], |index, cell| format!("<{index}{cell}>")), "<0id> <1abcd>");
    }

    #[test]
    fn a_rest_is_after_its_row_or_below_it() {
        let columns = [Column::WHOLE, Column::WHOLE, Column::REST.at_least(6)];
        let row = |terminal, rest: &str| {
            Table::new(&columns, 1, rows(), terminal).row(&rows()[0], |room| match room {
                usize::MAX => rest.to_string(),
                _ => fold(rest, room),
            })
        };
        for (terminal, rest, shown) in [
            (None, "any text", "gpt       1     any text"),
            (Some(24), "any text", "gpt       1     any text"),
            (Some(23), "any text", "gpt       1     any\n                text"),
            (Some(22), "", "gpt       1"),
            (Some(21), "any text", "gpt       1\n    any text"),
            (Some(22), "longer-word", "gpt       1\n    longer-word"),
            (Some(14), "any text or two", "gpt 1\n    any text\n    or two"),
        ] {
            assert_eq!(row(terminal, rest), shown, "{terminal:?}");
        }
    }
}
