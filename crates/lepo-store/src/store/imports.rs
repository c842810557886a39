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

/// A conversation that was imported: a line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Root of the conversation.
    #[serde(skip)]
    pub root: Option<BubbId>,
    /// The version of the mapping.
    #[serde(rename = "as")]
    pub version: u32,
    /// The format it was read as.
    pub format: String,
    /// The file it was last read from.
    pub source: String,
    /// Id in the other tool.
    pub id: String,
    /// Title there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub title: Option<String>,
    /// The part of tools' traffic that was kept.
    pub tools: String,
    /// The time of its last change there, milliseconds since 1970: the title of the newest state counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub changed: Option<u64>,
}

/// The journal's facts of imports.
#[derive(Debug, Default)]
pub struct Imports {
    /// By format and id, then by root, what was said last.
    conversations: HashMap<(String, String), Vec<Imported>>,
    /// Bubbs of which a model or tokens are known.
    told: HashSet<BubbId>,
    /// Lines to be written, one after the other.
    lines: Vec<u8>,
    /// The end of each of these lines, and its subject.
    ends: Vec<(usize, Subject)>,
    /// The bytes of the journal that were read.
    read: u64,
}

/// The subject of a line.
#[derive(Debug)]
enum Subject {
    Answer(BubbId),
    Conversation(Box<Imported>),
}

#[derive(Deserialize)]
struct JournalLine<'a> {
    bubb: Option<&'a str>,
    #[serde(default)]
    what: &'a str,
}

/// A line to be written.
#[derive(Serialize)]
struct ImportLine<'a, F> {
    time: u64,
    bubb: String,
    what: &'a str,
    #[serde(flatten)]
    facts: F,
}

/// Model and tokens of an imported answer, as far as they are known.
#[derive(Serialize)]
struct AnswerFacts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
}

impl Journal<'_> {
    /// The journal's facts of imports.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::default();
        imports.read = self.each_line(0, false, |id, what, line| imports.learn(id, what, line));
        imports
    }

    /// The titles that imported conversations had, by their roots; the last one counts.
    pub(super) fn imported_titles(&self) -> HashMap<BubbId, String> {
        let mut titles: HashMap<BubbId, (Option<u64>, String)> = HashMap::new();
        self.each_line(0, true, |id, what, line| {
            let imported = || serde_json::from_slice::<Imported>(line).ok();
            let Some(told) = (what == "import").then(imported).flatten() else { return };
            let newer = |(known, _): &(Option<u64>, String)| *known <= told.changed;
            if let Some(title) = told.title.filter(|_| titles.get(&id).is_none_or(newer)) {
                titles.insert(id, (told.changed, title));
            }
        });
        titles.into_iter().map(|(id, (_, title))| (id, title)).collect()
    }

    /// Reads the journal from an offset; the offset behind its last whole line.
    fn each_line(&self, from: u64, only_imports: bool, mut line: impl FnMut(BubbId, &str, &[u8])) -> u64 {
        let Ok(mut file) = self.store.dir.open_file(JOURNAL) else { return from };
        if file.seek(SeekFrom::Start(from)).is_err() {
            return from;
        }
        let (mut reader, mut at, mut bytes) = (BufReader::with_capacity(1 << 16, file), from, Vec::new());
        while let Ok(1..) = reader.read_until(b'\n', &mut bytes) {
            at += if bytes.ends_with(b"\n") { bytes.len() as u64 } else { 0 };
            if !only_imports || memmem::find(&bytes, b"\"what\":\"import\"").is_some() {
                let told = serde_json::from_slice::<JournalLine<'_>>(&bytes).ok();
                let id = told.as_ref().and_then(|told| BubbId::parse(told.bubb?.as_bytes()));
                if let (Some(told), Some(id)) = (&told, id) {
                    line(id, told.what, &bytes);
                }
            }
            bytes.clear();
        }
        at
    }

    /// Writes what was added, in whole lines. What another import has written since the journal was read is not
    /// written twice: only one of them writes at a time.
    pub fn add_imports(&self, imports: &mut Imports) -> Result<()> {
        if imports.lines.is_empty() {
            return Ok(());
        }
        // Without locks on this filesystem a line may stand twice, which is no error.
        let _lock = self.lock();
        let mut others = Imports::default();
        let read = self.each_line(imports.read, false, |id, what, line| others.learn(id, what, line));
        let lines = imports.take_lines(&others);
        self.store.dir.append(JOURNAL, &lines)?;
        imports.read = read + lines.len() as u64;
        imports.told.extend(others.told);
        Ok(())
    }
}

impl Imports {
    /// The facts of a conversation.
    pub fn of(&self, format: &str, id: &str) -> &[Imported] {
        self.conversations.get(&(format.to_string(), id.to_string())).map_or(&[], Vec::as_slice)
    }

    /// True if a fact of any conversation is such.
    pub fn any(&self, is_such: impl Fn(&Imported) -> bool) -> bool {
        self.conversations.values().flatten().any(is_such)
    }

    /// The files that the conversations with these roots were last read from.
    pub fn sources_of(&self, roots: &HashSet<BubbId>) -> Vec<&str> {
        let of_them = |imported: &&Imported| imported.root.is_some_and(|root| roots.contains(&root));
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

    /// Takes a line of the journal.
    fn learn(&mut self, id: BubbId, what: &str, line: &[u8]) {
        if !is_fact(what) {
            // No fact of the message.
        } else if what != "import" {
            self.told.insert(id);
        } else if let Ok(imported) = serde_json::from_slice::<Imported>(line) {
            self.keep(Imported { root: Some(id), ..imported });
        }
    }

    /// The lines to be written, without those that others have written.
    fn take_lines(&mut self, others: &Imports) -> Vec<u8> {
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

    /// True if the same is known of a conversation, or a later title. Where it was read from is no difference.
    fn knows(&self, imported: &Imported) -> bool {
        self.of(&imported.format, &imported.id).iter().any(|known| {
            let is_later = known.changed > imported.changed && known.title.is_some();
            let same = (known.root, known.version, &known.tools)
                == (imported.root, imported.version, &imported.tools);
            same && (is_later || (known.title == imported.title && known.changed == imported.changed))
        })
    }

    fn keep(&mut self, imported: Imported) {
        let known = self.conversations.entry((imported.format.clone(), imported.id.clone())).or_default();
        // The newest is the last.
        known.retain(|other| other.root != imported.root);
        known.push(imported);
    }

    /// Adds a conversation, unless the same is known.
    pub fn add(&mut self, imported: Imported) {
        let Some(root) = imported.root else { return };
        if self.knows(&imported) {
            return;
        }
        let subject = Subject::Conversation(Box::new(imported.clone()));
        self.push_line(subject, root, "import", &imported);
        self.keep(imported);
    }

    /// Adds what is known of an answer, unless something is known.
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
