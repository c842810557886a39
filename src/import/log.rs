//! A log of records that name their parents: collected as they come, linked when all are there.

use super::conversation::{Conversation, What};
use super::tree::{Link, parents};

/// A record of a log, and the nodes it gave.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// Its parent's.
    pub parent: Option<String>,
    /// The id of its message, where several records are one message.
    pub message: String,
    /// Its first node.
    pub first: usize,
    /// Its last.
    pub tail: usize,
}

/// The records of one log.
#[derive(Debug, Default)]
pub struct Log {
    /// In the order of the log.
    pub records: Vec<Record>,
}

impl Log {
    /// Gives the first node of each record its parent: the last node of the record's parent. A record whose parent
    /// is not there follows the record before it.
    pub fn link(&self, conversation: &mut Conversation) {
        let records = self.records.iter();
        let links: Vec<Link<'_>> =
            records.map(|record| Link { id: &record.id, parent: record.parent.as_deref() }).collect();
        for (record, parent) in self.records.iter().zip(parents(&links, |place| place.checked_sub(1))) {
            if conversation.nodes[record.first].parent.is_none() {
                conversation.nodes[record.first].parent = parent.map(|parent| self.records[parent].tail);
            }
        }
    }

    /// Marks the nodes of the last message, which may not be whole yet.
    pub fn mark_last(&self, conversation: &mut Conversation) {
        let says = |record: &&Record| {
            conversation.nodes[record.first..=record.tail]
                .iter()
                .any(|node| !matches!(node.what, What::Nothing))
        };
        let Some(last) = self.records.iter().rev().find(says).cloned() else { return };
        for record in self.records.iter().rev() {
            let same =
                record.first == last.first || (!last.message.is_empty() && record.message == last.message);
            if same {
                for node in &mut conversation.nodes[record.first..=record.tail] {
                    node.last = true;
                }
            }
        }
    }
}
