//! Decides where a question in a git repository with linked worktrees continues by default: each worktree, the main one
//! too, has a conversation of its own.

use super::DoArgs;
use crate::commands::Context;
use crate::commands::stores::KnownStores;
use crate::term::{StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::config::Paths;
use lepo_turn::{WorktreeRecord, WorktreeTail};

/// Selects the worktree's conversation as `--tail` would, or starts a new one and prints a note: all worktrees share
/// a store, whose newest conversation may belong to another of them.
pub fn set_worktree_tail(args: &mut DoArgs, context: &Context<'_>) -> Result<()> {
    if !args.takes_default_tail() || args.recorded.options()?.is_some() {
        return Ok(());
    }
    let Some(store) = context.find_store()? else { return Ok(()) };
    let paths = &context.user_env()?.paths;
    // Linked worktrees do not share a store of `--save-to`.
    let is_apart = !store.is_linked() && context.save_to().is_some();
    let has_conversation = is_apart || set_tail(args, &store, paths)?;
    if has_conversation && !store.is_linked() && !args.quiet {
        note_removed(args, &store, paths)?;
    }
    let begins = !has_conversation && !args.retry && !args.compact && !args.keeping.goes_on;
    let newest = if begins { newest_of(&store)? } else { None };
    if let Some(newest) = newest {
        args.new = true;
        if !args.quiet {
            // After this question `@` is its answer.
            print_status(&StatusLine::note(format!(
                "this worktree begins a conversation of its own; --tail {newest} continues the newest"
            )));
        }
    }
    Ok(())
}

/// Returns the newest message of all worktrees.
fn newest_of(store: &Store) -> Result<Option<BubbId>> {
    let forest = store.forest_for(&[ReadScope::Tip])?;
    Ok(forest.newest().map(|newest| forest.name(newest).id))
}

/// Names the removed worktree whose conversation the main worktree continues.
fn note_removed(args: &DoArgs, store: &Store, paths: &Paths) -> Result<()> {
    let tail = match &args.tail {
        Some(tail) => BubbId::parse(tail.as_bytes()),
        None => newest_of(store)?,
    };
    if let Some(root) = tail.and_then(|tail| WorktreeRecord::removed_with(paths, store, tail)) {
        let folder = KnownStores::at(paths).project(&root);
        print_status(&StatusLine::note(format!(
            "this continues the conversation of {folder}, a worktree that was removed; -n begins another"
        )));
    }
    Ok(())
}

/// Selects the conversation of this worktree; `false` without one.
fn set_tail(args: &mut DoArgs, store: &Store, paths: &Paths) -> Result<bool> {
    match WorktreeTail::find(paths, store, args.retry)? {
        WorktreeTail::Newest => return Ok(true),
        WorktreeTail::Own(id) => args.tail = Some(id.to_string()),
        WorktreeTail::Missing => {}
    }
    Ok(args.tail.is_some())
}
