//! Messages that imports omit, with all their descendants: `rm` removed them here, or `lepo undo` took them back. A
//! message in the store is never omitted.
//!
//! For removed messages, lepo's state folder has keyed hashes, because an id would allow guessing the text.

use std::collections::HashSet;

use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::hash_file::{HashFile, read_if_there};
use lepo_base::work_folder::identity_of;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{ImportChoices, Statement, Store, first_of};
use lepo_turn::config::Paths;

/// Adds messages to the store's record, durable when this returns. Only the first of a chain is recorded.
pub fn record_removed(store: &Store, paths: &Paths, bubbs: &[BubbName]) -> Result<()> {
    let Ok(identity) = identity_of(&store.path()) else { return Ok(()) };
    let hashes: Vec<String> =
        first_of(bubbs).filter_map(|name| store.proof(Statement::Removed(name.id))).collect();
    if hashes.is_empty() {
        return Ok(());
    }
    HashFile::at(paths.removals().join(identity)).append(&hashes)
}

/// The record of a store.
#[derive(Debug, Default)]
struct RemovedMessages {
    hashes: HashSet<String>,
}

impl RemovedMessages {
    /// Reads the record; a missing one is empty.
    fn read(store: &Store, paths: &Paths) -> Result<RemovedMessages> {
        let Ok(identity) = identity_of(&store.path()) else { return Ok(RemovedMessages::default()) };
        let text = read_if_there(&paths.removals().join(identity))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        Ok(RemovedMessages { hashes: text.lines().map(str::to_string).collect() })
    }

    /// Whether `rm` removed the message, or one with its id before.
    fn has(&self, store: &Store, id: BubbId) -> bool {
        !self.hashes.is_empty()
            && store.proof(Statement::Removed(id)).is_some_and(|hash| self.hashes.contains(&hash))
    }
}

#[derive(Default)]
pub struct Omissions {
    choices: ImportChoices,
    removed: RemovedMessages,
    /// A hook or a watch imports.
    pub is_automatic: bool,
    /// The current conversation is imported only because an earlier import was told its directory.
    pub is_remembered: bool,
    /// The messages left out so far.
    left_out: HashSet<BubbId>,
    /// Removed messages that an import by hand took again.
    pub brought_back: u64,
}

impl Omissions {
    pub fn read(store: Option<&Store>, is_automatic: bool) -> Result<Omissions> {
        let Some(store) = store else { return Ok(Omissions { is_automatic, ..Omissions::default() }) };
        let paths = Paths::from_env(&Env::from_process())?;
        let (choices, removed) = (store.journal().import_choices(), RemovedMessages::read(store, &paths)?);
        Ok(Omissions { choices, removed, is_automatic, ..Omissions::default() })
    }

    /// Whether to leave out a message that is not in the store.
    pub fn leaves_out(&mut self, store: &Store, name: &BubbName) -> bool {
        let is_removed = self.removed.has(store, name.id);
        let is_undone = self.choices.undone.contains(&name.id);
        let is_gone = name.prev.is_some_and(|prev| self.left_out.contains(&prev))
            || (self.is_automatic && (is_removed || is_undone))
            || (self.is_remembered && is_undone);
        if is_gone {
            self.left_out.insert(name.id);
        } else if is_removed {
            self.brought_back += 1;
        }
        is_gone
    }

    pub fn left_out(&self) -> u64 {
        self.left_out.len() as u64
    }
}
