//! Changes that can be taken back: `_undo.ndjson` lists them, and `_removed/` has the files that they removed.
//!
//! A change is first written as a line, durably, with all that it will do; then it is made; then the line is marked as
//! ended. So whoever finds a line that is not ended completes it, and completing it twice does no harm. Changes are
//! made under a lock, one after the other.
//!
//! A repository may contain both names, so a line counts only with a proof by this machine's key for this store, and a
//! folder only if such a line names it. Without a key nothing can be taken back, and removed files are deleted.

mod change;
mod change_log;
mod file_tree;
mod removed_files;
mod take_back;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;

use rustix::fs::FlockOperation;

use super::dir::now;
use super::handle::Store;
use crate::bubb::{BubbId, BubbName};
pub use change::{
    BranchChange, BranchIds, BranchName, Change, ChangeDirection, ChangedFiles, ChangingCommand,
    RemovedFolder, TitleChange,
};
use change_log::ChangeState;
pub use change_log::{ChangeLog, ListedChange};
use lepo_base::error::{Error, Result};
use removed_files::{REMOVED, RemovedFiles};
pub use take_back::TakeBackPlan;

/// Reads the list of changes; [`ChangeList::lock`] makes changes.
pub struct ChangeList<'s> {
    store: &'s Store,
}

#[doc(hidden)]
impl Store {
    /// Returns the list of changes that can be taken back.
    pub fn change_list(&self) -> ChangeList<'_> {
        ChangeList { store: self }
    }
}

/// The lock of a store for changes.
pub struct ChangeLock<'s> {
    store: &'s Store,
    log: ChangeLog,
    removed: RemovedFiles<'s>,
    /// Changes of killed processes that were completed when the store was locked.
    pub completed: Vec<Change>,
    /// Released when dropped.
    _lock: File,
}

/// A change whose line is written and that is not made yet.
#[must_use]
pub struct OpenChange {
    at: u64,
}

impl<'s> ChangeList<'s> {
    /// Reads the list without changing or completing anything.
    pub fn read(&self) -> Result<ChangeLog> {
        ChangeLog::read(self.store)
    }

    /// Returns the text of a message in a folder of `_removed/`.
    pub fn removed_text(&self, folder: &RemovedFolder, name: &BubbName) -> Option<Vec<u8>> {
        RemovedFiles::open(self.store).ok()??.read(folder, name).ok()?
    }

    /// Returns the entries of `_removed/` that no line with this machine's proof names.
    pub fn foreign_folders(&self, log: &ChangeLog) -> Result<Vec<String>> {
        let failed = |error| self.store.dir.error("cannot read", REMOVED, error);
        let Some(removed) = RemovedFiles::open(self.store).map_err(failed)? else { return Ok(Vec::new()) };
        let own = log.folders();
        let is_own = |name: &String| RemovedFolder::parse(name).is_some_and(|folder| own.contains(&folder));
        Ok(removed.entries().map_err(failed)?.into_iter().filter(|name| !is_own(name)).collect())
    }

    /// Returns the own folders made before `before` (milliseconds since 1970), each with its number of files, as far
    /// as they are still there.
    pub fn folders_before(&self, log: &ChangeLog, before: u64) -> Result<Vec<(RemovedFolder, usize)>> {
        let failed = |error| self.store.dir.error("cannot read", REMOVED, error);
        let Some(removed) = RemovedFiles::open(self.store).map_err(failed)? else { return Ok(Vec::new()) };
        let old = log.folders().into_iter().filter(|folder| folder.time < before && removed.has(folder));
        old.map(|folder| Ok((folder, removed.count(&folder)?))).collect::<io::Result<_>>().map_err(failed)
    }

    /// Whether `_removed/` has a folder that was made before `before`, by its name alone.
    pub fn has_folders_before(&self, before: u64) -> bool {
        let Ok(Some(removed)) = RemovedFiles::open(self.store) else { return false };
        let is_old = |name: &String| RemovedFolder::parse(name).is_some_and(|folder| folder.time < before);
        removed.entries().is_ok_and(|names| names.iter().any(is_old))
    }

    /// Locks the store for changes, after other processes, and completes what killed ones had begun. `None` without a
    /// key: nothing could be taken back.
    pub fn lock(&self) -> Result<Option<ChangeLock<'s>>> {
        let store = self.store;
        if store.prover.is_none() || store.proof(super::Statement::Change(&[])).is_none() {
            return Ok(None);
        }
        let failed = |error: io::Error| store.dir.error("cannot write in", REMOVED, error);
        let (removed, is_new) = RemovedFiles::make(store).map_err(failed)?;
        let lock = File::from(removed.root.try_clone().map_err(failed)?);
        // A file system without locks does not order processes.
        let _ = rustix::fs::flock(&lock, FlockOperation::LockExclusive);
        if is_new {
            store.ignore_changes()?;
        }
        let log = ChangeLog::read(store)?;
        let mut locked = ChangeLock { store, log, removed, completed: Vec::new(), _lock: lock };
        locked.complete()?;
        Ok(Some(locked))
    }
}

impl ChangeLock<'_> {
    pub fn log(&self) -> &ChangeLog {
        &self.log
    }

    /// Returns a change that does nothing yet, with the next number.
    pub fn new_change(&self, command: ChangingCommand) -> Change {
        Change {
            n: self.log.next_number(),
            time: now(),
            command,
            direction: ChangeDirection::First,
            folder: None,
            source: None,
            removed: ChangedFiles::default(),
            added: ChangedFiles::default(),
            dropped: Vec::new(),
            branches: Vec::new(),
            titles: Vec::new(),
        }
    }

    /// Writes the line of a change, makes it and ends it. A change that does nothing leaves no line.
    pub fn make(&mut self, change: Change) -> Result<()> {
        if change.is_nothing() {
            return Ok(());
        }
        let (open, change) = self.write_line(change)?;
        self.carry_out(&change)?;
        self.end(open)
    }

    /// Writes the line of a change that the caller makes.
    pub fn write_begun(&mut self, change: Change) -> Result<OpenChange> {
        Ok(self.write_line(change)?.0)
    }

    pub fn end(&mut self, open: OpenChange) -> Result<()> {
        self.log.end(self.store, open.at)
    }

    fn write_line(&mut self, mut change: Change) -> Result<(OpenChange, Change)> {
        if !change.removed.is_empty() {
            let failed = |error| self.store.dir.error("cannot write in", REMOVED, error);
            change.folder = Some(self.removed.make_folder(change.time).map_err(failed)?);
        }
        let removed = &self.removed;
        let written = self.log.append(self.store, &change, &|folder| removed.has(folder));
        match written {
            Ok(at) => Ok((OpenChange { at }, change)),
            Err(error) => {
                if let Some(folder) = &change.folder {
                    let _ = self.removed.delete(folder);
                }
                Err(error)
            }
        }
    }

    /// Completes the changes that killed processes had begun.
    fn complete(&mut self) -> Result<()> {
        let begun = self.log.lines.iter().filter(|line| line.state == ChangeState::Begun);
        let begun = begun.filter_map(|line| Some((line.at, line.change()?.clone())));
        let begun: Vec<(u64, Change)> = begun.collect();
        for (at, change) in begun {
            self.carry_out(&change)?;
            self.log.end(self.store, at)?;
            self.completed.push(change);
        }
        self.removed
            .remove_unused(&self.log.folders())
            .map_err(|error| self.store.dir.error("cannot delete in", REMOVED, error))
    }

    /// Makes what a change does and what is not done yet.
    fn carry_out(&self, change: &Change) -> Result<()> {
        let store = self.store;
        let failed = |error| store.dir.error("cannot write in", REMOVED, error);
        if let Some(source) = &change.source {
            self.removed.put_back(source, &change.added).map_err(failed)?;
        }
        // A killed rebase or import cannot be completed here: its text is not in the line.
        let is_whole = self.removed.missing(None, &change.added).map_err(failed)?.is_empty();
        for branch in change.branches.iter().filter(|_| is_whole) {
            let name = branch.name.as_str();
            if store.branch_ids(name)? == branch.before {
                store.restore_branch(name, branch.after.as_deref())?;
            }
        }
        for title in &change.titles {
            let (time, text) = store.latest_title(title.root)?.unwrap_or_default();
            if text == title.before {
                // A title of another clone may be dated ahead.
                let time = now().max(time);
                store.add_titles(&[(time, title.root, &title.after)])?;
            }
        }
        if let Some(folder) = &change.folder {
            for name in &change.removed.bubbs {
                store.forget_replay(name.id)?;
            }
            self.removed.take_out(folder, &change.removed).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns those hidden messages whose unmasked text is stored in `_wire`, which a removal deletes. What it has of visible
    /// answers is only for a server's cache.
    pub fn with_replays(&self, files: &ChangedFiles) -> Vec<BubbId> {
        let stored: HashSet<BubbId> = self.store.ids_with_replay_files().into_iter().collect();
        let hidden = files.bubbs.iter().filter(|name| name.hidden);
        hidden.map(|name| name.id).filter(|id| stored.contains(id)).collect()
    }

    /// Deletes the titles of these roots from the list.
    pub fn forget_titles(&mut self, roots: &HashSet<BubbId>) -> Result<()> {
        self.log.rewrite(self.store, &mut |change| {
            let count = change.titles.len();
            change.titles.retain(|title| !roots.contains(&title.root));
            change.titles.len() < count
        })
    }

    /// Puts the new ids of messages into the list, and replaces the texts in it for which `mask` returns another.
    pub fn follow(
        &mut self,
        moved: &HashMap<BubbId, BubbId>,
        mask: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<()> {
        self.log.rewrite(self.store, &mut |change| change.follow(moved, mask))
    }

    /// Deletes a folder of `_removed/`.
    pub fn empty(&self, folder: &RemovedFolder) -> Result<()> {
        if !self.log.folders().contains(folder) {
            return Err(Error::store(format!("{REMOVED}/{folder} is not of this machine's lepo")));
        }
        self.removed.delete(folder).map_err(|error| self.store.dir.error("cannot delete in", REMOVED, error))
    }
}
