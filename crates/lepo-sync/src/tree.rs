//! Reads what clones have pushed: the trees of their refs, and the contents of their files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use super::cat_file::{LARGEST, Objects, Oid};
use super::git::Git;
use super::git_process::MOST;
use super::paths::{TreePath, is_folder};
use super::removal_counts::RemovalCounts;
use super::titles::SyncTitles;
use lepo_base::error::{Error, Result};
use lepo_base::hash::hex;
use lepo_store::bubb::{BubbId, BubbName, ContentHash, Day};

/// Maximum size of a branch's file in bytes: enough for an id.
const BRANCH: u64 = 64;

/// The time limit for reading a clone.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    pub fn after(limit: Duration) -> Deadline {
        Deadline { at: Instant::now() + limit, limit }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    pub fn limit_text(&self) -> String {
        format!("{} s", self.limit.as_secs())
    }
}

/// The files of a clone's tree.
#[derive(Debug, Default)]
pub struct CloneTree {
    pub bubbs: HashMap<BubbId, (BubbName, Oid)>,
    pub blobs: HashMap<ContentHash, Oid>,
    /// Branches by their file names.
    pub branches: HashMap<String, Oid>,
    pub titles: Option<Oid>,
    pub removed: Option<Oid>,
    /// Entries that lepo does not write.
    pub misfits: SkippedEntries,
}

#[derive(Debug, Default)]
pub struct SkippedEntries {
    pub count: usize,
    /// The first few, with the reason.
    pub first: Vec<String>,
}

impl SkippedEntries {
    /// Counts an entry, and stores the first few.
    pub fn add(&mut self, path: &[u8], why: &str) {
        self.count += 1;
        if self.first.len() < 5 {
            let path: String = String::from_utf8_lossy(path).chars().take(120).collect();
            self.first.push(format!("{path}: {why}"));
        }
    }
}

impl CloneTree {
    /// Reads the tree of a commit; an empty one without a commit.
    pub fn read(git: &Git, commit: Option<&str>) -> Result<CloneTree> {
        match commit {
            Some(commit) => CloneTree::read_entries(git, commit, &[]),
            None => Ok(CloneTree::default()),
        }
    }

    /// Reads the part of a commit's tree in the folders of these days.
    pub fn read_days(git: &Git, commit: &str, days: &[Day]) -> Result<CloneTree> {
        let folders: Vec<String> = days.iter().map(|day| format!("{day}/")).collect();
        CloneTree::read_entries(git, commit, &folders)
    }

    /// Reads the tree of this clone's own commit: all of it, or the part in `folders`. Its size is not limited.
    fn read_entries(git: &Git, commit: &str, folders: &[String]) -> Result<CloneTree> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
        let mut tree = CloneTree::default();
        git.spawn(args.into_iter().chain(folders.iter().map(String::as_str)))?.each(0, u64::MAX, |line| {
            let Some(tab) = memchr::memchr(b'\t', line) else { return };
            let (head, path) = (&line[..tab], &line[tab + 1..]);
            let mut words = head.split(|byte| *byte == b' ');
            let (mode, _, oid) = (words.next(), words.next(), words.next());
            let oid = String::from_utf8_lossy(oid.unwrap_or_default());
            tree.add(mode.unwrap_or_default(), &oid, path);
        })?;
        Ok(tree)
    }

    /// Reads the tree of another clone's commit within limits.
    pub fn read_peer(objects: &mut Objects<'_>, commit: &str, until: Deadline) -> Result<CloneTree> {
        Ok(CloneTree::since(objects, None, commit, until)?.0)
    }

    /// Compares the tree of another clone's commit with an older commit's; returns new or changed entries, and
    /// entries that no longer exist. Others control the content: each tree is read once, only at paths where lepo
    /// writes one, and with limits for total size and time.
    pub fn since(
        objects: &mut Objects<'_>,
        old: Option<&str>,
        new: &str,
        until: Deadline,
    ) -> Result<(CloneTree, Vec<TreePath>)> {
        let (mut tree, mut gone) = (CloneTree::default(), Vec::new());
        let mut reader = TreeReader { objects, until, bytes: 0 };
        let (mut seen, mut seen_before) = (HashSet::new(), HashSet::new());
        let root = |commit: &str| format!("{commit}^{{tree}}");
        let mut ahead = vec![TreePair { folder: Vec::new(), new: Some(root(new)), old: old.map(root) }];
        while let Some(TreePair { folder, new, old }) = ahead.pop() {
            let before = old.map(|oid| reader.entries(&oid)).transpose()?.unwrap_or_default();
            let entries = new.map(|oid| reader.entries(&oid)).transpose()?.unwrap_or_default();
            let path_of = |name: &[u8]| [&folder[..], name].concat();
            let below = |path: &[u8]| [path, b"/"].concat();
            for (name, entry) in &entries {
                let (was, path) = (before.get(name), path_of(name));
                if was == Some(entry) {
                    continue;
                }
                let was_tree = was.filter(|was| was.is_tree() && is_folder(&path)).map(|was| was.oid.clone());
                if !entry.is_tree() {
                    tree.add(&entry.mode, &entry.oid, &path);
                    let pair = |was| TreePair { folder: below(&path), new: None, old: Some(was) };
                    ahead.extend(was_tree.map(pair));
                } else if !is_folder(&path) {
                    tree.misfits.add(&path, "is not a folder that lepo writes");
                } else if !seen.insert(entry.oid.clone()) {
                    tree.misfits.add(&path, "is the same folder as another");
                } else {
                    ahead.push(TreePair {
                        folder: below(&path),
                        new: Some(entry.oid.clone()),
                        old: was_tree,
                    });
                }
            }
            for (name, was) in before.iter().filter(|(name, _)| !entries.contains_key(*name)) {
                let path = path_of(name);
                if !was.is_tree() {
                    gone.extend(TreePath::parse(&path));
                } else if is_folder(&path) && seen_before.insert(was.oid.clone()) {
                    ahead.push(TreePair { folder: below(&path), new: None, old: Some(was.oid.clone()) });
                }
            }
        }
        Ok((tree, gone))
    }

    pub fn names(&self) -> HashMap<BubbId, BubbName> {
        self.bubbs.iter().map(|(id, (name, _))| (*id, *name)).collect()
    }

    fn add(&mut self, mode: &[u8], oid: &str, path: &[u8]) {
        if mode != b"100644" {
            return self.misfits.add(path, "is not a plain file");
        }
        let oid = oid.to_string();
        match TreePath::parse(path) {
            Some(TreePath::Bubb(name)) => {
                self.bubbs.insert(name.id, (name, oid));
            }
            Some(TreePath::Blob(hash)) => {
                self.blobs.insert(hash, oid);
            }
            Some(TreePath::Branch(file)) => {
                self.branches.insert(file, oid);
            }
            Some(TreePath::Titles) => self.titles = Some(oid),
            Some(TreePath::Removed) => self.removed = Some(oid),
            None => self.misfits.add(path, "is not a path that lepo writes"),
        }
    }

    pub fn removed(&self, objects: &mut Objects<'_>) -> Result<RemovalCounts> {
        match &self.removed {
            Some(oid) => {
                Ok(objects.file(oid, LARGEST)?.map(|bytes| RemovalCounts::parse(&bytes)).unwrap_or_default())
            }
            None => Ok(RemovalCounts::default()),
        }
    }

    pub fn titles(&self, objects: &mut Objects<'_>) -> Result<SyncTitles> {
        let bytes = self.titles.as_ref().map(|oid| objects.file(oid, LARGEST)).transpose()?.flatten();
        Ok(bytes.map(|bytes| SyncTitles::parse(&bytes)).unwrap_or_default())
    }

    /// Reads the branches with their bubbs. A branch with no id or several ids is skipped.
    pub fn branch_ids(&self, objects: &mut Objects<'_>) -> Result<Vec<(String, BubbId)>> {
        let mut found = Vec::new();
        for (file, oid) in &self.branches {
            let text = objects.file(oid, BRANCH)?.unwrap_or_default();
            found.extend(BubbId::parse(text.trim_ascii_end()).map(|id| (file.clone(), id)));
        }
        found.sort();
        Ok(found)
    }
}

/// Returns the blobs of a commit by their SHA-256; empty without a commit.
pub fn blobs_of(git: &Git, commit: Option<&str>) -> Result<HashSet<ContentHash>> {
    let Some(commit) = commit else { return Ok(HashSet::new()) };
    let tree = CloneTree::read_entries(git, commit, &["_blobs/".to_string()])?;
    Ok(tree.blobs.into_keys().collect())
}

#[derive(Debug, PartialEq, Eq)]
struct TreeEntry {
    mode: Vec<u8>,
    oid: Oid,
}

impl TreeEntry {
    fn is_tree(&self) -> bool {
        self.mode == b"40000"
    }
}

/// A folder in the new commit and in the old one, to compare.
struct TreePair {
    /// The path of the folder, with a `/` at its end; empty for the root.
    folder: Vec<u8>,
    /// Tree object of the folder in the new commit; `None` if the folder is missing there.
    new: Option<Oid>,
    /// Tree object of the folder in the old commit; `None` if the folder is missing there.
    old: Option<Oid>,
}

/// Reads tree objects of another clone: at most [`MOST`] bytes in total, within a time limit.
struct TreeReader<'o, 'g> {
    objects: &'o mut Objects<'g>,
    until: Deadline,
    /// Bytes of tree objects read so far.
    bytes: u64,
}

impl TreeReader<'_, '_> {
    /// Reads a tree object; returns its entries by name.
    fn entries(&mut self, oid: &str) -> Result<BTreeMap<Vec<u8>, TreeEntry>> {
        if self.until.is_over() {
            return Err(Error::remote(format!(
                "reading its trees takes longer than {}",
                self.until.limit_text()
            )));
        }
        let Some(bytes) = self.objects.tree(oid, MOST - self.bytes)? else {
            return Err(Error::remote(format!("its trees are missing, or larger than {} MiB", MOST >> 20)));
        };
        self.bytes += bytes.len() as u64;
        entries_of(&bytes).ok_or_else(|| Error::remote("one of its trees cannot be read"))
    }
}

/// Parses a tree object; for each entry: `MODE NAME`, a zero byte, and the 20 bytes of an object id.
fn entries_of(mut bytes: &[u8]) -> Option<BTreeMap<Vec<u8>, TreeEntry>> {
    let mut entries = BTreeMap::new();
    while !bytes.is_empty() {
        let (mode, rest) = bytes.split_at(memchr::memchr(b' ', bytes)?);
        let rest = rest.get(1..)?;
        let (name, rest) = rest.split_at(memchr::memchr(0, rest)?);
        let (oid, rest) = rest.get(1..)?.split_at_checked(20)?;
        entries.insert(name.to_vec(), TreeEntry { mode: mode.to_vec(), oid: hex(oid) });
        bytes = rest;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_parsed_or_refused() {
        let whole = [b"100644 a\0".as_slice(), &[1; 20], b"40000 b c\0", &[2; 20]].concat();
        let entries = entries_of(&whole).unwrap();
        assert_eq!(entries[b"a".as_slice()].oid, "01".repeat(20));
        assert!(entries[b"b c".as_slice()].is_tree() && entries.len() == 2);
        for cut in (1..whole.len()).filter(|cut| *cut != 29) {
            assert!(entries_of(&whole[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn a_clone_is_read_up_to_a_limit_of_time() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::at(&dir.path().join("x.git"), false);
        git.init().unwrap();
        let mut objects = Objects::new(&git);
        let error =
            CloneTree::read_peer(&mut objects, &"1".repeat(40), Deadline::after(Duration::ZERO)).unwrap_err();
        assert!(error.message.contains("takes longer than 0 s"), "{}", error.message);
        let error =
            CloneTree::read_peer(&mut objects, &"1".repeat(40), Deadline::after(Duration::from_secs(3600)))
                .unwrap_err();
        assert!(error.message.contains("missing"), "{}", error.message);
    }
}
