//! Sweeps `_from/`: deletes the stores of other users whose clones no longer exist on the remote.

use std::collections::HashSet;

use super::git::Git;
use super::remote::{Refs, RemoteRefs};
use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;

/// Deletes other users' stores whose clones the remote, which has answered, no longer has; returns their names. A
/// store from which a message elsewhere continues stays, because that conversation would lose its start.
pub fn sweep(git: &Git, store: &Store, remote: &RemoteRefs, refs: &mut Refs) -> Result<Vec<String>> {
    // A folder that no sync of this store created is not touched.
    let taken: HashSet<String> = refs.taken.keys().cloned().collect();
    let is_there = |clone: &str| remote.theirs.contains_key(clone) || remote.elsewhere.contains(clone);
    let is_gone = |clone: &str| taken.contains(clone) && !is_there(clone);
    // Beyond the limit of clones it is unknown which ones no longer exist.
    if remote.more > 0 || !store.peers().iter().any(|(clone, _)| is_gone(clone)) {
        return Ok(Vec::new());
    }
    let all = |store: &Store| -> Result<Vec<BubbName>> { store.names() };
    let mut theirs: Vec<(&str, Vec<BubbName>)> = Vec::new();
    for (clone, other) in store.peers() {
        theirs.push((clone, all(other)?));
    }
    let own = all(store)?;
    let named: HashSet<BubbId> = store.branches_or_error()?.into_iter().map(|(_, id)| id).collect();
    let mut swept = Vec::new();
    let mut at = 0;
    while let Some((clone, names)) = theirs.get(at) {
        let elsewhere = || {
            let others = theirs.iter().enumerate().filter(|(other, _)| *other != at);
            own.iter().chain(others.flat_map(|(_, (_, names))| names))
        };
        if !is_gone(clone) || is_needed(names, elsewhere().copied(), &named) {
            at += 1;
            continue;
        }
        store.remove_peer(clone)?;
        swept.push(clone.to_string());
        theirs.remove(at);
    }
    git.update_refs(swept.iter().map(|clone| (format!("refs/taken/{clone}"), None)))?;
    refs.taken.retain(|clone, _| !swept.contains(clone));
    Ok(swept)
}

/// Whether a message elsewhere follows, or a branch of the user names, a message that exists only in `names`.
fn is_needed(names: &[BubbName], elsewhere: impl Iterator<Item = BubbName>, named: &HashSet<BubbId>) -> bool {
    let mut only: HashSet<BubbId> = names.iter().map(|name| name.id).collect();
    let mut prevs = HashSet::new();
    for name in elsewhere {
        only.remove(&name.id);
        prevs.extend(name.prev);
    }
    only.iter().any(|id| prevs.contains(id) || named.contains(id))
}

/// Returns the other users with a store here for whom the last fetch found no clone.
pub fn unfetched(store: &Store, git: &Git, own: &str) -> Result<Vec<String>> {
    git.init()?;
    let refs = Refs::read(git, own)?;
    let others = store.peers().iter().map(|(clone, _)| clone);
    let is_gone =
        |clone: &&String| !refs.theirs.contains_key(*clone) && !refs.no_commits.contains_key(*clone);
    Ok(others.filter(is_gone).cloned().collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{id, names};

    #[test]
    fn what_others_go_on_from_is_needed() {
        for (theirs, elsewhere, branch, is_needed) in [
            ("A u0 head / B a0 A", "", "", false),
            ("A u0 head / B a0 A", "C u0 head / D a0 C", "D", false),
            ("A u0 head / B a0 A", "C u0 B", "", true),
            ("A u0 head / B a0 A", "C u0 A / D a0 C", "", true),
            // another store has the same messages
            ("A u0 head / B a0 A", "A u0 head / B a0 A / C u0 B", "B", false),
            ("A u0 head / B a0 A", "A u0 head / C u0 A", "", false),
            ("A u0 head / B a0 A", "", "B", true),
        ] {
            let named = branch.chars().map(|letter| id(&letter.to_string())).collect();
            let actual = super::is_needed(&names(theirs), names(elsewhere).into_iter(), &named);
            assert_eq!(actual, is_needed, "{theirs} | {elsewhere} | {branch}");
        }
    }
}
