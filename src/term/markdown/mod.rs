//! Paints the Markdown of an answer for a terminal as it arrives.
//!
//! Printed text is never redrawn, so nothing moves and a resized window stays correct. Text waits only until
//! the form of its line is decided (by its first characters), its word ends and an open emphasis is closed; a
//! line of code waits for its end, and a table for the end of the table.

#[cfg(test)]
mod answer_tests;
mod code;
mod escape;
mod inline;
mod math;
#[cfg(test)]
mod peer_tests;
#[cfg(test)]
mod report_tests;
mod span_end;
mod style;
mod table;

use std::sync::Arc;

use code::Language;
use escape::TextBefore;
use span_end::InlineText;
use style::{Span, Style, paint_spans};

use super::wrap::{LineWidth, Wrap};
use super::{Cleaner, Paint};
use lepo_base::formula::LineMarks;
use lepo_base::line_form::{self, FenceMark, LineForm};
use lepo_turn::config::MathNotation;

/// Bytes to wait for the end of a line of code, for a table or for the form of a line.
const PATIENCE: usize = 64 << 10;

pub struct Markdown {
    paint: Paint,
    notation: MathNotation,
    columns: LineWidth,
    cleaner: Cleaner,
    /// Text whose form is undecided.
    pending: String,
    block_state: BlockState,
    /// Wraps prose; code and tables are not wrapped.
    wrap: Wrap,
    /// Marks of the current line.
    marks: LineMarks,
    /// Bytes of `pending` that wait for the end of a formula.
    waiting: usize,
}

/// The block that `pending` continues.
enum BlockState {
    /// At the start of a line; `is_quoted` inside a quote.
    Start { is_quoted: bool },
    /// Within a line of text, after this text.
    Within(Style, TextBefore),
    /// Within a block of code.
    Code(FenceMark, Language),
    /// Possibly in a table: its lines so far.
    Table(Vec<String>),
}

const START: BlockState = BlockState::Start { is_quoted: false };

impl Markdown {
    /// `columns` returns the width of the terminal or pane at the moment a table is laid out.
    pub fn new(
        paint: Paint,
        notation: MathNotation,
        columns: impl Fn() -> usize + Send + Sync + 'static,
    ) -> Markdown {
        let columns: LineWidth = Arc::new(columns);
        let wrap = Wrap::with_width(columns.clone());
        let (cleaner, pending) = (Cleaner::default(), String::new());
        Markdown {
            paint,
            notation,
            columns,
            cleaner,
            pending,
            block_state: START,
            wrap,
            marks: LineMarks::default(),
            waiting: 0,
        }
    }

    /// Appends the output that is certain once `bytes` have arrived.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        self.cleaner.push(bytes, &mut self.pending);
        // Searching the whole again for each byte would cost the square of a formula's length.
        let arrived = self.pending.get(self.waiting..).unwrap_or_default();
        let decides = |byte: u8| matches!(byte, b'$' | b')' | b']' | b'`' | b'\n');
        if self.waiting > 0 && self.pending.len() < PATIENCE && !arrived.bytes().any(decides) {
            return;
        }
        self.waiting = 0;
        self.go(false, out);
    }

    pub fn finish(&mut self, out: &mut String) {
        self.waiting = 0;
        self.cleaner.finish(&mut self.pending);
        self.go(true, out);
        self.end_table(out);
        self.wrap.finish(out);
        self.wrap = Wrap::with_width(self.columns.clone());
        (self.block_state, self.marks) = (START, LineMarks::default());
    }

    fn go(&mut self, finished: bool, out: &mut String) {
        let mut text = std::mem::take(&mut self.pending);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, after) = match rest.split_once('\n') {
                Some((line, after)) => (line, Some(after)),
                None => (rest, None),
            };
            let has_ended = after.is_some() || finished;
            let Some(taken) = self.step(line, rest, (has_ended, finished), out) else { break };
            rest = match after {
                Some(after) if taken == line.len() => {
                    self.end_line(out);
                    after
                }
                _ => rest.split_at(taken).1,
            };
        }
        let left = rest.len();
        text.drain(..text.len() - left);
        self.pending = text;
    }

    /// Handles a line or its beginning, with which `all` starts; returns the number of bytes consumed, `None` or 0
    /// if it must wait.
    fn step(
        &mut self,
        line: &str,
        all: &str,
        (has_ended, finished): (bool, bool),
        out: &mut String,
    ) -> Option<usize> {
        match &mut self.block_state {
            BlockState::Start { is_quoted } => {
                let is_quoted = *is_quoted;
                let form = match line_form::form(line, has_ended) {
                    None if line.len() < PATIENCE => return None,
                    form => form.unwrap_or(LineForm::Text),
                };
                self.start_line(form, is_quoted, line, out)
            }
            // Fast path for most text.
            BlockState::Within(style, before) if *style == Style::default() && !inline::has_marks(line) => {
                before.push(line);
                self.wrap.push(line, out);
                Some(line.len())
            }
            BlockState::Within(style, before) => {
                let (style, mut spans) = (*style, Vec::new());
                // A heading is one line.
                let (all, finished) =
                    if style == Style::default() { (all, finished) } else { (line, has_ended) };
                let (marks, notation) = (self.marks, self.notation);
                let input = InlineText { line, has_ended, all, finished, marks, notation };
                let taken = inline::read(input, before, style, &mut spans);
                let mut painted = String::new();
                paint_spans(&spans, self.paint, &mut painted);
                let mut lines = painted.split('\n');
                self.wrap.push(lines.next().unwrap_or_default(), out);
                for line in lines {
                    self.wrap.hard_break(out);
                    self.wrap.push(line, out);
                }
                let rest = line.get(taken..).unwrap_or_default();
                let is_formula = rest.starts_with('$') || rest.starts_with("\\(") || rest.starts_with("\\[");
                // A closing delimiter is decided by the character after it, whatever that is.
                if is_formula && !all.ends_with(['$', ')', ']', '\\', '\n']) && rest.len() > 2 {
                    self.waiting = all.len() - taken;
                }
                (taken > 0 || line.is_empty()).then_some(taken)
            }
            BlockState::Code(fence, language) => {
                if !has_ended && line.len() < PATIENCE {
                    return None;
                }
                if fence.is_closed_by(line) {
                    Span::new(line, Style::DIM).paint(self.paint, out);
                    self.block_state = BlockState::Within(Style::default(), TextBefore::default());
                } else {
                    language.paint(line, self.paint, out);
                }
                Some(line.len())
            }
            BlockState::Table(lines) => {
                let length: usize = lines.iter().map(String::len).sum();
                match line_form::form(line, has_ended) {
                    None if length + line.len() < PATIENCE => None,
                    Some(LineForm::Row) if length < PATIENCE && is_table(lines, line) => {
                        lines.push(line.to_string());
                        Some(line.len())
                    }
                    _ => {
                        self.end_table(out);
                        Some(0)
                    }
                }
            }
        }
    }

    fn start_line(&mut self, form: LineForm, is_quoted: bool, line: &str, out: &mut String) -> Option<usize> {
        let paint = self.paint;
        let (taken, style) = match form {
            LineForm::Text => (0, Style::default()),
            LineForm::Heading { level, taken } => (taken, Style { underlined: level == 1, ..Style::BOLD }),
            LineForm::Item { mark, text, taken } => {
                let indent = mark.replace('\t', "    ");
                let again = " ".repeat(indent.len() + text.chars().count() + 1);
                self.wrap.mark(&format!("{indent}{} ", paint.cyan(&text)), &again, out);
                self.marks.indent += again.len();
                (taken, Style::default())
            }
            LineForm::Quote { taken } => {
                let bar = paint.dim("│ ");
                self.wrap.mark(&bar, &bar, out);
                self.marks.quotes += 1;
                self.block_state = BlockState::Start { is_quoted: true };
                return Some(taken);
            }
            LineForm::Rule => {
                out.push_str(&paint.dim(&"─".repeat((self.columns)().min(40))));
                (line.len(), Style::default())
            }
            LineForm::Fence(fence) if !is_quoted => {
                let language = Language::parse(fence.info(line));
                Span::new(line, Style::DIM).paint(paint, out);
                self.block_state = BlockState::Code(fence, language);
                return Some(line.len());
            }
            LineForm::Row if !is_quoted => {
                self.block_state = BlockState::Table(vec![line.to_string()]);
                return Some(line.len());
            }
            LineForm::Fence(_) | LineForm::Row => (0, Style::default()),
        };
        self.block_state = BlockState::Within(style, TextBefore::default());
        Some(taken)
    }

    fn end_line(&mut self, out: &mut String) {
        match self.block_state {
            // The table is printed as a whole when it ends.
            BlockState::Table(_) => {}
            BlockState::Code(..) => out.push('\n'),
            BlockState::Start { .. } | BlockState::Within(..) => {
                self.wrap.newline(out);
                (self.block_state, self.marks) = (START, LineMarks::default());
            }
        }
    }

    /// Prints the pending table, or its lines as text if it is not one.
    fn end_table(&mut self, out: &mut String) {
        let BlockState::Table(lines) = std::mem::replace(&mut self.block_state, START) else { return };
        let is_one = lines.get(1).is_some_and(|line| table::is_delimiter(line));
        if is_one && table::render(&lines, (self.columns)(), (self.paint, self.notation), out) {
            return;
        }
        for line in lines {
            let mut spans = Vec::new();
            inline::read_whole(&line, self.notation, Style::default(), &mut spans);
            let mut painted = String::new();
            paint_spans(&spans, self.paint, &mut painted);
            self.wrap.push(&painted, out);
            self.wrap.newline(out);
        }
    }
}

/// Whether the row continues a possible table: the second line decides.
fn is_table(lines: &[String], line: &str) -> bool {
    lines.len() > 1 || table::is_delimiter(line)
}

#[cfg(test)]
mod tests;
