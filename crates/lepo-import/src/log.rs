//! A log of records that name their parents: linked as they come, and to parents that come later at the end.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::ops::RangeInclusive;

use super::conversation::{Conversation, Node, What};
use super::tree::cut_circles;

/// A record of a log, and the nodes it gave.
#[derive(Debug)]
pub struct Record {
    /// Its id.
    pub id: String,
    parent: Parent,
    /// The hash of its message's id, where several records are one message.
    message: Option<u64>,
    first: usize,
    /// Its last node.
    pub tail: usize,
    /// It is the first of its id, as far as the id's hash tells.
    is_first: bool,
    /// It says of itself that its message is whole.
    ended: bool,
}

/// The parent of a record.
#[derive(Debug)]
enum Parent {
    /// It names none.
    None,
    /// It names one that has not come yet, or itself.
    Named(String),
    /// The place of its record.
    At(usize),
}

/// The records of a log, or of several that are linked each for itself.
#[derive(Debug, Default)]
pub struct Log {
    /// In the order of the log.
    pub records: Vec<Record>,
    /// The first record of the log that is being read.
    begin: usize,
    /// The first record of each id in that log, by the id's hash.
    places: HashMap<u64, usize>,
    hasher: RandomState,
}

impl Log {
    /// Begins another log.
    pub fn begin(&mut self) {
        self.begin = self.records.len();
        self.places = HashMap::new();
    }

    /// Adds a record: its id, its parent's, that of its message or nothing, its nodes.
    pub fn add(&mut self, id: String, parent: Option<String>, message: &str, nodes: RangeInclusive<usize>) {
        let place = self.records.len();
        let is_first = match self.places.entry(self.hasher.hash_one(&id)) {
            Entry::Vacant(vacant) => *vacant.insert(place) == place,
            Entry::Occupied(_) => false,
        };
        let message = (!message.is_empty()).then(|| self.hasher.hash_one(message));
        let (first, tail) = nodes.into_inner();
        self.records.push(Record { id, parent: Parent::None, message, first, tail, is_first, ended: false });
        self.records[place].parent = match parent {
            None => Parent::None,
            // Most follow the record before: that one is not looked for.
            Some(parent) => match self.is_before(place, &parent).or_else(|| self.find(&parent)) {
                Some(found) if found == place => Parent::Named(parent),
                Some(found) => Parent::At(found),
                None => Parent::Named(parent),
            },
        };
    }

    /// True if a record of an id is there already and says what these nodes say, so that they are no second record. If
    /// they go on where it ends, it gets their text.
    pub fn repeats(&self, id: &str, new: &[Node], conversation: &mut Conversation) -> bool {
        let Some(place) = self.find(id) else { return false };
        let Record { first, tail, .. } = self.records[place];
        let known = &mut conversation.nodes[first..=tail];
        let says = |new: &Node| {
            matches!(new.what, What::Nothing) || known.iter().any(|old| old.what.begins(&new.what))
        };
        if !new.iter().all(says) {
            return false;
        }
        for node in new {
            let old = known.iter_mut().find(|old| old.what.begins(&node.what));
            if let Some(old) = old.filter(|old| old.what.size() < node.what.size()) {
                (old.what, old.ready) = (node.what.clone(), node.ready);
            }
        }
        true
    }

    /// Says of the last record whether its message is whole.
    pub fn ended(&mut self, ended: bool) {
        if let Some(record) = self.records.last_mut() {
            record.ended = ended;
        }
    }

    /// The record before, if it is the first of this id.
    fn is_before(&self, place: usize, id: &str) -> Option<usize> {
        let before = place.checked_sub(1).filter(|&before| before >= self.begin)?;
        let record = &self.records[before];
        (record.is_first && record.id == id).then_some(before)
    }

    /// The first record of an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let is_it = |&place: &usize| self.records[place].id == id;
        let found = *self.places.get(&self.hasher.hash_one(id))?;
        // Two ids may have one hash.
        if is_it(&found) { Some(found) } else { (self.begin..self.records.len()).find(is_it) }
    }

    /// Gives the first node of each record its parent: the last node of the record's parent. A record whose parent
    /// is not there follows the record before it; one that names none has its nodes under `root`.
    pub fn link(&mut self, conversation: &mut Conversation, root: Option<usize>) {
        let begin = self.begin;
        let place_of = |(place, record): (usize, &Record)| match &record.parent {
            Parent::None => None,
            Parent::At(found) => Some(found - begin),
            Parent::Named(id) => {
                let found = self.find(id).map(|found| found - begin).or(place.checked_sub(1));
                found.filter(|&found| found != place)
            }
        };
        let records = &self.records[begin..];
        let mut parents: Vec<Option<usize>> = records.iter().enumerate().map(place_of).collect();
        cut_circles(&mut parents, |place| &records[place].id);
        for (record, parent) in records.iter().zip(parents) {
            let first = &mut conversation.nodes[record.first];
            let root = root.filter(|_| matches!(record.parent, Parent::None));
            first.parent = first.parent.or(root).or(parent.map(|parent| records[parent].tail));
        }
    }

    /// Marks the nodes of the last message, which may not be whole yet, unless it says that it is.
    pub fn mark_last(&self, conversation: &mut Conversation) {
        let records = &self.records[self.begin..];
        let says = |record: &&Record| {
            conversation.nodes[record.first..=record.tail]
                .iter()
                .any(|node| !matches!(node.what, What::Nothing))
        };
        let Some(last) = records.iter().rev().find(says).filter(|last| !last.ended) else { return };
        for record in records.iter().rev() {
            if record.first == last.first || (last.message.is_some() && record.message == last.message) {
                for node in &mut conversation.nodes[record.first..=record.tail] {
                    node.last = true;
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::*;
    use crate::tree::{Link, parents};

    #[test]
    fn records_linked_as_they_come_have_the_parents_of_records_linked_at_once() {
        for source in [
            "",
            "a- ba cb dc",
            "a- ba ca",
            "ca ba a-",
            "ba",
            "b- ca",
            "aa",
            "ab ba",
            "ba ab",
            "xc ca ab bc",
            "a- aa ba",
            "a- ba aa ca cb",
            "b- ab bb cb",
            "a- bx xa cb x-",
        ] {
            let links: Vec<Link<'_>> = source
                .split_whitespace()
                .map(|link| Link { id: &link[..1], parent: Some(&link[1..]).filter(|parent| *parent != "-") })
                .collect();
            let expected = parents(&links, |place| place.checked_sub(1));
            let (mut log, mut conversation) = (Log::default(), Conversation::default());
            // A log before, which has the same ids, is none of this one's business.
            for _ in 0..2 {
                let begin = conversation.nodes.len();
                log.begin();
                for link in &links {
                    let node = conversation.add(None, None, What::Nothing);
                    log.add(link.id.to_string(), link.parent.map(str::to_string), "", node..=node);
                }
                log.link(&mut conversation, None);
                let found: Vec<Option<usize>> = conversation.nodes[begin..]
                    .iter()
                    .map(|node| node.parent.map(|parent| parent - begin))
                    .collect();
                assert_eq!(found, expected, "{source}");
            }
        }
    }

    #[test]
    fn a_record_that_names_no_parent_follows_the_root() {
        let (mut log, mut conversation) = (Log::default(), Conversation::default());
        let root = conversation.add(None, None, What::Nothing);
        for (id, parent) in [("a", None), ("b", Some("a")), ("c", None), ("d", Some("lost"))] {
            let node = conversation.add(None, None, What::Nothing);
            log.add(id.to_string(), parent.map(str::to_string), "", node..=node);
        }
        log.link(&mut conversation, Some(root));
        let parents: Vec<Option<usize>> = conversation.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(3)]);
    }
}
