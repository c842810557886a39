//! Messages that `rm` removed: imports by a hook or a watch leave them out. Only keyed hashes of their ids are stored,
//! in lepo's state folder, because an id would allow guessing the text.

use std::collections::HashSet;

use lepo_base::error::Result;
use lepo_base::hash_file::{HashFile, read_if_there};
use lepo_base::work_folder::identity_of;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{Statement, Store, first_of};
use lepo_turn::config::Paths;

/// Adds messages to the record, durable when this returns. Those that follow another of them are not stored.
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
pub struct RemovedMessages {
    hashes: HashSet<String>,
}

impl RemovedMessages {
    /// Reads the record; a missing one is empty.
    pub fn read(store: &Store, paths: &Paths) -> Result<RemovedMessages> {
        let Ok(identity) = identity_of(&store.path()) else { return Ok(RemovedMessages::default()) };
        let text = read_if_there(&paths.removals().join(identity))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        Ok(RemovedMessages { hashes: text.lines().map(str::to_string).collect() })
    }

    /// Whether `rm` removed the message, or one with its id before.
    pub fn has(&self, store: &Store, id: BubbId) -> bool {
        !self.hashes.is_empty()
            && store.proof(Statement::Removed(id)).is_some_and(|hash| self.hashes.contains(&hash))
    }
}
