//! Lays out the columns of `lepo ls --pending` on a terminal. Ids are whole, because they are copied from there, and so
//! are requests, because the user agrees to what is shown.

use std::path::PathBuf;

use super::row::LsRow;
use crate::commands::Context;
use crate::term::{Column, Fit, Paint, Table, clean, cut, quote, width};
use lepo_base::time;

/// Blanks before the branches on a separate line.
const INDENT: &str = "    ";

/// Id, date, and access with the sandbox, which leads the request on a narrow terminal.
const COLUMNS: [Column; 3] = [Column::WHOLE, Column::WHOLE, Column { fit: Fit::Drop(1), ..Column::WHOLE }];

/// Buffers all rows: few requests wait at a time.
pub struct RequestTable {
    now: u64,
    columns: usize,
    rows: Vec<RequestCells>,
}

struct RequestCells {
    /// The access is empty for the tool of a server.
    columns: [String; 3],
    /// The id with its colour and link.
    painted_id: String,
    /// A mark for a date ahead of now, and the branches.
    branches: String,
    request: String,
}

impl RequestTable {
    pub fn new(now: u64, columns: usize) -> RequestTable {
        RequestTable { now, columns, rows: Vec::new() }
    }

    /// Buffers a row; `path` returns the request's file.
    pub fn push(&mut self, row: &LsRow<'_>, path: impl FnOnce() -> PathBuf, paint: Paint) {
        let id = row.address(row.name.id.to_string());
        self.rows.push(RequestCells {
            painted_id: paint.file_link(path, &paint.yellow(&id)),
            columns: [id, time::short(row.name.id.time(), self.now), row.access.clone()],
            branches: row.mark_and_branches(),
            request: clean(row.last.as_deref().unwrap_or_default()).into_owned(),
        });
    }

    pub fn print(&mut self, context: &mut Context<'_>) {
        let table = lay_out(&self.rows, self.columns, context.paint);
        context.out.trusted(&table);
        self.rows.clear();
    }
}

fn lay_out(rows: &[RequestCells], columns: usize, paint: Paint) -> String {
    let table = Table::new(&COLUMNS, 1, rows.iter().map(|cells| &cells.columns), Some(columns));
    let row = |cells: &RequestCells| {
        let mut line = table.painted(&cells.columns, |index, cell| match index {
            0 => cells.painted_id.clone(),
            1 => paint.dim(cell),
            _ => cell.to_string(),
        });
        let mut request = cells.request.clone();
        if !table.is_shown(2) && !cells.columns[2].is_empty() {
            request.insert_str(0, &format!("{} ", cells.columns[2]));
        }
        let mut room = table.room();
        if width(&cells.branches) > room {
            let branches = cut(&cells.branches, columns.saturating_sub(INDENT.len()));
            line = format!("{}\n{INDENT}{}", line.trim_end(), paint.cyan(&branches));
            room = 0;
        } else if !cells.branches.is_empty() {
            line += &format!(" {}", paint.cyan(&cells.branches));
            room = room.saturating_sub(width(&cells.branches) + 1);
        }
        match room > 0 && width(&request) <= room {
            true => format!("{line} {request}\n"),
            false => format!("{}\n{}", line.trim_end(), quote("  ", &request, columns)),
        }
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    const IDS: [&str; 2] = ["01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B"];

    fn cells(id: &str, access: &str, branches: &str, request: &str) -> RequestCells {
        RequestCells {
            columns: [id, "5m", access].map(String::from),
            painted_id: id.into(),
            branches: branches.into(),
            request: request.into(),
        }
    }

    #[test]
    fn a_request_is_whole_below_its_columns_where_it_does_not_fit() {
        let [one, other] = IDS;
        let long = "echo a long request, or not";
        let rows = [
            cells(one, "read (sandboxed by bubblewrap)", "", "ls"),
            cells(other, "full (no sandbox)", "[main]", long),
            cells(one, "", "", "weather: get_weather {}"),
        ];
        for (columns, expected) in [
            (
                110,
                format!(
                    "{one} 5m read (sandboxed by bubblewrap) ls\n\
                     {other} 5m full (no sandbox)              [main] {long}\n\
                     {one} 5m                                weather: get_weather {{}}\n"
                ),
            ),
            (
                80,
                format!(
                    "{one} 5m read (sandboxed by bubblewrap) ls\n\
                     {other} 5m full (no sandbox)              [main]\n  {long}\n\
                     {one} 5m\n  weather: get_weather {{}}\n"
                ),
            ),
            (
                40,
                format!(
                    "{one} 5m\n  read (sandboxed by bubblewrap) ls\n\
                     {other} 5m [main]\n  full (no sandbox) echo a long reque\n  + st, or not\n\
                     {one} 5m\n  weather: get_weather {{}}\n"
                ),
            ),
        ] {
            let shown = lay_out(&rows, columns, Paint::new(Color::Never, true, |_| None));
            assert_eq!(shown, expected, "{columns}");
            assert!(shown.lines().all(|line| width(line) <= columns), "{shown}");
        }
        let rows = [cells(one, "full (no sandbox)", "dated ahead [a-branch-with-a-long-name-indeed]", "ls")];
        let shown = lay_out(&rows, 40, Paint::new(Color::Never, true, |_| None));
        let expected =
            format!("{one} 5m\n    dated ahead [a-branch-with-a-long...\n  full (no sandbox) ls\n");
        assert_eq!(shown, expected);
    }
}
