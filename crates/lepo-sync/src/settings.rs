//! The settings of syncing a store.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::refs::Namespace;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncSettings {
    pub url: String,
    pub name: String,
    /// Whether refs are under `refs/heads/lepo/`.
    pub heads: bool,
    /// Clones that the user confirmed as own.
    pub mine: BTreeSet<String>,
    /// The last merged commit of each of them, from which the next one must descend.
    pub seen: BTreeMap<String, String>,
    /// Clones that the user declared not to be own.
    pub others: BTreeSet<String>,
    /// Messages that the user's other clones removed here without a question, since the start of a period of one day: the
    /// start, in milliseconds since 1970, and the number.
    pub lately: (u64, usize),
    /// Ids and blob hashes to send although they look like secrets.
    pub allowed: BTreeSet<String>,
    /// Blobs withheld although a bubb that names them was sent; checked again on each sync.
    pub held_blobs: BTreeSet<String>,
}

impl SyncSettings {
    /// Changes the remote. Confirmations for the previous one are dropped, because its clones are other ones.
    pub fn move_to(&mut self, url: String) {
        self.url = url;
        self.mine.clear();
        self.seen.clear();
        self.others.clear();
    }

    /// Returns the namespace of the clones' refs on the remote.
    pub fn namespace(&self) -> Namespace {
        if self.heads { Namespace::Heads } else { Namespace::Own }
    }
}
