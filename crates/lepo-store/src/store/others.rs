//! `_from/NAME/`: the stores of other people, as `lepo sync` took them. Each is a store of the same layout, read
//! beside the user's own and never written by anything else.

use std::collections::HashSet;
use std::path::Path;

use super::Store;
use super::folders::dir_at;
use crate::bubb::{BubbId, Name};
use lepo_base::error::{Error, Result};

/// The directory of other people's stores.
pub const FROM: &str = "_from";

/// The longest name of a clone, in bytes.
pub const LONGEST_CLONE: usize = 40;

/// True if a text can be the name of a clone: `[a-z0-9-]{1,40}`, beginning with a letter or digit.
pub fn is_clone_name(name: &str) -> bool {
    (1..=LONGEST_CLONE).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

impl Store {
    /// The stores of other people with their names, in the order of these. A link is none.
    pub fn others(&self) -> &[(String, Store)] {
        self.others.get_or_init(|| {
            let open = |name: String| {
                let dir = dir_at(dir_at(&self.dir, FROM).ok()??, &name).ok()??;
                let shown = self.shown.join(FROM).join(&name);
                Some((name, Store::nested(dir, shown, self.root.clone())))
            };
            self.names_of_others().into_iter().filter_map(open).collect()
        })
    }

    /// This store without those of other people, which must not have been asked for yet.
    pub fn alone(self) -> Store {
        let _ = self.others.set(Vec::new());
        self
    }

    /// This store anew, if stores of other people have come or gone since they were read.
    pub fn renewed(&self) -> Option<Store> {
        let known = self.others().iter().map(|(name, _)| name.as_str());
        if self.names_of_others().iter().map(String::as_str).eq(known) {
            return None;
        }
        Some(Store::new(self.dir.try_clone().ok()?, self.shown.clone(), self.root.clone()))
    }

    /// The names of other people's stores that are there now, sorted. A folder of a name that no clone can have is none:
    /// a repository may have brought it.
    pub(super) fn names_of_others(&self) -> Vec<String> {
        let mut names = Vec::new();
        let listed = self.each_entry_of(FROM, |file, kind| {
            let name = std::str::from_utf8(file).ok().filter(|name| is_clone_name(name));
            names.extend(name.filter(|_| kind == rustix::fs::FileType::Directory).map(str::to_string));
        });
        names.sort();
        if listed.is_ok() { names } else { Vec::new() }
    }

    /// Removes another person's store, if it is there. One that is reached through a link is none.
    pub fn remove_other(&self, name: &str) -> Result<()> {
        if !self.names_of_others().iter().any(|known| known == name) {
            return Ok(());
        }
        let taken = self.path().join(FROM).join(name);
        std::fs::remove_dir_all(&taken)
            .map_err(|error| Error::store(format!("cannot remove {}", taken.display())).because(error))
    }

    /// The bubbs in other people's stores that follow one of these, at any distance, oldest first. Those of
    /// days that are over are not looked at.
    pub fn below(&self, ids: &HashSet<BubbId>) -> Result<Vec<(&str, Name)>> {
        let mut found = Vec::new();
        for (clone, store) in self.others() {
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

    /// The id that a branch names, or an address `NAME/ADDRESS` in another person's store.
    pub(super) fn named(&self, word: &str) -> Result<Option<BubbId>> {
        if let Some(id) = self.branch(word)? {
            return Ok(Some(id));
        }
        let Some((clone, rest)) = word.split_once('/') else { return Ok(None) };
        let Some((_, store)) = self.others().iter().find(|(name, _)| name == clone) else { return Ok(None) };
        let forest = store.forest_for(&store.wanted_by(rest)?)?;
        let found = store.find_bubb(&forest, rest)?;
        Ok(Some(forest.name(found.ix).id))
    }

    /// The other person whose store an address `NAME/ADDRESS` leads into.
    pub fn other_of(&self, word: &str) -> Option<&str> {
        let (clone, _) = word.split_once('/').filter(|_| !matches!(self.branch(word), Ok(Some(_))))?;
        self.others().iter().map(|(name, _)| name.as_str()).find(|name| *name == clone)
    }

    /// The other person's store that has a bubb which is not in this one.
    pub(super) fn other_with(&self, name: &Name) -> Option<&Store> {
        if self.others().is_empty() || self.open_own(name).is_ok() {
            return None;
        }
        self.others().iter().map(|(_, store)| store).find(|store| store.open_own(name).is_ok())
    }

    /// The folder of other people's stores, below the store.
    pub fn place_of_other(clone: &str) -> std::path::PathBuf {
        Path::new(FROM).join(clone)
    }
}
