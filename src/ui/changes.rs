//! Makes changes which `lepo undo` takes back.

use crate::term::{StatusLine, print_status};
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::store::{
    BranchChange, BranchIds, BranchName, ChangeLock, ChangingCommand, Store, TitleChange, on_one_line,
};

/// Locks a store for changes, and reports which changes of killed processes this completed. `None` without a key.
pub fn lock_changes(store: &Store) -> Result<Option<ChangeLock<'_>>> {
    let locked = store.change_list().lock()?;
    for change in locked.iter().flat_map(|locked| &locked.completed) {
        print_status(&StatusLine::note(format!(
            "completed change {} ({}), which was interrupted",
            change.n,
            change.command.as_str()
        )));
    }
    Ok(locked)
}

/// Changes branches as a change that can be taken back: `plan` returns them, under the lock, with their new ids.
pub fn change_branches(
    store: &Store,
    command: ChangingCommand,
    plan: impl FnOnce() -> Result<Vec<(String, BranchIds)>>,
) -> Result<()> {
    let mut lock = lock_changes(store)?;
    let planned = plan()?;
    let Some(lock) = &mut lock else {
        return planned.iter().try_for_each(|(name, ids)| store.restore_branch(name, ids.as_deref()));
    };
    let mut change = lock.new_change(command);
    change.branches = branch_changes(store, planned)?;
    lock.make(change)
}

/// Makes a branch as a change that can be taken back; `false` if the name is in use.
pub fn make_branch(store: &Store, name: &str, at: BubbId) -> Result<bool> {
    let mut is_made = false;
    change_branches(store, ChangingCommand::Branch, || {
        is_made = store.branch_ids(name)?.is_none();
        Ok(if is_made { vec![(name.to_string(), Some(vec![at]))] } else { Vec::new() })
    })?;
    Ok(is_made)
}

/// Returns the changes of branches from their present ids to these.
pub fn branch_changes(store: &Store, planned: Vec<(String, BranchIds)>) -> Result<Vec<BranchChange>> {
    let change = |(name, after): (String, BranchIds)| {
        let before = store.branch_ids(&name)?;
        let name = BranchName::try_from(name).map_err(Error::usage)?;
        Ok(BranchChange { name, before, after })
    };
    planned.into_iter().map(change).collect()
}

/// Sets a title as a change that can be taken back; an empty one removes it.
pub fn change_title(store: &Store, root: BubbId, title: &str) -> Result<()> {
    let Some(mut lock) = lock_changes(store)? else { return store.set_title(root, title) };
    let before = store.latest_title(root)?.map(|(_, text)| text).unwrap_or_default();
    let mut change = lock.new_change(ChangingCommand::Title);
    change.titles.push(TitleChange { root, before, after: on_one_line(title) });
    lock.make(change)
}
