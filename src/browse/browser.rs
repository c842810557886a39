//! The state of the screen, and the effect of each key on it.

use std::ops::ControlFlow;

use super::compare::compare;
use super::keys::{Action, action};
use super::reading::{At, Reading};
use super::rows::Rows;
use crate::term::Press;
use lepo_base::error::{Error, Result};
use lepo_search::{FileResult, Pattern, PatternOptions, search_files};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, Store};

#[derive(Debug, PartialEq, Eq)]
pub enum Next {
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
pub struct Resumed {
    press: Option<Press>,
    /// Tail of the selected conversation, and its line on the screen.
    chosen: Option<(BubbId, usize)>,
    marked: Option<BubbId>,
    /// First visible line of the conversation pane.
    reading: Option<At>,
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
    pub rows: Rows<'a>,
    /// First row on the screen, and the selected row.
    pub top: usize,
    pub chosen: usize,
    /// Content of the right pane, and its tail.
    pub reading: Option<(Ix, Reading<'a>)>,
    /// A comparison that replaces it.
    pub compared: Option<Reading<'a>>,
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
        let mut rows = Rows::all(store, forest, facts, limit);
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
    pub fn suspend(mut self, press: Press) -> Resumed {
        let chosen = self.tail().map(|tail| (self.id(tail), self.chosen.saturating_sub(self.top)));
        Resumed {
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
    pub fn resume(&mut self, resumed: Resumed) -> Option<Press> {
        let find = |id: BubbId| self.forest.find(id);
        self.marked = resumed.marked.and_then(find);
        let place = resumed.chosen.and_then(|(id, line)| Some((find(id)?, line)));
        if let Some((tail, line)) = place
            && let Some(at) = self.rows.place(tail)
        {
            (self.chosen, self.top) = (at, at.saturating_sub(line));
            if let Some(top) = resumed.reading {
                let mut reading = Reading::conv(self.store, self.forest, self.facts, tail);
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
    pub fn pane(&mut self) -> Option<&mut Reading<'a>> {
        let tail = self.tail()?;
        if self.reading.as_ref().is_none_or(|(shown, _)| *shown != tail) {
            let mut reading = Reading::conv(self.store, self.forest, self.facts, tail);
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

    pub fn press(&mut self, press: Press) -> Next {
        if press == Press::Other {
            return Next::Stay;
        }
        self.said.clear();
        if self.typed.is_some() {
            let is_search = press == Press::Enter && self.typed.as_ref().is_some_and(|text| !text.is_empty());
            if is_search && self.limit.is_some() {
                return Next::ReadAll;
            }
            self.type_key(press);
            return Next::Stay;
        }
        if std::mem::take(&mut self.help) {
            return Next::Stay;
        }
        let Some(action) = action(press) else {
            self.said = "? shows the keys".into();
            return Next::Stay;
        };
        match action {
            Action::Leave => return Next::Leave,
            Action::GoOn => return self.tail().map_or(Next::Stay, |tail| Next::GoOn(self.id(tail))),
            Action::Copy => {
                let message = match self.focus {
                    Focus::Conv => self.pane().and_then(|reading| reading.message()),
                    Focus::List => None,
                };
                let tail = self.tail();
                let Some(id) = message.or(tail.map(|tail| self.id(tail))) else { return Next::Stay };
                self.said = format!("copied {id}");
                return Next::Copy(id.to_string());
            }
            Action::Help => self.help = true,
            Action::Search => self.typed = Some(String::new()),
            Action::Mark => {
                let tail = self.tail();
                self.marked = if self.marked == tail { None } else { tail };
            }
            Action::Compare => self.compare(),
            Action::Open => self.focus = Focus::Conv,
            Action::Back => self.back(),
            moved => return self.go(moved),
        }
        Next::Stay
    }

    fn go(&mut self, action: Action) -> Next {
        let height = self.height;
        if self.focus == Focus::Conv {
            let Some(reading) = self.pane() else { return Next::Stay };
            match action {
                Action::Next => reading.step(true),
                Action::Previous => reading.step(false),
                Action::LineDown => reading.scroll(1, height),
                Action::LineUp => reading.scroll(-1, height),
                Action::PageDown => reading.scroll(height as isize - 1, height),
                Action::PageUp => reading.scroll(1 - height as isize, height),
                Action::First | Action::Last => reading.jump(action == Action::Last, height),
                _ => {}
            }
            return Next::Stay;
        }
        if action == Action::Last && self.rows.may_lack(usize::MAX) {
            return Next::ReadAll;
        }
        let to = match action {
            Action::Next | Action::LineDown => self.chosen + 1,
            Action::Previous | Action::LineUp => self.chosen.saturating_sub(1),
            Action::PageDown => self.chosen + height.max(2) - 1,
            Action::PageUp => self.chosen.saturating_sub(height.max(2) - 1),
            Action::First => 0,
            Action::Last => self.rows.finish().saturating_sub(1),
            _ => self.chosen,
        };
        // The rows below the selected one are drawn too.
        if to > self.chosen && self.rows.may_lack(to + height) {
            return Next::ReadOlder;
        }
        // Stops at the last row.
        let to = (self.chosen..=to).rev().find(|&at| self.rows.get(at).is_some()).unwrap_or(to);
        if to != self.chosen {
            self.chosen = to;
            self.compared = None;
        }
        Next::Stay
    }

    fn back(&mut self) {
        if self.compared.take().is_some() {
            return;
        }
        if self.focus == Focus::Conv {
            self.focus = Focus::List;
        } else if self.pattern.take().is_some() {
            self.found.clear();
            self.list(Rows::all(self.store, self.forest, self.facts, self.limit));
        }
    }

    fn list(&mut self, rows: Rows<'a>) {
        (self.rows, self.top, self.chosen) = (rows, 0, 0);
        (self.reading, self.compared) = (None, None);
    }

    fn compare(&mut self) {
        let (Some(marked), Some(tail)) = (self.marked, self.tail()) else {
            self.said = "mark another conversation first, with Space".into();
            return;
        };
        let lines = compare(self.store, self.forest, marked, tail);
        self.compared = Some(Reading::fixed(self.store, self.forest, self.facts, lines));
        self.focus = Focus::Conv;
    }

    fn type_key(&mut self, press: Press) {
        let Some(typed) = &mut self.typed else { return };
        match press {
            Press::Char(c) => typed.push(c),
            Press::Backspace => {
                typed.pop();
            }
            Press::Escape | Press::Ctrl('c') => self.typed = None,
            Press::Enter => {
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
        let rows = Rows::through(self.store, self.forest, self.facts, &found);
        self.list(rows);
        (self.pattern, self.found, self.focus) = (Some(pattern), found, Focus::List);
        self.said = "Esc shows everything again".into();
    }
}
