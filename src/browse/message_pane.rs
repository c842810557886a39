//! The conversation pane: its messages as lines, built when they become visible.

use std::collections::HashMap;
use std::ops::Range;

use ratatui::style::Style;

use crate::term::{Markdown, Paint, PaintedLine, clean, painted_lines, wrap_line};
use lepo_base::role::Role;
use lepo_base::time;
use lepo_store::bubb::{BubbId, model_label};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, JournalRecord, Store};
use lepo_turn::StoppedAnswers;
use lepo_turn::config::MathNotation;

/// In bytes; `lepo show` prints the rest.
const MOST: usize = 256 << 10;
const KEPT: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Head(Role),
    Body,
    Added,
    Removed,
    Dim,
}

/// A line of the pane, with control characters made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneLine {
    pub tone: Tone,
    pub text: String,
    /// Styles of byte ranges of `text`, in addition to its tone.
    pub styles: Vec<(Range<usize>, Style)>,
}

impl PaneLine {
    pub fn new(tone: Tone, text: impl Into<String>) -> PaneLine {
        PaneLine { tone, text: text.into(), styles: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PanePosition {
    pub message: usize,
    pub line: usize,
}

/// The store as last read.
#[derive(Clone, Copy)]
pub struct BrowsedStore<'a> {
    pub store: &'a Store,
    pub forest: &'a Forest,
    pub facts: &'a JournalIndex,
    /// `@` of a worktree that shares the store.
    pub own: Option<BubbId>,
    pub stopped: &'a StoppedAnswers,
    pub paint: Paint,
    /// How formulas are written; `None` does not render the Markdown of answers.
    pub math: Option<MathNotation>,
}

/// The lines of the pane: messages of a conversation, or fixed lines.
pub struct MessagePane<'a> {
    read: BrowsedStore<'a>,
    /// Visible messages, oldest first.
    pub path: Vec<Ix>,
    /// Shown instead of messages.
    fixed: Option<Vec<PaneLine>>,
    rendered: HashMap<usize, Vec<PaneLine>>,
    columns: usize,
    pub top: PanePosition,
}

impl<'a> MessagePane<'a> {
    /// Shows the conversation that ends at `tail`, from its last question on.
    pub fn conv(read: BrowsedStore<'a>, tail: Ix) -> MessagePane<'a> {
        let BrowsedStore { forest, stopped, .. } = read;
        let mut path = forest.conv(tail).path;
        path.retain(|&ix| stopped.is_shown(&forest.name(ix)));
        let asked = path.iter().rposition(|&ix| forest.name(ix).role == Role::User).unwrap_or(0);
        let top = PanePosition { message: asked, line: 0 };
        MessagePane { read, path, fixed: None, rendered: HashMap::new(), columns: 0, top }
    }

    pub fn fixed(read: BrowsedStore<'a>, lines: Vec<PaneLine>) -> MessagePane<'a> {
        let top = PanePosition::default();
        MessagePane { read, path: Vec::new(), fixed: Some(lines), rendered: HashMap::new(), columns: 0, top }
    }

    pub fn message(&self) -> Option<BubbId> {
        self.path.get(self.top.message).map(|&ix| self.read.forest.name(ix).id)
    }

    fn messages(&self) -> usize {
        if self.fixed.is_some() { 1 } else { self.path.len() }
    }

    /// Sets the pane's width; a new width discards all cached lines.
    pub fn set_columns(&mut self, columns: usize) {
        let before = std::mem::replace(&mut self.columns, columns);
        if before != columns {
            self.rendered.clear();
            // A restored pane begins where it was.
            let last = self.lines(self.top.message).len().saturating_sub(1);
            self.top.line = if before == 0 { self.top.line.min(last) } else { 0 };
        }
    }

    fn lines(&mut self, message: usize) -> &[PaneLine] {
        if self.rendered.len() > KEPT {
            self.rendered.clear();
        }
        if !self.rendered.contains_key(&message) {
            let lines = match &self.fixed {
                Some(lines) => fit(lines, self.columns),
                None => self.make(message),
            };
            self.rendered.insert(message, lines);
        }
        self.rendered.get(&message).map(Vec::as_slice).unwrap_or_default()
    }

    fn make(&self, message: usize) -> Vec<PaneLine> {
        let Some(&ix) = self.path.get(message) else { return Vec::new() };
        let BrowsedStore { store, forest, facts, .. } = self.read;
        let name = forest.name(ix);
        let fact: JournalRecord = facts.get(name.id).unwrap_or_default();
        let mut who = match store.speaker(forest, &name) {
            Some(speaker) => clean(&speaker).into_owned(),
            None => name.role.as_str().to_string(),
        };
        who += &format!("  {}", time::day_and_hour(name.id.time(), lepo_store::store::now()));
        // The path has no other hidden message.
        if name.hidden {
            who += "  (stopped)";
        }
        if let Some(model) = fact.model {
            who += &format!("  {}", clean(model_label(&model)));
        }
        if let Some(tokens) = fact.output {
            who += &format!("  {tokens} tokens");
        }
        let text = store.text(&name).unwrap_or_else(|error| error.chain());
        let (shown, more) = text.split_at(text.floor_char_boundary(MOST));
        let shown = shown.trim_end();
        let mut lines = fit(&[PaneLine::new(Tone::Head(name.role), who)], self.columns);
        match self.read.math.filter(|_| name.role == Role::Assistant && !shown.is_empty()) {
            Some(math) => lines.extend(self.rendered(shown, math)),
            None => {
                let body = shown.lines().map(|line| PaneLine::new(Tone::Body, clean(line)));
                lines.extend(fit(&body.collect::<Vec<_>>(), self.columns));
            }
        }
        if !more.is_empty() {
            let text = format!("{} more bytes: lepo show --one {}", more.len(), name.id);
            lines.extend(fit(&[PaneLine::new(Tone::Dim, text)], self.columns));
        }
        lines.push(PaneLine::new(Tone::Body, ""));
        lines
    }

    /// Renders the Markdown of an answer as `lepo show` does.
    fn rendered(&self, text: &str, math: MathNotation) -> impl Iterator<Item = PaneLine> {
        let columns = self.columns;
        let mut markdown = Markdown::new(self.read.paint, math, move || columns);
        let mut painted = String::new();
        markdown.push(text.as_bytes(), &mut painted);
        markdown.finish(&mut painted);
        let lines = painted_lines(painted.trim_end_matches('\n'), columns);
        lines.into_iter().map(|PaintedLine { text, styles }| PaneLine { tone: Tone::Body, text, styles })
    }

    pub fn pane(&mut self, height: usize) -> Vec<PaneLine> {
        let (mut lines, mut at) = (Vec::new(), self.top);
        while lines.len() < height && at.message < self.messages() {
            let made = self.lines(at.message).iter().skip(at.line).take(height - lines.len()).cloned();
            lines.extend(made.collect::<Vec<_>>());
            at = PanePosition { message: at.message + 1, line: 0 };
        }
        lines
    }

    /// Scrolls `by` lines down (negative: up), stopping at the ends of a pane of `height` lines.
    pub fn scroll(&mut self, by: isize, height: usize) {
        for _ in 0..by.unsigned_abs() {
            let moved = if by > 0 { self.down(height) } else { self.up() };
            if !moved {
                return;
            }
        }
    }

    fn down(&mut self, height: usize) -> bool {
        // The last line of the text stays at the bottom of the pane.
        if self.pane(height + 1).len() <= height {
            return false;
        }
        let next = PanePosition { line: self.top.line + 1, ..self.top };
        self.top = match next.line < self.lines(next.message).len() {
            true => next,
            false => PanePosition { message: next.message + 1, line: 0 },
        };
        true
    }

    fn up(&mut self) -> bool {
        match self.top {
            PanePosition { message: 0, line: 0 } => return false,
            PanePosition { message, line: 0 } => {
                let last = self.lines(message - 1).len().saturating_sub(1);
                self.top = PanePosition { message: message - 1, line: last };
            }
            PanePosition { message, line } => self.top = PanePosition { message, line: line - 1 },
        }
        true
    }

    /// Moves to the next message, or back to the start of this message or of the previous one.
    pub fn step(&mut self, forward: bool) {
        if self.fixed.is_some() {
            return;
        }
        self.top = match (forward, self.top) {
            (true, PanePosition { message, .. }) if message + 1 < self.path.len() => {
                PanePosition { message: message + 1, line: 0 }
            }
            (true, top) => top,
            (false, PanePosition { message, line: 0 }) => {
                PanePosition { message: message.saturating_sub(1), line: 0 }
            }
            (false, PanePosition { message, .. }) => PanePosition { message, line: 0 },
        };
    }

    /// Moves to the first line, or to the last screen.
    pub fn jump(&mut self, last: bool, height: usize) {
        self.top = PanePosition::default();
        if last {
            self.top.message = self.messages().saturating_sub(1);
            self.top.line = self.lines(self.top.message).len().saturating_sub(1);
            self.scroll(-(height as isize - 1), height);
        }
    }

    pub fn go(&mut self, ix: Ix) {
        if let Some(message) = self.path.iter().position(|&there| there == ix) {
            self.top = PanePosition { message, line: 0 };
        }
    }
}

fn fit(lines: &[PaneLine], columns: usize) -> Vec<PaneLine> {
    let mut fitting = Vec::new();
    for line in lines {
        let mut pieces = Vec::new();
        wrap_line(&line.text, columns, &mut pieces);
        fitting.extend(pieces.into_iter().map(|text| PaneLine::new(line.tone, text)));
    }
    fitting
}
