//! `_from/NAME/`: the stores of other users, as fetched by `lepo sync`. Each has the layout of a store, is read along
//! with the user's own and is written only by `lepo sync`.

use std::collections::HashSet;

use super::dir::dir_at;
use super::handle::{Store, store_in};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::{Error, Result};

pub const FROM: &str = "_from";

/// Maximum length of a clone's name in bytes.
pub const LONGEST_CLONE: usize = 40;

/// Whether a text can be the name of a clone: `[a-z0-9-]{1,40}`, starting with a letter or digit.
pub fn is_clone_name(name: &str) -> bool {
    (1..=LONGEST_CLONE).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[doc(hidden)]
impl Store {
    /// Returns this store without the stores of other users, which must not have been opened yet.
    pub fn alone(self) -> Store {
        let _ = self.peers.set(Vec::new());
        self
    }

    /// Returns the stores of other users with their names, sorted by name. A link is not a store.
    pub fn peers(&self) -> &[(String, Store)] {
        self.peers.get_or_init(|| {
            let open = |name: String| {
                let dir = dir_at(dir_at(&self.dir, FROM).ok()??, &name).ok()??;
                let display_path = self.dir.display_path.join(FROM).join(&name);
                let store = store_in(dir, display_path, self.root.clone());
                // A store inside another has no such stores of its own.
                let _ = store.peers.set(Vec::new());
                Some((name, store))
            };
            self.peer_names().into_iter().filter_map(open).collect()
        })
    }

    /// Opens this store again if stores of other users have been added or removed since they were read.
    pub fn with_renewed_peers(&self) -> Option<Store> {
        let known = self.peers().iter().map(|(name, _)| name.as_str());
        if self.peer_names().iter().map(String::as_str).eq(known) {
            return None;
        }
        let fd = self.dir.fd.try_clone().ok()?;
        let renewed = store_in(fd, self.dir.display_path.clone(), self.root.clone());
        Some(Store {
            is_linked: self.is_linked,
            prover: self.prover.clone(),
            own_newest: self.own_newest,
            ..renewed
        })
    }

    /// Lists the current names of other users' stores, sorted. A folder whose name no clone can have is ignored,
    /// because a repository may have brought it.
    pub(super) fn peer_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let listed = self.dir.each_entry_of(FROM, |file, kind| {
            let name = std::str::from_utf8(file).ok().filter(|name| is_clone_name(name));
            names.extend(name.filter(|_| kind == rustix::fs::FileType::Directory).map(str::to_string));
        });
        names.sort();
        if listed.is_ok() { names } else { Vec::new() }
    }

    /// Removes another user's store if it exists, but not through a link.
    pub fn remove_peer(&self, name: &str) -> Result<()> {
        if !self.peer_names().iter().any(|known| known == name) {
            return Ok(());
        }
        let taken = self.path().join(FROM).join(name);
        std::fs::remove_dir_all(&taken)
            .map_err(|error| Error::store(format!("cannot remove {}", taken.display())).because(error))
    }

    /// Returns the bubbs in other users' stores that descend from one of `ids`, oldest first. Folders of past days
    /// are not read.
    pub fn peer_bubbs_below(&self, ids: &HashSet<BubbId>) -> Result<Vec<(&str, BubbName)>> {
        let mut found = Vec::new();
        for (clone, store) in self.peers() {
            let mut below = HashSet::new();
            for name in store.recent_names()? {
                if name.prev.is_some_and(|prev| ids.contains(&prev) || below.contains(&prev)) {
                    below.insert(name.id);
                    found.push((clone.as_str(), name));
                }
            }
        }
        Ok(found)
    }

    /// Returns the other user's store that has a bubb missing in this one.
    pub(super) fn peer_with(&self, name: &BubbName) -> Option<&Store> {
        if self.peers().is_empty() || self.open_own(name).is_ok() {
            return None;
        }
        self.peers().iter().map(|(_, store)| store).find(|store| store.open_own(name).is_ok())
    }
}
