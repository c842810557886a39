//! The journal's lines that guide later imports: which messages were taken back, which were redacted, so that a
//! repeated import does not bring the original back, and which other directories have sessions of this repository.

use std::collections::{HashMap, HashSet};

use super::dir::now;
use super::handle::Store;
use super::journal::{JOURNAL, Journal, lines_of};
use super::journal_record::JournalRecord;
use super::proof::{IMPORT_DIR, REDACTED, Statement, UNDONE};
use super::replacement::MovedBubb;
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

/// The copies that replace redacted messages.
pub struct Redactions<'s> {
    store: &'s Store,
    /// By the keyed hash of the message's id.
    copies: HashMap<String, BubbId>,
}

impl Redactions<'_> {
    /// Returns the copy that replaces a message; `None` if the message was never redacted here.
    pub fn copy_of(&self, id: BubbId) -> Option<BubbId> {
        if self.copies.is_empty() {
            return None;
        }
        self.copies.get(&self.store.proof(Statement::Redacted(id))?).copied()
    }
}

impl Journal<'_> {
    /// Reads the choices about later imports.
    pub fn import_choices(&self) -> ImportChoices {
        let mut choices = ImportChoices::default();
        self.records_with([UNDONE, IMPORT_DIR]).for_each(|record| choices.learn(record, self));
        choices
    }

    /// Records that `lepo undo` took back these imported messages. Only the first of a chain gets a line.
    pub fn add_undone(&self, bubbs: &[BubbName]) -> Result<()> {
        self.append(first_of(bubbs).map(|name| JournalRecord::new(name.id, UNDONE)))
    }

    /// Appends that sessions of a format about this directory are this repository's, unless it is known. Returns
    /// whether it is known now: without a key it cannot be.
    pub fn add_import_dir(&self, format: &str, dir: &str) -> Result<bool> {
        let is_it = |(known, from): &(String, String)| known == format && from == dir;
        if self.import_choices().dirs.iter().any(is_it) {
            return Ok(true);
        }
        let Some(proof) = self.store.proof(Statement::ImportDir(format, dir)) else { return Ok(false) };
        let (format, from, proof) = (Some(format.to_string()), Some(dir.to_string()), Some(proof));
        let what = IMPORT_DIR.to_string();
        let record = JournalRecord { time: now(), what, format, from, proof, ..JournalRecord::default() };
        self.append([record]).map(|()| true)
    }
}

impl ImportChoices {
    /// A repository may contain a line about a directory, which makes an import read sessions about another one. So it
    /// counts only with a proof.
    fn learn(&mut self, record: JournalRecord, journal: &Journal<'_>) {
        let JournalRecord { bubb, what, format, from, proof, .. } = record;
        if what == UNDONE {
            self.undone.extend(bubb);
        } else if what == IMPORT_DIR
            && let (Some(format), Some(from), Some(proof)) = (format, from, proof)
            && journal.store.is_proven(Statement::ImportDir(&format, &from), &proof)
            && !self.dirs.iter().any(|known| *known == (format.clone(), from.clone()))
        {
            self.dirs.push((format, from));
        }
    }
}

impl<'s> Journal<'s> {
    pub fn redactions(&self) -> Redactions<'s> {
        let records = self.records_with(["\"what\":\"redacted\""]);
        let redacted = records.filter(|record| record.what == REDACTED);
        let copies = redacted.filter_map(|record| Some((record.was?, record.bubb?))).collect();
        Redactions { store: self.store, copies }
    }

    /// Records redacted messages, durable when this returns. Repeating it adds no line, and without the user's key no
    /// line can be written.
    pub fn add_redactions(&self, moved: &[MovedBubb]) -> Result<()> {
        let known = self.redactions();
        let moved = moved.iter().filter(|moved| moved.from.id != moved.to.id);
        let new = moved.filter_map(|MovedBubb { from, to }| {
            let was = self.store.proof(Statement::Redacted(from.id))?;
            let record = JournalRecord::new(to.id, REDACTED);
            (!known.copies.contains_key(&was)).then_some(JournalRecord { was: Some(was), ..record })
        });
        match lines_of(new) {
            lines if lines.is_empty() => Ok(()),
            lines => self.store.dir.append_durably(JOURNAL, &lines),
        }
    }
}

/// Returns the messages that follow none of the others.
pub fn first_of(bubbs: &[BubbName]) -> impl Iterator<Item = &BubbName> {
    let ids: HashSet<BubbId> = bubbs.iter().map(|name| name.id).collect();
    bubbs.iter().filter(move |name| name.prev.is_none_or(|prev| !ids.contains(&prev)))
}
