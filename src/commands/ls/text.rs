//! Formats rows of `lepo ls` without columns: lines for a pipe, pending requests, and `--long`.

use super::row::LsRow;
use crate::commands::Context;
use crate::commands::summary_line::in_brackets;
use crate::term::{excerpt_within, fold, width};
use lepo_base::time;

/// Prints `ID (HEIGHT): EXCERPT`, with the branches on a terminal.
pub fn short_line(row: &LsRow<'_>, context: &mut Context<'_>) {
    let address = row.address(row.name.id.to_string());
    context.out.trusted(&format!("{} ({}):", context.paint.yellow(&address), row.height));
    if let Some(text) = &row.last {
        context.out.untrusted(b" ");
        context.out.untrusted(text.as_bytes());
    }
    if row.is_ahead {
        context.out.trusted(&context.paint.cyan(&format!(" ({})", row.mark())));
    }
    if context.out.is_terminal() {
        context.out.trusted(&context.paint.cyan(&in_brackets(row.branches)));
    }
    context.out.trusted("\n");
}

pub fn long_line(row: &LsRow<'_>, columns: Option<usize>, context: &mut Context<'_>) {
    let id = row.address(row.name.id.to_string());
    let model = row.model().replace(char::is_whitespace, "_");
    let or_none = |text: String| if text.is_empty() { "-".to_string() } else { text };
    // Lines in a pipe have stable columns.
    let cost = columns
        .and_then(|_| row.facts.as_ref()?.cost.text())
        .map(|cost| format!("{cost} "))
        .unwrap_or_default();
    let facts = format!(
        " ({}) {} {} {} {cost}{} ",
        row.height,
        time::iso_minute(row.name.id.time()),
        or_none(model),
        or_none(row.tokens(|count| count.to_string())),
        if row.branches.is_empty() { "-".to_string() } else { format!("[{}]", row.branches.join(",")) },
    );
    let title = Some(row.title()).filter(|title| !title.is_empty());
    let mark = Some(row.mark().to_string()).filter(|mark| !mark.is_empty());
    let excerpts = mark.into_iter().chain(title).chain(row.excerpts()).collect::<Vec<_>>().join(" · ");
    // On a narrow terminal the excerpts get a separate line.
    let (between, room) = match columns {
        None => ("", usize::MAX),
        Some(columns) => match columns.saturating_sub(id.len() + width(&facts)) {
            0..24 => ("\n    ", columns.saturating_sub(4)),
            room => ("", room),
        },
    };
    context.out.trusted(&context.paint.yellow(&id));
    let facts = match columns.filter(|columns| id.len() + width(facts.trim_end()) > *columns) {
        None => facts,
        // Starts a new line after the height, so that no date is broken.
        Some(columns) => {
            let (height, rest) = facts.trim().split_once(' ').unwrap_or_default();
            format!(" {height}\n    {}", fold(rest, columns.saturating_sub(4)).replace('\n', "\n    "))
        }
    };
    let excerpts = excerpt_within(&excerpts, room);
    context.out.untrusted(
        format!("{}{between}{excerpts}", facts.trim_end_matches(if between.is_empty() { '\0' } else { ' ' }))
            .trim_end()
            .as_bytes(),
    );
    context.out.trusted("\n");
}
