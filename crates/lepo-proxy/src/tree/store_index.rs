//! The paths of a store in memory. Messages of other processes are read when the folder has changed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::SystemTime;

use super::ignored_text::IgnoredText;
use super::layout::PartKind;
use super::part_key::{PathHash, part_kind};
use super::path_index::{NextPart, PathIndex, PathPoint, SystemText};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{JournalIndex, JournalRecord, Store};

/// How many copies of copies are followed to the facts of an answer.
const COPIES: usize = 100;

/// Prefix of the ids of responses that the proxy answered from the store.
pub const RESPONSE: &str = "resp_";

/// The paths of a store with what they were read from.
#[derive(Default)]
pub struct StoreIndex {
    /// The paths.
    pub paths: PathIndex,
    names: HashMap<BubbId, BubbName>,
    /// The point of each message of the spine.
    points: HashMap<BubbId, PathPoint>,
    /// The end of each answer with a line in the journal.
    answers: HashMap<BubbId, PathPoint>,
    /// Answers by the provider's id.
    responses: HashMap<String, BubbId>,
    /// Answers by the hash of their request's path, without its system prompt.
    requests: HashMap<PathHash, Vec<BubbId>>,
    /// Texts that do not count.
    ignored: IgnoredText,
    /// The last change of the folder that has been read.
    changed: Option<SystemTime>,
    has_read: bool,
    /// The time of the last message of this process.
    last_time: u64,
}

impl StoreIndex {
    /// Creates an index that compares messages without these texts.
    pub fn ignoring(ignored: IgnoredText) -> StoreIndex {
        StoreIndex { ignored, ..StoreIndex::default() }
    }

    /// Returns the hash of a part; `None` if it does not count.
    pub fn part_hash(&self, kind: PartKind, text: &str) -> Option<PathHash> {
        let counts = kind != PartKind::System || !self.ignored.has_no_system;
        PathHash::from_part(kind, &self.ignored.strip(text)).filter(|_| counts)
    }

    /// Returns the hash of a system prompt; `None` if system prompts do not count.
    pub fn system_hash(&self, text: &str) -> Option<PathHash> {
        let hash = || PathHash::from_system(&self.ignored.strip(text));
        (!self.ignored.has_no_system).then(hash)
    }

    /// Reads what is new: everything at first, then messages of other processes. Returns whether there was any.
    pub fn read_on(&mut self, store: &Store) -> Result<bool> {
        let changed = last_change(store);
        if self.has_read && changed.is_some() && changed == self.changed {
            return Ok(false);
        }
        let names = match self.has_read {
            false => {
                let forest = store.forest()?;
                forest.all().map(|ix| forest.name(ix)).collect()
            }
            true => {
                let (mut recent, ..) = store.recent_and_days()?;
                recent.retain(|name| !self.names.contains_key(&name.id));
                recent.sort_unstable_by_key(|name| name.id);
                recent
            }
        };
        self.has_read = true;
        self.changed = changed;
        let is_new = !names.is_empty();
        if is_new {
            self.add_names(store, names);
        }
        Ok(is_new)
    }

    /// Clears the index, so that the store is read again.
    pub fn forget(&mut self) {
        let ignored = std::mem::take(&mut self.ignored);
        *self = StoreIndex { last_time: self.last_time, ignored, ..StoreIndex::default() };
    }

    /// Returns the earliest time of the next message. Ids of the same millisecond have no order, and hidden leaves need
    /// one.
    pub fn next_time(&self) -> u64 {
        self.last_time + 1
    }

    /// Notes that the folder is as this process left it, if it was known before.
    pub fn note_own_change(&mut self, store: &Store, was_known: bool) {
        if was_known {
            self.changed = last_change(store);
        }
    }

    /// Whether all that is in the folder has been read.
    pub fn is_current(&self, store: &Store) -> bool {
        self.has_read && self.changed.is_some() && self.changed == last_change(store)
    }

    /// Returns the name of a known message.
    pub fn name(&self, id: BubbId) -> Option<BubbName> {
        self.names.get(&id).copied()
    }

    /// Adds a message of this process.
    pub fn note_name(&mut self, name: BubbName, point: Option<PathPoint>) {
        self.names.insert(name.id, name);
        self.last_time = self.last_time.max(name.id.time());
        if let Some(point) = point.filter(|_| !name.hidden) {
            self.points.insert(name.id, point);
        }
    }

    /// Adds an answer of this process.
    pub fn note_answer(&mut self, answer: BubbId, response: Option<&str>, end: PathPoint) {
        self.answers.insert(answer, end);
        if let Some(response) = response {
            self.responses.insert(response.to_string(), answer);
        }
    }

    /// Returns the answers to requests with this path.
    pub fn answers_to(&self, request: PathHash) -> &[BubbId] {
        self.requests.get(&request).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether any answer is known.
    pub fn has_answers(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Returns the hash of a system prompt, if system prompts count.
    pub fn counted_system(&self, system: PathHash) -> Option<PathHash> {
        (!self.ignored.has_no_system).then_some(system)
    }

    /// Returns the hash of the system prompt in force at an answer; `None` without one, or if they do not count.
    pub fn system_of_answer(&self, answer: BubbId) -> Option<PathHash> {
        let point = self.answers.get(&answer).or_else(|| self.points.get(&answer))?;
        self.paths.system(*point).and_then(|system| self.counted_system(system.hash))
    }

    /// Finds the end of an answer by the provider's id, or by the id of a response from the store.
    pub fn response(&self, id: &str) -> Option<PathPoint> {
        let own = || BubbId::parse(id.strip_prefix(RESPONSE)?.as_bytes());
        let answer = self.responses.get(id).copied().or_else(own)?;
        self.answers.get(&answer).or_else(|| self.points.get(&answer)).copied()
    }

    /// Adds messages in the order of their ids, so that each comes after its prev.
    fn add_names(&mut self, store: &Store, names: Vec<BubbName>) {
        let journal = store.journal().index();
        for name in &names {
            self.names.insert(name.id, *name);
        }
        for name in names {
            let facts = exchange_facts(&journal, name.id);
            let is_root_prompt = name.hidden && name.prev.is_none() && name.role == Role::System;
            if let Some(facts) = facts {
                self.add_answer(store, &name, &facts);
            } else if is_root_prompt || !name.hidden {
                // The file may be gone in the meantime.
                let Ok(text) = store.text(&name) else { continue };
                let point = if is_root_prompt {
                    self.paths.add_root(self.system_text_of(&name, &text))
                } else {
                    let above = self.point_above(&name);
                    if name.role == Role::Assistant {
                        self.requests.entry(self.paths.hash(above)).or_default().push(name.id);
                    }
                    self.add_part(above, &name, &text, self.system_at(above), None, "")
                };
                self.points.insert(name.id, point);
            }
        }
    }

    /// Adds an answer with a line in the journal, and the hidden messages of its request.
    fn add_answer(&mut self, store: &Store, name: &BubbName, facts: &JournalRecord) {
        let own: Vec<BubbId> = facts.made.iter().map(|item| item.bubb).collect();
        let (mut spine, anchor) = self.spine_since_answer(name, facts, &own);
        spine.reverse();
        let mut point = match anchor {
            Some(anchor) => self.answers.get(&anchor).copied(),
            None => {
                let first = spine.first().and_then(|first| self.names.get(first));
                self.point_above(first.unwrap_or(name))
            }
        };
        let known = self.answered_parts(point, anchor);
        let mut beside: Vec<BubbId> =
            facts.after.iter().copied().filter(|id| !known.contains(id) && !own.contains(id)).collect();
        let system = facts.system.and_then(|id| self.system_text(store, id));
        let mut at = point.and_then(|point| self.paths.tip(point));
        for id in spine.into_iter().map(Some).chain([None]) {
            // Adds the leaves of the previous message; at the end, leaves of messages outside of the path, too.
            let (now, later): (Vec<BubbId>, Vec<BubbId>) =
                beside.into_iter().partition(|id_beside| id.is_none() || self.spine_of(*id_beside) == at);
            for id in now {
                point = self.add_stored(store, point, id, system, None, "").or(point);
            }
            beside = later;
            let Some(id) = id else { break };
            let is_system = self.names.get(&id).is_some_and(|name| name.hidden);
            point = match (is_system, point, system) {
                (true, Some(before), Some(system)) if system.id == id => {
                    Some(self.paths.change_system(before, system, true))
                }
                (true, ..) => point,
                (false, ..) => self.add_stored(store, point, id, system, None, "").or(point),
            };
            at = Some(id);
        }
        self.requests.entry(self.paths.hash(point)).or_default().push(name.id);
        for item in &facts.made {
            // The line of a copy has the original's parts.
            let id = if Some(item.bubb) == facts.copy_of { name.id } else { item.bubb };
            let call = item.call.as_deref().unwrap_or_default();
            point = self.add_stored(store, point, id, system, Some(name.id), call).or(point);
        }
        if let Some(point) = point {
            self.answers.insert(name.id, point);
            if !name.hidden {
                self.points.insert(name.id, point);
            }
            if let Some(response) = &facts.response {
                self.responses.insert(response.clone(), name.id);
            }
        }
    }

    /// Returns the messages of the path before an answer, the last first, up to the last answer that has a line, and
    /// that answer.
    fn spine_since_answer(
        &self,
        name: &BubbName,
        facts: &JournalRecord,
        own: &[BubbId],
    ) -> (Vec<BubbId>, Option<BubbId>) {
        let hidden = facts.after.first().copied().filter(|first| self.answers.contains_key(first));
        let end = hidden.and_then(|hidden| self.spine_of(hidden));
        let mut spine = Vec::new();
        let mut prev = name.prev;
        while let Some(id) = prev {
            if hidden.is_none() && self.answers.contains_key(&id) {
                return (spine, Some(id));
            }
            if hidden.is_some() && end == Some(id) {
                return (spine, hidden);
            }
            let Some(above) = self.names.get(&id) else { break };
            let is_prompt = above.hidden && above.prev.is_none();
            if is_prompt || above.prev.is_some_and(|prev| prev >= id) {
                break;
            }
            if !own.contains(&id) && (!above.hidden || above.role == Role::System) {
                spine.push(id);
            }
            prev = above.prev;
        }
        (spine, None)
    }

    /// Returns the messages of the parts of an answer, if the path ends with it.
    fn answered_parts(&self, point: Option<PathPoint>, anchor: Option<BubbId>) -> Vec<BubbId> {
        match (point, anchor) {
            (Some(point), Some(_)) => self.paths.messages_of_answer(point),
            _ => Vec::new(),
        }
    }

    fn add_stored(
        &mut self,
        store: &Store,
        parent: Option<PathPoint>,
        id: BubbId,
        system: Option<SystemText>,
        answer: Option<BubbId>,
        call: &str,
    ) -> Option<PathPoint> {
        let name = *self.names.get(&id)?;
        let text = store.text(&name).ok()?;
        let point = self.add_part(parent, &name, &text, system, answer, call);
        if let Entry::Vacant(entry) = self.points.entry(id)
            && !name.hidden
        {
            entry.insert(point);
        }
        Some(point)
    }

    fn add_part(
        &mut self,
        parent: Option<PathPoint>,
        name: &BubbName,
        text: &str,
        system: Option<SystemText>,
        answer: Option<BubbId>,
        call: &str,
    ) -> PathPoint {
        let kind = part_kind(name);
        let hash = self.part_hash(kind, text);
        self.paths.add(parent, NextPart { kind, hash, bubb: name.id, system, call, answer })
    }

    fn system_at(&self, point: Option<PathPoint>) -> Option<SystemText> {
        self.paths.system(point?)
    }

    fn system_text(&self, store: &Store, id: BubbId) -> Option<SystemText> {
        let name = self.names.get(&id)?;
        let text = store.text(name).ok()?;
        Some(self.system_text_of(name, &text))
    }

    fn system_text_of(&self, name: &BubbName, text: &str) -> SystemText {
        SystemText { id: name.id, hash: self.system_hash(text).unwrap_or_default() }
    }

    /// Returns the point of the nearest message before this one that a path has.
    fn point_above(&self, name: &BubbName) -> Option<PathPoint> {
        self.points.get(&self.ancestor(name.prev?, |id| self.points.contains_key(&id))?).copied()
    }

    /// Finds the message of the spine of which a hidden one is a leaf.
    fn spine_of(&self, id: BubbId) -> Option<BubbId> {
        let prev = self.names.get(&id)?.prev?;
        let is_beside = |name: &BubbName| name.hidden && matches!(name.role, Role::Assistant | Role::Tool);
        self.ancestor(prev, |id| self.names.get(&id).is_some_and(|name| !is_beside(name)))
    }

    /// Returns the nearest of a message and those before it that fits. A circle of hand-edited names ends the search.
    fn ancestor(&self, from: BubbId, fits: impl Fn(BubbId) -> bool) -> Option<BubbId> {
        let mut id = from;
        while !fits(id) {
            id = self.names.get(&id)?.prev.filter(|prev| *prev < id)?;
        }
        Some(id)
    }
}

/// Returns the facts of a recorded answer; for a copy, the facts of its original.
fn exchange_facts(journal: &JournalIndex, id: BubbId) -> Option<JournalRecord> {
    facts_of_original(journal, id, |facts| !facts.made.is_empty())
}

/// Returns the first facts that fit of a message, its original, the original of that. Their `copy_of` is the original
/// that `made` names; originals have none.
pub fn facts_of_original(
    journal: &JournalIndex,
    id: BubbId,
    fits: impl Fn(&JournalRecord) -> bool,
) -> Option<JournalRecord> {
    let mut bubb = id;
    let mut found: Option<JournalRecord> = None;
    for _ in 0..COPIES {
        let Some(facts) = journal.get(bubb) else { break };
        let original = facts.copy_of;
        if found.is_none() && fits(&facts) {
            found = Some(facts);
        }
        let is_named = |facts: &JournalRecord| facts.made.iter().any(|item| item.bubb == bubb);
        match original {
            Some(original) if !found.as_ref().is_some_and(is_named) => bubb = original,
            _ => break,
        }
    }
    let facts = found?;
    Some(JournalRecord { copy_of: Some(bubb).filter(|original| *original != id), ..facts })
}

fn last_change(store: &Store) -> Option<SystemTime> {
    std::fs::metadata(store.path()).and_then(|meta| meta.modified()).ok()
}
