//! The journal's lines about imports: source and title of each conversation.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::journal::JOURNAL;
use super::{Store, now};
use crate::bubb::BubbId;
use crate::error::Result;

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
}

/// The journal's facts of imports.
#[derive(Debug, Default)]
pub struct Imports {
    /// By format and id, then by root, what was said last.
    conversations: HashMap<(String, String), Vec<Imported>>,
    /// Bubbs of which a model or tokens are known.
    told: HashSet<BubbId>,
    /// Lines to be written.
    lines: Vec<u8>,
}

#[derive(Deserialize)]
struct Line<'a> {
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

/// What is known of an imported answer.
#[derive(Serialize)]
struct AnswerFacts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
}

impl Store {
    /// The journal's facts of imports.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::default();
        self.each_line(false, |id, what, line| {
            if what == "import" {
                if let Ok(imported) = serde_json::from_slice::<Imported>(line) {
                    imports.keep(Imported { root: Some(id), ..imported });
                }
            } else {
                imports.told.insert(id);
            }
        });
        imports
    }

    /// The titles that imported conversations had, by their roots; the last one counts.
    pub(super) fn imported_titles(&self) -> HashMap<BubbId, String> {
        let mut titles = HashMap::new();
        self.each_line(true, |id, what, line| {
            let imported = || serde_json::from_slice::<Imported>(line).ok();
            if let Some(title) = (what == "import").then(imported).flatten().and_then(|told| told.title) {
                titles.insert(id, title);
            }
        });
        titles
    }

    fn each_line(&self, only_imports: bool, mut line: impl FnMut(BubbId, &str, &[u8])) {
        let Ok(file) = self.open_file(JOURNAL) else { return };
        for bytes in BufReader::with_capacity(1 << 16, file).split(b'\n').map_while(std::io::Result::ok) {
            if only_imports && memmem::find(&bytes, b"\"what\":\"import\"").is_none() {
                continue;
            }
            let Ok(told) = serde_json::from_slice::<Line<'_>>(&bytes) else { continue };
            if let Some(id) = told.bubb.and_then(|id| BubbId::parse(id.as_bytes())) {
                line(id, told.what, &bytes);
            }
        }
    }

    /// Writes what was added, in whole lines.
    pub fn write_imports(&self, imports: &mut Imports) -> Result<()> {
        let lines = std::mem::take(&mut imports.lines);
        match lines.is_empty() {
            true => Ok(()),
            false => self.append(JOURNAL, &lines),
        }
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

    fn keep(&mut self, imported: Imported) {
        let known = self.conversations.entry((imported.format.clone(), imported.id.clone())).or_default();
        match known.iter_mut().find(|other| other.root == imported.root) {
            Some(other) => *other = imported,
            None => known.push(imported),
        }
    }

    /// Adds a conversation, unless the same is known. Where it was read from is no difference.
    pub fn add(&mut self, imported: Imported) {
        let same = |other: &Imported| {
            Imported { source: String::new(), ..other.clone() }
                == Imported { source: String::new(), ..imported.clone() }
        };
        let Some(root) = imported.root else { return };
        if self.of(&imported.format, &imported.id).iter().any(same) {
            return;
        }
        self.push_line(root, "import", &imported);
        self.keep(imported);
    }

    /// Adds what is known of an answer, unless something is known.
    pub fn add_fact(&mut self, bubb: BubbId, model: Option<&str>, input: Option<u64>, output: Option<u64>) {
        if (model.is_none() && input.is_none() && output.is_none()) || !self.told.insert(bubb) {
            return;
        }
        self.push_line(bubb, "imported", AnswerFacts { model, input, output });
    }

    fn push_line(&mut self, bubb: BubbId, what: &str, facts: impl Serialize) {
        let line = ImportLine { time: now(), bubb: bubb.to_string(), what, facts };
        if serde_json::to_writer(&mut self.lines, &line).is_ok() {
            self.lines.push(b'\n');
        }
    }
}
