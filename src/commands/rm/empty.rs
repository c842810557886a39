//! Deletes messages for good: `rm --now`, and `rm --empty` for what was removed before.

use std::collections::HashSet;

use super::RmArgs;
use crate::commands::Context;
use crate::term::{StatusLine, one_line, print_status, tty};
use crate::ui::lock_changes;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, BubbName, ContentHash, plural};
use lepo_store::store::{RemovedFolder, Store};

/// Deletes messages and blobs at once, with the titles of conversations that no longer exist.
pub fn remove_now(store: &Store, bubbs: &[BubbName], blobs: &[ContentHash]) -> Result<()> {
    store.remove_bubbs(bubbs, blobs)?;
    forget_titles(store, bubbs.iter())
}

/// Deletes what `_removed/` has by this machine's lepo, after a yes.
pub fn run_empty(store: &Store, args: &RmArgs, context: &mut Context<'_>) -> Result<u8> {
    let list = store.change_list();
    let log = list.read()?;
    for name in list.foreign_folders(&log)? {
        print_status(&StatusLine::note(one_line(&format!(
            "_removed/{name} is not by lepo on this machine for this store: left alone, delete it by hand"
        ))));
    }
    let folders = list.folders_before(&log, u64::MAX)?;
    let count: usize = folders.iter().map(|(_, files)| files).sum();
    if folders.is_empty() {
        print_status("nothing to delete");
        return Ok(0);
    }
    for (folder, files) in &folders {
        let path = store.display_path().join("_removed").join(folder.to_string());
        context.out.line(&format!("{} {}", path.display(), plural(*files, "file")));
    }
    context.out.flush();
    if args.dry_run {
        return Ok(0);
    }
    if !args.yes {
        let Some(mut terminal) = tty() else {
            return Err(Error::usage("there is no terminal to ask on")
                .hint("-n lists what would be deleted; -y deletes it without asking"));
        };
        let files = plural(count, "file");
        if !terminal.confirm(&format!("Delete {files}, which `lepo undo` could bring back? (y/N): "))? {
            return Err(Error::nothing("nothing was deleted"));
        }
    }
    let Some(lock) = lock_changes(store)? else { return Ok(0) };
    let folders: HashSet<RemovedFolder> = folders.into_iter().map(|(folder, _)| folder).collect();
    let mut gone: Vec<BubbName> = Vec::new();
    for change in lock.log().changes() {
        for line in [change.first, change.last] {
            if line.folder.is_some_and(|folder| folders.contains(&folder)) {
                gone.extend(&line.removed.bubbs);
            }
        }
    }
    for folder in &folders {
        lock.empty(folder)?;
    }
    drop(lock);
    forget_titles(store, gone.iter())?;
    Ok(0)
}

/// Deletes the titles of conversations whose roots are among these messages and no longer in the store.
fn forget_titles<'n>(store: &Store, gone: impl Iterator<Item = &'n BubbName>) -> Result<()> {
    let roots: HashSet<BubbId> = gone.filter(|name| name.prev.is_none()).map(|name| name.id).collect();
    if roots.is_empty() {
        return Ok(());
    }
    let there: HashSet<BubbId> = store.names()?.into_iter().map(|name| name.id).collect();
    let roots: HashSet<BubbId> = roots.difference(&there).copied().collect();
    store.forget_titles(&roots)?;
    let log = store.change_list().read()?;
    let mut titles = log.changes().into_iter().flat_map(|change| &change.first.titles);
    if !titles.any(|title| roots.contains(&title.root)) {
        return Ok(());
    }
    match lock_changes(store)? {
        Some(mut lock) => lock.forget_titles(&roots),
        None => Ok(()),
    }
}
