//! `@` in a git repository with linked worktrees, which share a store: the newest message of this worktree, so that
//! reading and deleting take the conversation that a question there continues.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::commands::user_env::own_paths;
use crate::term::{StatusLine, print_status};
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::{WorktreeTail, record_moved, record_used};

/// Finds the newest message of this worktree; `None` if nothing was asked here, or no other worktree shares the store.
pub fn find(store: &Store) -> Result<Option<BubbId>> {
    Ok(find_tail(store)?.own_id())
}

/// Like [`find`], with a note if `@` belongs to another worktree.
pub fn find_or_note(store: &Store) -> Result<Option<BubbId>> {
    static IS_NOTED: AtomicBool = AtomicBool::new(false);
    let tail = find_tail(store)?;
    if is_of_another(store, tail)? && !IS_NOTED.swap(true, Ordering::Relaxed) {
        print_status(&StatusLine::note(
            "nothing was asked in this worktree yet: @ is the newest of the store",
        ));
    }
    Ok(tail.own_id())
}

/// Like [`find`], for commands that delete: fails if `@` belongs to another worktree.
pub fn find_or_refuse(store: &Store) -> Result<Option<BubbId>> {
    let tail = find_tail(store)?;
    if is_of_another(store, tail)? {
        return Err(Error::usage("nothing was asked in this worktree: @ belongs to another one")
            .hint("name the message by its id; `lepo ls` lists the conversations"));
    }
    Ok(tail.own_id())
}

fn find_tail(store: &Store) -> Result<WorktreeTail> {
    WorktreeTail::find(&own_paths()?, store, true)
}

fn is_of_another(store: &Store, tail: WorktreeTail) -> Result<bool> {
    Ok(tail == WorktreeTail::Missing && store.forest_for(&[ReadScope::Tip])?.newest().is_some())
}

/// Records a message that a command wrote, if it is newer than `@`: the next question in this worktree continues there.
/// Errors are ignored, because the message is written.
pub fn note_used(store: &Store, id: BubbId) {
    let is_newest = find(store).is_ok_and(|own| own.is_none_or(|own| id > own));
    if let (true, Ok(paths)) = (is_newest, own_paths()) {
        record_used(&paths, store, &[id]);
    }
}

/// Replaces messages by their copies in the records of all worktrees. Errors are ignored, because the copies are written.
pub fn note_moved(moved: &HashMap<BubbId, BubbId>) {
    if let Ok(paths) = own_paths() {
        record_moved(&paths, moved);
    }
}
