//! Formats figures as aligned columns, with a bar per row on a terminal.

use crate::stats::{TallyRow, TallyRows};
use crate::term::{Column, Fit, Paint, Table, clean, cut};
use lepo_store::bubb::thousands;
use lepo_turn::config::short_cost;

/// Minimum and maximum columns of a bar; narrower ones are omitted.
const BAR: std::ops::RangeInclusive<usize> = 6..=24;

/// The key is cut only if nothing else helps: figures never are.
const KEY: Column = Column { most: 30, ..Column::CUT.at_least(10) };

/// Columns with this number or a greater one make way for a bar, others only on a terminal that is too narrow for them.
const FOR_BAR: u8 = 4;

/// Heading, formatter, the order of removal on a narrow terminal (the greatest goes first, 0 never), and whether it adds
/// up: a median does not, and has no total.
type Figure = (&'static str, fn(&TallyRow) -> String, u8, bool);

const FIGURES: &[Figure] = &[
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
    let all = || rows.rows.iter().chain([&rows.total]);
    let is_used = |figure: &&Figure| all().any(|row| !matches!((figure.1)(row).as_str(), "" | "0"));
    let figures: Vec<&Figure> = FIGURES.iter().filter(is_used).collect();
    let cells = |key: &str, figure: &dyn Fn(&Figure) -> String| -> Vec<String> {
        [clean(key).into_owned()].into_iter().chain(figures.iter().map(|one| figure(one))).collect()
    };
    let heading = cells("", &|figure| figure.0.to_string());
    let total =
        cells(&keys(&rows.total), &|figure| if figure.3 { (figure.1)(&rows.total) } else { String::new() });
    let each: Vec<_> = rows.rows.iter().map(|row| cells(&keys(row), &|figure| (figure.1)(row))).collect();

    let fit = |number| if number == 0 { Fit::Whole } else { Fit::Drop(number) };
    let figure_columns = figures.iter().map(|figure| Column { fit: fit(figure.2), ..Column::RIGHT });
    let bar_column = Column { fit: Fit::Rest(FOR_BAR), ..Column::REST.at_least(*BAR.start()) };
    let table_columns: Vec<Column> = [KEY].into_iter().chain(figure_columns).chain([bar_column]).collect();
    let table = Table::new(&table_columns, 2, [&heading, &total].into_iter().chain(&each), columns);

    let room = columns.map_or(0, |_| table.room().min(*BAR.end()));
    let most = rows.rows.iter().map(|row| row.input + row.output).max().unwrap_or(0);
    let plain = |_: usize, cell: &str| cell.to_string();
    let mut lines = vec![paint.dim(&table.line(&heading))];
    for (row, cells) in rows.rows.iter().zip(&each) {
        let rest = match names(row) {
            Some(subject) => paint.dim(&cut(&clean(&subject), table.room())),
            None if room >= *BAR.start() => paint.cyan(&bar(row.input + row.output, most, room)),
            None => String::new(),
        };
        lines.push(format!("{}  {rest}", table.painted(cells, plain)).trim_end().to_string());
    }
    lines.push(paint.bold(&table.painted(&total, plain)).trim_end().to_string());
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
    use crate::term::{Color, width};

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
