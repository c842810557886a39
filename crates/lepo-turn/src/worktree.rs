//! Records the messages of each git worktree. All worktrees of a repository share one store, so `@` may belong to
//! another one.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{DirBuilder, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::config::{Paths, replace_file};
use super::{Outcome, TurnStart, start_at};
use lepo_base::error::Result;
use lepo_base::hash::sha256_hex;
use lepo_base::hash_file::read_if_there;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix, ReadScope};
use lepo_store::store::Store;

/// Maximum number of ids in a record; the oldest are dropped.
const IDS: usize = 256;

/// File of one worktree in the state directory: its path, and the ids of the messages of its turns, oldest first.
pub struct WorktreeRecord {
    file: PathBuf,
    root: PathBuf,
}

impl WorktreeRecord {
    /// Returns the record of the linked worktree that uses `store`; `None` in any other folder.
    pub fn find(paths: &Paths, store: &Store) -> Option<WorktreeRecord> {
        let root = store.is_linked().then(|| store.root().canonicalize().ok()).flatten()?;
        WorktreeRecord::at(paths, root)
    }

    /// Returns the records of all linked worktrees, for the main worktree of `store`.
    pub fn linked_to(paths: &Paths, store: &Store) -> Vec<WorktreeRecord> {
        let Ok(root) = store.root().canonicalize() else { return Vec::new() };
        let Some(main) = root.ancestors().find(|dir| dir.join(".git").exists()) else { return Vec::new() };
        let below = root.strip_prefix(main).unwrap_or(&root);
        let Ok(entries) = main.join(".git/worktrees").read_dir() else { return Vec::new() };
        let record = |entry: DirEntry| {
            // `gitdir` names the `.git` file of the worktree, sometimes relative to its own folder.
            let says = read_if_there(&entry.path().join("gitdir")).ok().flatten()?;
            let git = entry.path().join(OsStr::from_bytes(says.trim_ascii_end()));
            WorktreeRecord::at(paths, git.parent()?.join(below).canonicalize().ok()?)
        };
        entries.filter_map(|entry| record(entry.ok()?)).collect()
    }

    /// Returns the record of the main worktree if it has linked ones.
    pub fn main(paths: &Paths, store: &Store) -> Option<WorktreeRecord> {
        let is_main = !store.is_linked() && !WorktreeRecord::linked_to(paths, store).is_empty();
        is_main.then(|| WorktreeRecord::at(paths, store.root().canonicalize().ok()?)).flatten()
    }

    /// Returns the folder of a removed worktree of `store` that used this message.
    pub fn removed_with(paths: &Paths, store: &Store, id: BubbId) -> Option<PathBuf> {
        let entries = paths.state.join("worktrees").read_dir().ok()?;
        let mut present = WorktreeRecord::linked_to(paths, store);
        present.extend(store.root().canonicalize().ok().and_then(|root| WorktreeRecord::at(paths, root)));
        entries.flatten().map(|entry| entry.path()).find_map(|file| {
            if present.iter().any(|record| record.file == file) {
                return None;
            }
            let text = read_if_there(&file).ok()??;
            let mut lines = text.split(|byte| *byte == b'\n');
            let root = PathBuf::from(OsStr::from_bytes(lines.next()?));
            lines.any(|line| BubbId::parse(line) == Some(id)).then_some(root)
        })
    }

    fn at(paths: &Paths, root: PathBuf) -> Option<WorktreeRecord> {
        let meta = root.join(".git").metadata().or_else(|_| root.metadata()).ok()?;
        // A worktree created later at this path must not inherit the record, and a moved one has it still.
        let birth = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let birth = birth.map_or(0, |since| since.as_nanos());
        let text = format!("{}\0{}\0{birth}", meta.dev(), meta.ino());
        let key = sha256_hex(text.as_bytes()).get(..32).unwrap_or_default().to_string();
        Some(WorktreeRecord { file: paths.state.join("worktrees").join(key), root })
    }

    /// Whether the file does not exist yet.
    pub fn is_new(&self) -> bool {
        !self.file.exists()
    }

    /// Reads the newest id.
    pub fn last(&self) -> Result<Option<BubbId>> {
        Ok(self.ids()?.pop())
    }

    /// Reads all ids, oldest first.
    pub fn ids(&self) -> Result<Vec<BubbId>> {
        let text = read_if_there(&self.file)?.unwrap_or_default();
        Ok(text.split(|byte| *byte == b'\n').filter_map(BubbId::parse).collect())
    }

    /// Appends the ids of a turn, oldest first; an empty list only creates the file. Write errors are ignored.
    pub fn record(&self, turn: &[BubbId]) {
        let mut ids = self.ids().unwrap_or_default();
        ids.retain(|id| !turn.contains(id));
        ids.extend(turn);
        let newest = ids.len().saturating_sub(IDS);
        let lines: String = ids.iter().skip(newest).map(|id| format!("{id}\n")).collect();
        let folder =
            self.file.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
        if folder.is_some_and(|made| made.is_ok()) {
            let _ = replace_file(&self.file, format!("{}\n{lines}", self.root.display()).as_bytes());
        }
    }

    /// Finds the message that the next question follows; with `newest`, the newest message of this worktree, like `@`.
    /// `None` if nothing was asked here, or all of it is deleted.
    pub fn tail(&self, store: &Store, newest: bool) -> Result<Option<BubbId>> {
        let ids = self.ids()?;
        let Some(&last) = ids.last() else { return Ok(None) };
        let mut forest = store.forest_for(&[ReadScope::Ids(vec![last])])?;
        if forest.find(last).is_none() {
            forest = store.forest_for(&[ReadScope::Ids(ids.clone())])?;
        }
        let last = ids.into_iter().rev().find(|&id| forest.find(id).is_some());
        last.map_or(Ok(None), |last| tail_at(store, &forest, last, newest))
    }
}

fn tail_at(store: &Store, forest: &Forest, last: BubbId, newest: bool) -> Result<Option<BubbId>> {
    let Some(ix) = forest.find(last) else { return Ok(None) };
    if newest {
        return Ok(Some(last));
    }
    Ok(match start_at(store, forest, ix)? {
        TurnStart::Under(id) => Some(id),
        TurnStart::New | TurnStart::Again(_) | TurnStart::Decided(_) => None,
    })
}

/// Default `--tail` in a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeTail {
    /// `@`, because no other worktree wrote it.
    Newest,
    /// The last message used in this worktree; in the main one also the newest tail that no linked worktree wrote.
    Own(BubbId),
    /// Other worktrees wrote all tails.
    Missing,
}

impl WorktreeTail {
    /// Returns the message; `None` if `@` is the newest of the store.
    pub fn own_id(self) -> Option<BubbId> {
        match self {
            WorktreeTail::Own(id) => Some(id),
            WorktreeTail::Newest | WorktreeTail::Missing => None,
        }
    }

    /// Finds the tail; with `newest`, the newest message of this worktree, like `@`. Conversations of a removed worktree
    /// belong to the main one, because git no longer lists it.
    pub fn find(paths: &Paths, store: &Store, newest: bool) -> Result<WorktreeTail> {
        if store.is_linked() {
            let Some(record) = WorktreeRecord::find(paths, store) else { return Ok(WorktreeTail::Newest) };
            return Ok(record.tail(store, newest)?.map_or(WorktreeTail::Missing, WorktreeTail::Own));
        }
        let mut elsewhere = HashSet::new();
        for record in WorktreeRecord::linked_to(paths, store) {
            elsewhere.extend(record.ids()?);
        }
        let is_own = |forest: &Forest, ix: Ix| !elsewhere.contains(&forest.name(ix).id);
        if elsewhere.is_empty() {
            return Ok(WorktreeTail::Newest);
        }
        let tip = store.forest_for(&[ReadScope::Tip])?;
        if tip.newest().is_none_or(|ix| is_own(&tip, ix)) {
            return Ok(WorktreeTail::Newest);
        }
        let forest = store.forest()?;
        let mut tails = forest.newest_first(false).filter(|&ix| forest.store_of(ix).is_none());
        let tail = tails.find(|&ix| is_own(&forest, ix) && !forest.is_ahead(ix));
        let tail = tail.map(|ix| forest.name(ix).id);
        let used = WorktreeRecord::main(paths, store).map(|record| record.ids()).transpose()?;
        // A linked worktree may have continued it, so that it is not a tail.
        let used = used.unwrap_or_default().into_iter().rev().find(|&id| forest.find(id).is_some());
        let own = match used.filter(|&used| Some(used) > tail) {
            Some(used) => tail_at(store, &forest, used, newest)?.or(tail),
            None => tail,
        };
        Ok(own.map_or(WorktreeTail::Missing, WorktreeTail::Own))
    }
}

/// Records the messages of a turn in a linked worktree, or in a main one with linked ones.
pub fn record_worktree(paths: &Paths, store: &Store, outcome: &Outcome) {
    let answer = outcome.answer.as_ref().map(|answer| answer.name.id);
    let turn: Vec<BubbId> =
        [outcome.user, outcome.partial, outcome.pending, answer].into_iter().flatten().collect();
    if !turn.is_empty() {
        record_used(paths, store, &turn);
    }
}

/// Replaces messages by their copies in the records of all worktrees. Write errors are ignored, as in
/// [`WorktreeRecord::record`].
pub fn record_moved(paths: &Paths, moved: &HashMap<BubbId, BubbId>) {
    let entries = paths.state.join("worktrees").read_dir();
    for file in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(Some(text)) = read_if_there(&file) else { continue };
        let new = |line: &[u8]| BubbId::parse(line).and_then(|id| moved.get(&id));
        let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let mut has_changed = false;
        // The first line is the path.
        for line in lines.iter_mut().skip(1) {
            if let Some(id) = new(line) {
                *line = id.to_string().into_bytes();
                has_changed = true;
            }
        }
        if has_changed {
            let _ = replace_file(&file, &lines.join(&b'\n'));
        }
    }
}

/// Records messages as the last used in a linked worktree, or in a main one with linked ones.
pub fn record_used(paths: &Paths, store: &Store, ids: &[BubbId]) {
    let record = WorktreeRecord::find(paths, store).or_else(|| WorktreeRecord::main(paths, store));
    record.into_iter().for_each(|record| record.record(ids));
}
