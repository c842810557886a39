//! Live rows: a few lines at the end of the screen, on stderr, redrawn in position.
//!
//! Call [`LiveRows::clear`] before anything else is written to the terminal. Rows are cut to the terminal's width
//! and erased by its current width, so that a resize leaves no remains. Typed input is not echoed, because
//! that would move the rows; the next prompt reads it.

use std::fs::File;
use std::io::IsTerminal;

use super::echo_off::EchoOff;
use super::terminal::{is_dumb, show, size_of, stderr_is_terminal};
use super::{clean, cut, width};

pub struct LiveRows {
    on: bool,
    drawn: Vec<usize>,
    hidden: Option<EchoOff>,
}

impl LiveRows {
    /// Enabled only if `wanted`, on a terminal that can move its cursor.
    pub fn new(wanted: bool) -> LiveRows {
        LiveRows { on: wanted && !is_dumb() && stderr_is_terminal(), drawn: Vec::new(), hidden: None }
    }

    /// Replaces the rows; on a low screen only the last ones are drawn.
    pub fn show(&mut self, lines: &[String]) {
        if !self.on {
            return;
        }
        match &self.hidden {
            Some(hidden) => hidden.reapply(),
            None => self.hidden = own_terminal().map(EchoOff::new),
        }
        let (columns, rows) = size();
        let first = lines.len().saturating_sub(rows.saturating_sub(1).max(1));
        // The last column stays free: a terminal may wrap after writing it.
        let lines: Vec<String> =
            lines.iter().skip(first).map(|line| cut(&clean(line), columns.saturating_sub(1))).collect();
        // Redrawn row by row: when erased from its first cell on, a terminal may copy the erased rows to
        // its scrollback each time.
        let text = self.to_first(columns) + &lines.join("\u{1b}[K\n") + "\u{1b}[J";
        self.drawn = lines.iter().map(|line| width(line)).collect();
        show(&text);
    }

    pub fn clear(&mut self) {
        if !self.drawn.is_empty() {
            let columns = size().0;
            let away = if self.rows(columns) > 1 { "\u{1b}[K\n\u{1b}[J\u{1b}[A" } else { "\u{1b}[J" };
            show(&(self.to_first(columns) + away));
            self.drawn.clear();
        }
        self.hidden = None;
    }

    /// Returns the escape sequence that moves to the start of the first row.
    fn to_first(&self, columns: usize) -> String {
        match self.rows(columns) {
            0 => String::new(),
            1 => "\r".into(),
            rows => format!("\r\u{1b}[{}A", rows - 1),
        }
    }

    /// Terminal lines that the rows occupy at this width.
    fn rows(&self, columns: usize) -> usize {
        self.drawn.iter().map(|&width| width.div_ceil(columns).max(1)).sum()
    }
}

impl Drop for LiveRows {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Opens the terminal on stderr, unless it is shared with a pager that reads stdout.
fn own_terminal() -> Option<File> {
    let is_own = std::io::stdout().is_terminal();
    is_own.then(|| rustix::stdio::stderr().try_clone_to_owned().ok().map(File::from)).flatten()
}

/// Columns and rows of the terminal on stderr; 80 and 24 if unknown.
fn size() -> (usize, usize) {
    size_of(rustix::stdio::stderr()).unwrap_or((80, 24))
}
