//! Receiving: what is new in the fetched refs of other clones is checked, and then it is linked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::git::Git;
use super::merge::{Changes, Side};
use super::paths::{Entry, decoded};
use super::record::Record;
use super::remote::Refs;
use super::tree::{Misfits, Objects, Oid, Tree, proves};
use lepo_base::error::Result;
use lepo_base::hash::sha256_hex;
use lepo_store::bubb::{BubbId, Name};
use lepo_store::store::{Store, now};

/// A bubb dated further ahead than this waits for its day, in milliseconds.
const AHEAD: u64 = 24 * 60 * 60 * 1000;

/// The result for one clone.
#[derive(Debug, Default)]
pub struct Came {
    /// The clone.
    pub clone: String,
    /// New bubbs.
    pub bubbs: usize,
    /// Branches made or moved.
    pub branches: usize,
    /// Bubbs that it has removed; of others' they stay here.
    pub removed: usize,
    /// Bubbs that wait for their date.
    pub waiting: usize,
    /// Paths that failed the check.
    pub left_out: Misfits,
}

/// Forgets that a clone was taken in, so that the next sync looks at all of it.
pub fn forget_taken(git: &Git, clone: &str) -> Result<()> {
    git.init()?;
    Record::remove(git)?;
    git.update_refs([(format!("refs/taken/{clone}"), None)])
}

/// Takes what is new of another person's clone into `_from/CLONE/`.
pub fn take_others(git: &Git, store: &Store, clone: &str, refs: &Refs) -> Result<Came> {
    let mut came = Came { clone: clone.into(), ..Came::default() };
    let Some(tip) = refs.theirs.get(clone).filter(|_| !refs.is_taken(clone)) else { return Ok(came) };
    let (mut tree, gone) = Tree::since(git, refs.taken.get(clone).map(String::as_str), tip)?;
    came.left_out = std::mem::take(&mut tree.misfits);
    let theirs = Store::make(&store.path(), &Path::new("_from").join(clone), "")?.0;
    let mut objects = Objects::of(git)?;
    let new = tree.bubbs.values().cloned().collect();
    came.bubbs = take_bubbs(&theirs, &mut objects, new, &mut came)?.len();
    take_blobs(&theirs, &mut objects, &tree.blobs, &mut came.left_out)?;
    came.removed = gone.iter().filter(|entry| matches!(entry, Entry::Bubb(_))).count();
    for entry in gone {
        if let Entry::Branch(file) = entry
            && let Some(name) = decoded(&file)
        {
            theirs.delete_branch(&name)?;
        }
    }
    for (file, id) in tree.branch_ids(&mut objects)? {
        let Some(name) = decoded(&file) else { continue };
        if theirs.branch(&name)? != Some(id) {
            theirs.set_branch(&name, id)?;
            came.branches += 1;
        }
    }
    Ok(came)
}

/// Checks bubbs and links those that prove their ids, oldest first.
fn take_bubbs(
    to: &Store,
    objects: &mut Objects,
    mut new: Vec<(Name, String)>,
    came: &mut Came,
) -> Result<Vec<Name>> {
    new.sort_unstable_by_key(|(name, _)| name.id);
    let latest = now() + AHEAD;
    let mut batch = to.batch(new.len() > lepo_store::store::MANY)?;
    let mut taken = Vec::new();
    for (name, oid) in new {
        let path = Entry::Bubb(name).path();
        if name.id.time() > latest {
            came.waiting += 1;
            continue;
        }
        match objects.read(&oid)? {
            None => came.left_out.add(path.as_bytes(), "is larger than 50 MiB or cannot be read"),
            Some(bytes) if !proves(&name, &bytes) => {
                came.left_out.add(path.as_bytes(), "its content does not match its id");
            }
            Some(bytes) => taken.extend(batch.put(name, &bytes)?.then_some(name)),
        }
    }
    batch.flush()?;
    Ok(taken)
}

fn take_blobs(
    to: &Store,
    objects: &mut Objects,
    blobs: &HashMap<String, Oid>,
    left_out: &mut Misfits,
) -> Result<()> {
    for (hash, oid) in blobs {
        if to.open_blob(hash)?.is_some() {
            continue;
        }
        let bytes = objects.read(oid)?;
        match bytes {
            Some(bytes) if sha256_hex(&bytes) == *hash => {
                to.blob(&mut bytes.as_slice())?;
            }
            _ => left_out
                .add(Entry::Blob(hash.clone()).path().as_bytes(), "its content does not match its name"),
        }
    }
    Ok(())
}

/// The user's other clones as they were fetched, to be merged.
pub struct Mine {
    /// The content of each.
    pub sides: Vec<Side>,
    trees: Vec<Tree>,
}

/// The result of a merge.
#[derive(Default)]
pub struct Merged {
    /// The result for each clone.
    pub came: Vec<Came>,
    /// Bubbs that are here now.
    pub added: Vec<Name>,
    /// Bubbs that were deleted.
    pub removed: Vec<Name>,
}

impl Mine {
    /// Reads the trees of these clones.
    pub fn of(git: &Git, clones: &[String], refs: &Refs) -> Result<Mine> {
        let mut objects = Objects::of(git)?;
        let (mut sides, mut trees) = (Vec::new(), Vec::new());
        for clone in clones {
            let tree = Tree::of(git, refs.theirs.get(clone).map(String::as_str))?;
            sides.push(side_of(clone, &tree, &mut objects)?);
            trees.push(tree);
        }
        Ok(Mine { sides, trees })
    }

    /// Carries out a merge: takes what is new, deletes what another clone has removed, moves branches.
    pub fn apply(
        self,
        git: &Git,
        store: &Store,
        changes: &Changes,
        here: &Side,
        refs: &Refs,
    ) -> Result<Merged> {
        let mut objects = Objects::of(git)?;
        let mut merged = Merged::default();
        for (number, side) in self.sides.iter().enumerate() {
            let mut came = Came { clone: side.clone.clone(), ..Came::default() };
            let tree = &self.trees[number];
            // Findings of an earlier look are not named again.
            let (mut news, _) = match refs.theirs.get(&side.clone).filter(|_| !refs.is_taken(&side.clone)) {
                Some(tip) => Tree::since(git, refs.taken.get(&side.clone).map(String::as_str), tip)?,
                None => Default::default(),
            };
            came.left_out = std::mem::take(&mut news.misfits);
            let new = changes.add.iter().filter(|(_, from)| *from == number);
            let new = new.filter_map(|(name, _)| tree.bubbs.get(&name.id).cloned()).collect();
            let mut looked = Came::default();
            let added = take_bubbs(store, &mut objects, new, &mut looked)?;
            (came.bubbs, came.waiting) = (added.len(), looked.waiting);
            if !news.bubbs.is_empty() {
                came.left_out.join(looked.left_out);
            }
            merged.added.extend(added);
            take_blobs(store, &mut objects, &news.blobs, &mut came.left_out)?;
            merged.came.push(came);
        }
        merged.removed = removable(store, changes, here)?;
        if !merged.removed.is_empty() {
            let names: Vec<Name> = here.bubbs.values().copied().collect();
            let blobs = store.blobs_only_of(&merged.removed, &names)?;
            store.remove(&merged.removed, &blobs)?;
        }
        for (file, id) in &changes.branches {
            if let Some(name) = decoded(file) {
                store.set_branch(&name, *id)?;
            }
        }
        for file in &changes.branches_removed {
            if let Some(name) = decoded(file) {
                store.delete_branch(&name)?;
            }
        }
        Ok(merged)
    }
}

/// Bubbs that a merge removes, less those that were gone on from since the store was listed.
fn removable(store: &Store, changes: &Changes, here: &Side) -> Result<Vec<Name>> {
    if changes.remove.is_empty() {
        return Ok(Vec::new());
    }
    let added: HashSet<BubbId> = changes.add.iter().map(|(name, _)| name.id).collect();
    let is_new = |name: &Name| !here.bubbs.contains_key(&name.id) && !added.contains(&name.id);
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

/// A clone's tree, read for a merge.
pub fn side_of(clone: &str, tree: &Tree, objects: &mut Objects) -> Result<Side> {
    Ok(Side {
        clone: clone.into(),
        bubbs: tree.names(),
        branches: tree.branch_ids(objects)?.into_iter().collect::<BTreeMap<String, BubbId>>(),
        removed: tree.removed(objects)?,
    })
}
