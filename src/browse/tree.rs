//! The tree of a conversation as `log --graph` draws it: its rows, the cursor on one of them, and folded subtrees.

use std::collections::{HashMap, HashSet};

use super::keys::KeyAction;
use super::message_pane::BrowsedStore;
use crate::term::{clean, cut, excerpt_within, padded, width};
use crate::ui::ShortIds;
use lepo_base::time;
use lepo_store::bubb::{BubbId, model_label};
use lepo_store::conv::{GraphRow, Ix};
use lepo_store::store::now;

/// Minimum columns of a row with the date, with the model, and with the id.
const WITH_DATE: usize = 30;
const WITH_MODEL: usize = 64;
const WITH_ID: usize = 76;

/// Maximum columns of the model.
const MODEL: usize = 12;

/// Number of messages that decide the width of the model's column.
const FIRST: usize = 64;

pub struct ForestTree<'a> {
    read: BrowsedStore<'a>,
    /// Drawn with nothing folded.
    whole: Vec<GraphRow>,
    drawn: HashSet<Ix>,
    rows: Vec<GraphRow>,
    /// Messages with a folded subtree, and how many messages it hides.
    folded: HashMap<Ix, usize>,
    /// Index of the row under the cursor, and of the first row on the screen.
    pub chosen: usize,
    pub top: usize,
    model_columns: usize,
}

impl<'a> ForestTree<'a> {
    /// Draws the tree of the message `at`, with the cursor on it, or on the nearest drawn message above it.
    pub fn through(read: BrowsedStore<'a>, at: Ix) -> Option<ForestTree<'a>> {
        let BrowsedStore { forest, stopped, .. } = read;
        let root = forest.up(at).last()?;
        let all: Vec<Ix> = forest.all().rev().collect();
        let mut bubbs = forest.tails_through(&all, &[root]);
        bubbs.retain(|&ix| stopped.is_shown(&forest.name(ix)));
        bubbs.extend(forest.hidden_joints(&bubbs));
        let drawn: HashSet<Ix> = bubbs.iter().copied().collect();
        let whole = forest.graph(&bubbs);
        let mut tree = ForestTree {
            read,
            rows: whole.clone(),
            whole,
            drawn,
            folded: HashMap::new(),
            chosen: 0,
            top: 0,
            model_columns: 0,
        };
        let first = bubbs.iter().take(FIRST).map(|&ix| width(&tree.who(ix)));
        tree.model_columns = first.max().unwrap_or_default().min(MODEL);
        let at = forest.up(at).find(|ix| tree.drawn.contains(ix));
        match at {
            Some(at) => tree.go(at),
            None => tree.step(0),
        }
        tree.selected().map(|_| tree)
    }

    /// Returns the message under the cursor.
    pub fn selected(&self) -> Option<Ix> {
        self.rows.get(self.chosen)?.bubb
    }

    pub fn folded_ids(&self) -> Vec<BubbId> {
        self.folded.keys().map(|&ix| self.read.forest.name(ix).id).collect()
    }

    pub fn fold_ids(&mut self, ids: &[BubbId]) {
        let found: Vec<Ix> = ids.iter().filter_map(|&id| self.read.forest.find(id)).collect();
        self.folded.extend(found.into_iter().filter(|ix| self.drawn.contains(ix)).map(|ix| (ix, 0)));
        self.draw();
    }

    /// Handles a key; returns a message for the status line, if the key had no effect.
    pub fn press(&mut self, action: KeyAction, height: usize) -> Option<String> {
        let page = height.max(2) as isize - 1;
        match action {
            KeyAction::Next | KeyAction::LineDown => self.step(1),
            KeyAction::Previous | KeyAction::LineUp => self.step(-1),
            KeyAction::PageDown => self.step(page),
            KeyAction::PageUp => self.step(-page),
            KeyAction::First => self.step(isize::MIN),
            KeyAction::Last => self.step(isize::MAX),
            KeyAction::Left => self.go_to_parent(),
            KeyAction::Right => self.go_to_sibling(),
            KeyAction::Fold if !self.fold() => return Some("nothing follows this message".into()),
            _ => {}
        }
        None
    }

    /// Moves the cursor `by` rows down (negative: up), to the nearest row with a message in this direction.
    fn step(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        let to = self.chosen.saturating_add_signed(by).min(last);
        let has_bubb = |at: &usize| self.rows.get(*at).is_some_and(|row| row.bubb.is_some());
        let (mut below, mut above) = (to..=last, (0..=to).rev());
        let found = match by >= 0 {
            true => below.find(has_bubb).or_else(|| above.find(has_bubb)),
            false => above.find(has_bubb).or_else(|| below.find(has_bubb)),
        };
        self.chosen = found.unwrap_or(self.chosen);
    }

    fn go_to_parent(&mut self) {
        if let Some(parent) = self.selected().and_then(|ix| self.parent(ix)) {
            self.go(parent);
        }
    }

    /// Moves to the next message with the same parent, after the last one to the first.
    fn go_to_sibling(&mut self) {
        let Some(chosen) = self.selected() else { return };
        let parent = self.parent(chosen);
        let is_sibling = |ix: &Ix| self.parent(*ix) == parent;
        let siblings: Vec<Ix> = self.rows.iter().filter_map(|row| row.bubb).filter(is_sibling).collect();
        let index = siblings.iter().position(|&ix| ix == chosen).unwrap_or_default();
        if let Some(&next) = siblings.get((index + 1) % siblings.len().max(1)) {
            self.go(next);
        }
    }

    /// Hides the messages that follow the one under the cursor, or shows them again; false if none follow.
    fn fold(&mut self) -> bool {
        let Some(chosen) = self.selected() else { return false };
        if self.folded.remove(&chosen).is_none() {
            let mut others = self.rows.iter().filter_map(|row| row.bubb);
            if !others.any(|ix| self.parent(ix) == Some(chosen)) {
                return false;
            }
            self.folded.insert(chosen, 0);
        }
        self.draw();
        self.go(chosen);
        true
    }

    /// Moves to the next of these messages below the cursor, from the last row on to the first, and unfolds what
    /// hides it; false if none of them is in the tree.
    pub fn go_to_next(&mut self, found: &[Ix]) -> bool {
        let found: HashSet<Ix> = found.iter().copied().collect();
        let order: Vec<Ix> = self.whole.iter().filter_map(|row| row.bubb).collect();
        let chosen =
            self.selected().and_then(|chosen| order.iter().position(|&ix| ix == chosen)).unwrap_or(0);
        let (before, after) = order.split_at((chosen + 1).min(order.len()));
        let Some(&next) = after.iter().chain(before).find(|ix| found.contains(ix)) else { return false };
        for ix in self.read.forest.up(next).skip(1) {
            self.folded.remove(&ix);
        }
        self.draw();
        self.go(next);
        true
    }

    fn parent(&self, ix: Ix) -> Option<Ix> {
        self.read.forest.up(ix).skip(1).find(|ix| self.drawn.contains(ix))
    }

    fn go(&mut self, ix: Ix) {
        if let Some(index) = self.rows.iter().position(|row| row.bubb == Some(ix)) {
            self.chosen = index;
        }
    }

    /// Draws the rows that no folded message hides.
    fn draw(&mut self) {
        if self.folded.is_empty() {
            self.rows.clone_from(&self.whole);
            return;
        }
        let mut hidden_by: HashMap<Ix, Ix> = HashMap::new();
        let mut shown = Vec::new();
        let mut counts: HashMap<Ix, usize> = self.folded.keys().map(|&ix| (ix, 0)).collect();
        // From the root up: a parent comes before its children.
        for ix in self.whole.iter().rev().filter_map(|row| row.bubb) {
            let folded = self.parent(ix).and_then(|parent| match hidden_by.get(&parent) {
                Some(&folded) => Some(folded),
                None => Some(parent).filter(|parent| self.folded.contains_key(parent)),
            });
            match folded {
                Some(folded) => {
                    hidden_by.insert(ix, folded);
                    *counts.entry(folded).or_default() += 1;
                }
                None => shown.push(ix),
            }
        }
        self.folded = counts;
        self.rows = self.read.forest.graph(&shown);
    }

    /// Returns the speaker of a debate's message, or the model of an answer, cleaned.
    fn who(&self, ix: Ix) -> String {
        let BrowsedStore { store, forest, facts, .. } = self.read;
        let name = forest.name(ix);
        let model = || Some(model_label(&facts.get(name.id)?.model?).to_string());
        clean(&store.speaker(forest, &name).or_else(model).unwrap_or_default()).into_owned()
    }

    /// Returns the text of a row within `columns`: the drawing, then id, date and model as far as they fit, and an
    /// excerpt.
    pub fn line(
        &self,
        index: usize,
        columns: usize,
        marked: Option<Ix>,
        shorts: &ShortIds,
    ) -> Option<String> {
        let row = self.rows.get(index)?;
        let Some(ix) = row.bubb else { return Some(cut(&row.drawing, columns)) };
        let name = self.read.forest.name(ix);
        let mut line = format!("{} ", row.drawing);
        if columns >= WITH_ID {
            line += &format!("{} ", shorts.show(name.id));
        }
        if columns >= WITH_DATE {
            line += &format!("{:>1$} ", time::short(name.id.time(), now()), time::SHORT_WIDTH);
        }
        if columns >= WITH_MODEL && self.model_columns > 0 {
            line += &format!("{} ", padded(&cut(&self.who(ix), self.model_columns), self.model_columns));
        }
        if marked == Some(ix) {
            line += "* ";
        }
        if let Some(count) = self.folded.get(&ix) {
            line += &format!("[+{count}] ");
        }
        line += &format!("{} ", name.tag());
        if self.read.stopped.contains(name.id) {
            line += "(stopped) ";
        }
        let text = self.read.store.excerpt_text(&name).unwrap_or_default();
        line += &excerpt_within(&text, columns.saturating_sub(width(&line)));
        Some(cut(&line, columns))
    }
}
