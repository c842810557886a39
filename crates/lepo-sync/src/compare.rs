//! Compares the store with this clone's last commit: only the days that may differ, if the record of the last sync
//! determines these.
//!
//! The names in `.lepo/` itself are always read before the states of the days: a bubb that moves into its day is in
//! both before it leaves `.lepo/`, so it is found.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cat_file::Objects;
use super::git::Git;
use super::incoming::side_of;
use super::merge::{MergeSide, note_own_removals};
use super::paths::encoded;
use super::sync_record::SyncRecord;
use super::titles::SyncTitles;
use super::tree::CloneTree;
use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName, ContentHash, Day};
use lepo_store::store::{FolderState, Store, now};

/// The state of the store compared with the record, without running git.
pub struct StoreSnapshot {
    /// Days whose folders are unchanged since the record, and that have no bubb in `.lepo/` itself.
    unchanged: BTreeMap<Day, FolderState>,
    /// The bubbs outside of these days.
    bubbs: HashMap<BubbId, BubbName>,
    branches: BTreeMap<String, BubbId>,
    titles: SyncTitles,
    listed: ListedDays,
    pub is_same: bool,
}

#[derive(Default)]
struct ListedDays {
    /// The states of their folders, if these reveal every change.
    states: BTreeMap<Day, FolderState>,
    /// Days of bubbs in `.lepo/` itself.
    recent: HashSet<Day>,
}

impl StoreSnapshot {
    /// Reads the state; `None` if the file system does not reveal changes of past days.
    pub fn read(store: &Store, record: &SyncRecord) -> Result<Option<StoreSnapshot>> {
        let mut listing = store.listing()?;
        let Some(states) = store.old_states(now()) else { return Ok(None) };
        let recent: HashSet<Day> = listing.recent().iter().map(|name| Day::from_id(name.id)).collect();
        let is_unchanged = |(day, state): &(Day, Option<FolderState>)| {
            state.is_some() && record.days.get(day) == state.as_ref() && !recent.contains(day)
        };
        let (unchanged, changed): (Vec<_>, Vec<_>) = states.into_iter().partition(is_unchanged);
        let days: Vec<Day> = changed.iter().map(|(day, _)| *day).collect();
        listing.read_all(&days)?;
        let with_state = |(day, state): (Day, Option<FolderState>)| Some((day, state?));
        let unchanged: BTreeMap<Day, FolderState> = unchanged.into_iter().filter_map(with_state).collect();
        let bubbs: HashMap<BubbId, BubbName> =
            listing.read_names().into_iter().map(|name| (name.id, name)).collect();
        let (branches, mut titles) = (branches_of(store)?, SyncTitles::read(store)?);
        titles.retain_there(&record.removed);
        let is_same = unchanged.len() == record.days.len()
            && bubbs.len() == record.names.len()
            && bubbs.keys().all(|id| record.names.contains_key(id))
            && branches == record.branches
            && titles == record.titles;
        let listed = ListedDays { states: changed.into_iter().filter_map(with_state).collect(), recent };
        Ok(Some(StoreSnapshot { unchanged, bubbs, branches, titles, listed, is_same }))
    }

    /// Whether folders of days reveal changes now that did not when the record was written.
    pub fn reveals_more(&self) -> bool {
        self.listed.states.keys().any(|day| !self.listed.recent.contains(day))
    }
}

impl SyncRecord {
    /// Saves the record again, with all days whose folders reveal changes now.
    pub fn described_anew(self, git: &Git, glance: StoreSnapshot, clone: &str) -> Result<()> {
        let Some(compared) = StoreDiff::read_changed(git, clone, glance, &self)? else { return Ok(()) };
        let SyncRecord { refs, remote, settled, .. } = self;
        SyncRecord { refs, remote, settled, ..compared.recorded(&[], &HashSet::new()) }.save(git, clone)
    }
}

/// The store and the commit, as far as they were listed.
#[derive(Default)]
pub struct StoreDiff {
    /// The store. Its record of removals includes what was removed here since the commit.
    pub here: MergeSide,
    pub pushed: MergeSide,
    /// The blobs of the commit; `None` if they were not listed.
    pub blobs: Option<HashSet<ContentHash>>,
    /// Unlisted days, which are equal in both.
    unchanged: BTreeMap<Day, FolderState>,
    listed: ListedDays,
}

impl StoreDiff {
    /// Lists the days that may differ. `None` if that is not enough: something was removed or restored, or follows a
    /// removed bubb.
    pub fn read_changed(
        git: &Git,
        clone: &str,
        glance: StoreSnapshot,
        record: &SyncRecord,
    ) -> Result<Option<StoreDiff>> {
        let Some(own) = &record.refs.own else { return Ok(None) };
        let side = |bubbs, branches, titles| MergeSide {
            clone: clone.into(),
            bubbs,
            branches,
            titles,
            removed: record.removed.clone(),
        };
        let StoreSnapshot { unchanged, bubbs, branches, titles, listed, is_same: _ } = glance;
        let changed: Vec<Day> =
            record.days.keys().filter(|day| !unchanged.contains_key(day)).copied().collect();
        let mut pushed = side(record.names.clone(), record.branches.clone(), record.titles.clone());
        if changed.len() > MOST_DAYS {
            return Ok(None);
        }
        if !changed.is_empty() {
            pushed.bubbs.extend(CloneTree::read_days(git, own, &changed)?.names());
        }
        let mut here = side(bubbs, branches, titles);
        note_own_removals(&mut here, &pushed);
        let goes_on_from_gone = |name: &&BubbName| {
            !pushed.bubbs.contains_key(&name.id) && name.prev.is_some_and(|prev| here.removed.contains(prev))
        };
        let is_enough =
            here.removed == pushed.removed && !here.bubbs.values().any(|name| goes_on_from_gone(&name));
        Ok(is_enough.then_some(StoreDiff { here, pushed, blobs: None, unchanged, listed }))
    }

    pub fn read_all(git: &Git, store: &Store, clone: &str, own: Option<&str>) -> Result<StoreDiff> {
        let tree = CloneTree::read(git, own)?;
        let pushed = match own {
            Some(_) => side_of(clone, &tree, &mut Objects::new(git))?,
            None => MergeSide { clone: clone.into(), ..MergeSide::default() },
        };
        let mut listing = store.listing()?;
        let states = store.old_states(now()).unwrap_or_default();
        let recent = listing.recent().iter().map(|name| Day::from_id(name.id)).collect();
        listing.read_since(Day::FIRST)?;
        let mut here = MergeSide {
            clone: clone.into(),
            bubbs: listing.read_names().into_iter().map(|name| (name.id, name)).collect(),
            branches: branches_of(store)?,
            titles: SyncTitles::read(store)?,
            removed: pushed.removed.clone(),
        };
        note_own_removals(&mut here, &pushed);
        here.titles.retain_there(&here.removed);
        let states = states.into_iter().filter_map(|(day, state)| Some((day, state?))).collect();
        Ok(StoreDiff {
            here,
            pushed,
            blobs: Some(tree.blobs.into_keys().collect()),
            unchanged: BTreeMap::new(),
            listed: ListedDays { states, recent },
        })
    }

    /// Returns the record of a commit of the whole store except `held`. The bubbs `since` were added to the store
    /// after it was listed.
    pub fn recorded(self, withheld: &[BubbId], since: &HashSet<BubbId>) -> SyncRecord {
        let StoreDiff { here, pushed, unchanged, listed, .. } = self;
        let mut open = listed.recent;
        open.extend(withheld.iter().chain(since).map(|id| Day::from_id(*id)));
        let mut days = unchanged;
        days.extend(listed.states.into_iter().filter(|(day, _)| !open.contains(day)));
        let mut names = here.bubbs;
        names.retain(|id, _| !days.contains_key(&Day::from_id(*id)));
        for id in withheld {
            names.remove(id);
        }
        SyncRecord {
            days,
            names,
            branches: here.branches,
            titles: pushed.titles,
            removed: here.removed,
            ..SyncRecord::default()
        }
    }

    /// Whether the store differs in a way that requires a merge with other clones: in the number of bubbs, or by
    /// removals or restorations.
    pub fn is_to_merge(&self) -> bool {
        self.here.bubbs.len() != self.pushed.bubbs.len() || self.here.removed != self.pushed.removed
    }

    /// Counts the ids that are in the commit but not in the store, and all ids of the commit.
    pub fn count_missing(&self) -> (usize, usize) {
        let gone = self.pushed.bubbs.keys().filter(|id| !self.here.bubbs.contains_key(id)).count();
        (gone, self.pushed.bubbs.len())
    }
}

/// For more changed days than this, everything is listed.
const MOST_DAYS: usize = 1000;

/// Returns the store's branches by their file names.
fn branches_of(store: &Store) -> Result<BTreeMap<String, BubbId>> {
    Ok(store.branches_or_error()?.into_iter().map(|(name, id)| (encoded(&name), id)).collect())
}
