//! Lays out the columns of `lepo ls` on a terminal.

use std::collections::HashSet;
use std::path::PathBuf;

use super::row::LsRow;
use crate::commands::Context;
use crate::term::{Column, Fit, Paint, Table, clean, cut, width};
use crate::ui::ShortIds;
use lepo_base::time;
use lepo_store::bubb::plural_in_thousands;

/// On a narrower terminal a row takes two lines.
const ONE_LINE: usize = 64;

/// Minimum columns for the excerpts of a row on one line.
const LEAST: usize = 24;

/// Id, length, date, model and tokens; then branches and excerpts, for which tokens are omitted first, then the model.
const COLUMNS: [Column; 6] = [
    Column::WHOLE,
    Column::WHOLE,
    Column::WHOLE,
    Column { most: 20, fit: Fit::Drop(1), ..Column::WHOLE },
    Column { fit: Fit::Drop(2), ..Column::RIGHT },
    Column { fit: Fit::Rest(0), ..Column::REST.at_least(LEAST) },
];

/// Buffers rows until the first ones decide the widths of the columns.
pub struct ConvTable {
    shorts: ShortIds,
    now: u64,
    /// Prefix of each row: the project's path, if there are several stores.
    before: String,
    /// The project's path for a separate line, until it is printed.
    heading: Option<String>,
    waiting: Vec<Cells>,
    columns: usize,
    table: Option<Table>,
    titles: HashSet<String>,
}

impl ConvTable {
    const FIRST: usize = 64;

    /// Maximum columns of a project's path before a row.
    const OF_PATH: usize = 24;

    /// Prepares the rows of a project on a terminal with `columns`. If there are several stores, its path
    /// precedes each row, or the whole list if a row would get too narrow.
    pub fn new(shorts: ShortIds, now: u64, project: Option<&str>, columns: usize) -> ConvTable {
        let path = project.map(|project| clean(project).into_owned());
        let before = path.as_ref().map(|path| format!("{} ", end_of_path(path, ConvTable::OF_PATH)));
        let before = before.filter(|before| width(before) + ONE_LINE <= columns);
        ConvTable {
            shorts,
            now,
            heading: path.filter(|_| before.is_none()).map(|path| end_of_path(&path, columns)),
            columns: columns.saturating_sub(before.as_deref().map_or(0, width)),
            before: before.unwrap_or_default(),
            waiting: Vec::new(),
            table: None,
            titles: HashSet::new(),
        }
    }

    /// Prints a row, or buffers it until the widths are known; `path` returns the file of its end.
    pub fn push(&mut self, row: &LsRow<'_>, path: impl FnOnce() -> PathBuf, context: &mut Context<'_>) {
        let mut cells = Cells::new(row, &self.shorts, self.now);
        cells.painted_id = context.paint.file_link(path, &context.paint.yellow(&cells.columns[0]));
        cells.is_fork = !cells.title.is_empty() && !self.titles.insert(cells.title.clone());
        self.waiting.push(cells);
        if self.table.is_some() || self.waiting.len() == ConvTable::FIRST {
            self.print(context);
        }
    }

    pub fn print(&mut self, context: &mut Context<'_>) {
        let table = self.table.get_or_insert_with(|| table_for(&self.waiting, self.columns));
        if let Some(heading) = self.heading.take_if(|_| !self.waiting.is_empty()) {
            context.out.trusted(&format!("{}\n", context.paint.bold(&heading)));
        }
        for cells in self.waiting.drain(..) {
            context.out.trusted(&context.paint.dim(&self.before));
            context.out.trusted(&lay_out(&cells, table, self.columns, context.paint));
        }
    }
}

pub fn end_of_path(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_string();
    }
    let skipped = path.chars().count().saturating_sub(columns);
    let mut end: String = path.chars().skip(skipped).collect();
    while width(&end) >= columns.max(1) {
        end.remove(0);
    }
    format!("…{end}")
}

#[derive(Debug, Clone)]
struct Cells {
    columns: [String; 5],
    /// The id with its colour and link.
    painted_id: String,
    /// A mark for a date ahead of now, and the branches.
    branches: String,
    title: String,
    /// An earlier row has the same title, which is less informative than the last question.
    is_fork: bool,
    /// The first question, the last, and an answer if another row has the same last question.
    excerpts: Vec<String>,
}

impl Cells {
    fn new(row: &LsRow<'_>, shorts: &ShortIds, now: u64) -> Cells {
        Cells {
            columns: [
                row.address(shorts.show(row.name.id)),
                plural_in_thousands(row.questions as usize, "question"),
                time::short(row.name.id.time(), now),
                row.model(),
                row.tokens(short_count),
            ],
            painted_id: String::new(),
            branches: row.mark_and_branches(),
            title: row.title(),
            is_fork: false,
            excerpts: row.excerpts(),
        }
    }
}

fn table_for(rows: &[Cells], terminal: usize) -> Table {
    let mut columns = COLUMNS;
    if terminal < 100 {
        columns[3].most = 12;
    }
    Table::new(&columns, 1, rows.iter().map(|cells| &cells.columns), Some(terminal))
}

fn lay_out(cells: &Cells, table: &Table, columns: usize, paint: Paint) -> String {
    let branches = if cells.branches.is_empty() { String::new() } else { format!("{} ", cells.branches) };
    if columns < ONE_LINE {
        let [id, length, when, model, _] = &cells.columns;
        let mut room = columns.saturating_sub(id.len() + 1 + length.len());
        let mut line = format!("{} {length}", cells.painted_id);
        for (text, painted) in [
            (when, paint.dim(when)),
            (&cells.branches, paint.cyan(&cells.branches)),
            (model, paint.dim(model)),
        ] {
            let takes = width(text) + 1;
            if !text.is_empty() && takes <= room {
                room -= takes;
                line += &format!(" {painted}");
            }
        }
        let excerpts = excerpts(cells, columns.saturating_sub(4), paint);
        let below = if excerpts.is_empty() { String::new() } else { format!("    {excerpts}\n") };
        return format!("{line}\n{below}");
    }
    // Only few rows have branches: they omit a column in their own row alone.
    let table = table.within(columns.saturating_sub(width(&branches).saturating_sub(LEAST / 2)));
    let line = table.painted(&cells.columns, |index, cell| match index {
        0 => cells.painted_id.clone(),
        1 => cell.to_string(),
        _ => paint.dim(cell),
    });
    let room = columns.saturating_sub(table.fixed_width() + 1 + width(&branches));
    let line = format!("{line} {}{}", paint.cyan(&branches), excerpts(cells, room, paint));
    format!("{}\n", line.trim_end())
}

/// Formats title, first and last question within `room` columns.
fn excerpts(cells: &Cells, room: usize, paint: Paint) -> String {
    const BETWEEN: &str = " · ";
    let mut parts: Vec<&str> = Vec::new();
    parts.extend((!cells.title.is_empty()).then_some(cells.title.as_str()));
    parts.extend(cells.excerpts.iter().map(String::as_str));
    // If not all fit, the title comes first, then the last question.
    let mut is_titled = !cells.title.is_empty();
    while parts.len() > 1 && is_cramped(&parts, room, width(BETWEEN)) {
        if is_titled && cells.is_fork && parts.len() == 2 {
            parts.remove(0);
            is_titled = false;
            break;
        }
        let least = if is_titled { 1 } else { parts.len() - 2 };
        parts.remove(least);
    }
    let room = room.saturating_sub(width(BETWEEN) * parts.len().saturating_sub(1));
    let shares = shares(&parts.iter().map(|part| width(part)).collect::<Vec<_>>(), room);
    let shown = parts.iter().zip(shares).enumerate().map(|(i, (part, share))| {
        let part = cut(part, share);
        if i == 0 && is_titled { paint.bold(&part) } else { part }
    });
    shown.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&paint.dim(BETWEEN))
}

/// Whether a part would be cut too short to be useful.
fn is_cramped(parts: &[&str], room: usize, between: usize) -> bool {
    const FEW: usize = 12;
    let needs: Vec<usize> = parts.iter().map(|part| width(part)).collect();
    let room = room.saturating_sub(between * parts.len().saturating_sub(1));
    needs.iter().zip(shares(&needs, room)).any(|(need, share)| share < FEW.min(*need))
}

/// Divides the room: each part gets what it needs, and longer parts share the rest evenly.
fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&i| needs[i]);
    let (mut left, mut shares) = (room, vec![0; needs.len()]);
    for (done, &i) in order.iter().enumerate() {
        shares[i] = needs[i].min(left / (needs.len() - done));
        left -= shares[i];
    }
    shares
}

/// Formats `950`, `3.1k`, `128k`, `1.2M`.
fn short_count(count: u64) -> String {
    let in_units = |unit: u64, letter: char| match count / unit {
        whole @ 0..10 => format!("{whole}.{}{letter}", count % unit * 10 / unit),
        whole => format!("{whole}{letter}"),
    };
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => in_units(1000, 'k'),
        _ => in_units(1_000_000, 'M'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_its_columns() {
        for (path, shown) in [
            ("/home/me/lepo", "/home/me/lepo"),
            ("/home/me/projects/a-long-name", "…me/projects/a-long-name"),
            ("/home/나/작업/아주-긴-이름의-프로젝트", "…아주-긴-이름의-프로젝트"),
        ] {
            assert_eq!(end_of_path(path, ConvTable::OF_PATH), shown);
            assert!(width(shown) <= ConvTable::OF_PATH);
        }
    }
    use crate::term::Color;

    fn cells() -> Cells {
        Cells {
            columns: ["X1Y3Z5A0", "12 questions", "2h", "gpt-4o", "3.1k/128k"].map(String::from),
            painted_id: "X1Y3Z5A0".into(),
            branches: "[main]".into(),
            title: String::new(),
            is_fork: false,
            excerpts: vec!["How do I parse a date?".into(), "and what of the time zones?".into()],
        }
    }

    #[test]
    fn a_row_uses_the_width_there_is() {
        let paint = Paint::new(Color::Never, true, |_| None);
        let shown = |cells: &Cells, columns: usize| {
            let table = table_for(std::slice::from_ref(cells), columns);
            let laid = lay_out(cells, &table, columns, paint);
            assert!(laid.lines().all(|line| width(line) <= columns), "{laid}");
            laid
        };
        let id = "X1Y3Z5A0";
        for (columns, line) in [
            (
                120,
                "12 questions 2h gpt-4o 3.1k/128k [main] How do I parse a date? · and what of the time zones?\n",
            ),
            (80, "12 questions 2h gpt-4o 3.1k/128k [main] How do I pa... · and what of...\n"),
            (40, "12 questions 2h [main] gpt-4o\n    How do I pars... · and what of th...\n"),
        ] {
            assert_eq!(shown(&cells(), columns), format!("{id} {line}"), "{columns}");
        }
        let titled = Cells { title: "Dates".into(), branches: String::new(), ..cells() };
        assert!(shown(&titled, 120).contains(" Dates · How do I parse"));
        let titled = Cells { title: "A long title of dates".into(), ..titled };
        let fork = Cells { is_fork: true, ..titled.clone() };
        assert!(shown(&titled, 66).ends_with(" A long title of dates\n"), "{}", shown(&titled, 66));
        assert!(shown(&fork, 66).ends_with(" and what of the time...\n"), "{}", shown(&fork, 66));
        assert!(shown(&fork, 120).contains(" A long title"));
        let korean = Cells {
            excerpts: vec!["날짜를 어떻게 읽나요? 그리고 시간대는 어떻게 하나요?".into()],
            ..cells()
        };
        for columns in [34, 40, 64, 80, 200] {
            shown(&korean, columns);
        }
        assert_eq!(shown(&Cells { excerpts: Vec::new(), ..cells() }, 40).lines().count(), 1);
    }

    #[test]
    fn what_needs_little_leaves_room_for_the_others() {
        for (needs, room, given) in [
            (vec![5, 50], 30, vec![5, 25]),
            (vec![50, 5], 30, vec![25, 5]),
            (vec![50, 50], 31, vec![15, 16]),
            (vec![3, 3], 30, vec![3, 3]),
            (vec![], 30, vec![]),
        ] {
            assert_eq!(shares(&needs, room), given);
        }
    }

    #[test]
    fn counts_are_short() {
        for (count, text) in
            [(0, "0"), (999, "999"), (3100, "3.1k"), (9999, "9.9k"), (128_000, "128k"), (1_250_000, "1.2M")]
        {
            assert_eq!(short_count(count), text);
        }
    }
}
