//! The rows of models at work: state, seconds, tokens. Pure values; the view draws them.

use std::time::Instant;

use crate::term::{Column, Fit, Table};
use lepo_model::Usage;
use lepo_store::bubb::plural_in_thousands;

/// Name, state, seconds, and tokens if there is room. The minimum widths are usual ones, so that columns seldom move.
const COLUMNS: [Column; 4] = [
    Column { most: 20, ..Column::WHOLE },
    Column::WHOLE.at_least("answering".len()),
    Column::RIGHT.at_least(" 0.0 s".len()),
    Column { fit: Fit::Drop(1), ..Column::WHOLE },
];

#[derive(Default)]
pub struct ModelRows {
    pub title: Option<String>,
    rows: Vec<ModelRow>,
}

struct ModelRow {
    name: String,
    state: String,
    since: Instant,
    /// Text fragments so far, each of which is about one token.
    pieces: u64,
    /// The total time in milliseconds, and the reported tokens, once the model is done.
    totals: Option<(u64, Option<u64>)>,
}

impl ModelRows {
    pub fn clear(&mut self) {
        *self = ModelRows::default();
    }

    pub fn start(&mut self, name: &str, state: &str) {
        self.rows.retain(|row| row.name != name);
        self.rows.push(ModelRow {
            name: name.into(),
            state: state.into(),
            since: Instant::now(),
            pieces: 0,
            totals: None,
        });
    }

    /// Updates the state of one row.
    pub fn update(&mut self, name: &str, state: &str, is_text: bool) {
        if let Some(row) = self.row_mut(name) {
            row.state = state.into();
            row.pieces += u64::from(is_text);
        }
    }

    /// Marks a row as done, which stops its seconds.
    pub fn end(&mut self, name: &str, state: &str, usage: Usage) {
        if let Some(row) = self.row_mut(name) {
            row.state = state.into();
            row.totals = Some((row.since.elapsed().as_millis() as u64, usage.output));
        }
    }

    /// Returns a line for each model, without tokens if they exceed `columns`; empty once all are done.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        if self.rows.iter().all(|row| row.totals.is_some()) {
            return Vec::new();
        }
        let rows: Vec<[String; 4]> = self.rows.iter().map(ModelRow::cells).collect();
        let table = Table::new(&COLUMNS, 2, &rows, Some(columns));
        self.title.iter().cloned().chain(rows.iter().map(|cells| table.line(cells))).collect()
    }

    fn row_mut(&mut self, name: &str) -> Option<&mut ModelRow> {
        self.rows.iter_mut().find(|row| row.name == name)
    }
}

impl ModelRow {
    fn cells(&self) -> [String; 4] {
        let (ms, tokens_of_answer) =
            self.totals.unwrap_or_else(|| (self.since.elapsed().as_millis() as u64, None));
        let tokens = tokens_of_answer.or(Some(self.pieces).filter(|&pieces| pieces > 0));
        let tokens = tokens.map(|tokens| plural_in_thousands(tokens as usize, "token"));
        let seconds = format!("{}.{} s", ms / 1000, ms % 1000 / 100);
        [self.name.clone(), self.state.clone(), seconds, tokens.unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_state_seconds_and_tokens() {
        let mut rows = ModelRows::default();
        rows.start("claude", "waiting");
        rows.start("제미니", "waiting");
        rows.update("claude", "answering", true);
        rows.update("claude", "answering", true);
        rows.end("제미니", "done", Usage { output: Some(34), ..Usage::default() });
        assert_eq!(
            rows.lines(80),
            ["claude  answering   0.0 s  2 tokens", "제미니  done        0.0 s  34 tokens"]
        );
        assert_eq!(rows.lines(30)[0], "claude  answering   0.0 s");
        rows.end("claude", "failed", Usage::default());
        assert!(rows.lines(80).is_empty());
    }
}
