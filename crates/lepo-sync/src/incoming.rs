//! Receiving: checks new content in the fetched refs of other clones, then adds it to a store.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use super::cat_file::{ObjectContent, Objects, Oid};
use super::git::Git;
use super::merge::{Changes, MergeSide};
use super::paths::{TreePath, decoded};
use super::remote::Refs;
use super::sync_record::SyncRecord;
use super::tree::{CloneTree, Deadline, SkippedEntries};
use super::verdicts::{CloneVerdict, CloneVerdicts};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_store::bubb::{BubbId, BubbName, ContentHash};
use lepo_store::store::{BranchChange, BranchName, ChangedFiles, ChangingCommand, Store, WriteBatch, now};

/// A bubb dated more than this many milliseconds after now is imported by a later sync.
const AHEAD: u64 = 24 * 60 * 60 * 1000;

/// Maximum number of branches to import from another user's commit.
const MOST_BRANCHES: usize = 1000;

#[derive(Debug, Default)]
pub struct CloneResult {
    pub clone: String,
    pub bubbs: usize,
    /// Number of branches created or moved.
    pub branches: usize,
    /// Number of bubbs that the clone has removed; another user's bubbs stay here.
    pub removed: usize,
    /// Number of bubbs dated ahead, which a later sync imports.
    pub waiting: usize,
    /// Number of contents that the time limit postponed to the next sync.
    pub later: usize,
    /// Paths that failed the check.
    pub left_out: SkippedEntries,
}

/// Forgets which commit of a clone was imported, so that the next sync reads all of it.
pub fn forget_taken(git: &Git, clone: &str) -> Result<()> {
    git.init()?;
    SyncRecord::remove(git)?;
    git.update_refs([(format!("refs/taken/{clone}"), None)])
}

impl CloneResult {
    /// Whether all content of the clone was imported, so that the next sync need not read it again.
    pub fn is_whole(&self) -> bool {
        self.waiting == 0 && self.later == 0
    }
}

/// Imports new content of another user's clone into `_from/CLONE/`, within a time limit.
pub fn import_peer(
    git: &Git,
    store: &Store,
    clone: &str,
    refs: &Refs,
    verdicts: &mut CloneVerdicts,
    until: Deadline,
) -> Result<CloneResult> {
    let mut came = CloneResult { clone: clone.into(), ..CloneResult::default() };
    let Some(tip) = refs.theirs.get(clone).filter(|_| !refs.is_taken(clone)) else { return Ok(came) };
    if let Some(refused) = verdicts.refusal(clone, tip, now()) {
        return Err(refused);
    }
    let mut objects = Objects::new(git);
    let since = CloneTree::since(&mut objects, refs.taken.get(clone).map(String::as_str), tip, until);
    let (mut tree, gone) = since.inspect_err(|error| {
        if error.kind == ExitKind::Remote {
            verdicts.refuse(clone, tip, error, now());
        }
    })?;
    let (verdict, is_known) = verdicts.on(clone, tip);
    if !is_known {
        came.left_out = std::mem::take(&mut tree.misfits);
    }
    let theirs = Store::make(&store.path(), &Path::new("_from").join(clone), "")?.0;
    let new = tree.bubbs.values().cloned().collect();
    let mut taking = CloneImporter { to: &theirs, objects: &mut objects, verdict, until: Some(until) };
    came.bubbs = taking.bubbs(new, &mut came)?.len();
    taking.blobs(&tree.blobs, &mut came)?;
    came.removed = gone.iter().filter(|entry| matches!(entry, TreePath::Bubb(_))).count();
    for entry in gone {
        if let TreePath::Branch(file) = entry
            && let Some(name) = decoded(&file)
        {
            theirs.delete_branch(&name)?;
        }
    }
    let branches = tree.branch_ids(&mut objects)?;
    if branches.len() > MOST_BRANCHES {
        came.left_out.add(b"_branches", "holds more than 1000 branches: the others");
    }
    for (file, id) in branches.into_iter().take(MOST_BRANCHES) {
        let Some(name) = decoded(&file) else { continue };
        if theirs.branch(&name).ok().flatten() == Some(id) {
            continue;
        }
        if until.is_over() {
            came.later += 1;
            continue;
        }
        theirs.set_branch(&name, id)?;
        came.branches += 1;
    }
    tree.titles(&mut objects)?.write_into(&theirs)?;
    if came.is_whole() {
        verdicts.forget(clone);
    }
    Ok(came)
}

struct CloneImporter<'t, 'g> {
    to: &'t Store,
    objects: &'t mut Objects<'g>,
    verdict: &'t mut CloneVerdict,
    until: Option<Deadline>,
}

impl CloneImporter<'_, '_> {
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until.is_over())
    }

    fn leave_out(&mut self, path: &str, oid: &str, why: &str, came: &mut CloneResult) {
        came.left_out.add(path.as_bytes(), why);
        self.verdict.leave_out(path, oid);
    }

    /// Adds the bubbs whose content matches their ids, oldest first; returns the new ones.
    fn bubbs(&mut self, mut new: Vec<(BubbName, Oid)>, came: &mut CloneResult) -> Result<Vec<BubbName>> {
        new.sort_unstable_by_key(|(name, _)| name.id);
        let latest = now() + AHEAD;
        let mut batch = WriteBatch::new(self.to, new.len() > lepo_store::store::MANY)?;
        let mut taken = Vec::new();
        for (name, oid) in new {
            let path = TreePath::Bubb(name).path();
            if self.verdict.has_left_out(&path, &oid) || batch.contains(name.id)? {
                continue;
            }
            if name.id.time() > latest {
                came.waiting += 1;
                continue;
            }
            if self.is_over() {
                came.later += 1;
                continue;
            }
            match self.objects.bubb(&name, &oid)? {
                ObjectContent::None => {
                    self.leave_out(&path, &oid, "is larger than 50 MiB or cannot be read", came);
                }
                ObjectContent::Other => {
                    self.leave_out(&path, &oid, "its content does not match its id", came)
                }
                ObjectContent::Good(bytes) => taken.extend(batch.put(name, &bytes)?.then_some(name)),
            }
        }
        batch.flush()?;
        Ok(taken)
    }

    fn blobs(&mut self, blobs: &HashMap<ContentHash, Oid>, came: &mut CloneResult) -> Result<()> {
        for (hash, oid) in blobs {
            let path = TreePath::Blob(*hash).path();
            if self.verdict.has_left_out(&path, oid) || self.to.open_blob(hash)?.is_some() {
                continue;
            }
            if self.is_over() {
                came.later += 1;
                continue;
            }
            match self.objects.blob(hash, oid)? {
                ObjectContent::Good(bytes) => {
                    self.to.write_blob(&mut bytes.as_slice())?;
                }
                _ => self.leave_out(&path, oid, "its content does not match its name", came),
            }
        }
        Ok(())
    }
}

/// The user's other clones as fetched, ready to merge.
pub struct OwnClones<'m> {
    git: &'m Git,
    refs: &'m Refs,
    limit: Duration,
    pub sides: Vec<MergeSide>,
    trees: Vec<CloneTree>,
}

#[derive(Default)]
pub struct MergeResult {
    pub clones: Vec<CloneResult>,
    pub added: Vec<BubbName>,
    pub removed: Vec<BubbName>,
}

impl<'m> OwnClones<'m> {
    /// Reads the trees of these clones, each within a time limit. An unreadable clone does not affect the others; it
    /// is returned with the reason.
    pub fn read(
        git: &'m Git,
        clones: &[String],
        refs: &'m Refs,
        verdicts: &mut CloneVerdicts,
        limit: Duration,
    ) -> Result<(OwnClones<'m>, Vec<(String, Error)>)> {
        let mut objects = Objects::new(git);
        let (mut sides, mut trees, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for clone in clones {
            let Some(tip) = refs.theirs.get(clone) else { continue };
            let refused = verdicts.refusal(clone, tip, now());
            let read =
                refused.map_or_else(|| CloneTree::read_peer(&mut objects, tip, Deadline::after(limit)), Err);
            match read.and_then(|tree| Ok((side_of(clone, &tree, &mut objects)?, tree))) {
                Ok((side, tree)) => {
                    sides.push(side);
                    trees.push(tree);
                }
                Err(error) if error.kind == ExitKind::Remote => {
                    if verdicts.refusal(clone, tip, now()).is_none() {
                        verdicts.refuse(clone, tip, &error, now());
                    }
                    bad.push((clone.clone(), error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((OwnClones { git, refs, limit, sides, trees }, bad))
    }

    /// Applies a merge to the store: adds new bubbs, removes bubbs that another clone removed, moves branches. With
    /// `is_kept`, `lepo undo` can take the removals back.
    pub fn apply(
        self,
        store: &Store,
        changes: &Changes,
        here: &MergeSide,
        verdicts: &mut CloneVerdicts,
        is_kept: bool,
    ) -> Result<MergeResult> {
        let (git, refs, limit) = (self.git, self.refs, self.limit);
        let mut objects = Objects::new(git);
        let mut merged = MergeResult::default();
        for (number, side) in self.sides.iter().enumerate() {
            let mut came = CloneResult { clone: side.clone.clone(), ..CloneResult::default() };
            let tree = &self.trees[number];
            let Some(tip) = refs.theirs.get(&side.clone) else { continue };
            let (mut news, _) = match refs.is_taken(&side.clone) {
                true => Default::default(),
                false => {
                    let before = refs.taken.get(&side.clone).map(String::as_str);
                    CloneTree::since(&mut objects, before, tip, Deadline::after(limit))?
                }
            };
            let (verdict, is_known) = verdicts.on(&side.clone, tip);
            if !is_known {
                came.left_out = std::mem::take(&mut news.misfits);
            }
            let new = changes.add.iter().filter(|(_, from)| *from == number);
            let new = new.filter_map(|(name, _)| tree.bubbs.get(&name.id).cloned()).collect();
            let mut taking = CloneImporter { to: store, objects: &mut objects, verdict, until: None };
            let added = taking.bubbs(new, &mut came)?;
            let steering = added.iter().filter(|name| name.is_proven_when_written());
            store.journal().prove(steering.map(|name| name.id));
            came.bubbs = added.len();
            merged.added.extend(added);
            taking.blobs(&news.blobs, &mut came)?;
            merged.clones.push(came);
        }
        merged.removed = removable(store, changes, here)?;
        remove(store, &merged.removed, changes, here, is_kept)?;
        for (file, id) in &changes.branches {
            if let Some(name) = decoded(file) {
                store.set_branch(&name, *id)?;
            }
        }
        changes.titles.write_into(store)?;
        Ok(merged)
    }
}

/// Removes bubbs, blobs and branches that another clone removed. Redacted bubbs are deleted at once: their copies come
/// with the same time, kind and visibility.
fn remove(
    store: &Store,
    removed: &[BubbName],
    changes: &Changes,
    here: &MergeSide,
    is_kept: bool,
) -> Result<()> {
    let names = changes.branches_removed.iter().filter_map(|file| BranchName::try_from(decoded(file)?).ok());
    let names: Vec<BranchName> = names.collect();
    let lock =
        if is_kept && !(removed.is_empty() && names.is_empty()) { store.change_list().lock()? } else { None };
    let form = |name: &BubbName| (name.id.time(), name.role, name.hidden);
    let added: HashSet<_> = changes.add.iter().map(|(name, _)| form(name)).collect();
    let is_redacted = |name: &&BubbName| lock.is_none() || added.contains(&form(name));
    let (redacted, others): (Vec<BubbName>, Vec<BubbName>) = removed.iter().partition(is_redacted);
    let mut there: Vec<BubbName> = here.bubbs.values().copied().collect();
    if !redacted.is_empty() {
        store.remove_bubbs(&redacted, &store.blobs_only_of(&redacted, &there)?)?;
        let gone: HashSet<BubbId> = redacted.iter().map(|name| name.id).collect();
        there.retain(|name| !gone.contains(&name.id));
    }
    let Some(mut lock) = lock else {
        return names.iter().try_for_each(|name| store.delete_branch(name.as_str()).map(|_| ()));
    };
    let mut change = lock.new_change(ChangingCommand::Sync);
    if !others.is_empty() {
        let blobs = store.blobs_only_of(&others, &there)?;
        change.removed = ChangedFiles { bubbs: others, blobs };
        change.dropped = lock.with_replays(&change.removed);
    }
    for name in names {
        let before = store.branch_ids(name.as_str())?;
        change.branches.push(BranchChange { name, before, after: None });
    }
    lock.make(change)
}

/// Returns the bubbs that a merge removes, except ancestors of bubbs written since the store was listed.
fn removable(store: &Store, changes: &Changes, here: &MergeSide) -> Result<Vec<BubbName>> {
    if changes.remove.is_empty() {
        return Ok(Vec::new());
    }
    let added: HashSet<BubbId> = changes.add.iter().map(|(name, _)| name.id).collect();
    let is_new = |name: &BubbName| !here.bubbs.contains_key(&name.id) && !added.contains(&name.id);
    let recent = store.recent_names()?;
    let mut prevs: HashMap<BubbId, Option<BubbId>> = recent.iter().map(|name| (name.id, name.prev)).collect();
    prevs.extend(here.bubbs.values().map(|name| (name.id, name.prev)));
    let mut needed = HashSet::new();
    for name in recent.iter().filter(|name| is_new(name)) {
        let mut at = name.prev;
        while let Some(id) = at.filter(|id| needed.insert(*id)) {
            at = prevs.get(&id).copied().flatten();
        }
    }
    Ok(changes.remove.iter().filter(|name| !needed.contains(&name.id)).copied().collect())
}

/// Reads a clone's tree for a merge.
pub fn side_of(clone: &str, tree: &CloneTree, objects: &mut Objects<'_>) -> Result<MergeSide> {
    Ok(MergeSide {
        clone: clone.into(),
        bubbs: tree.names(),
        branches: tree.branch_ids(objects)?.into_iter().collect::<BTreeMap<String, BubbId>>(),
        titles: tree.titles(objects)?,
        removed: tree.removed(objects)?,
    })
}
