//! The state of the screen, and the effect of each key on it.

use super::compare::compare;
use super::keys::{KeyAction, ScreenStep, action};
use super::message_pane::{BrowsedStore, MessagePane, PanePosition};
use super::rows::{ConvRows, find_messages};
use super::tree::ForestTree;
use crate::term::KeyPress;
use crate::ui::ShortIds;
use lepo_base::error::{Error, Result};
use lepo_search::Pattern;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Ix;

/// State that survives a new read of the store.
#[derive(Default)]
pub struct BrowserState {
    /// The key to handle again.
    press: Option<KeyPress>,
    /// Message under the cursor of the tree, and the folded ones; `None` for the list.
    tree: Option<(BubbId, Vec<BubbId>)>,
    /// Pattern of the search that the list shows, and its matches.
    search: Option<(Pattern, Vec<BubbId>)>,
    /// Tail of the selected conversation, and its line on the screen.
    chosen: Option<(BubbId, usize)>,
    marked: Option<BubbId>,
    /// First visible line of the conversation pane.
    reading: Option<PanePosition>,
    focus: Option<Focus>,
    input: Option<String>,
    height: usize,
}

/// The pane that the keys act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    List,
    Conv,
}

pub struct Browser<'a> {
    read: BrowsedStore<'a>,
    pub shorts: ShortIds,
    pub has_colours: bool,
    /// Number of conversations that the forest was read for; `None` for all.
    limit: Option<usize>,
    pub rows: ConvRows<'a>,
    /// First row on the screen, and the selected row.
    pub top: usize,
    pub chosen: usize,
    /// Replaces the list.
    pub tree: Option<ForestTree<'a>>,
    /// Content of the other pane, and its last message.
    pub reading: Option<(Ix, MessagePane<'a>)>,
    /// A comparison that replaces it.
    pub compared: Option<MessagePane<'a>>,
    pub focus: Focus,
    pub marked: Option<Ix>,
    pub input: Option<String>,
    /// Pattern of the last search, to highlight its matches.
    pub pattern: Option<Pattern>,
    matches: Vec<Ix>,
    pub help: bool,
    /// Message about the last key, on the status line.
    pub status: String,
    /// Lines of each pane, as last drawn.
    pub height: usize,
}

impl<'a> Browser<'a> {
    /// Lists the store with its newest conversation selected. `limit` is the number of conversations that the
    /// forest was read for; `None` for all. An empty store is an error.
    pub fn new(read: BrowsedStore<'a>, limit: Option<usize>) -> Result<Browser<'a>> {
        let mut rows = ConvRows::all(read, limit);
        if rows.get(0).is_none() {
            return Err(Error::nothing("no conversations yet").hint("ask something: lepo do QUESTION"));
        }
        let shorts = ShortIds::new(read.forest.all().map(|ix| read.forest.name(ix).id));
        Ok(Browser {
            read,
            shorts,
            has_colours: read.paint.is_on(),
            limit,
            rows,
            top: 0,
            chosen: 0,
            tree: None,
            reading: None,
            compared: None,
            focus: Focus::List,
            marked: None,
            input: None,
            pattern: None,
            matches: Vec::new(),
            help: false,
            status: String::new(),
            height: 1,
        })
    }

    /// Saves the state for the browser of the next read, which then handles the key `press`.
    pub fn suspend(mut self, press: Option<KeyPress>) -> BrowserState {
        let chosen = self.tail().map(|tail| (self.id(tail), self.chosen.saturating_sub(self.top)));
        let found = self.matches.iter().map(|&ix| self.id(ix)).collect();
        let cursor = self.cursor().map(|ix| self.id(ix));
        BrowserState {
            press,
            tree: self.tree.as_ref().and_then(|tree| Some((cursor?, tree.folded_ids()))),
            search: self.pattern.take().map(|pattern| (pattern, found)),
            chosen,
            marked: self.marked.map(|marked| self.id(marked)),
            reading: self.reading.as_ref().map(|(_, reading)| reading.top),
            focus: Some(self.focus),
            input: self.input.take(),
            height: self.height,
        }
    }

    /// Restores the state of the previous browser; returns the key to handle again.
    pub fn resume(&mut self, resumed: BrowserState) -> Option<KeyPress> {
        let forest = self.read.forest;
        let find = |id: BubbId| forest.find(id);
        self.marked = resumed.marked.and_then(find);
        if let Some((pattern, found)) = resumed.search {
            self.matches = found.into_iter().filter_map(find).collect();
            self.rows = ConvRows::through(self.read, &self.matches);
            self.pattern = Some(pattern);
        }
        if let Some((ix, line)) = resumed.chosen.and_then(|(id, line)| Some((find(id)?, line))) {
            self.choose(ix, line);
            if let Some(top) = resumed.reading.filter(|_| self.tail() == Some(ix) && resumed.tree.is_none()) {
                let mut reading = MessagePane::conv(self.read, ix);
                reading.top = top;
                self.reading = Some((ix, reading));
            }
        }
        if let Some((id, folded)) = resumed.tree {
            self.tree = find(id).and_then(|ix| ForestTree::through(self.read, ix));
            self.tree.iter_mut().for_each(|tree| tree.fold_ids(&folded));
        }
        self.focus = resumed.focus.unwrap_or(Focus::List);
        self.input = resumed.input;
        self.height = resumed.height.max(1);
        resumed.press
    }

    /// Selects the newest conversation through `ix`, on this line of the screen.
    fn choose(&mut self, ix: Ix, line: usize) {
        let forest = self.read.forest;
        let newest = || {
            let tails: Vec<Ix> = forest.listed_tails(false, self.read.own).collect();
            forest.tails_through(&tails, &[ix]).first().copied()
        };
        let index = self.rows.index_of(ix).or_else(|| self.rows.index_of(newest()?));
        if let Some(index) = index {
            (self.chosen, self.top) = (index, index.saturating_sub(line));
        }
    }

    pub fn tail(&mut self) -> Option<Ix> {
        self.rows.get(self.chosen).map(|row| row.tail)
    }

    /// Returns the message under the cursor of the tree, or the end of the selected conversation.
    pub fn cursor(&mut self) -> Option<Ix> {
        match &self.tree {
            Some(tree) => tree.selected(),
            None => self.tail(),
        }
    }

    pub fn id(&self, ix: Ix) -> BubbId {
        self.read.forest.name(ix).id
    }

    /// Returns the content of the other pane, after opening what is under the cursor if it is something else.
    pub fn pane(&mut self) -> Option<&mut MessagePane<'a>> {
        let end = self.cursor()?;
        if self.reading.as_ref().is_none_or(|(shown, _)| *shown != end) {
            let mut reading = MessagePane::conv(self.read, end);
            // After a search it starts at the first match; in a tree at the message.
            let hit = match self.tree {
                Some(_) => Some(end),
                None => reading.path.iter().copied().find(|ix| self.matches.contains(ix)),
            };
            hit.into_iter().for_each(|hit| reading.go(hit));
            self.reading = Some((end, reading));
        }
        match &mut self.compared {
            Some(compared) => Some(compared),
            None => self.reading.as_mut().map(|(_, reading)| reading),
        }
    }

    /// Returns the message at the top of the other pane if the keys act on it, else the one under the cursor.
    fn message(&mut self) -> Option<BubbId> {
        let shown = match self.focus {
            Focus::Conv => self.pane().and_then(|reading| reading.message()),
            Focus::List => None,
        };
        shown.or_else(|| self.cursor().map(|ix| self.id(ix)))
    }

    pub fn press(&mut self, press: KeyPress) -> ScreenStep {
        if press == KeyPress::Other {
            return ScreenStep::Stay;
        }
        self.status.clear();
        if self.input.is_some() {
            let is_search =
                press == KeyPress::Enter && self.input.as_ref().is_some_and(|text| !text.is_empty());
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
            self.status = "? shows the keys".into();
            return ScreenStep::Stay;
        };
        match action {
            KeyAction::Leave => return ScreenStep::Leave,
            KeyAction::GoOn => {
                return self.cursor().map_or(ScreenStep::Stay, |ix| ScreenStep::GoOn(self.id(ix)));
            }
            KeyAction::Copy => {
                let Some(id) = self.message() else { return ScreenStep::Stay };
                self.status = format!("copied {id}");
                return ScreenStep::Copy(id.to_string());
            }
            KeyAction::Help => self.help = true,
            KeyAction::Search => self.input = Some(String::new()),
            KeyAction::Mark => {
                let end = self.cursor();
                self.marked = if self.marked == end { None } else { end };
            }
            KeyAction::Compare => self.compare(),
            KeyAction::Tree if self.tree.is_some() => self.leave_tree(),
            KeyAction::Tree if self.limit.is_some() => return ScreenStep::ReadAll,
            KeyAction::Tree => self.message().into_iter().for_each(|id| self.open_tree(id)),
            KeyAction::Fold if self.tree.is_none() => self.status = "f folds in the tree: t opens it".into(),
            KeyAction::Open => self.focus = Focus::Conv,
            KeyAction::Back => self.back(),
            moved if self.focus == Focus::List && self.tree.is_some() => {
                self.status =
                    self.tree.as_mut().and_then(|tree| tree.press(moved, self.height)).unwrap_or_default();
                self.compared = None;
            }
            KeyAction::Right => self.focus = Focus::Conv,
            KeyAction::Left => self.back(),
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

    /// Opens the tree at this message; the list then selects a conversation through it.
    pub fn open_tree(&mut self, id: BubbId) {
        let Some(ix) = self.read.forest.find(id) else { return };
        if self.tail() != Some(ix) {
            self.choose(ix, self.chosen.saturating_sub(self.top));
        }
        self.tree = ForestTree::through(self.read, ix);
        (self.focus, self.compared, self.reading) = (Focus::List, None, None);
    }

    /// Returns to the list, at a conversation through the message under the cursor.
    fn leave_tree(&mut self) {
        let end = self.tree.take().and_then(|tree| tree.selected());
        let is_in = |tail: Ix| self.read.forest.up(tail).any(|ix| Some(ix) == end);
        if let (Some(end), false) = (end, self.tail().is_some_and(is_in)) {
            self.choose(end, self.chosen.saturating_sub(self.top));
        }
        (self.focus, self.compared, self.reading) = (Focus::List, None, None);
    }

    fn back(&mut self) {
        if self.compared.take().is_some() || self.focus == Focus::Conv {
            self.focus = Focus::List;
        } else if self.tree.is_some() {
            self.leave_tree();
        } else if self.pattern.take().is_some() {
            self.matches.clear();
            self.list(ConvRows::all(self.read, self.limit));
        }
    }

    fn list(&mut self, rows: ConvRows<'a>) {
        (self.rows, self.top, self.chosen) = (rows, 0, 0);
        (self.reading, self.compared) = (None, None);
    }

    fn compare(&mut self) {
        let (Some(marked), Some(end)) = (self.marked, self.cursor()) else {
            self.status = "mark another conversation first, with Space".into();
            return;
        };
        let lines = compare(self.read, marked, end);
        self.compared = Some(MessagePane::fixed(self.read, lines));
        self.focus = Focus::Conv;
    }

    fn type_key(&mut self, press: KeyPress) {
        let Some(typed) = &mut self.input else { return };
        match press {
            KeyPress::Char(c) => typed.push(c),
            KeyPress::Backspace => {
                typed.pop();
            }
            KeyPress::Escape | KeyPress::Ctrl('c') => self.input = None,
            KeyPress::Enter => {
                let typed = self.input.take().unwrap_or_default();
                self.search(&typed);
            }
            _ => {}
        }
    }

    fn search(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let (pattern, found) = match find_messages(self.read, text) {
            Ok(found) => found,
            Err(bad) => {
                self.status = bad.to_string();
                return;
            }
        };
        if found.is_empty() {
            self.status = format!("nothing matches {text:?}");
            return;
        }
        if let Some(tree) = &mut self.tree {
            match tree.go_to_next(&found) {
                true => self.pattern = Some(pattern),
                false => self.status = format!("nothing in this tree matches {text:?}"),
            }
            return;
        }
        let rows = ConvRows::through(self.read, &found);
        self.list(rows);
        (self.pattern, self.matches, self.focus) = (Some(pattern), found, Focus::List);
        self.status = "Esc shows everything again".into();
    }
}
