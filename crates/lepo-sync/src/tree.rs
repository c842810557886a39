//! Reading what clones have pushed: the trees of their refs, and the contents of their files.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use sha2::{Digest, Sha256};

use super::git::Git;
use super::paths::Entry;
use super::removed::Removed;
use super::running::MOST;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, Day, Name};

/// The largest bubb or blob that is sent or taken, in bytes.
pub const LARGEST: u64 = 50 << 20;

/// The name of a git object.
pub type Oid = String;

/// True if a bubb's bytes are those that its id was made of.
pub fn proves(name: &Name, bytes: &[u8]) -> bool {
    BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &Sha256::digest(bytes).into()) == name.id
}

/// The files of a clone's tree.
#[derive(Debug, Default)]
pub struct Tree {
    /// Bubbs by id, with their objects.
    pub bubbs: HashMap<BubbId, (Name, Oid)>,
    /// Blobs by their SHA-256.
    pub blobs: HashMap<String, Oid>,
    /// Branches by the names of their files.
    pub branches: HashMap<String, Oid>,
    /// The list of what was removed.
    pub removed: Option<Oid>,
    /// The number of entries that lepo does not write, and the first few of them.
    pub misfits: Misfits,
}

/// Entries that were left out.
#[derive(Debug, Default)]
pub struct Misfits {
    /// Number of the misfits.
    pub count: usize,
    /// The first few.
    pub first: Vec<String>,
}

impl Misfits {
    /// Counts one; the first few are kept.
    pub fn add(&mut self, path: &[u8], why: &str) {
        self.count += 1;
        if self.first.len() < 5 {
            let path: String = String::from_utf8_lossy(path).chars().take(120).collect();
            self.first.push(format!("{path}: {why}"));
        }
    }
}

impl Misfits {
    /// Takes in others.
    pub fn join(&mut self, other: Misfits) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(5);
    }
}

impl Tree {
    /// The tree of a commit; an empty one where there is none.
    pub fn of(git: &Git, commit: Option<&str>) -> Result<Tree> {
        match commit {
            Some(commit) => Tree::listed(git, commit, &[], u64::MAX),
            None => Ok(Tree::default()),
        }
    }

    /// The part of a commit's tree that lies in the folders of these days.
    pub fn of_days(git: &Git, commit: &str, days: &[Day]) -> Result<Tree> {
        let folders: Vec<String> = days.iter().map(|day| format!("{day}/")).collect();
        Tree::listed(git, commit, &folders, u64::MAX)
    }

    fn listed(git: &Git, commit: &str, folders: &[String], most: u64) -> Result<Tree> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
        let mut tree = Tree::default();
        git.begin(args.into_iter().chain(folders.iter().map(String::as_str)))?.each(0, most, |line| {
            let Some(tab) = memchr::memchr(b'\t', line) else { return };
            let (head, path) = (&line[..tab], &line[tab + 1..]);
            let mut words = head.split(|byte| *byte == b' ');
            let (mode, _, oid) = (words.next(), words.next(), words.next());
            tree.add(mode.unwrap_or_default(), oid.unwrap_or_default(), path);
        })?;
        Ok(tree)
    }

    /// Compares a commit's tree with an older one's: entries that are new or changed; and the entries that it has not
    /// any more. Others decide how large it is.
    pub fn since(git: &Git, old: Option<&str>, new: &str) -> Result<(Tree, Vec<Entry>)> {
        let Some(old) = old else { return Ok((Tree::listed(git, new, &[], MOST)?, Vec::new())) };
        let (mut tree, mut gone) = (Tree::default(), Vec::new());
        // `:OLD_MODE NEW_MODE OLD_OID NEW_OID LETTER`, then the path.
        let mut head: Option<Vec<u8>> = None;
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new];
        git.begin(args)?.each(0, MOST, |field| {
            let Some(head) = head.take() else {
                head = Some(field.to_vec());
                return;
            };
            let words: Vec<&[u8]> = head.split(|byte| *byte == b' ').collect();
            let [_, mode, _, oid, letter] = words[..] else { return };
            match letter {
                b"D" => gone.extend(Entry::parse(field)),
                _ => tree.add(mode, oid, field),
            }
        })?;
        Ok((tree, gone))
    }

    /// The bubbs by id.
    pub fn names(&self) -> HashMap<BubbId, Name> {
        self.bubbs.iter().map(|(id, (name, _))| (*id, *name)).collect()
    }

    fn add(&mut self, mode: &[u8], oid: &[u8], path: &[u8]) {
        if mode != b"100644" {
            return self.misfits.add(path, "is not a plain file");
        }
        let oid = String::from_utf8_lossy(oid).into_owned();
        match Entry::parse(path) {
            Some(Entry::Bubb(name)) => {
                self.bubbs.insert(name.id, (name, oid));
            }
            Some(Entry::Blob(hash)) => {
                self.blobs.insert(hash, oid);
            }
            Some(Entry::Branch(file)) => {
                self.branches.insert(file, oid);
            }
            Some(Entry::Removed) => self.removed = Some(oid),
            None => self.misfits.add(path, "is not a path that lepo writes"),
        }
    }

    /// The clone's record of removals.
    pub fn removed(&self, objects: &mut Objects) -> Result<Removed> {
        match &self.removed {
            Some(oid) => Ok(objects.read(oid)?.map(|bytes| Removed::parse(&bytes)).unwrap_or_default()),
            None => Ok(Removed::default()),
        }
    }

    /// The branches with the bubbs they name; one that holds no id is left out.
    pub fn branch_ids(&self, objects: &mut Objects) -> Result<Vec<(String, BubbId)>> {
        let mut found = Vec::new();
        for (file, oid) in &self.branches {
            let text = objects.read(oid)?.unwrap_or_default();
            found.extend(BubbId::parse(text.trim_ascii_end()).map(|id| (file.clone(), id)));
        }
        found.sort();
        Ok(found)
    }
}

/// The blobs of a commit by their SHA-256; none where there is no commit.
pub fn blobs_of(git: &Git, commit: Option<&str>) -> Result<HashSet<String>> {
    let Some(commit) = commit else { return Ok(HashSet::new()) };
    let tree = Tree::listed(git, commit, &["_blobs/".to_string()], u64::MAX)?;
    Ok(tree.blobs.into_keys().collect())
}

/// `git cat-file --batch`: contents of objects, one after another.
pub struct Objects {
    child: Child,
    to: BufWriter<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Objects {
    /// Starts it.
    pub fn of(git: &Git) -> Result<Objects> {
        let mut child = git
            .command(["cat-file", "--batch"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .map_err(|error| Error::usage("cannot run git").because(error))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => {
                Ok(Objects { child, to: BufWriter::new(to), from: BufReader::with_capacity(256 << 10, from) })
            }
            _ => Err(Error::remote("git has no pipes")),
        }
    }

    /// The bytes of a file object; `None` for one that is missing, no file, or larger than [`LARGEST`].
    pub fn read(&mut self, oid: &str) -> Result<Option<Vec<u8>>> {
        self.next(oid).map_err(|error| Error::remote("cannot read an object of git").because(error))
    }

    fn next(&mut self, oid: &str) -> io::Result<Option<Vec<u8>>> {
        writeln!(self.to, "{oid}")?;
        self.to.flush()?;
        let mut head = String::new();
        if self.from.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = head.trim_end().split(' ').skip(1);
        let (kind, len) = (words.next().unwrap_or_default(), words.next());
        let Some(len) = len.and_then(|len| len.parse::<u64>().ok()) else { return Ok(None) };
        let mut body = self.from.by_ref().take(len + 1);
        if kind != "blob" || len > LARGEST {
            io::copy(&mut body, &mut io::sink())?;
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(len as usize + 1);
        body.read_to_end(&mut bytes)?;
        if bytes.len() as u64 != len + 1 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.pop();
        Ok(Some(bytes))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
