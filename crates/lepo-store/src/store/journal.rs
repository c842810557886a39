//! `_journal.ndjson`: facts about bubbs (model, tokens, times, exit codes), never needed to read the store.
//!
//! So no content of it is an error: a line torn by a crash is skipped, and a missing journal is empty.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use memchr::memmem;
use rustix::fs::{FlockOperation, OFlags};

use super::dir::{FILE, now};
use super::handle::Store;
use super::journal_record::JournalRecord;
use super::proof::is_fact;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// The kind of a line about a question without an answer.
const UNANSWERED: &str = "unanswered";

pub(super) const JOURNAL: &str = "_journal.ndjson";

#[derive(Clone, Copy)]
pub struct Journal<'s> {
    pub(super) store: &'s Store,
}

#[doc(hidden)]
impl Store {
    /// Returns the journal: facts about bubbs, never needed to read them.
    pub fn journal(&self) -> Journal<'_> {
        Journal { store: self }
    }
}

impl Journal<'_> {
    /// Appends a line. A journal that cannot be written never fails a command.
    pub fn add(&self, record: JournalRecord) {
        if let Err(error) = self.append([self.dated(record)]) {
            tracing::debug!(error = error.chain(), "journal");
        }
    }

    /// Appends a line and reads it back; fails if it differs.
    pub fn add_checked(&self, record: JournalRecord) -> Result<()> {
        self.store.dir.append_checked(JOURNAL, &lines_of([self.dated(record)]))
    }

    /// Adds the current time, and the proof without which an agent's session does not count.
    fn dated(&self, record: JournalRecord) -> JournalRecord {
        let is_session = record.agent_session.is_some() && record.model.is_some();
        let statement = record.statement().filter(|_| is_session);
        let proof = statement.and_then(|statement| self.store.proof(statement));
        JournalRecord { time: now(), ms: record.ms.or(Some(0)), proof, ..record }
    }

    /// Appends lines in a single write.
    pub(super) fn append(&self, records: impl IntoIterator<Item = JournalRecord>) -> Result<()> {
        match lines_of(records) {
            lines if lines.is_empty() => Ok(()),
            lines => self.store.dir.append(JOURNAL, &lines),
        }
    }

    /// Waits for the lock of processes that read the journal and then append to it.
    pub(super) fn lock(&self) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.store.dir, JOURNAL, flags, FILE)?);
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// Returns the journal's facts by bubb; the last line counts.
    pub fn facts(&self) -> HashMap<BubbId, JournalRecord> {
        self.records().filter_map(|record| Some((record.bubb?, record))).collect()
    }

    pub fn note_unanswered(&self, question: BubbId) {
        self.add(JournalRecord {
            what: UNANSWERED.into(),
            under: Some(question),
            ..JournalRecord::default()
        });
    }

    /// Whether the journal has a line that the question was not answered.
    pub fn is_unanswered(&self, question: BubbId) -> bool {
        let mut records = self.records_with([UNANSWERED]);
        records.any(|record| record.what == UNANSWERED && record.under == Some(question))
    }

    /// Yields the facts of the journal; torn lines are skipped.
    pub fn records(&self) -> impl Iterator<Item = JournalRecord> + use<> {
        facts(self.lines(0).map(|(line, _)| line))
    }

    /// Yields the records of the lines in which one of the texts occurs; other lines are not parsed.
    pub(super) fn records_with<const N: usize>(
        &self,
        texts: [&'static str; N],
    ) -> impl Iterator<Item = JournalRecord> + use<N> {
        self.lines_with(texts).filter_map(|line| JournalRecord::parse(&line))
    }

    /// Yields the lines in which one of the texts occurs.
    pub(super) fn lines_with<const N: usize>(
        &self,
        texts: [&'static str; N],
    ) -> impl Iterator<Item = Vec<u8>> + use<N> {
        let finders = texts.map(memmem::Finder::new);
        let lines = self.lines(0).map(|(line, _)| line);
        lines.filter(move |line| finders.iter().any(|finder| finder.find(line).is_some()))
    }

    /// Yields the lines from an offset on, torn ones too, each with the offset after the last whole line.
    pub(super) fn lines(&self, from: u64) -> impl Iterator<Item = (Vec<u8>, u64)> + use<> {
        let open = || {
            let mut file = self.store.dir.open_file(JOURNAL)?;
            file.seek(SeekFrom::Start(from)).map(|_| BufReader::with_capacity(1 << 16, file))
        };
        let (mut journal, mut end) = (open().ok(), from);
        std::iter::from_fn(move || {
            let mut line = Vec::new();
            let read = journal.as_mut()?.read_until(b'\n', &mut line).ok()?;
            end += if line.ends_with(b"\n") { read as u64 } else { 0 };
            (read > 0).then_some((line, end))
        })
    }
}

pub(super) fn lines_of(records: impl IntoIterator<Item = JournalRecord>) -> Vec<u8> {
    let mut lines = Vec::new();
    records.into_iter().for_each(|record| record.write_to(&mut lines));
    lines
}

fn facts(lines: impl Iterator<Item = Vec<u8>>) -> impl Iterator<Item = JournalRecord> {
    lines.filter_map(|line| JournalRecord::parse(&line)).filter(|record| is_fact(&record.what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_facts_and_torn_ones_are_skipped() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let lines = [
            format!(
                r#"{{"time":1,"bubb":"{}","what":"answer","model":"m","input":3,"output":4,"ms":5}}"#,
                id('A')
            ),
            format!(r#"{{"time":2,"bubb":"{}","what":"command","ms":6,"exit":7}}"#, id('B')),
            r#"{"time":3,"bubb":null,"what":"empty","ms":8}"#.into(),
            format!(r#"{{"time":4,"bubb":"{}","what":"ans"#, id('C')),
            "\u{fffd}".into(),
            String::new(),
            format!(
                r#"{{"bubb":"{}","ms":9,"new":[1],"model":"a\nb","input":18446744073709551615,"output":1}}"#,
                id('D')
            ),
        ];
        let records: Vec<JournalRecord> = facts(lines.map(String::into_bytes).into_iter()).collect();
        let fact = |end: char| {
            let found =
                records.iter().rfind(|record| record.bubb.is_some_and(|bubb| bubb.to_string() == id(end)));
            found.map(|record| {
                (record.model.as_deref(), [record.input, record.output, record.ms], record.exit)
            })
        };
        assert_eq!(fact('A'), Some((Some("m"), [Some(3), Some(4), Some(5)], None)));
        assert_eq!(fact('B'), Some((None, [None, None, Some(6)], Some(7))));
        assert_eq!(fact('C'), None);
        // An impossible number of tokens is dropped.
        assert_eq!(fact('D'), Some((Some("a\u{fffd}b"), [None, Some(1), Some(9)], None)));
        let rows: Vec<(u64, &str, bool)> =
            records.iter().map(|record| (record.time, record.what.as_str(), record.bubb.is_some())).collect();
        assert_eq!(rows, [(1, "answer", true), (2, "command", true), (3, "empty", false), (0, "", true)]);
    }
}
