//! Receiving: the refs of other clones are fetched, what is new in them is checked, and then it is linked.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::git::Git;
use super::merge::{Changes, Side};
use super::outgoing::clones_of;
use super::paths::{Entry, decoded, encoded};
use super::refs::is_clone_name;
use super::state::Settings;
use super::tree::{Misfits, Objects, Tree};
use crate::bubb::{BubbId, Name, hex};
use crate::error::{Error, Result};
use crate::store::{Store, now};

/// A bubb dated further ahead than this waits for its day, in milliseconds.
const AHEAD: u64 = 24 * 60 * 60 * 1000;

/// Clones looked at.
const MOST_CLONES: usize = 1000;

/// The fetched ref of a clone.
fn fetched_ref(clone: &str) -> String {
    format!("refs/theirs/{clone}")
}

/// What was taken in of a clone.
fn taken_ref(clone: &str) -> String {
    format!("refs/taken/{clone}")
}

/// What came from one clone.
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
    /// What failed the check.
    pub left_out: Misfits,
}

/// Fetches the refs of all other clones. The names of those that could not be fetched are given back.
pub fn fetch(git: &Git, settings: &Settings) -> Result<Vec<(String, Error)>> {
    let prefix = settings.namespace().prefix();
    let fetch = |specs: &[String]| {
        let mut args = vec![
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--no-recurse-submodules",
            "--prune",
            "--",
            &settings.url,
        ];
        args.extend(specs.iter().map(String::as_str));
        git.run(args).map(|_| ())
    };
    let all = [format!("+{prefix}*:refs/theirs/*"), format!("^{prefix}{}", settings.name)];
    let Err(joint) = fetch(&all) else { return Ok(Vec::new()) };
    // One bad ref makes git refuse all: then they are fetched one by one.
    let clones = clones_of(git, &settings.url, settings.namespace()).map_err(|_| joint)?;
    let mut bad = Vec::new();
    for clone in clones.into_iter().filter(|clone| *clone != settings.name).take(MOST_CLONES) {
        let spec = format!("+{prefix}{clone}:{}", fetched_ref(&clone));
        let one = git.run([
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--no-recurse-submodules",
            "--",
            &settings.url,
            &spec,
        ]);
        bad.extend(one.err().map(|error| (clone, error)));
    }
    Ok(bad)
}

/// The clones that were fetched, with the email of each one's last commit.
pub fn fetched(git: &Git, own: &str) -> Result<Vec<(String, String)>> {
    let format = "--format=%(refname:lstrip=2) %(committeremail:trim)";
    let listed =
        git.run(["for-each-ref", &format!("--count={}", MOST_CLONES * 2), format, "refs/theirs/"])?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let clones = text.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    let known = clones.filter(|(name, _)| is_clone_name(name) && *name != own).take(MOST_CLONES);
    Ok(known.map(|(name, email)| (name.to_string(), email.to_string())).collect())
}

/// Whether a clone's ref is the one that was taken in last.
pub fn is_unchanged(git: &Git, clone: &str) -> Result<bool> {
    let at = |name: String| git.ask(["rev-parse", "--verify", "--quiet", &name]);
    let fetched = at(fetched_ref(clone))?;
    Ok(fetched.is_some() && fetched == at(taken_ref(clone))?)
}

/// Notes that a clone's ref was taken in.
fn note_taken(git: &Git, clone: &str) -> Result<()> {
    git.run(["update-ref", &taken_ref(clone), &fetched_ref(clone)]).map(|_| ())
}

/// Forgets that a clone was taken in, so that the next sync looks at all of it.
pub fn forget_taken(git: &Git, clone: &str) -> Result<()> {
    git.init()?;
    git.run(["update-ref", "-d", &taken_ref(clone)]).map(|_| ())
}

/// Takes another person's clone into `_from/CLONE/`.
pub fn take_others(git: &Git, store: &Store, clone: &str) -> Result<Came> {
    let mut came = Came { clone: clone.into(), ..Came::default() };
    if is_unchanged(git, clone)? {
        return Ok(came);
    }
    let (mut tree, old) = (Tree::of(git, &fetched_ref(clone))?, Tree::of(git, &taken_ref(clone))?);
    came.left_out = std::mem::take(&mut tree.misfits);
    let theirs = Store::make(&store.path(), &Path::new("_from").join(clone), "")?.0;
    let mut objects = Objects::of(git)?;
    let new: Vec<(Name, String)> =
        tree.bubbs.values().filter(|(name, _)| !old.bubbs.contains_key(&name.id)).cloned().collect();
    came.bubbs = take_bubbs(&theirs, &mut objects, new, &mut came)?;
    let blobs = tree.blobs.iter().filter(|(hash, _)| !old.blobs.contains_key(*hash));
    take_blobs(&theirs, &mut objects, blobs, &mut came.left_out)?;
    came.removed = old.bubbs.keys().filter(|id| !tree.bubbs.contains_key(id)).count();
    let branches: BTreeMap<String, BubbId> = tree.branch_ids(&mut objects)?.into_iter().collect();
    for (name, _) in theirs.branches()? {
        if !branches.contains_key(&encoded(&name)) {
            theirs.delete_branch(&name)?;
        }
    }
    for (file, id) in branches {
        let Some(name) = decoded(&file) else { continue };
        if theirs.branch(&name)? != Some(id) {
            theirs.set_branch(&name, id)?;
            came.branches += 1;
        }
    }
    if came.waiting == 0 {
        note_taken(git, clone)?;
    }
    Ok(came)
}

/// Checks bubbs and links those that prove their ids, oldest first.
fn take_bubbs(
    to: &Store,
    objects: &mut Objects,
    mut new: Vec<(Name, String)>,
    came: &mut Came,
) -> Result<usize> {
    new.sort_unstable_by_key(|(name, _)| name.id);
    let latest = now() + AHEAD;
    let mut batch = to.batch(new.len() > crate::store::MANY)?;
    let mut taken = 0;
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
            Some(bytes) => taken += usize::from(batch.put(name, &bytes)?),
        }
    }
    batch.flush()?;
    Ok(taken)
}

fn proves(name: &Name, bytes: &[u8]) -> bool {
    BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &Sha256::digest(bytes).into()) == name.id
}

fn take_blobs<'t>(
    to: &Store,
    objects: &mut Objects,
    blobs: impl Iterator<Item = (&'t String, &'t String)>,
    left_out: &mut Misfits,
) -> Result<()> {
    for (hash, oid) in blobs {
        if to.open_blob(hash)?.is_some() {
            continue;
        }
        let bytes = objects.read(oid)?;
        let digest = |bytes: &[u8]| hex(&Sha256::digest(bytes));
        match bytes {
            Some(bytes) if digest(&bytes) == *hash => {
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
    /// What each has.
    pub sides: Vec<Side>,
    trees: Vec<Tree>,
}

impl Mine {
    /// Reads the trees of these clones.
    pub fn of(git: &Git, clones: &[String]) -> Result<Mine> {
        let mut objects = Objects::of(git)?;
        let (mut sides, mut trees) = (Vec::new(), Vec::new());
        for clone in clones {
            let tree = Tree::of(git, &fetched_ref(clone))?;
            sides.push(side_of(clone, &tree, &mut objects)?);
            trees.push(tree);
        }
        Ok(Mine { sides, trees })
    }

    /// Carries out a merge: takes what is new, deletes what another clone has removed, moves branches.
    pub fn apply(mut self, git: &Git, store: &Store, changes: &Changes) -> Result<Vec<Came>> {
        let mut objects = Objects::of(git)?;
        let mut all = Vec::new();
        for (number, side) in self.sides.iter().enumerate() {
            let mut came = Came { clone: side.clone.clone(), ..Came::default() };
            let tree = &mut self.trees[number];
            came.left_out = std::mem::take(&mut tree.misfits);
            let new = changes.add.iter().filter(|(_, from)| *from == number);
            let new = new.filter_map(|(name, _)| tree.bubbs.get(&name.id).cloned()).collect();
            came.bubbs = take_bubbs(store, &mut objects, new, &mut came)?;
            let old = Tree::of(git, &taken_ref(&side.clone))?;
            let blobs = tree.blobs.iter().filter(|(hash, _)| !old.blobs.contains_key(*hash));
            take_blobs(store, &mut objects, blobs, &mut came.left_out)?;
            if came.waiting == 0 {
                note_taken(git, &side.clone)?;
            }
            all.push(came);
        }
        if !changes.remove.is_empty() {
            let names = store.names()?;
            let blobs = store.blobs_only_of(&changes.remove, &names)?;
            store.remove(&changes.remove, &blobs)?;
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
        Ok(all)
    }
}

/// What a clone's tree holds, for a merge.
pub fn side_of(clone: &str, tree: &Tree, objects: &mut Objects) -> Result<Side> {
    Ok(Side {
        clone: clone.into(),
        bubbs: tree.bubbs.iter().map(|(id, (name, _))| (*id, *name)).collect(),
        branches: tree.branch_ids(objects)?.into_iter().collect(),
        removed: tree.removed(objects)?,
    })
}
