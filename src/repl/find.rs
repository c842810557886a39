//! `/grep`: finds messages by their text, numbered for `/tail`.

use std::ops::ControlFlow;

use super::session::ReplSession;
use crate::term::{Column, Table, columns, excerpt_within, fitting, print_status, warn};
use crate::ui::ShortIds;
use lepo_base::error::Result;
use lepo_base::time;
use lepo_search::{FileResult, FoundLine, LineKind, Pattern, PatternOptions, search_files};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::ReadScope;
use lepo_store::store::now;

/// The columns of a list of the session: number and three facts; then the text, below them on a narrow terminal.
pub(super) const COLUMNS: [Column; 5] =
    [Column::RIGHT.at_least(4), Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::REST.at_least(12)];

/// The number of visible characters before a match.
const BEFORE: usize = 16;

/// Lists the newest visible messages with a matching line, each with that line. A capital in the pattern makes it
/// case-sensitive.
pub(super) fn find(session: &mut ReplSession<'_>, text: &str) -> Result<()> {
    let pattern = Pattern::new(text, PatternOptions::smart_case(text))?;
    let forest = session.store.forest_for(&[ReadScope::All { peers: true }])?;
    let visible = forest.all().rev().map(|ix| forest.name(ix)).filter(|name| !name.hidden);
    let mut found: Vec<(BubbName, String)> = Vec::new();
    let most = most_listed();
    let _ = search_files(&session.store, &pattern, visible, |outcome| {
        match outcome {
            FileResult::Found(name, lines) => found.push((name, matched(&lines))),
            FileResult::Unreadable(error) => warn(&error),
        }
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let shorts = ShortIds::new(forest.all().map(|ix| forest.name(ix).id));
    let now = now();
    let cells = |(index, (name, _)): (usize, &(BubbName, String))| {
        [format!("{} ", index + 1), shorts.show(name.id), time::short(name.id.time(), now), name.tag()]
    };
    let rows: Vec<[String; 4]> = found.iter().enumerate().map(cells).collect();
    let table = Table::new(&COLUMNS, 1, &rows, Some(columns()));
    for (cells, (_, line)) in rows.iter().zip(&found) {
        print_status(&table.row(cells, |room| excerpt_within(line, room)));
    }
    session.numbered = found.iter().map(|(name, _)| name.id).collect::<Vec<BubbId>>();
    print_status(match found.len() {
        0 => "no matches",
        count if count == most => "these are the newest; /tail NUMBER continues one",
        _ => "/tail NUMBER continues one",
    });
    Ok(())
}

/// Returns the maximum length of a list, so that its first entry, the newest, stays on the screen.
pub(super) fn most_listed() -> usize {
    const LISTED: usize = 15;
    /// On a terminal narrower than this, an entry wraps to two lines.
    const NARROW: usize = 56;
    fitting(if columns() < NARROW { 2 } else { 1 }, LISTED)
}

/// Returns the first matching line, from [`BEFORE`] characters before the match.
fn matched(lines: &[FoundLine]) -> String {
    let Some(line) = lines.iter().find(|line| line.kind == LineKind::Match) else { return String::new() };
    let at = line.matches.first().map(|range| range.start).unwrap_or_default();
    let (before, rest) = line.bytes.split_at_checked(at).unwrap_or((&[], &line.bytes));
    let (before, rest) = (String::from_utf8_lossy(before), String::from_utf8_lossy(rest));
    let cut = before.chars().count().saturating_sub(BEFORE);
    let before: String = before.chars().skip(cut).collect();
    format!("{}{before}{rest}", if cut > 0 { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_from_a_little_before_its_match() {
        let pattern = Pattern::new("needle", PatternOptions::default()).unwrap();
        for (text, shown) in [
            ("x\na needle here\nneedle", "a needle here"),
            ("가나다라마바사아자차카타파하 그리고 needle!", "…라마바사아자차카타파하 그리고 needle!"),
        ] {
            assert_eq!(matched(&pattern.lines(text.as_bytes())), shown);
        }
    }
}
