//! The journal's lines about imports: source and title of each conversation.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Seek, SeekFrom};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::dir::now;
use super::journal::{JOURNAL, Journal};
use super::proof::is_fact;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// An imported conversation, as recorded in a line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    #[serde(skip)]
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

#[derive(Debug, Default)]
pub struct ImportIndex {
    /// By format and id, the latest line for each root.
    conversations: HashMap<(String, String), Vec<ImportRecord>>,
    /// Bubbs whose model or tokens are recorded.
    told: HashSet<BubbId>,
    /// Lines to write, concatenated.
    lines: Vec<u8>,
    /// The end offset of each of these lines, with its subject.
    ends: Vec<(usize, Subject)>,
    /// Number of bytes read of the journal.
    read: u64,
}

#[derive(Debug)]
enum Subject {
    Answer(BubbId),
    Conversation(Box<ImportRecord>),
}

#[derive(Deserialize)]
struct ImportJournalLine<'a> {
    bubb: Option<&'a str>,
    #[serde(default)]
    what: &'a str,
}

#[derive(Serialize)]
struct ImportLine<'a, F> {
    time: u64,
    bubb: String,
    what: &'a str,
    #[serde(flatten)]
    facts: F,
}

/// Model and tokens of an imported answer, as far as the source has them.
#[derive(Serialize)]
struct AnswerFacts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
}

#[derive(Deserialize)]
struct ResponseLine {
    response: String,
}

impl Journal<'_> {
    /// Returns the providers' ids of all answers recorded by the proxy.
    pub fn responses(&self) -> HashSet<String> {
        let Ok(journal) = self.store.dir.open_file(JOURNAL) else { return HashSet::new() };
        let key = memmem::Finder::new(b"\"response\":");
        let lines = BufReader::new(journal).split(b'\n').map_while(std::io::Result::ok);
        let lines = lines.filter(|line| key.find(line).is_some());
        lines.filter_map(|line| Some(serde_json::from_slice::<ResponseLine>(&line).ok()?.response)).collect()
    }

    pub fn imports(&self) -> ImportIndex {
        let mut imports = ImportIndex::default();
        imports.read = self.each_line(0, false, |id, what, line| imports.learn(id, what, line));
        imports
    }

    /// Returns the titles of imported conversations by their roots; the title of the newest state counts.
    pub(super) fn imported_titles(&self) -> HashMap<BubbId, String> {
        let mut titles: HashMap<BubbId, (Option<u64>, String)> = HashMap::new();
        self.each_line(0, true, |id, what, line| {
            let imported = || serde_json::from_slice::<ImportRecord>(line).ok();
            let Some(told) = (what == "import").then(imported).flatten() else { return };
            let newer = |(known, _): &(Option<u64>, String)| *known <= told.changed;
            if let Some(title) = told.title.filter(|_| titles.get(&id).is_none_or(newer)) {
                titles.insert(id, (told.changed, title));
            }
        });
        titles.into_iter().map(|(id, (_, title))| (id, title)).collect()
    }

    /// Reads the journal from an offset; returns the offset after its last whole line.
    fn each_line(&self, from: u64, only_imports: bool, mut line: impl FnMut(BubbId, &str, &[u8])) -> u64 {
        let Ok(mut file) = self.store.dir.open_file(JOURNAL) else { return from };
        if file.seek(SeekFrom::Start(from)).is_err() {
            return from;
        }
        let (mut reader, mut at, mut bytes) = (BufReader::with_capacity(1 << 16, file), from, Vec::new());
        while let Ok(1..) = reader.read_until(b'\n', &mut bytes) {
            at += if bytes.ends_with(b"\n") { bytes.len() as u64 } else { 0 };
            if !only_imports || memmem::find(&bytes, b"\"what\":\"import\"").is_some() {
                let told = serde_json::from_slice::<ImportJournalLine<'_>>(&bytes).ok();
                let id = told.as_ref().and_then(|told| BubbId::parse(told.bubb?.as_bytes()));
                if let (Some(told), Some(id)) = (&told, id) {
                    line(id, told.what, &bytes);
                }
            }
            bytes.clear();
        }
        at
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
        let read = self.each_line(imports.read, false, |id, what, line| others.learn(id, what, line));
        let lines = imports.unwritten_lines(&others);
        self.store.dir.append(JOURNAL, &lines)?;
        imports.read = read + lines.len() as u64;
        imports.told.extend(others.told);
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

    /// Adds a line of the journal to the index.
    fn learn(&mut self, id: BubbId, what: &str, line: &[u8]) {
        if !is_fact(what) {
            // Not a fact about the message.
        } else if what != "import" {
            self.told.insert(id);
        } else if let Ok(imported) = serde_json::from_slice::<ImportRecord>(line) {
            self.keep(ImportRecord { root: Some(id), ..imported });
        }
    }

    /// Returns the lines to write, without those in `others`.
    fn unwritten_lines(&mut self, others: &ImportIndex) -> Vec<u8> {
        let (lines, mut begin) = (std::mem::take(&mut self.lines), 0);
        let mut kept = Vec::with_capacity(lines.len());
        for (end, subject) in std::mem::take(&mut self.ends) {
            let is_there = match &subject {
                Subject::Answer(bubb) => others.told.contains(bubb),
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

    fn keep(&mut self, imported: ImportRecord) {
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
        let subject = Subject::Conversation(Box::new(imported.clone()));
        self.push_line(subject, root, "import", &imported);
        self.keep(imported);
    }

    /// Adds model and tokens of an answer, unless some are recorded.
    pub fn add_fact(&mut self, bubb: BubbId, model: Option<&str>, input: Option<u64>, output: Option<u64>) {
        if (model.is_none() && input.is_none() && output.is_none()) || !self.told.insert(bubb) {
            return;
        }
        self.push_line(Subject::Answer(bubb), bubb, "imported", AnswerFacts { model, input, output });
    }

    fn push_line(&mut self, subject: Subject, bubb: BubbId, what: &str, facts: impl Serialize) {
        let line = ImportLine { time: now(), bubb: bubb.to_string(), what, facts };
        if serde_json::to_writer(&mut self.lines, &line).is_ok() {
            self.lines.push(b'\n');
            self.ends.push((self.lines.len(), subject));
        }
    }
}
