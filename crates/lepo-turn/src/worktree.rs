//! The conversation that a linked git worktree was last used for. All worktrees of a repository share one store, so that
//! `@` would be what somebody asked in another one.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::config::{Paths, replace_file};
use super::{Report, Start, start_at};
use lepo_base::error::Result;
use lepo_base::hash::sha256_hex;
use lepo_base::record::read_if_there;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Wanted;
use lepo_store::store::Store;

/// The record of one worktree in the state directory: its path, and the last message that was written there.
pub struct WorktreeRecord {
    file: PathBuf,
    root: PathBuf,
}

impl WorktreeRecord {
    /// The record of the worktree that a store is used from; none if that is no linked one.
    pub fn find(paths: &Paths, store: &Store) -> Option<WorktreeRecord> {
        let root = store.is_linked().then(|| store.root().canonicalize().ok()).flatten()?;
        let meta = root.join(".git").metadata().or_else(|_| root.metadata()).ok()?;
        // As a worktree made later at this path inherits nothing.
        let birth = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let birth = birth.map_or(0, |since| since.as_nanos());
        let text = format!("{}\0{}\0{}\0{birth}", root.display(), meta.dev(), meta.ino());
        let key = sha256_hex(text.as_bytes()).get(..32).unwrap_or_default().to_string();
        Some(WorktreeRecord { file: paths.state.join("worktrees").join(key), root })
    }

    /// True if nothing was recorded of this worktree yet.
    pub fn is_new(&self) -> bool {
        !self.file.exists()
    }

    /// The last message that was written there, if there is one.
    pub fn last(&self) -> Result<Option<BubbId>> {
        let text = read_if_there(&self.file)?.unwrap_or_default();
        Ok(text.split(|byte| *byte == b'\n').rev().find_map(BubbId::parse))
    }

    /// Records the last message; none, while there is no conversation. Where that cannot be, nothing else happens.
    pub fn record(&self, last: Option<BubbId>) {
        let last = last.map(|id| format!("{id}\n")).unwrap_or_default();
        let folder =
            self.file.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
        if folder.is_some_and(|made| made.is_ok()) {
            let _ = replace_file(&self.file, format!("{}\n{last}", self.root.display()).as_bytes());
        }
    }

    /// Where the next question of the worktree goes: the message that it follows, or with `retry` the one whose question
    /// is answered again. None where nothing was asked there, or all of it is gone.
    pub fn tail(&self, store: &Store, retry: bool) -> Result<Option<BubbId>> {
        let Some(last) = self.last()? else { return Ok(None) };
        let forest = store.names().forest_for(&[Wanted::Paths(vec![last])])?;
        let Some(ix) = forest.find(last) else { return Ok(None) };
        if retry {
            return Ok(Some(last));
        }
        Ok(match start_at(store, &forest, ix)? {
            Start::Under(id) => Some(id),
            Start::New | Start::Again(_) | Start::Decided(_) => None,
        })
    }
}

/// Records where a turn ended, if it was taken in a linked worktree.
pub fn record_worktree(paths: &Paths, store: &Store, report: &Report) {
    let answer = report.answer.as_ref().map(|answer| answer.name.id);
    let last = answer.or(report.pending).or(report.partial).or(report.user);
    if let Some((record, last)) = WorktreeRecord::find(paths, store).zip(last) {
        record.record(Some(last));
    }
}
