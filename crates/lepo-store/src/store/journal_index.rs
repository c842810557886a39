//! Looks up the journal's facts of the few bubbs in a listing without parsing every line.

use memchr::memmem;

use super::journal::{JOURNAL, Journal};
use super::journal_record::JournalRecord;
use super::proof::is_fact;
use crate::bubb::BubbId;

/// The journal with an index of its lines by bubb.
#[derive(Default)]
pub struct JournalIndex {
    journal: Vec<u8>,
    /// Ids with the offset of their line, sorted; lines with equal ids are in the order of the file.
    lines: Vec<(BubbId, usize)>,
}

impl Journal<'_> {
    /// Indexes the journal; a line is parsed only when it is asked for.
    pub fn index(&self) -> JournalIndex {
        JournalIndex::parse(self.store.dir.read_file(JOURNAL).ok().flatten().unwrap_or_default())
    }
}

impl JournalIndex {
    fn parse(journal: Vec<u8>) -> JournalIndex {
        const KEY: &[u8] = b"\"bubb\":\"";
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &journal).chain([journal.len()]) {
            let line = journal.get(start..end).unwrap_or_default();
            let id = memmem::find(line, KEY).and_then(|at| line.get(at + KEY.len()..)?.get(..BubbId::LEN));
            lines.extend(id.and_then(BubbId::parse).map(|id| (id, start)));
            start = end + 1;
        }
        // Stable, so that lines of the same id stay in order.
        lines.sort_by_key(|(id, _)| *id);
        JournalIndex { journal, lines }
    }

    /// Returns the facts of a bubb; the last line counts.
    pub fn get(&self, id: BubbId) -> Option<JournalRecord> {
        self.records(id).next()
    }

    /// Returns the byte offset of the last line about a bubb.
    pub fn last_line(&self, id: BubbId) -> Option<usize> {
        let end = self.lines.partition_point(|(known, _)| *known <= id);
        let (known, start) = self.lines.get(end.checked_sub(1)?)?;
        (*known == id).then_some(*start)
    }

    /// Returns all lines about a bubb, newest first.
    pub fn records(&self, id: BubbId) -> impl Iterator<Item = JournalRecord> {
        let records = self.newest_first(id).filter_map(JournalRecord::parse);
        records.filter(move |record| record.bubb == Some(id) && is_fact(&record.what))
    }

    /// Returns the lines whose first `bubb` field is this id, newest first.
    fn newest_first(&self, id: BubbId) -> impl Iterator<Item = &[u8]> {
        let end = self.lines.partition_point(|(known, _)| *known <= id);
        let upto = self.lines.get(..end).unwrap_or_default();
        let mine = upto.iter().rev().take_while(move |(known, _)| *known == id);
        mine.filter_map(|(_, start)| self.journal.get(*start..)?.split(|byte| *byte == b'\n').next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bubbs_last_whole_line_is_its_fact() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let (a, b, c) = (id('A'), id('B'), id('C'));
        let journal = format!(
            "{{\"bubb\":\"{b}\",\"ms\":1}}\n{{\"bubb\":\"{a}\",\"model\":\"old\"}}\ntorn \"bubb\":\"{c}\n\
             {{\"bubb\":\"{a}\",\"model\":\"new\"}}\n{{\"bubb\":\"{a}\",\"mod"
        );
        let index = JournalIndex::parse(journal.into_bytes());
        let fact = |id: &str| index.get(BubbId::parse(id.as_bytes()).unwrap());
        assert_eq!(fact(&a).unwrap().model.as_deref(), Some("new"));
        assert_eq!(fact(&b).unwrap().ms, Some(1));
        assert_eq!(fact(&c), None);
        let models = |id: &str| {
            let records = index.records(BubbId::parse(id.as_bytes()).unwrap());
            records.map(|record| record.model.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(models(&a), ["new", "old"]);
        assert_eq!((models(&b), models(&c)), (vec![String::new()], vec![]));
        assert_eq!(JournalIndex::default().get(BubbId::parse(a.as_bytes()).unwrap()), None);
    }
}
