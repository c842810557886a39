//! `@` in a git repository with linked worktrees, which share a store: the newest message of this work tree, so that
//! reading and deleting take the conversation that a question there continues.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::term::{StatusLine, print_status};
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::config::Paths;
use lepo_turn::{MainTail, WorktreeRecord, record_used};

/// Finds the newest message of this work tree; `None` if nothing was asked here, or no other work tree shares the store.
pub fn find(store: &Store) -> Result<Option<BubbId>> {
    let paths = Paths::from_env(&Env::from_process())?;
    if store.is_linked() {
        return WorktreeRecord::find(&paths, store).map_or(Ok(None), |record| record.tail(store, true));
    }
    Ok(match MainTail::find(&paths, store, true)? {
        MainTail::Own(id) => Some(id),
        MainTail::Newest | MainTail::Missing => None,
    })
}

/// Like [`find`], with a note if `@` belongs to another work tree.
pub fn find_or_note(store: &Store) -> Result<Option<BubbId>> {
    static IS_NOTED: AtomicBool = AtomicBool::new(false);
    let own = find(store)?;
    if own.is_none() && is_of_another(store)? && !IS_NOTED.swap(true, Ordering::Relaxed) {
        print_status(&StatusLine::note(
            "nothing was asked in this worktree yet: @ is the newest of the store",
        ));
    }
    Ok(own)
}

/// Like [`find`], for commands that delete: fails if `@` belongs to another work tree.
pub fn find_or_refuse(store: &Store) -> Result<Option<BubbId>> {
    match find(store)? {
        None if is_of_another(store)? => {
            Err(Error::usage("nothing was asked in this worktree: @ belongs to another one")
                .hint("name the message by its id; `lepo ls` lists the conversations"))
        }
        own => Ok(own),
    }
}

fn is_of_another(store: &Store) -> Result<bool> {
    let paths = Paths::from_env(&Env::from_process())?;
    let is_shared = match store.is_linked() {
        true => WorktreeRecord::find(&paths, store).is_some(),
        false => MainTail::find(&paths, store, true)? == MainTail::Missing,
    };
    Ok(is_shared && store.names().forest_for(&[ReadScope::Tip])?.newest().is_some())
}

/// Records a message that a command wrote, if it is newer than `@`: the next question in this work tree continues there.
/// Errors are ignored, because the message is written.
pub fn note_used(store: &Store, id: BubbId) {
    let is_newest = find(store).is_ok_and(|own| own.is_none_or(|own| id > own));
    if let (true, Ok(paths)) = (is_newest, Paths::from_env(&Env::from_process())) {
        record_used(&paths, store, &[id]);
    }
}
