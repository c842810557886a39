//! The settings of syncing a store.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::refs::Namespace;

/// The settings of syncing a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The remote.
    pub url: String,
    /// This clone's name.
    pub name: String,
    /// Refs are kept under `refs/heads/lepo/`.
    pub heads: bool,
    /// Clones that are the user's own.
    pub mine: BTreeSet<String>,
    /// The commit of each of them that was merged last: the next one must descend from it.
    pub seen: BTreeMap<String, String>,
    /// Clones that are known not to be.
    pub others: BTreeSet<String>,
    /// Messages that the user's other clones removed here lately, unasked: since when, in milliseconds, and how many.
    pub lately: (u64, usize),
    /// Ids and blob hashes that are sent although they look like secrets.
    pub allowed: BTreeSet<String>,
    /// Blobs that were held back although a bubb that names them was sent: looked at again at each sync.
    pub held_blobs: BTreeSet<String>,
}

impl Settings {
    /// Syncs with another remote from here on: what was confirmed for the one before does not count there.
    pub fn move_to(&mut self, url: String) {
        self.url = url;
        self.mine.clear();
        self.seen.clear();
        self.others.clear();
    }

    /// The namespace of the clones' refs on the remote.
    pub fn namespace(&self) -> Namespace {
        if self.heads { Namespace::Heads } else { Namespace::Own }
    }
}
