//! The journal's lines that guide later imports: which imported messages were taken back, and which other directories
//! have sessions of this repository.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::dir::now;
use super::journal::{JOURNAL, Journal, id_of_text};
use super::proof::{IMPORT_DIR, Statement, UNDONE};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;

/// The lines of the journal that guide later imports.
#[derive(Debug, Default)]
pub struct ImportChoices {
    /// Imported messages that `lepo undo` took back, without their descendants.
    pub undone: HashSet<BubbId>,
    /// Formats and directories, in the order in which they were added.
    pub dirs: Vec<(String, String)>,
}

#[derive(Serialize)]
struct UndoneLine {
    time: u64,
    bubb: String,
    what: &'static str,
}

/// A repository may contain such a line, so it counts only with a proof: it makes an import read sessions about
/// another directory.
#[derive(Serialize)]
struct ImportDirLine<'d> {
    time: u64,
    bubb: Option<BubbId>,
    what: &'static str,
    format: &'d str,
    from: &'d str,
    proof: String,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct ChoiceLine {
    #[serde(deserialize_with = "id_of_text")]
    bubb: Option<BubbId>,
    what: String,
    format: String,
    from: String,
    proof: String,
}

impl Journal<'_> {
    /// Reads the choices about later imports.
    pub fn import_choices(&self) -> ImportChoices {
        let mut choices = ImportChoices::default();
        let Ok(journal) = self.store.dir.open_file(JOURNAL) else { return choices };
        let marks = [UNDONE, IMPORT_DIR].map(|what| memmem::Finder::new(what).into_owned());
        let (mut reader, mut bytes) = (BufReader::with_capacity(1 << 16, journal), Vec::new());
        while let Ok(1..) = reader.read_until(b'\n', &mut bytes) {
            if marks.iter().any(|mark| mark.find(&bytes).is_some())
                && let Ok(line) = serde_json::from_slice::<ChoiceLine>(&bytes)
            {
                choices.learn(line, self);
            }
            bytes.clear();
        }
        choices
    }

    /// Records that `lepo undo` took back these imported messages. Only the first of a chain gets a line.
    pub fn add_undone(&self, bubbs: &[BubbName]) -> Result<()> {
        let mut lines = Vec::new();
        for name in first_of(bubbs) {
            let line = UndoneLine { time: now(), bubb: name.id.to_string(), what: UNDONE };
            if serde_json::to_writer(&mut lines, &line).is_ok() {
                lines.push(b'\n');
            }
        }
        if lines.is_empty() { Ok(()) } else { self.store.dir.append(JOURNAL, &lines) }
    }

    /// Appends that sessions of a format about this directory are this repository's, unless it is known. Returns
    /// whether it is known now: without a key it cannot be.
    pub fn add_import_dir(&self, format: &str, dir: &str) -> Result<bool> {
        let is_it = |(known, from): &(String, String)| known == format && from == dir;
        if self.import_choices().dirs.iter().any(is_it) {
            return Ok(true);
        }
        let Some(proof) = self.store.proof(Statement::ImportDir(format, dir)) else { return Ok(false) };
        let line = ImportDirLine { time: now(), bubb: None, what: IMPORT_DIR, format, from: dir, proof };
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        self.store.dir.append(JOURNAL, &bytes).map(|()| true)
    }
}

impl ImportChoices {
    fn learn(&mut self, line: ChoiceLine, journal: &Journal<'_>) {
        let ChoiceLine { bubb, what, format, from, proof } = line;
        if what == UNDONE {
            self.undone.extend(bubb);
        } else if what == IMPORT_DIR
            && journal.store.is_proven(Statement::ImportDir(&format, &from), &proof)
            && !self.dirs.iter().any(|known| *known == (format.clone(), from.clone()))
        {
            self.dirs.push((format, from));
        }
    }
}

/// Returns the messages that follow none of the others.
pub fn first_of(bubbs: &[BubbName]) -> impl Iterator<Item = &BubbName> {
    let ids: HashSet<BubbId> = bubbs.iter().map(|name| name.id).collect();
    bubbs.iter().filter(move |name| name.prev.is_none_or(|prev| !ids.contains(&prev)))
}
