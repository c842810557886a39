//! `_journal.ndjson`: facts about bubbs (model, tokens, times, exit codes), never needed to read the store.
//!
//! So no content of it is an error: a line torn by a crash is skipped, and a missing journal is empty.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dir::{FILE, now};
use super::handle::Store;
use super::journal_exchange::{MadeItem, ids, ids_as_texts, made_items};
use super::proof::{Statement, is_fact};
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// A line of the journal. Times are in milliseconds.
#[derive(Debug, Default, Serialize)]
pub struct JournalEntry<'a> {
    /// Time of writing, since 1970.
    pub time: u64,
    /// The bubb that the line describes; `None` for an answer that was empty or could not be read.
    #[serde(serialize_with = "as_text")]
    pub bubb: Option<BubbId>,
    /// Kind of fact: `answer`, `partial`, `empty`, `chooser`, `writer`, `unreadable`, `command`,
    /// `failed`, `unanswered`, `session`, `fork`.
    pub what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// Tokens of the request, as counted by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// How many of the request's tokens the server read from its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// How many of the request's tokens the server wrote to its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Searches and fetches that the provider's server ran for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<u64>,
    /// From the request to the end of the answer.
    pub ms: u64,
    /// From the request to the first text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Whether the request failed; a request that the user stopped did not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The bubb that the request followed if it produced no bubb, or the unanswered question.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub under: Option<BubbId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<&'a Value>,
    /// A hash of the schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<&'a str>,
    /// Hashes of the tools offered to the model, an object with a hash for each server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<&'a Value>,
    /// The hidden messages of the request, in order, since the last answer with parts in `made`.
    #[serde(serialize_with = "ids_as_texts", skip_serializing_if = "<[BubbId]>::is_empty")]
    pub after: &'a [BubbId],
    /// The parts of an answer to another program's request.
    #[serde(skip_serializing_if = "<[MadeItem]>::is_empty")]
    pub made: &'a [MadeItem],
    /// Why the answer ended: `stop`, `length`, `tools`, `filter`, `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<&'a str>,
    /// The beginning of the answer, which the request had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill: Option<&'a str>,
    /// The program that asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<&'a str>,
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<&'a str>,
    /// The system text in force.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub system: Option<BubbId>,
}

#[derive(Serialize)]
struct EntryLine<'e> {
    #[serde(flatten)]
    entry: &'e JournalEntry<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// The journal's facts about a bubb; a missing fact is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BubbFacts {
    /// Kind of the fact, as in [`JournalEntry`].
    pub what: String,
    pub failed: bool,
    #[serde(deserialize_with = "one_line")]
    pub model: Option<String>,
    #[serde(deserialize_with = "tokens")]
    pub input: Option<u64>,
    /// How many of the request's tokens the server read from its cache.
    #[serde(deserialize_with = "tokens")]
    pub cached: Option<u64>,
    #[serde(deserialize_with = "tokens")]
    pub output: Option<u64>,
    /// From the request to the end of the answer, in milliseconds.
    pub ms: Option<u64>,
    pub exit: Option<i32>,
    pub options: Option<Value>,
    /// A hash of the schema of the answer.
    #[serde(deserialize_with = "hash")]
    pub schema: Option<String>,
    /// Hashes of the tools offered to the model: an object, or a hash of all of them by earlier versions.
    #[serde(deserialize_with = "hashes")]
    pub tools: Option<Value>,
    /// The hidden messages of the request, in order, since the last answer with parts in `made`.
    #[serde(deserialize_with = "ids")]
    pub after: Vec<BubbId>,
    /// The parts of an answer to another program's request.
    #[serde(deserialize_with = "made_items")]
    pub made: Vec<MadeItem>,
    #[serde(deserialize_with = "hash")]
    pub finish: Option<String>,
    /// The beginning of the answer, which the request had.
    #[serde(deserialize_with = "hash")]
    pub prefill: Option<String>,
    /// The program that asked.
    #[serde(deserialize_with = "hash")]
    pub client: Option<String>,
    /// The provider's id of the answer.
    #[serde(deserialize_with = "hash")]
    pub response: Option<String>,
    /// The system text in force.
    #[serde(deserialize_with = "id_or_none")]
    pub system: Option<BubbId>,
    /// The original, if the message is a copy.
    #[serde(deserialize_with = "id_or_none")]
    pub copy_of: Option<BubbId>,
}

/// A parsed line of the journal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct JournalRecord {
    /// Time of writing, in milliseconds since 1970.
    pub time: u64,
    #[serde(deserialize_with = "id_of_text")]
    pub bubb: Option<BubbId>,
    /// The bubb that the request followed if it produced no bubb.
    #[serde(deserialize_with = "id_of_text")]
    pub under: Option<BubbId>,
    pub what: String,
    #[serde(deserialize_with = "one_line")]
    pub model: Option<String>,
    /// Tokens of the request, including those read from the provider's cache.
    #[serde(deserialize_with = "tokens")]
    pub input: Option<u64>,
    /// Tokens of the request read from the provider's cache.
    #[serde(deserialize_with = "tokens")]
    pub cached: Option<u64>,
    #[serde(deserialize_with = "tokens")]
    pub output: Option<u64>,
    /// From the request to the end of the answer, in milliseconds.
    pub ms: Option<u64>,
    /// From the request to the first text, in milliseconds.
    pub first_ms: Option<u64>,
    pub failed: bool,
    /// The original, if the message is a copy, for which no request was sent.
    #[serde(deserialize_with = "id_of_text")]
    pub copy_of: Option<BubbId>,
}

#[derive(Deserialize)]
struct FactLine {
    bubb: String,
    #[serde(flatten)]
    fact: BubbFacts,
}

/// The kind of a line about a question without an answer.
const UNANSWERED: &str = "unanswered";

pub(super) const JOURNAL: &str = "_journal.ndjson";

fn as_text<S: serde::Serializer>(id: &Option<BubbId>, to: S) -> std::result::Result<S::Ok, S::Error> {
    match id {
        Some(id) => to.collect_str(id),
        None => to.serialize_none(),
    }
}

pub(super) fn id_of_text<'d, D: serde::Deserializer<'d>>(
    from: D,
) -> std::result::Result<Option<BubbId>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.and_then(|text| BubbId::parse(text.as_bytes())))
}

/// Like [`id_of_text`], but ignores a value that is not a string.
fn id_or_none<'d, D: serde::Deserializer<'d>>(from: D) -> std::result::Result<Option<BubbId>, D::Error> {
    Ok(hash(from)?.and_then(|id| BubbId::parse(id.as_bytes())))
}

/// Replaces control characters, because names from imports are untrusted and appear in headings and tables.
fn one_line<'d, D: serde::Deserializer<'d>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    Ok(name.map(|name| match name.contains(char::is_control) {
        true => name.replace(char::is_control, "\u{fffd}"),
        false => name,
    }))
}

/// Drops impossible numbers of tokens, so that sums cannot overflow.
fn tokens<'d, D: serde::Deserializer<'d>>(from: D) -> std::result::Result<Option<u64>, D::Error> {
    Ok(Option::<u64>::deserialize(from)?.filter(|tokens| *tokens < 1 << 40))
}

/// Ignores a value that is not a string.
fn hash<'d, D: serde::Deserializer<'d>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    Ok(Option::<Value>::deserialize(from)?.and_then(|hash| hash.as_str().map(str::to_string)))
}

/// Ignores a value that is neither a string nor an object.
fn hashes<'d, D: serde::Deserializer<'d>>(from: D) -> std::result::Result<Option<Value>, D::Error> {
    let value = Option::<Value>::deserialize(from)?;
    Ok(value.filter(|value| value.is_string() || value.is_object()))
}

#[derive(Clone, Copy)]
pub struct Journal<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// Returns the journal: facts about bubbs, never needed to read them.
    pub fn journal(&self) -> Journal<'_> {
        Journal { store: self }
    }
}

impl<'s> Journal<'s> {
    /// Appends a line. A journal that cannot be written never fails a command.
    pub fn add(&self, entry: JournalEntry<'_>) {
        if let Err(error) = self.append_entry(entry) {
            tracing::debug!(error = error.chain(), "journal");
        }
    }

    fn append_entry(&self, entry: JournalEntry<'_>) -> Result<()> {
        self.store.dir.append(JOURNAL, &self.line(entry)?)
    }

    /// Appends a line and reads it back; fails if it differs.
    pub fn add_checked(&self, entry: JournalEntry<'_>) -> Result<()> {
        self.store.dir.append_checked(JOURNAL, &self.line(entry)?)
    }

    /// Formats an entry with the current time. An agent's session counts only with a proof.
    fn line(&self, mut entry: JournalEntry<'_>) -> Result<Vec<u8>> {
        entry.time = now();
        let session = entry.bubb.zip(entry.model).zip(entry.agent_session);
        let statement = session.map(|((answer, model), id)| Statement::AgentSession(answer, model, id));
        let proof = statement.and_then(|statement| self.store.proof(statement));
        let mut line = serde_json::to_vec(&EntryLine { entry: &entry, proof })
            .map_err(|error| self.store.dir.error("cannot write", JOURNAL, error.into()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// Waits for the lock of processes that read the journal and then append to it.
    pub(super) fn lock(&self) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.store.dir, JOURNAL, flags, FILE)?);
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// Returns the journal's facts by bubb; the last line counts.
    pub fn facts(&self) -> HashMap<BubbId, BubbFacts> {
        self.store.dir.open_file(JOURNAL).map(facts).unwrap_or_default()
    }

    pub fn note_unanswered(&self, question: BubbId) {
        self.add(JournalEntry { what: UNANSWERED, under: Some(question), ..JournalEntry::default() });
    }

    /// Whether the journal has a line that the question was not answered.
    pub fn is_unanswered(&self, question: BubbId) -> bool {
        let mut records = self.records();
        records.any(|record| record.what == UNANSWERED && record.under == Some(question))
    }

    /// Yields the lines of the journal; torn ones are skipped.
    pub fn records(&self) -> impl Iterator<Item = JournalRecord> + use<> {
        self.store.dir.open_file(JOURNAL).ok().into_iter().flat_map(records)
    }
}

fn records(journal: impl io::Read) -> impl Iterator<Item = JournalRecord> {
    let lines = BufReader::new(journal).split(b'\n').map_while(io::Result::ok);
    let records = lines.filter_map(|line| serde_json::from_slice::<JournalRecord>(&line).ok());
    records.filter(|record| is_fact(&record.what))
}

fn facts(journal: impl io::Read) -> HashMap<BubbId, BubbFacts> {
    let lines = BufReader::new(journal).split(b'\n').map_while(io::Result::ok);
    lines.filter_map(|line| fact_of(&line)).collect()
}

pub(super) fn fact_of(line: &[u8]) -> Option<(BubbId, BubbFacts)> {
    let told: FactLine =
        serde_json::from_slice(line).ok().filter(|told: &FactLine| is_fact(&told.fact.what))?;
    Some((BubbId::parse(told.bubb.as_bytes())?, told.fact))
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
        let found = facts(lines.join("\n").as_bytes());
        let fact = |end: char| found.get(&BubbId::parse(id(end).as_bytes()).unwrap()).cloned();
        assert_eq!(
            fact('A'),
            Some(BubbFacts {
                what: "answer".into(),
                model: Some("m".into()),
                input: Some(3),
                output: Some(4),
                ms: Some(5),
                ..BubbFacts::default()
            })
        );
        assert_eq!(
            fact('B'),
            Some(BubbFacts { what: "command".into(), ms: Some(6), exit: Some(7), ..BubbFacts::default() })
        );
        assert_eq!(fact('C'), None);
        // An impossible number of tokens is dropped.
        let model = Some("a\u{fffd}b".into());
        assert_eq!(
            fact('D'),
            Some(BubbFacts { model, ms: Some(9), output: Some(1), ..BubbFacts::default() })
        );
        assert_eq!(found.len(), 3);
        let records: Vec<JournalRecord> = records(lines.join("\n").as_bytes()).collect();
        let told: Vec<(u64, &str, bool)> =
            records.iter().map(|record| (record.time, record.what.as_str(), record.bubb.is_some())).collect();
        assert_eq!(told, [(1, "answer", true), (2, "command", true), (3, "empty", false), (0, "", true)]);
    }
}
