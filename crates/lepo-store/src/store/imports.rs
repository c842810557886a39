//! The journal's lines about imports: source and title of each conversation.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::dir::now;
use super::journal::{JOURNAL, Journal};
use super::journal_record::{JournalRecord, id};
use super::proof::is_fact;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// An imported conversation, as recorded in a line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    #[serde(rename = "bubb", default, deserialize_with = "id", skip_serializing)]
    pub root: Option<BubbId>,
    /// The version of the mapping.
    #[serde(rename = "as")]
    pub version: u32,
    pub format: String,
    /// The file it was last read from.
    pub source: String,
    /// Id in the other program.
    pub id: String,
    /// Title in the other program.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub title: Option<String>,
    /// How much of the tool calls and results was imported.
    pub tools: String,
    /// Time of its last change in the other program, in milliseconds since 1970: the title of the newest state
    /// counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub changed: Option<u64>,
}

impl ImportRecord {
    /// Parses a line; `None` if it is not about an import.
    fn parse(line: &[u8]) -> Option<ImportRecord> {
        let import: ImportRecord = serde_json::from_slice(line).ok()?;
        import.root.is_some().then_some(import)
    }
}

#[derive(Debug, Default)]
pub struct ImportIndex {
    /// By format and id, the latest line for each root.
    conversations: HashMap<(String, String), Vec<ImportRecord>>,
    /// Bubbs whose model or tokens are recorded.
    answers: HashSet<BubbId>,
    /// Lines to write, concatenated.
    lines: Vec<u8>,
    /// The end offset of each of these lines, with its subject.
    ends: Vec<(usize, Subject)>,
    /// Number of bytes read of the journal.
    read: u64,
}

/// The fields that the index needs of each line.
#[derive(Deserialize)]
struct LineHeader<'a> {
    #[serde(borrow, default)]
    what: Cow<'a, str>,
    #[serde(default, deserialize_with = "id")]
    bubb: Option<BubbId>,
}

#[derive(Debug)]
enum Subject {
    Answer(BubbId),
    Conversation(Box<ImportRecord>),
}

#[derive(Serialize)]
struct ImportLine<'a> {
    time: u64,
    bubb: String,
    what: &'a str,
    #[serde(flatten)]
    import: &'a ImportRecord,
}

/// The kind of a line about an imported conversation.
const IMPORT: &str = "import";

impl Journal<'_> {
    /// Returns the providers' ids of all answers recorded by the proxy.
    pub fn responses(&self) -> HashSet<String> {
        self.records_with(["\"response\":"]).filter_map(|record| record.response).collect()
    }

    pub fn imports(&self) -> ImportIndex {
        let mut imports = ImportIndex::default();
        imports.read_from(self, 0);
        imports
    }

    /// Returns the titles of imported conversations by their roots; the title of the newest state counts.
    pub(super) fn imported_titles(&self) -> HashMap<BubbId, String> {
        let mut titles: HashMap<BubbId, (Option<u64>, String)> = HashMap::new();
        for line in self.lines_with(["\"what\":\"import\""]) {
            let title_fields = ImportRecord::parse(&line)
                .and_then(|record| Some((record.root?, record.changed, record.title?)));
            let Some((id, changed, title)) = title_fields else { continue };
            if titles.get(&id).is_none_or(|(known, _)| *known <= changed) {
                titles.insert(id, (changed, title));
            }
        }
        titles.into_iter().map(|(id, (_, title))| (id, title)).collect()
    }

    /// Appends the added lines, except lines that another import has written since the journal was read: only one
    /// import writes at a time.
    pub fn add_imports(&self, imports: &mut ImportIndex) -> Result<()> {
        if imports.lines.is_empty() {
            return Ok(());
        }
        // On a file system without locks a line may be written twice, which is harmless.
        let _lock = self.lock();
        let mut others = ImportIndex::default();
        others.read_from(self, imports.read);
        let lines = imports.unwritten_lines(&others);
        self.store.dir.append(JOURNAL, &lines)?;
        imports.read = others.read + lines.len() as u64;
        imports.answers.extend(others.answers);
        Ok(())
    }
}

impl ImportIndex {
    /// Returns the recorded imports of a conversation.
    pub fn records_for(&self, format: &str, id: &str) -> &[ImportRecord] {
        self.conversations.get(&(format.to_string(), id.to_string())).map_or(&[], Vec::as_slice)
    }

    /// Whether any recorded import satisfies the predicate.
    pub fn any(&self, is_such: impl Fn(&ImportRecord) -> bool) -> bool {
        self.conversations.values().flatten().any(is_such)
    }

    /// Returns the files from which the conversations with these roots were last read.
    pub fn sources_of(&self, roots: &HashSet<BubbId>) -> Vec<&str> {
        let of_them = |imported: &&ImportRecord| imported.root.is_some_and(|root| roots.contains(&root));
        let mut sources: Vec<&str> = self
            .conversations
            .values()
            .flatten()
            .filter(of_them)
            .map(|imported| imported.source.as_str())
            .collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Adds the lines of the journal from an offset on.
    fn read_from(&mut self, journal: &Journal<'_>, from: u64) {
        self.read = from;
        for (line, end) in journal.lines(from) {
            self.read = end;
            match serde_json::from_slice(&line) {
                Ok(LineHeader { what, .. }) if what == IMPORT => {
                    ImportRecord::parse(&line).into_iter().for_each(|import| self.insert(import));
                }
                Ok(LineHeader { what, bubb }) if is_fact(&what) => self.answers.extend(bubb),
                _ => {}
            }
        }
    }

    /// Returns the lines to write, without those in `others`.
    fn unwritten_lines(&mut self, others: &ImportIndex) -> Vec<u8> {
        let (lines, mut begin) = (std::mem::take(&mut self.lines), 0);
        let mut kept = Vec::with_capacity(lines.len());
        for (end, subject) in std::mem::take(&mut self.ends) {
            let is_there = match &subject {
                Subject::Answer(bubb) => others.answers.contains(bubb),
                Subject::Conversation(imported) => others.knows(imported),
            };
            if !is_there {
                kept.extend_from_slice(lines.get(begin..end).unwrap_or_default());
            }
            begin = end;
        }
        kept
    }

    /// Whether an equal state of the conversation, or a later title, is recorded. The source file is not compared.
    fn knows(&self, imported: &ImportRecord) -> bool {
        self.records_for(&imported.format, &imported.id).iter().any(|known| {
            let is_later = known.changed > imported.changed && known.title.is_some();
            let same = (known.root, known.version, &known.tools)
                == (imported.root, imported.version, &imported.tools);
            same && (is_later || (known.title == imported.title && known.changed == imported.changed))
        })
    }

    fn insert(&mut self, imported: ImportRecord) {
        let known = self.conversations.entry((imported.format.clone(), imported.id.clone())).or_default();
        // The newest is last.
        known.retain(|other| other.root != imported.root);
        known.push(imported);
    }

    /// Adds a conversation, unless an equal state is recorded.
    pub fn add(&mut self, imported: ImportRecord) {
        let Some(root) = imported.root else { return };
        if self.knows(&imported) {
            return;
        }
        let line = ImportLine { time: now(), bubb: root.to_string(), what: IMPORT, import: &imported };
        if serde_json::to_writer(&mut self.lines, &line).is_ok() {
            self.lines.push(b'\n');
        }
        self.ends.push((self.lines.len(), Subject::Conversation(Box::new(imported.clone()))));
        self.insert(imported);
    }

    /// Adds model and tokens of an answer, unless some are recorded.
    pub fn add_fact(&mut self, bubb: BubbId, model: Option<&str>, input: Option<u64>, output: Option<u64>) {
        if (model.is_none() && input.is_none() && output.is_none()) || !self.answers.insert(bubb) {
            return;
        }
        let record = JournalRecord::new(bubb, "imported");
        let model = model.map(str::to_string);
        JournalRecord { model, input, output, ..record }.write_to(&mut self.lines);
        self.ends.push((self.lines.len(), Subject::Answer(bubb)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_import_is_written_as_it_was_read() {
        let about = |fields: &str| {
            format!(
                r#""bubb":"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A","what":"import","as":3,"format":"claude",{fields}}}"#
            )
        };
        for line in [
            about(r#""source":"/a/b.json","id":"A-1","title":"t","tools":"none","changed":1795322239924"#),
            about(r#""source":"","id":"","tools":"all""#),
        ] {
            let mut index = ImportIndex::default();
            index.add(ImportRecord::parse(format!("{{\"time\":1,{line}").as_bytes()).unwrap());
            let written = String::from_utf8(index.lines).unwrap();
            assert_eq!(written.split_once(',').unwrap().1, line + "\n");
        }
        for other in [r#"{"what":"import"}"#, &format!("{{{}", about(r#""source":"","tools":"all""#))] {
            assert!(ImportRecord::parse(other.as_bytes()).is_none(), "{other}");
        }
    }
}
