//! Looks a request up among the recorded ones of a store.

use std::sync::{Arc, Mutex, PoisonError};

use super::recorded_request::RecordedRequest;
use super::reply::RecordedReply;
use crate::proxy_store::ProxyStore;
use crate::request::ProxyRequest;
use crate::tree::{IgnoredText, StoreIndex, facts_of_original};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{JournalIndex, JournalRecord};
use lepo_turn::recorded::differing_excerpts;

/// Messages whose texts are compared for the nearest one.
const COMPARED: usize = 500;

/// The outcome of a look-up.
#[derive(Debug, Clone, PartialEq)]
pub enum CassetteLookup {
    /// The answer.
    Found(Box<RecordedReply>),
    /// The nearest recorded message, and the first difference.
    Missed(String),
}

/// The answers of a store, by their requests.
pub struct ProxyCassette {
    store: Arc<ProxyStore>,
    read: Mutex<ReadStore>,
}

/// The store as it was read.
struct ReadStore {
    index: StoreIndex,
    journal: JournalIndex,
}

/// An answer to a request with the same messages.
struct AnswerCandidate {
    id: BubbId,
    facts: JournalRecord,
    /// A copy wins over the original, which the user edited; then the later line in the journal counts.
    order: (bool, Option<usize>, BubbId),
}

impl ProxyCassette {
    pub(crate) fn new(store: Arc<ProxyStore>, ignored: IgnoredText) -> ProxyCassette {
        let read = ReadStore { index: StoreIndex::ignoring(ignored), journal: JournalIndex::default() };
        ProxyCassette { store, read: Mutex::new(read) }
    }

    /// Finds the answer to a request. Sends nothing and writes nothing.
    pub fn look_up(&self, request: &ProxyRequest) -> Result<CassetteLookup> {
        let missed = |reason: String| Ok(CassetteLookup::Missed(format!("no recorded answer: {reason}")));
        if request.answer_count() > 1 {
            return missed("several answers to one request are not recorded as such".into());
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.read_on(&self.store)?;
        let Some(request) = RecordedRequest::new(request, &self.store, &read.index) else {
            return missed("it continues a response that is not in the store".into());
        };
        match read.find(&self.store, &request) {
            Some(reply) => Ok(CassetteLookup::Found(Box::new(reply))),
            None => missed(read.nearest(&self.store, &request)),
        }
    }

    /// Returns the names of the recorded models, sorted.
    pub fn models(&self) -> Vec<String> {
        let facts = self.store.store.journal().facts().into_values();
        let mut models: Vec<String> =
            facts.filter(|facts| facts.what == "answer").filter_map(|facts| facts.model).collect();
        models.sort();
        models.dedup();
        models
    }
}

impl ReadStore {
    fn read_on(&mut self, store: &ProxyStore) -> Result<()> {
        // An answer of this process has its line in the journal before this lock is free.
        let _writing = store.index();
        if self.index.read_on(store.store)? {
            self.journal = store.store.journal().index();
        }
        Ok(())
    }

    /// Returns the answers to requests with the same messages, the best one last.
    fn answers(&self, request: &RecordedRequest) -> Vec<AnswerCandidate> {
        let answer = |id: &BubbId| {
            let is_answer = |facts: &JournalRecord| facts.what == "answer" && facts.model.is_some();
            let facts = facts_of_original(&self.journal, *id, is_answer)?;
            let order = (facts.copy_of.is_some(), self.journal.last_line(*id), *id);
            Some(AnswerCandidate { id: *id, facts, order })
        };
        let mut answers: Vec<AnswerCandidate> =
            self.index.answers_to(request.path()).iter().filter_map(answer).collect();
        answers.sort_by_key(|answer| answer.order);
        answers
    }

    fn find(&self, store: &ProxyStore, request: &RecordedRequest) -> Option<RecordedReply> {
        self.answers(request).into_iter().rev().find_map(|answer| {
            let system = self.index.system_of_answer(answer.id);
            match request.difference(&answer.facts, system) {
                None => self.reply(store, &answer, request.prefill()),
                Some(_) => None,
            }
        })
    }

    /// Reads an answer; `None` if a message of it was deleted.
    fn reply(
        &self,
        store: &ProxyStore,
        answer: &AnswerCandidate,
        prefill: Option<&str>,
    ) -> Option<RecordedReply> {
        let own = |id| if Some(id) == answer.facts.copy_of { answer.id } else { id };
        let made = answer.facts.made.iter().map(|item| own(item.bubb));
        let ids = if answer.facts.made.is_empty() { vec![answer.id] } else { made.collect() };
        let text = |id| {
            let name = self.index.name(id)?;
            Some((name, store.store.text(&name).ok()?))
        };
        let texts = ids.into_iter().map(text).collect::<Option<Vec<(BubbName, String)>>>()?;
        Some(RecordedReply::new(answer.id, texts, &answer.facts, prefill))
    }

    /// Describes the nearest recorded message and the first difference.
    fn nearest(&self, store: &ProxyStore, request: &RecordedRequest) -> String {
        let answers = self.answers(request);
        let differing = answers.iter().rev().find_map(|answer| {
            let difference = request.difference(&answer.facts, self.index.system_of_answer(answer.id))?;
            Some((answer.id, difference))
        });
        if let Some((id, difference)) = differing {
            let verb = if difference.subject.ends_with('s') { "differ" } else { "differs" };
            let (recorded, asked) = (difference.recorded, difference.requested);
            return format!(
                "nearest is {id}: {} {verb}: recorded {recorded}, asked {asked}",
                difference.subject
            );
        }
        if !self.index.has_answers() {
            return format!("nothing is recorded in {}", store.store.display_path().display());
        }
        let whole = request.parts.len();
        let known = (0..=whole).rev().find(|at| {
            let path = request.paths.get(*at).copied().unwrap_or_default();
            *at == 0 || self.index.paths.has(path)
        });
        let at = known.unwrap_or_default();
        let path = request.paths.get(at).copied().unwrap_or_default();
        let followers = self.index.paths.followers(path).take(COMPARED);
        let texts: Vec<(BubbName, String)> = followers
            .filter_map(|id| {
                let name = self.index.name(id)?;
                Some((name, store.store.text(&name).ok()?))
            })
            .collect();
        let Some((kind, asked)) = request.parts.get(at) else {
            let answer = texts.iter().find(|(name, _)| name.role == Role::Assistant && !name.hidden);
            return match answer {
                Some((name, _)) => format!(
                    "its answer {} has no line in _journal.ndjson, which git may ignore: lepo init --committed commits it",
                    name.id
                ),
                None => "its messages are recorded, and no answer to them".to_string(),
            };
        };
        let same_kind = texts.iter().filter(|(name, _)| (name.role, name.hidden) == kind.tag());
        let nearest = same_kind.max_by_key(|(_, text)| common_prefix(text, asked));
        match nearest {
            Some((name, text)) => {
                let (recorded, asked) = differing_excerpts(text, asked);
                let label = request.label(at);
                format!("nearest is {}: {label} differs: recorded {recorded:?}, asked {asked:?}", name.id)
            }
            None => match texts.first() {
                Some((name, _)) => {
                    format!("nearest is {}: {} is not recorded before it", name.id, request.label(at))
                }
                None => format!("{} is not recorded", request.label(at)),
            },
        }
    }
}

fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}
