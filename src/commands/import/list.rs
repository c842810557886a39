//! `lepo import` without arguments: lists the histories of other tools on this machine.

use std::time::UNIX_EPOCH;

use super::database::read_database;
use super::document::{ImportDocument, PlaceFields};
use super::sources::on_this_machine;
use crate::commands::Context;
use crate::term::{Column, Fit, Table};
use lepo_base::error::Result;
use lepo_base::time;
use lepo_import::{SourceFormat, SourceReader, ToolHistory};

/// Word, tool, count, size and day; then the path. The word says which tool it is, too.
const COLUMNS: [Column; 6] = [
    Column::WHOLE,
    Column { fit: Fit::Drop(2), ..Column::WHOLE },
    Column::WHOLE.at_least(15),
    Column::RIGHT.at_least(9),
    Column { fit: Fit::Drop(1), ..Column::WHOLE.at_least(10) },
    Column::REST,
];

/// Prints the list. Reads only sizes, dates and the number of conversations in databases.
pub fn run(wants_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let histories = on_this_machine();
    if wants_json {
        let fields = histories.iter().map(|history| {
            let (bytes, newest) = measure(history);
            PlaceFields {
                tool: history.tool,
                format: history.word,
                path: history.path.to_string_lossy(),
                conversations: conversations(history).unwrap_or(history.sources.len()),
                bytes,
                newest,
            }
        });
        context.out.document(&ImportDocument::Places { places: fields.collect() });
        return Ok(0);
    }
    if histories.is_empty() {
        context.print_hint(
            "no conversations of other tools found on this machine; to import an export: lepo import FILE",
        );
        return Ok(0);
    }
    let sizes: Vec<(u64, Option<u64>)> = histories.iter().map(measure).collect();
    // A database may take seconds to read: the columns are as wide for any count below a million.
    let measured = histories.iter().zip(&sizes).map(|(history, size)| cells(history, *size, None));
    let table = Table::new(&COLUMNS, 2, measured, context.out.columns());
    for (history, size) in histories.iter().zip(&sizes) {
        context.out.flush();
        let cells = cells(history, *size, conversations(history));
        context.out.line(&table.row(&cells, |_| history.path.display().to_string()));
    }
    // The hint on stderr must follow the list.
    context.out.flush();
    if context.out.is_terminal() {
        context.print_hint(format!("to import them: lepo import {}", arguments_for(&histories[0])));
    }
    Ok(0)
}

/// Returns the cells of a history with its size and date; `counted` are its conversations, if they are known.
fn cells(history: &ToolHistory, (size, newest): (u64, Option<u64>), counted: Option<usize>) -> [String; 5] {
    let count = counted.unwrap_or(history.sources.len());
    let unit = match (history.path.is_file(), counted) {
        (true, _) if history.format != SourceFormat::Database => "file",
        (true, None) => "database",
        (_, Some(1)) => "session",
        _ => "sessions",
    };
    let count = format!("{count:>6} {unit}");
    let newest = newest.map(time::day).unwrap_or_default();
    [history.word.into(), history.tool.into(), count, bytes(size), newest]
}

/// Returns the arguments that import a tool's history; with `--all` if the tool does not record directories.
fn arguments_for(history: &ToolHistory) -> String {
    let knows_directories = SourceFormat::parse(history.word).is_some_and(SourceFormat::knows_directories);
    format!("{}{}", history.word, if knows_directories { "" } else { " --all" })
}

/// Counts conversations; for a database by reading it. `None` if that fails.
fn conversations(history: &ToolHistory) -> Option<usize> {
    if history.format != SourceFormat::Database {
        return Some(history.sources.len());
    }
    let mut count = 0;
    for path in &history.sources {
        read_database(path, &mut SourceReader::default(), &mut |_, _| {
            count += 1;
            Ok(())
        })
        .ok()?;
    }
    Some(count)
}

/// Returns the total bytes of all sources, and when the newest was written.
fn measure(history: &ToolHistory) -> (u64, Option<u64>) {
    let metas = history.sources.iter().filter_map(|path| std::fs::metadata(path).ok());
    metas.fold((0, None), |(size, newest), meta| {
        let written = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (size + meta.len(), newest.max(written.map(|time| time.as_millis() as u64)))
    })
}

fn bytes(size: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (size as f64, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    if unit == 0 { format!("{size} B") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_short() {
        for (size, text) in [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_300_000_000, "2.3 GB")] {
            assert_eq!(bytes(size), text);
        }
    }
}
