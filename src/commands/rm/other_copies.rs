//! Finds other copies of redacted text.

use std::collections::{BTreeSet, HashSet};

use lepo_store::bubb::BubbId;
use lepo_store::store::Store;
use lepo_sync::{Identity, SyncState, is_committed};

use super::outcome::RedactOutcome;
use crate::commands::user_env::own_paths;

/// Maximum number of messages to search for in the project's history.
const MOST: usize = 200;

pub fn holders(store: &Store, outcome: &RedactOutcome) -> Vec<String> {
    let mut held = synced(store);
    // A completed interruption does not know which messages themselves changed.
    let changed = outcome.moved.iter().map(|moved| moved.from.id);
    let changed: Vec<BubbId> =
        changed.filter(|id| outcome.changed.is_empty() || outcome.changed.contains_key(id)).collect();
    let words: Vec<String> = changed.iter().take(MOST).map(ToString::to_string).collect();
    let blobs = outcome.blobs.iter().take(MOST).map(ToString::to_string);
    let words: Vec<String> = words.into_iter().chain(blobs).collect();
    if !words.is_empty() && is_committed(&store.path(), &words) {
        held.push("the git history of the project, in which the store is committed".into());
    }
    let roots = roots(store, outcome);
    for source in store.journal().imports().sources_of(&roots) {
        held.push(format!("{source}, from which it was imported"));
    }
    held
}

fn synced(store: &Store) -> Vec<String> {
    let (mut mine, mut others) = (BTreeSet::new(), BTreeSet::new());
    others.extend(store.peers().iter().map(|(name, _)| name.clone()));
    let mut has_remote = false;
    let data = own_paths().map(|paths| paths.data);
    if let (Ok(data), Ok(identity)) = (data, Identity::read(&store.path()))
        && let Ok(Some(settings)) = SyncState::read(&data, &identity)
    {
        has_remote = SyncState::pushed(&data, &identity).is_some();
        mine.extend(settings.mine);
        others.extend(settings.others);
    }
    let mut held: Vec<String> =
        mine.into_iter().map(|name| format!("{name}, your other clone, until both were synced")).collect();
    held.extend(others.into_iter().map(|name| format!("{name}'s clone")));
    if has_remote {
        held.push("the remote, until `lepo sync` and then `lepo sync --forget`".into());
    }
    held
}

/// Returns the roots of the changed conversations, before and after.
fn roots(store: &Store, outcome: &RedactOutcome) -> HashSet<BubbId> {
    let Ok(forest) = store.forest() else { return HashSet::new() };
    let ids = outcome.moved.iter().flat_map(|moved| [moved.from.id, moved.to.id]);
    let mut outlines = forest.outlines();
    ids.filter_map(|id| forest.find(id)).map(|ix| forest.name(outlines.value(ix).root).id).collect()
}
