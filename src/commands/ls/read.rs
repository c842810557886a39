//! Reads the rows of `lepo ls`: first the facts from the forest, in order, then journal facts and texts, for
//! several rows in parallel.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::row::{LsRow, RowFacts, RowFormat};
use crate::commands::summary_line::excerpt_of;
use crate::stats::{Cost, Costs};
use crate::term::{clean, excerpt};
use crate::ui::{ended_early, known_models, text_or_warn};
use crate::view::{Overview, Overviews, UsageFields};
use lepo_base::error::Result;
use lepo_base::read_ahead::in_order;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix, NearestAncestor, SiblingTails};
use lepo_store::store::{JournalIndex, Store};
use lepo_tool::{Sandbox, ToolRequest};
use lepo_turn::Body;
use lepo_turn::config::Prices;

pub struct RowReader<'r> {
    store: &'r Store,
    forest: &'r Forest,
    overviews: Overviews<'r>,
    form: RowFormat,
    /// Path of the store, if there are several.
    path: Option<String>,
    /// The pending requests to list, and the sandbox for their commands.
    requests: Option<(HashMap<Ix, &'r ToolRequest>, &'r Sandbox)>,
    branches: HashMap<BubbId, Vec<String>>,
    facts: JournalIndex,
    /// Context windows of models, by name.
    windows: HashMap<String, u64>,
    prices: Prices,
}

struct ListedTail<'r> {
    ix: Ix,
    overview: Overview<'r>,
    /// The answer at the tail, if another tail answers the same question.
    answer: Option<Ix>,
    cost: Cost,
}

impl<'r> RowReader<'r> {
    /// Loads the data that all rows need; branches only if displayed.
    pub fn new(
        store: &'r Store,
        forest: &'r Forest,
        form: RowFormat,
        has_branches: bool,
    ) -> Result<RowReader<'r>> {
        let (windows, prices) = if form.has_facts() { known_models() } else { Default::default() };
        Ok(RowReader {
            store,
            forest,
            overviews: Overviews::new(store, forest),
            form,
            path: None,
            requests: None,
            branches: if has_branches { store.branches_by_end()? } else { HashMap::new() },
            facts: if form.has_facts() { store.journal().index() } else { JournalIndex::default() },
            windows,
            prices,
        })
    }

    pub fn of_several(self) -> RowReader<'r> {
        RowReader { path: Some(self.store.path().to_string_lossy().into_owned()), ..self }
    }

    /// Reads pending requests instead of conversations.
    pub fn of_requests(self, waiting: &'r [(Ix, ToolRequest)], sandbox: &'r Sandbox) -> RowReader<'r> {
        let requests = waiting.iter().map(|(ix, request)| (*ix, request)).collect();
        RowReader { requests: Some((requests, sandbox)), ..self }
    }

    /// Passes the rows of the first `most` tails to `each`, in order, until that breaks. `tails` may be longer: a
    /// later tail may answer the same question as one of them.
    pub fn rows<'s>(
        &'s self,
        tails: impl Iterator<Item = Ix> + 's,
        most: usize,
        each: impl FnMut(LsRow<'s>) -> ControlFlow<()>,
    ) {
        in_order(self.tails(tails).take(most), |tail| self.read(tail), each);
    }

    /// Whether the rows are conversations with their facts.
    fn has_facts(&self) -> bool {
        self.form.has_facts() && self.requests.is_none()
    }

    fn tails<'s>(
        &'s self,
        listed: impl Iterator<Item = Ix> + 's,
    ) -> impl Iterator<Item = ListedTail<'s>> + 's {
        let (forest, has_facts) = (self.forest, self.has_facts());
        let is_answer = |ix: &Ix| forest.name(*ix).role == Role::Assistant;
        let visible = NearestAncestor::new(|forest, ix| !forest.name(ix).hidden);
        let tells_costs = matches!(self.form, RowFormat::Json | RowFormat::Long(Some(_)));
        let mut costs =
            (has_facts && tells_costs).then(|| Costs::new(forest, &self.facts, &self.prices)).flatten();
        let tails: Box<dyn Iterator<Item = (Ix, bool)> + 's> = match has_facts {
            true => Box::new(SiblingTails::new(forest, listed).map(|(tail, _, is_shared)| (tail, is_shared))),
            false => Box::new(listed.map(|tail| (tail, false))),
        };
        tails.map(move |(ix, is_shared)| {
            // The partial text of an interrupted answer is hidden.
            let answer = || visible.find(forest, ix).filter(is_answer).or(Some(ix).filter(is_answer));
            ListedTail {
                ix,
                overview: self.overviews.overview(ix),
                answer: is_shared.then(answer).flatten(),
                cost: costs.as_mut().map(|costs| costs.cost(ix)).unwrap_or_default(),
            }
        })
    }

    fn read<'s>(&'s self, tail: ListedTail<'s>) -> LsRow<'s> {
        let overview = tail.overview;
        let waiting =
            self.requests.as_ref().and_then(|(requests, sandbox)| Some((*requests.get(&tail.ix)?, *sandbox)));
        let (access, last) = match (waiting, self.form) {
            (Some((request, sandbox)), RowFormat::Requests(_)) => {
                let (access, request) = request.consent_columns(sandbox);
                (access, Some(request))
            }
            _ => (String::new(), self.last(waiting, overview.last)),
        };
        LsRow {
            name: overview.tail,
            from: overview.owner,
            height: overview.messages,
            is_ahead: self.forest.is_ahead(tail.ix),
            questions: overview.questions,
            access,
            branches: self.branches.get(&overview.tail.id).map(Vec::as_slice).unwrap_or_default(),
            request: waiting.map(|(request, _)| request),
            facts: self.has_facts().then(|| Box::new(self.facts(&tail, last.as_ref()))),
            last,
            store: self.path.as_deref(),
            sandbox: waiting.and_then(|(request, sandbox)| match request {
                ToolRequest::Command(command) => Some(sandbox.holding(command.access).as_str()),
                ToolRequest::Call(_) => None,
            }),
        }
    }

    fn facts<'s>(&'s self, tail: &ListedTail<'s>, last: Option<&String>) -> RowFacts<'s> {
        // An answer is near the end; in a long import there may be none with facts.
        let mut near =
            self.forest.up(tail.ix).take(64).filter_map(|ix| self.facts.get(self.forest.name(ix).id));
        let fact = near.find(|fact| fact.input.is_some() || fact.model.is_some()).unwrap_or_default();
        let first = tail.overview.opening().and_then(|name| text_or_warn(self.store, &name));
        let answer = tail.answer.and_then(|ix| self.answer(&self.forest.name(ix)));
        let is_json = self.form == RowFormat::Json;
        RowFacts {
            root: tail.overview.root,
            title: tail.overview.title(),
            first: if is_json { first.map(|text| excerpt(&text)).or_else(|| last.cloned()) } else { first },
            answer: if is_json { answer.map(|text| excerpt(&text)) } else { answer },
            window: fact.model.as_ref().and_then(|model| self.windows.get(model)).copied(),
            model: fact.model,
            usage: UsageFields { input: fact.input, output: fact.output },
            cost: tail.cost,
        }
    }

    fn last(&self, waiting: Option<(&ToolRequest, &Sandbox)>, question: Option<BubbName>) -> Option<String> {
        match (waiting, self.form) {
            (_, RowFormat::Paths) => None,
            (Some((request, _)), RowFormat::Json) => Some(excerpt(&request.summary())),
            (Some((request, sandbox)), _) => Some(request.consent_line(sandbox)),
            (None, RowFormat::Columns(_) | RowFormat::Long(_)) => text_or_warn(self.store, &question?),
            (None, _) => excerpt_of(self.store, &question?),
        }
    }

    /// Returns an answer, after the name of its participant if it has one; a hidden answer is marked as
    /// interrupted.
    fn answer(&self, answer: &BubbName) -> Option<String> {
        let text = text_or_warn(self.store, answer)?;
        if answer.hidden {
            let is_request = Body::read_named(answer, &text).request().is_some();
            let word = self.facts.get(answer.id).as_ref().and_then(ended_early).unwrap_or("stopped");
            return (!is_request).then(|| format!("({word}) {text}"));
        }
        Some(match self.store.speaker(self.forest, answer) {
            Some(speaker) => format!("{}: {text}", clean(&speaker)),
            None => text,
        })
    }
}
