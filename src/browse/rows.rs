//! The list of conversations, newest first, read as far as needed.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::message_pane::BrowsedStore;
use crate::term::clean;
use crate::view::Overviews;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_base::time;
use lepo_search::{FileResult, Pattern, PatternOptions, search_files};
use lepo_store::bubb::{BubbId, BubbName, model_label};
use lepo_store::conv::Ix;
use lepo_store::store::now;

/// Maximum characters of a question or a title.
const LONGEST: usize = 200;

/// Maximum number of children of a message to check for another model's answer.
const MOST_BESIDE: usize = 50;

#[derive(Debug, Clone)]
pub struct ConvRow {
    pub tail: Ix,
    pub when: String,
    /// Number of questions.
    pub questions: usize,
    /// Model of the newest answer, cleaned; empty if unknown.
    pub model: String,
    /// Title of the conversation or its first question, cleaned; empty if `last` says as much.
    pub first: String,
    /// Last question, cleaned, or the title of a conversation without forks.
    pub last: String,
}

impl ConvRow {
    fn unread(tail: Ix) -> ConvRow {
        let (when, model, first, last) = Default::default();
        ConvRow { tail, when, questions: 0, model, first, last }
    }
}

pub struct ConvRows<'a> {
    read_store: BrowsedStore<'a>,
    tails: Box<dyn Iterator<Item = Ix> + 'a>,
    overviews: Overviews<'a>,
    titled: HashSet<BubbId>,
    now: u64,
    read: Vec<ConvRow>,
    /// Number of rows that the forest was read for; older ones may be missing.
    limit: Option<usize>,
}

impl<'a> ConvRows<'a> {
    /// Lists all conversations, or the newest `limit`.
    pub fn all(read_store: BrowsedStore<'a>, limit: Option<usize>) -> ConvRows<'a> {
        let BrowsedStore { store, forest, own, .. } = read_store;
        ConvRows {
            read_store,
            tails: Box::new(forest.listed_tails(false, own).take(limit.unwrap_or(usize::MAX))),
            overviews: Overviews::new(store, forest),
            titled: HashSet::new(),
            now: now(),
            read: Vec::new(),
            limit,
        }
    }

    /// Lists only the conversations that contain one of these bubbs.
    pub fn through(read_store: BrowsedStore<'a>, bubbs: &[Ix]) -> ConvRows<'a> {
        let forest = read_store.forest;
        let all: Vec<Ix> = forest.listed_tails(false, read_store.own).collect();
        let found: HashSet<Ix> = forest.tails_through(&all, bubbs).into_iter().collect();
        let tails = all.into_iter().filter(move |tail| found.contains(tail));
        ConvRows { tails: Box::new(tails), ..ConvRows::all(read_store, None) }
    }

    /// Returns the row at this index; its text may not be loaded yet.
    pub fn get(&mut self, at: usize) -> Option<&ConvRow> {
        while self.read.len() <= at {
            let tail = self.tails.next()?;
            self.read.push(ConvRow::unread(tail));
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
        self.read.extend(rest.map(ConvRow::unread));
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

    /// Returns the model of the answer to the last question (`gpt: `), if another model answered it too.
    fn model_among_others(&self, tail: Ix) -> Option<String> {
        let question = self.read_store.forest.last_question(tail)?;
        let is_answer = |ix: &Ix| {
            let name = self.read_store.forest.name(*ix);
            name.role == Role::Assistant && !name.hidden
        };
        let answer =
            self.read_store.forest.up(tail).take_while(|ix| *ix != question).filter(is_answer).last()?;
        // After a question to several models, each answer follows a hidden message of its own.
        let below = |ix: Ix| match is_answer(&ix) {
            true => vec![ix],
            false => self.read_store.forest.children(ix).take(MOST_BESIDE).filter(is_answer).collect(),
        };
        let answers: Vec<Ix> =
            self.read_store.forest.children(question).take(MOST_BESIDE).flat_map(below).collect();
        let model = |ix: Ix| self.read_store.facts.get(self.read_store.forest.name(ix).id)?.model;
        let own = model(answer)?;
        let others = answers.into_iter().filter(|ix| *ix != answer).filter_map(model);
        others.into_iter().any(|other| other != own).then(|| format!("{}: ", clean(model_label(&own))))
    }

    fn row(&mut self, tail: Ix) -> ConvRow {
        let BrowsedStore { store, forest, facts, .. } = self.read_store;
        let overview = self.overviews.overview(tail);
        let text_of = |name: BubbName| one_line(&store.excerpt_text(&name).unwrap_or_default());
        let last_text = || text_of(overview.last.unwrap_or(overview.tail));
        let is_fork = !self.titled.insert(overview.root);
        let (first, last) = match overview.title() {
            // Forks of one conversation share its title.
            Some(title) if !is_fork => (String::new(), one_line(title)),
            Some(title) => (one_line(title), last_text()),
            None => (overview.opening().map(text_of).unwrap_or_default(), last_text()),
        };
        let last = self.model_among_others(tail).unwrap_or_default() + &last;
        let when = time::short(overview.tail.id.time(), self.now);
        let questions = overview.questions as usize;
        let model = forest.up(tail).find_map(|ix| facts.get(forest.name(ix).id)?.model).unwrap_or_default();
        let model = clean(model_label(&model)).into_owned();
        ConvRow { tail, when, questions, model, first, last }
    }
}

/// Returns the beginning of a text on one line, cleaned.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(LONGEST / 2).collect();
    clean(&words.join(" ").chars().take(LONGEST).collect::<String>()).into_owned()
}

/// Finds the visible messages that match a regular expression, which distinguishes case if it has a capital letter.
pub fn find_messages(read: BrowsedStore<'_>, text: &str) -> Result<(Pattern, Vec<Ix>)> {
    let pattern = Pattern::new(text, PatternOptions::smart_case(text))?;
    let BrowsedStore { store, forest, .. } = read;
    let names = forest.all().map(|ix| forest.name(ix)).filter(|name| !name.hidden);
    let mut found = Vec::new();
    let _ = search_files(store, &pattern, names, |outcome| {
        if let FileResult::Found(name, _) = outcome {
            found.extend(forest.find(name.id));
        }
        ControlFlow::Continue(())
    });
    Ok((pattern, found))
}
