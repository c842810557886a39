//! A log of records that name their parents: linked while they are read, and at the end to parents that come later.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::ops::RangeInclusive;

use super::conversation::{History, ImportNode, NodeContent};
use super::tree::cut_circles;

/// A record of a log, and its nodes.
#[derive(Debug)]
pub struct LogRecord {
    pub id: String,
    parent: ParentRef,
    /// Hash of its message's id, which several records may share.
    message: Option<u64>,
    first: usize,
    /// Its last node.
    pub tail: usize,
    /// No earlier record has an id with this hash.
    is_first: bool,
    /// The record says that its message is complete.
    has_ended: bool,
}

#[derive(Debug)]
enum ParentRef {
    /// The record names no parent.
    None,
    /// An id that no earlier record has; may be its own.
    Named(String),
    /// Index of the parent.
    At(usize),
}

/// The records of a log, or of several separately linked logs.
#[derive(Debug, Default)]
pub struct LinkedLog {
    /// In the order of the log.
    pub records: Vec<LogRecord>,
    /// The first record of the log that is being read.
    begin: usize,
    /// The first record of each id in that log, by the id's hash.
    indices: HashMap<u64, usize>,
    hasher: RandomState,
}

impl LinkedLog {
    /// Starts another log.
    pub fn start_log(&mut self) {
        self.begin = self.records.len();
        self.indices = HashMap::new();
    }

    /// Adds a record: its id, its parent's, its message's (may be empty), and its nodes.
    pub fn add(&mut self, id: String, parent: Option<String>, message: &str, nodes: RangeInclusive<usize>) {
        let index = self.records.len();
        let is_first = match self.indices.entry(self.hasher.hash_one(&id)) {
            Entry::Vacant(vacant) => *vacant.insert(index) == index,
            Entry::Occupied(_) => false,
        };
        let message = (!message.is_empty()).then(|| self.hasher.hash_one(message));
        let (first, tail) = nodes.into_inner();
        self.records.push(LogRecord {
            id,
            parent: ParentRef::None,
            message,
            first,
            tail,
            is_first,
            has_ended: false,
        });
        self.records[index].parent = match parent {
            None => ParentRef::None,
            // Most records follow the previous one, which needs no search.
            Some(parent) => match self.is_before(index, &parent).or_else(|| self.find(&parent)) {
                Some(found) if found == index => ParentRef::Named(parent),
                Some(found) => ParentRef::At(found),
                None => ParentRef::Named(parent),
            },
        };
    }

    /// Whether an earlier record has this id and these nodes, so that they are not another record. If the new nodes
    /// continue its text, it is extended.
    pub fn repeats(&self, id: &str, new: &[ImportNode], conversation: &mut History) -> bool {
        let Some(index) = self.find(id) else { return false };
        let LogRecord { first, tail, .. } = self.records[index];
        let known = &mut conversation.nodes[first..=tail];
        let says = |new: &ImportNode| {
            matches!(new.what, NodeContent::Nothing) || known.iter().any(|old| old.what.begins(&new.what))
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

    /// Sets whether the message of the last record is complete.
    pub fn set_ended(&mut self, has_ended: bool) {
        if let Some(record) = self.records.last_mut() {
            record.has_ended = has_ended;
        }
    }

    /// Returns the previous record, if it is the first of this id.
    fn is_before(&self, index: usize, id: &str) -> Option<usize> {
        let before = index.checked_sub(1).filter(|&before| before >= self.begin)?;
        let record = &self.records[before];
        (record.is_first && record.id == id).then_some(before)
    }

    /// Finds the first record of an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let is_it = |&index: &usize| self.records[index].id == id;
        let found = *self.indices.get(&self.hasher.hash_one(id))?;
        // Two ids may have the same hash.
        if is_it(&found) { Some(found) } else { (self.begin..self.records.len()).find(is_it) }
    }

    /// Sets the parent of each record's first node: the last node of the record's parent. A record whose parent is
    /// missing follows the previous record; a record that names none follows `root`.
    pub fn link(&mut self, conversation: &mut History, root: Option<usize>) {
        let begin = self.begin;
        let place_of = |(index, record): (usize, &LogRecord)| match &record.parent {
            ParentRef::None => None,
            ParentRef::At(found) => Some(found - begin),
            ParentRef::Named(id) => {
                let found = self.find(id).map(|found| found - begin).or(index.checked_sub(1));
                found.filter(|&found| found != index)
            }
        };
        let records = &self.records[begin..];
        let mut parents: Vec<Option<usize>> = records.iter().enumerate().map(place_of).collect();
        cut_circles(&mut parents, |index| &records[index].id);
        for (record, parent) in records.iter().zip(parents) {
            let first = &mut conversation.nodes[record.first];
            let root = root.filter(|_| matches!(record.parent, ParentRef::None));
            first.parent = first.parent.or(root).or(parent.map(|parent| records[parent].tail));
        }
    }

    /// Marks the nodes of the last message, which may be incomplete, unless its record says that it is complete.
    pub fn mark_last(&self, conversation: &mut History) {
        let records = &self.records[self.begin..];
        let says = |record: &&LogRecord| {
            conversation.nodes[record.first..=record.tail]
                .iter()
                .any(|node| !matches!(node.what, NodeContent::Nothing))
        };
        let Some(last) = records.iter().rev().find(says).filter(|last| !last.has_ended) else { return };
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
            let expected = parents(&links, |index| index.checked_sub(1));
            let (mut log, mut conversation) = (LinkedLog::default(), History::default());
            // An earlier log with the same ids must not matter.
            for _ in 0..2 {
                let begin = conversation.nodes.len();
                log.start_log();
                for link in &links {
                    let node = conversation.add(None, None, NodeContent::Nothing);
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
        let (mut log, mut conversation) = (LinkedLog::default(), History::default());
        let root = conversation.add(None, None, NodeContent::Nothing);
        for (id, parent) in [("a", None), ("b", Some("a")), ("c", None), ("d", Some("lost"))] {
            let node = conversation.add(None, None, NodeContent::Nothing);
            log.add(id.to_string(), parent.map(str::to_string), "", node..=node);
        }
        log.link(&mut conversation, Some(root));
        let parents: Vec<Option<usize>> = conversation.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(3)]);
    }
}
