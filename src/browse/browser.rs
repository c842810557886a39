//! The state of the screen, and the effect of each key on it.

use std::ops::ControlFlow;

use super::compare::compare;
use super::keys::{KeyAction, action};
use super::message_pane::{MessagePane, PanePosition};
use super::rows::ConvRows;
use crate::term::KeyPress;
use lepo_base::error::{Error, Result};
use lepo_search::{FileResult, Pattern, PatternOptions, search_files};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, Store};

#[derive(Debug, PartialEq, Eq)]
pub enum ScreenStep {
    Stay,
    Copy(String),
    Leave,
    /// Leaves, and continues this conversation.
    GoOn(BubbId),
    /// Reads older conversations, then handles the key again.
    ReadOlder,
    /// Reads all conversations, then handles the key again.
    ReadAll,
}

/// State that survives a read of more conversations.
#[derive(Default)]
pub struct BrowserState {
    press: Option<KeyPress>,
    /// Tail of the selected conversation, and its line on the screen.
    chosen: Option<(BubbId, usize)>,
    marked: Option<BubbId>,
    /// First visible line of the conversation pane.
    reading: Option<PanePosition>,
    focus: Option<Focus>,
    typed: Option<String>,
    height: usize,
}

/// The pane that the keys act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    List,
    Conv,
}

pub struct Browser<'a> {
    store: &'a Store,
    forest: &'a Forest,
    facts: &'a JournalIndex,
    pub colours: bool,
    /// Number of conversations that the forest was read for; `None` for all.
    limit: Option<usize>,
    pub rows: ConvRows<'a>,
    /// First row on the screen, and the selected row.
    pub top: usize,
    pub chosen: usize,
    /// Content of the right pane, and its tail.
    pub reading: Option<(Ix, MessagePane<'a>)>,
    /// A comparison that replaces it.
    pub compared: Option<MessagePane<'a>>,
    pub focus: Focus,
    pub marked: Option<Ix>,
    pub typed: Option<String>,
    /// Pattern of the last search, to highlight its matches.
    pub pattern: Option<Pattern>,
    found: Vec<Ix>,
    pub help: bool,
    /// Message about the last key, on the status line.
    pub said: String,
    /// Lines of each pane, as last drawn.
    pub height: usize,
}

impl<'a> Browser<'a> {
    /// Lists the store with its newest conversation selected. `limit` is the number of conversations that the
    /// forest was read for; `None` for all. An empty store is an error.
    pub fn new(
        store: &'a Store,
        forest: &'a Forest,
        facts: &'a JournalIndex,
        colours: bool,
        limit: Option<usize>,
    ) -> Result<Browser<'a>> {
        let mut rows = ConvRows::all(store, forest, facts, limit);
        if rows.get(0).is_none() {
            return Err(Error::nothing("no conversations yet").hint("ask something: lepo do QUESTION"));
        }
        Ok(Browser {
            store,
            forest,
            facts,
            colours,
            limit,
            rows,
            top: 0,
            chosen: 0,
            reading: None,
            compared: None,
            focus: Focus::List,
            marked: None,
            typed: None,
            pattern: None,
            found: Vec::new(),
            help: false,
            said: String::new(),
            height: 1,
        })
    }

    /// Saves the state for the browser that reads more conversations for a key.
    pub fn suspend(mut self, press: KeyPress) -> BrowserState {
        let chosen = self.tail().map(|tail| (self.id(tail), self.chosen.saturating_sub(self.top)));
        BrowserState {
            press: Some(press),
            chosen,
            marked: self.marked.map(|marked| self.id(marked)),
            reading: self.reading.as_ref().map(|(_, reading)| reading.top),
            focus: Some(self.focus),
            typed: self.typed.take(),
            height: self.height,
        }
    }

    /// Restores the state of the previous browser; returns the key to handle again.
    pub fn resume(&mut self, resumed: BrowserState) -> Option<KeyPress> {
        let find = |id: BubbId| self.forest.find(id);
        self.marked = resumed.marked.and_then(find);
        let place = resumed.chosen.and_then(|(id, line)| Some((find(id)?, line)));
        if let Some((tail, line)) = place
            && let Some(at) = self.rows.index_of(tail)
        {
            (self.chosen, self.top) = (at, at.saturating_sub(line));
            if let Some(top) = resumed.reading {
                let mut reading = MessagePane::conv(self.store, self.forest, self.facts, tail);
                reading.top = top;
                self.reading = Some((tail, reading));
            }
        }
        self.focus = resumed.focus.unwrap_or(Focus::List);
        self.typed = resumed.typed;
        self.height = resumed.height.max(1);
        resumed.press
    }

    pub fn tail(&mut self) -> Option<Ix> {
        self.rows.get(self.chosen).map(|row| row.tail)
    }

    pub fn id(&self, ix: Ix) -> BubbId {
        self.forest.name(ix).id
    }

    /// Returns the content of the right pane, after opening the selected conversation if another one was
    /// open.
    pub fn pane(&mut self) -> Option<&mut MessagePane<'a>> {
        let tail = self.tail()?;
        if self.reading.as_ref().is_none_or(|(shown, _)| *shown != tail) {
            let mut reading = MessagePane::conv(self.store, self.forest, self.facts, tail);
            // After a search it starts at the first match.
            if let Some(&hit) = reading.path.iter().find(|ix| self.found.contains(ix)) {
                reading.go(hit);
            }
            self.reading = Some((tail, reading));
        }
        match &mut self.compared {
            Some(compared) => Some(compared),
            None => self.reading.as_mut().map(|(_, reading)| reading),
        }
    }

    pub fn press(&mut self, press: KeyPress) -> ScreenStep {
        if press == KeyPress::Other {
            return ScreenStep::Stay;
        }
        self.said.clear();
        if self.typed.is_some() {
            let is_search =
                press == KeyPress::Enter && self.typed.as_ref().is_some_and(|text| !text.is_empty());
            if is_search && self.limit.is_some() {
                return ScreenStep::ReadAll;
            }
            self.type_key(press);
            return ScreenStep::Stay;
        }
        if std::mem::take(&mut self.help) {
            return ScreenStep::Stay;
        }
        let Some(action) = action(press) else {
            self.said = "? shows the keys".into();
            return ScreenStep::Stay;
        };
        match action {
            KeyAction::Leave => return ScreenStep::Leave,
            KeyAction::GoOn => {
                return self.tail().map_or(ScreenStep::Stay, |tail| ScreenStep::GoOn(self.id(tail)));
            }
            KeyAction::Copy => {
                let message = match self.focus {
                    Focus::Conv => self.pane().and_then(|reading| reading.message()),
                    Focus::List => None,
                };
                let tail = self.tail();
                let Some(id) = message.or(tail.map(|tail| self.id(tail))) else { return ScreenStep::Stay };
                self.said = format!("copied {id}");
                return ScreenStep::Copy(id.to_string());
            }
            KeyAction::Help => self.help = true,
            KeyAction::Search => self.typed = Some(String::new()),
            KeyAction::Mark => {
                let tail = self.tail();
                self.marked = if self.marked == tail { None } else { tail };
            }
            KeyAction::Compare => self.compare(),
            KeyAction::Open => self.focus = Focus::Conv,
            KeyAction::Back => self.back(),
            moved => return self.go(moved),
        }
        ScreenStep::Stay
    }

    fn go(&mut self, action: KeyAction) -> ScreenStep {
        let height = self.height;
        if self.focus == Focus::Conv {
            let Some(reading) = self.pane() else { return ScreenStep::Stay };
            match action {
                KeyAction::Next => reading.step(true),
                KeyAction::Previous => reading.step(false),
                KeyAction::LineDown => reading.scroll(1, height),
                KeyAction::LineUp => reading.scroll(-1, height),
                KeyAction::PageDown => reading.scroll(height as isize - 1, height),
                KeyAction::PageUp => reading.scroll(1 - height as isize, height),
                KeyAction::First | KeyAction::Last => reading.jump(action == KeyAction::Last, height),
                _ => {}
            }
            return ScreenStep::Stay;
        }
        if action == KeyAction::Last && self.rows.may_lack(usize::MAX) {
            return ScreenStep::ReadAll;
        }
        let to = match action {
            KeyAction::Next | KeyAction::LineDown => self.chosen + 1,
            KeyAction::Previous | KeyAction::LineUp => self.chosen.saturating_sub(1),
            KeyAction::PageDown => self.chosen + height.max(2) - 1,
            KeyAction::PageUp => self.chosen.saturating_sub(height.max(2) - 1),
            KeyAction::First => 0,
            KeyAction::Last => self.rows.finish().saturating_sub(1),
            _ => self.chosen,
        };
        // The rows below the selected one are drawn too.
        if to > self.chosen && self.rows.may_lack(to + height) {
            return ScreenStep::ReadOlder;
        }
        // Stops at the last row.
        let to = (self.chosen..=to).rev().find(|&at| self.rows.get(at).is_some()).unwrap_or(to);
        if to != self.chosen {
            self.chosen = to;
            self.compared = None;
        }
        ScreenStep::Stay
    }

    fn back(&mut self) {
        if self.compared.take().is_some() {
            return;
        }
        if self.focus == Focus::Conv {
            self.focus = Focus::List;
        } else if self.pattern.take().is_some() {
            self.found.clear();
            self.list(ConvRows::all(self.store, self.forest, self.facts, self.limit));
        }
    }

    fn list(&mut self, rows: ConvRows<'a>) {
        (self.rows, self.top, self.chosen) = (rows, 0, 0);
        (self.reading, self.compared) = (None, None);
    }

    fn compare(&mut self) {
        let (Some(marked), Some(tail)) = (self.marked, self.tail()) else {
            self.said = "mark another conversation first, with Space".into();
            return;
        };
        let lines = compare(self.store, self.forest, marked, tail);
        self.compared = Some(MessagePane::fixed(self.store, self.forest, self.facts, lines));
        self.focus = Focus::Conv;
    }

    fn type_key(&mut self, press: KeyPress) {
        let Some(typed) = &mut self.typed else { return };
        match press {
            KeyPress::Char(c) => typed.push(c),
            KeyPress::Backspace => {
                typed.pop();
            }
            KeyPress::Escape | KeyPress::Ctrl('c') => self.typed = None,
            KeyPress::Enter => {
                let typed = self.typed.take().unwrap_or_default();
                self.search(&typed);
            }
            _ => {}
        }
    }

    fn search(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let ignore_case = !text.chars().any(char::is_uppercase);
        let pattern = match Pattern::new(text, PatternOptions { ignore_case, ..PatternOptions::default() }) {
            Ok(pattern) => pattern,
            Err(bad) => {
                self.said = bad.to_string();
                return;
            }
        };
        let names = self.forest.all().map(|ix| self.forest.name(ix)).filter(|name| !name.hidden);
        let mut found = Vec::new();
        let _ = search_files(self.store, &pattern, names, |outcome| {
            if let FileResult::Found(name, _) = outcome {
                found.extend(self.forest.find(name.id));
            }
            ControlFlow::Continue(())
        });
        if found.is_empty() {
            self.said = format!("nothing matches {text:?}");
            return;
        }
        let rows = ConvRows::through(self.store, self.forest, self.facts, &found);
        self.list(rows);
        (self.pattern, self.found, self.focus) = (Some(pattern), found, Focus::List);
        self.said = "Esc shows everything again".into();
    }
}
