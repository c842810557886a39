//! Live rows: a few lines at the end of the screen, on stderr, drawn anew in place.
//!
//! Nothing else may be written to the terminal while they stand: [`Live::clear`] first. They are cut to
//! the terminal's width, and taken away by the width it has then, so that a resize leaves nothing behind. What is typed
//! meanwhile is not shown, which would move them; the next prompt has it.

use std::fs::File;
use std::io::IsTerminal;

use super::hidden::Hidden;
use super::terminal::{is_dumb, show, size_of, stderr_is_terminal};
use super::{clean, cut, width};

/// The lines that stand, if any.
pub struct Live {
    on: bool,
    /// The width of each of them.
    drawn: Vec<usize>,
    /// Hides what is typed, while they stand.
    hidden: Option<Hidden>,
}

impl Live {
    /// Only on a terminal that can move its cursor, and only where it is wanted.
    pub fn new(wanted: bool) -> Live {
        Live { on: wanted && !is_dumb() && stderr_is_terminal(), drawn: Vec::new(), hidden: None }
    }

    /// Shows these lines in place of those that stand; the last ones, if the screen is too low for all.
    pub fn show(&mut self, lines: &[String]) {
        if !self.on {
            return;
        }
        match &self.hidden {
            Some(hidden) => hidden.keep(),
            None => self.hidden = own_terminal().map(Hidden::begin),
        }
        let (columns, rows) = size();
        let first = lines.len().saturating_sub(rows.saturating_sub(1).max(1));
        // The last column stays free: a terminal may go on to the next line behind it.
        let lines: Vec<String> =
            lines.iter().skip(first).map(|line| cut(&clean(line), columns.saturating_sub(1))).collect();
        // In place, row by row: a terminal that is emptied from its first cell on may keep what stood there in
        // its history, each time.
        let text = self.to_first(columns) + &lines.join("\u{1b}[K\n") + "\u{1b}[J";
        self.drawn = lines.iter().map(|line| width(line)).collect();
        show(&text);
    }

    /// Takes them away.
    pub fn clear(&mut self) {
        if !self.drawn.is_empty() {
            let columns = size().0;
            let away = if self.rows(columns) > 1 { "\u{1b}[K\n\u{1b}[J\u{1b}[A" } else { "\u{1b}[J" };
            show(&(self.to_first(columns) + away));
            self.drawn.clear();
        }
        self.hidden = None;
    }

    /// The sequence that goes to the start of the first line.
    fn to_first(&self, columns: usize) -> String {
        match self.rows(columns) {
            0 => String::new(),
            1 => "\r".into(),
            rows => format!("\r\u{1b}[{}A", rows - 1),
        }
    }

    /// The rows that the lines take on a terminal of this width.
    fn rows(&self, columns: usize) -> usize {
        self.drawn.iter().map(|&width| width.div_ceil(columns).max(1)).sum()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The terminal on stderr, unless it is shared with a pager that reads stdout.
fn own_terminal() -> Option<File> {
    let is_own = std::io::stdout().is_terminal();
    is_own.then(|| rustix::stdio::stderr().try_clone_to_owned().ok().map(File::from)).flatten()
}

/// Columns and rows of the terminal on stderr; 80 and 24 if it does not say.
fn size() -> (usize, usize) {
    size_of(rustix::stdio::stderr()).unwrap_or((80, 24))
}
