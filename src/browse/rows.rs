//! The list of conversations, newest first, read as far as needed.

use std::collections::{HashMap, HashSet};

use crate::term::clean;
use lepo_base::time;
use lepo_store::bubb::{BubbId, Kind, model_label};
use lepo_store::conv::{ConvOrigins, Forest, Ix};
use lepo_store::store::{JournalIndex, Store, now};

/// Maximum characters of a row's text.
const WORDS: usize = 200;

/// Maximum number of children of a message to check for another model's answer.
const MOST_BESIDE: usize = 50;

#[derive(Debug, Clone)]
pub struct ConvRow {
    pub tail: Ix,
    pub when: String,
    /// Title of the conversation, else its last question, cleaned.
    pub words: String,
}

pub struct ConvRows<'a> {
    store: &'a Store,
    forest: &'a Forest,
    tails: Box<dyn Iterator<Item = Ix> + 'a>,
    origins: ConvOrigins<'a>,
    titles: HashMap<BubbId, String>,
    titled: HashSet<BubbId>,
    facts: &'a JournalIndex,
    now: u64,
    read: Vec<ConvRow>,
    /// Number of rows that the forest was read for; older ones may be missing.
    limit: Option<usize>,
}

impl<'a> ConvRows<'a> {
    /// Lists all conversations, or the newest `limit`.
    pub fn all(
        store: &'a Store,
        forest: &'a Forest,
        facts: &'a JournalIndex,
        limit: Option<usize>,
    ) -> ConvRows<'a> {
        ConvRows {
            store,
            forest,
            facts,
            tails: Box::new(forest.newest_first(false).take(limit.unwrap_or(usize::MAX))),
            origins: forest.origins(),
            titles: store.titles().all(),
            titled: HashSet::new(),
            now: now(),
            read: Vec::new(),
            limit,
        }
    }

    /// Lists only the conversations that contain one of these bubbs.
    pub fn through(
        store: &'a Store,
        forest: &'a Forest,
        facts: &'a JournalIndex,
        bubbs: &[Ix],
    ) -> ConvRows<'a> {
        let all: Vec<Ix> = forest.newest_first(false).collect();
        let found: HashSet<Ix> = forest.tails_through(&all, bubbs).into_iter().collect();
        let tails = all.into_iter().filter(move |tail| found.contains(tail));
        ConvRows { tails: Box::new(tails), ..ConvRows::all(store, forest, facts, None) }
    }

    /// Returns the row at this index; its text may not be loaded yet.
    pub fn get(&mut self, at: usize) -> Option<&ConvRow> {
        while self.read.len() <= at {
            let tail = self.tails.next()?;
            self.read.push(ConvRow { tail, when: String::new(), words: String::new() });
        }
        self.read.get(at)
    }

    /// Whether rows up to this index may need conversations that were not read.
    pub fn may_lack(&mut self, at: usize) -> bool {
        let Some(last) = self.limit.and_then(|limit| limit.checked_sub(1)) else { return false };
        at >= last && self.get(last).is_some()
    }

    pub fn index_of(&mut self, tail: Ix) -> Option<usize> {
        let mut at = 0;
        while self.get(at)?.tail != tail {
            at += 1;
        }
        Some(at)
    }

    pub fn finish(&mut self) -> usize {
        let rest = self.tails.by_ref();
        self.read.extend(rest.map(|tail| ConvRow { tail, when: String::new(), words: String::new() }));
        self.read.len()
    }

    pub fn row_at(&mut self, at: usize) -> Option<ConvRow> {
        let row = self.get(at)?.clone();
        if !row.when.is_empty() {
            return Some(row);
        }
        let whole = self.row(row.tail);
        self.read[at] = whole.clone();
        Some(whole)
    }

    /// Returns the model of the answer to the last question (`gpt:`), if another model answered it too.
    fn model_beside_others(&self, tail: Ix) -> Option<String> {
        let question = self.forest.last_question(tail)?;
        let is_answer = |ix: &Ix| {
            let name = self.forest.name(*ix);
            name.kind == Kind::Assistant && !name.hidden
        };
        let answer = self.forest.up(tail).take_while(|ix| *ix != question).filter(is_answer).last()?;
        // After a question to several models, each answer follows a hidden message of its own.
        let below = |ix: Ix| match is_answer(&ix) {
            true => vec![ix],
            false => self.forest.children(ix).take(MOST_BESIDE).filter(is_answer).collect(),
        };
        let answers: Vec<Ix> = self.forest.children(question).take(MOST_BESIDE).flat_map(below).collect();
        let model = |ix: Ix| self.facts.get(self.forest.name(ix).id)?.model;
        let own = model(answer)?;
        let others = answers.into_iter().filter(|ix| *ix != answer).filter_map(model);
        others.into_iter().any(|other| other != own).then(|| format!("{}:", clean(model_label(&own))))
    }

    fn row(&mut self, tail: Ix) -> ConvRow {
        let root = self.forest.name(self.origins.value(tail).root).id;
        let words_of = |ix: Ix| self.store.bubbs().words(&self.forest.name(ix)).unwrap_or_default();
        let last = self.forest.last_question(tail).unwrap_or(tail);
        let is_fork = !self.titled.insert(root);
        let words = match self.titles.get(&root) {
            // Forks of one conversation share its title.
            Some(title) if is_fork => format!("{} · {title}", words_of(last)),
            Some(title) => title.clone(),
            None => match self.origins.value(tail).question.filter(|first| *first != last) {
                Some(first) => format!("{} · {}", words_of(last), words_of(first)),
                None => words_of(last),
            },
        };
        let mut told: Vec<&str> = Vec::new();
        let model = self.model_beside_others(tail);
        told.extend(model.as_deref());
        told.extend(words.split_whitespace().take(WORDS / 2));
        let words: String = told.join(" ").chars().take(WORDS).collect();
        let when = time::short(self.forest.name(tail).id.time(), self.now);
        ConvRow { tail, when, words: clean(&words).into_owned() }
    }
}
