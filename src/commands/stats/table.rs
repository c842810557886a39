//! Formats figures as aligned columns, with a bar per row on a terminal.

use crate::stats::{TallyRow, TallyRows};
use crate::term::{Paint, clean, cut, width};
use lepo_store::bubb::thousands;
use lepo_turn::config::short_cost;

/// Minimum and maximum columns of a bar; narrower ones are omitted.
const BAR: std::ops::RangeInclusive<usize> = 6..=24;

const KEY: usize = 30;

/// Minimum width of a truncated key.
const LEAST: usize = 10;

/// Heading, formatter, the order of removal on a narrow terminal (the greatest goes first), and whether it adds up: a
/// median does not, and has no total.
type Column = (&'static str, fn(&TallyRow) -> String, u8, bool);

const COLUMNS: &[Column] = &[
    ("questions", |row| thousands(row.questions), 3, true),
    ("answers", |row| thousands(row.answers), 1, true),
    ("failed", |row| thousands(row.failures), 4, true),
    ("in", |row| thousands(row.input), 0, true),
    ("cached", |row| thousands(row.cached), 5, true),
    ("out", |row| thousands(row.output), 0, true),
    ("first", |row| row.first_ms.map(seconds).unwrap_or_default(), 6, false),
    ("time", |row| row.ms.map(seconds).unwrap_or_default(), 2, false),
    (
        "cost",
        |row| row.cost.map(|cost| short_cost((cost * 1e12).round() as u128)).unwrap_or_default(),
        0,
        true,
    ),
];

/// Formats the table; `columns` is the terminal's width, `keys` formats a row's key, `names` its meaning.
pub fn lines(
    rows: &TallyRows,
    columns: Option<usize>,
    paint: Paint,
    keys: impl Fn(&TallyRow) -> String,
    names: impl Fn(&TallyRow) -> Option<String>,
) -> Vec<String> {
    let all: Vec<&TallyRow> = rows.rows.iter().chain([&rows.total]).collect();
    let key = all.iter().map(|row| width(&clean(&keys(row)))).max().unwrap_or_default().min(KEY);
    let cell = |column: &Column, row: &TallyRow, is_total: bool| match is_total && !column.3 {
        true => String::new(),
        false => column.1(row),
    };
    let empty = |column: &&Column| all.iter().all(|row| matches!((column.1)(row).as_str(), "" | "0"));
    let mut shown: Vec<&Column> = COLUMNS.iter().filter(|column| !empty(column)).collect();
    let wide = |column: &Column| {
        let cells = all.iter().map(|row| column.1(row).chars().count());
        cells.chain([column.0.len()]).max().unwrap_or_default()
    };
    let beside = |shown: &[&Column]| shown.iter().map(|column| wide(column) + 2).sum::<usize>();
    let widest = key;
    let taken = |shown: &[&Column]| widest + beside(shown);
    // The least important columns are removed in favour of a bar, others only if the terminal is too narrow.
    for (least, spare) in [(4, 2 + *BAR.start()), (1, 0)] {
        while columns.is_some_and(|columns| taken(&shown) + spare > columns) {
            let may_go = (0..shown.len()).filter(|&i| shown[i].2 >= least);
            let Some(last) = may_go.max_by_key(|&i| shown[i].2) else { break };
            shown.remove(last);
        }
    }
    // After that the keys are truncated: figures are never cut.
    let key = columns.map_or(key, |columns| key.min(columns.saturating_sub(beside(&shown)).max(LEAST)));
    let taken = |shown: &[&Column]| key + beside(shown);
    let room = columns.map(|columns| columns.saturating_sub(taken(&shown) + 2)).unwrap_or(0).min(*BAR.end());
    let most = rows.rows.iter().map(|row| row.input + row.output).max().unwrap_or(0);
    let heading: String = shown.iter().map(|column| format!("  {:>1$}", column.0, wide(column))).collect();
    let mut lines = vec![paint.dim(&format!("{}{heading}", " ".repeat(key)))];
    for (i, row) in all.iter().enumerate() {
        let is_total = i == rows.rows.len();
        let name = cut(&clean(&keys(row)), key);
        let pad = " ".repeat(key.saturating_sub(width(&name)));
        let cells: String = shown
            .iter()
            .map(|column| format!("  {:>1$}", cell(column, row, is_total), wide(column)))
            .collect();
        let mut line = format!("{name}{pad}{cells}");
        if is_total {
            line = paint.bold(&line);
        } else if let Some(subject) = names(row) {
            let left = columns.map_or(usize::MAX, |columns| columns.saturating_sub(taken(&shown) + 2));
            line += &format!("  {}", paint.dim(&cut(&clean(&subject), left)));
        } else if room >= *BAR.start() {
            line += &format!("  {}", paint.cyan(&bar(row.input + row.output, most, room)));
        }
        lines.push(line.trim_end().to_string());
    }
    lines
}

/// Formats a bar of block characters, in eighths of a column.
fn bar(value: u64, most: u64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(value) * (columns as u128 * 8) / u128::from(most.max(1));
    let eighths = (eighths as usize).max(usize::from(value > 0));
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Formats `0.3 s`, `12 s` or `3 min`.
fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        10_000..600_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min", ms / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    fn rows() -> TallyRows {
        let row = |key: &str, input, output, ms| TallyRow {
            key: key.into(),
            questions: 2,
            answers: 1_234,
            input,
            output,
            ms,
            ..TallyRow::default()
        };
        let total = row("total", 1_500, 300, Some(700));
        TallyRows {
            rows: vec![row("2026-11-21", 1_000, 200, Some(700)), row("한국어-모델", 500, 100, None)],
            total,
        }
    }

    #[test]
    fn columns_are_aligned_and_make_way() {
        let plain = Paint::new(Color::Never, false, |_| None);
        let table = |columns| lines(&rows(), columns, plain, |row| row.key.clone(), |_| None);
        assert_eq!(
            table(None),
            [
                "             questions  answers     in  out   time",
                "2026-11-21           2    1,234  1,000  200  0.7 s",
                "한국어-모델          2    1,234    500  100",
                "total                2    1,234  1,500  300",
            ]
        );
        let wide = table(Some(80));
        assert!(wide[1].ends_with(&"█".repeat(24)) && wide[2].ends_with(&"█".repeat(12)), "{wide:#?}");
        assert!(!wide[3].contains('█'), "the total has no bar");
        for columns in [20, 30, 40, 49, 60, 80, 200] {
            for line in table(Some(columns)) {
                assert!(width(&line) <= columns.max(34), "{columns}: {line}");
            }
        }
        let long = |_: &TallyRow| "2026-11-24 claude-opus-4-한국어".to_string();
        let narrow = lines(&rows(), Some(30), plain, long, |_| Some("수도".into()));
        assert_eq!(narrow[1], "2026-11-24 clau...  1,000  200", "{narrow:#?}");
    }

    #[test]
    fn bars_are_told_in_eighths() {
        for (value, most, text) in
            [(0, 8, ""), (8, 8, "██"), (4, 8, "█"), (1, 8, "▎"), (1, 1_000, "▏"), (0, 0, "")]
        {
            assert_eq!(bar(value, most, 2), text, "{value} of {most}");
        }
    }
}
