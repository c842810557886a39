//! Decides where a question in a git repository with linked worktrees continues by default: each work tree, the main one
//! too, has a conversation of its own.

use super::DoArgs;
use crate::commands::Context;
use crate::commands::stores::KnownStores;
use crate::commands::user_env::own_paths;
use crate::term::{StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::config::Paths;
use lepo_turn::{MainTail, WorktreeRecord};

/// Selects the work tree's conversation as `--tail` would, or starts a new one and prints a note: all work trees share
/// a store, whose newest conversation may belong to another of them.
pub fn set_worktree_tail(args: &mut DoArgs, context: &Context<'_>) -> Result<()> {
    if !args.takes_default_tail() || args.recorded.options()?.is_some() {
        return Ok(());
    }
    let Some(store) = context.find_store()? else { return Ok(()) };
    let paths = own_paths()?;
    let has_conversation = match store.is_linked() {
        true => set_linked_tail(args, &store, &paths)?,
        false => set_main_tail(args, &store, &paths, context)?,
    };
    if has_conversation && !store.is_linked() && !args.quiet {
        note_removed(args, &store, &paths)?;
    }
    let begins = !has_conversation && !args.retry && !args.compact && !args.keeping.goes_on;
    if begins && store.names().forest_for(&[ReadScope::Tip])?.newest().is_some() {
        args.new = true;
        if !args.quiet {
            print_status(&StatusLine::note(
                "this worktree begins a conversation of its own; --tail @ goes on with the newest",
            ));
        }
    }
    Ok(())
}

/// Names the removed worktree whose conversation the main work tree continues.
fn note_removed(args: &DoArgs, store: &Store, paths: &Paths) -> Result<()> {
    let tip = || -> Result<Option<BubbId>> {
        let forest = store.names().forest_for(&[ReadScope::Tip])?;
        Ok(forest.newest().map(|newest| forest.name(newest).id))
    };
    let tail = match &args.tail {
        Some(tail) => BubbId::parse(tail.as_bytes()),
        None => tip()?,
    };
    if let Some(root) = tail.and_then(|tail| WorktreeRecord::removed_with(paths, store, tail)) {
        let folder = KnownStores::at(paths).project(&root);
        print_status(&StatusLine::note(format!(
            "this continues the conversation of {folder}, a worktree that was removed; -n begins another"
        )));
    }
    Ok(())
}

/// Selects the conversation last used in a linked worktree; `false` if there is none.
fn set_linked_tail(args: &mut DoArgs, store: &Store, paths: &Paths) -> Result<bool> {
    let Some(record) = WorktreeRecord::find(paths, store) else { return Ok(true) };
    args.tail = record.tail(store, args.retry)?.map(|id| id.to_string());
    Ok(args.tail.is_some())
}

/// Selects the newest conversation that no linked worktree wrote; `false` if there is none.
fn set_main_tail(args: &mut DoArgs, store: &Store, paths: &Paths, context: &Context<'_>) -> Result<bool> {
    // Linked worktrees do not share a store of `--save-to`.
    if context.save_to().is_some() {
        return Ok(true);
    }
    match MainTail::find(paths, store, args.retry)? {
        MainTail::Newest => return Ok(true),
        MainTail::Own(id) => args.tail = Some(id.to_string()),
        MainTail::Missing => {}
    }
    Ok(args.tail.is_some())
}
