//! `git cat-file --batch`: reads the contents of objects one after another, and caches which ones do not match.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::git::Git;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, BubbName, ContentHash};

/// The largest bubb or blob to send or to import, in bytes.
pub const LARGEST: u64 = 50 << 20;

pub type Oid = String;

/// An unwanted object of at most this many bytes is read to its end; for a larger one git is restarted.
const SKIPPED: u64 = 1 << 20;

pub fn proves(name: &BubbName, bytes: &[u8]) -> bool {
    digest_proves(name, &ContentHash::from_content(bytes))
}

fn digest_proves(name: &BubbName, digest: &ContentHash) -> bool {
    BubbId::new(name.id.time(), name.role, name.hidden, name.prev, digest) == name.id
}

/// The content of an object that a clone offers for a bubb or a blob.
pub enum ObjectContent {
    /// The bytes, which match the name.
    Good(Vec<u8>),
    /// The bytes do not match the name.
    Other,
    /// The object is missing, not a file, or larger than [`LARGEST`].
    None,
}

enum ObjectFault {
    None,
    Digest(ContentHash),
}

/// Reads the objects of a repository. git is started on first use.
pub struct Objects<'g> {
    git: &'g Git,
    pipes: Option<CatFilePipes>,
    /// Rejected objects; they are not read again, however many names they are offered for.
    found: HashMap<Oid, ObjectFault>,
}

struct CatFilePipes {
    child: Child,
    to: BufWriter<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl<'g> Objects<'g> {
    pub fn new(git: &'g Git) -> Objects<'g> {
        Objects { git, pipes: None, found: HashMap::new() }
    }

    /// Reads a file; `None` if it is missing, not a file, or larger than `most` bytes.
    pub fn file(&mut self, oid: &str, most: u64) -> Result<Option<Vec<u8>>> {
        self.read(oid, "blob", most)
    }

    /// Reads a tree object; `None` if it is missing, not a tree, or larger than `most` bytes.
    pub fn tree(&mut self, oid: &str, most: u64) -> Result<Option<Vec<u8>>> {
        self.read(oid, "tree", most)
    }

    /// Reads an object and checks it against the id of a bubb.
    pub fn bubb(&mut self, name: &BubbName, oid: &str) -> Result<ObjectContent> {
        self.judged(oid, |digest| digest_proves(name, digest))
    }

    /// Reads an object and checks it against the hash of a blob.
    pub fn blob(&mut self, hash: &ContentHash, oid: &str) -> Result<ObjectContent> {
        self.judged(oid, |digest| digest == hash)
    }

    fn judged(&mut self, oid: &str, is_good: impl Fn(&ContentHash) -> bool) -> Result<ObjectContent> {
        match self.found.get(oid) {
            Some(ObjectFault::None) => return Ok(ObjectContent::None),
            Some(ObjectFault::Digest(digest)) if !is_good(digest) => return Ok(ObjectContent::Other),
            _ => {}
        }
        let Some(bytes) = self.file(oid, LARGEST)? else {
            self.found.insert(oid.into(), ObjectFault::None);
            return Ok(ObjectContent::None);
        };
        let digest = ContentHash::from_content(&bytes);
        if is_good(&digest) {
            return Ok(ObjectContent::Good(bytes));
        }
        self.found.insert(oid.into(), ObjectFault::Digest(digest));
        Ok(ObjectContent::Other)
    }

    fn read(&mut self, oid: &str, kind: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let pipes = match &mut self.pipes {
            Some(pipes) => pipes,
            None => self.pipes.insert(CatFilePipes::start(self.git)?),
        };
        let failed = |error| Error::remote("cannot read an object of git").because(error);
        let (len, is_kind) = match pipes.ask(oid, kind).map_err(failed)? {
            Some((len, is_kind)) => (len, is_kind),
            None => return Ok(None),
        };
        if !is_kind || len > most {
            match len > SKIPPED {
                true => self.pipes = None,
                false => drop(pipes.body(len).map_err(failed)?),
            }
            return Ok(None);
        }
        pipes.body(len).map(Some).map_err(failed)
    }
}

impl CatFilePipes {
    fn start(git: &Git) -> Result<CatFilePipes> {
        let mut child = git
            .command(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Error::usage("cannot run git").because(error))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => Ok(CatFilePipes {
                child,
                to: BufWriter::new(to),
                from: BufReader::with_capacity(256 << 10, from),
            }),
            _ => Err(Error::remote("git has no pipes")),
        }
    }

    /// Requests an object; returns its length and whether it is of `kind`, or `None` if it is missing.
    fn ask(&mut self, oid: &str, kind: &str) -> io::Result<Option<(u64, bool)>> {
        writeln!(self.to, "{oid}")?;
        self.to.flush()?;
        let mut head = String::new();
        if self.from.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = head.trim_end().split(' ').skip(1);
        let is_kind = words.next() == Some(kind);
        Ok(words.next().and_then(|len| len.parse().ok()).map(|len| (len, is_kind)))
    }

    fn body(&mut self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len as usize + 1);
        self.from.by_ref().take(len + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != len + 1 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for CatFilePipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::names;

    #[test]
    fn an_object_is_judged_once_however_many_names_it_is_given_for() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::at(&dir.path().join("x.git"), false);
        git.init().unwrap();
        let path = dir.path().join("file");
        let written = |size: u64| {
            std::fs::File::create(&path).unwrap().set_len(size).unwrap();
            let oid = git.run([std::ffi::OsStr::new("hash-object"), "-w".as_ref(), path.as_os_str()]);
            String::from_utf8(oid.unwrap()).unwrap().trim().to_string()
        };
        let (small, large) = (written(10), written(LARGEST + 1));
        let mut objects = Objects::new(&git);
        let bubbs = names("A s1 head / B u0 A / C a0 B");
        assert!(matches!(objects.bubb(&bubbs[0], &small).unwrap(), ObjectContent::Other));
        assert!(matches!(objects.bubb(&bubbs[0], &large).unwrap(), ObjectContent::None));
        // A skipped large object must not affect the next one.
        assert_eq!(objects.file(&small, 10).unwrap(), Some(vec![0; 10]));
        assert_eq!(objects.file(&small, 9).unwrap(), None);
        assert_eq!(objects.tree(&small, 10).unwrap(), None);
        assert_eq!(objects.file(&"1".repeat(40), 10).unwrap(), None);
        // The objects are deleted, but the cached results remain.
        std::fs::remove_dir_all(dir.path().join("x.git/objects")).unwrap();
        objects.pipes = None;
        for bubb in &bubbs {
            assert!(matches!(objects.bubb(bubb, &small).unwrap(), ObjectContent::Other));
            assert!(matches!(objects.bubb(bubb, &large).unwrap(), ObjectContent::None));
        }
        assert!(matches!(objects.blob(&[0; 32].into(), &small).unwrap(), ObjectContent::Other));
    }
}
