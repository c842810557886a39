//! Checking a whole store: every name, link, id, branch, blob and temporary.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;

use super::blob_folders::BLOBS;
use super::hash::Content;
use super::old_tree::Old;
use super::replaced::REPLACING;
use super::{Store, branches, now};
use crate::bubb::{BubbId, Day, Name, is_hash};
use crate::conv::{Flaw, flaws};
use lepo_base::error::Result;
use lepo_base::hash::hex;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A bubb's text does not give its id.
    Edited,
    /// A bubb's prev, or what a branch names, is not there.
    Dangling,
    /// A bubb's or a blob's line ends were changed, as git does where it takes a file for text; its name proves how
    /// they were.
    LineEnds,
    /// Prevs that lead in a circle.
    Cycle,
    /// One id stands twice, or one name with other bytes.
    Duplicate,
    /// A bubb below `_old/` where it does not count.
    Misplaced,
    /// A file or a folder that could not be read, or a branch that holds no id.
    Unreadable,
    /// A directory, link, fifo or socket under the name of a file of lepo's.
    NotAFile,
    /// A blob that is not what its name says, or that is missing.
    Blob,
    /// A file that is not lepo's.
    Foreign,
    /// A bubb that is dated more than a day ahead.
    Future,
    /// A file that a process left in `_tmp/`.
    Stray,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the store; what is not UTF-8 as U+FFFD.
    pub name: String,
    /// Kind of the problem.
    pub what: What,
    /// In words.
    pub why: String,
}

impl What {
    /// The word for it in a listing.
    pub fn word(self) -> &'static str {
        match self {
            What::Edited => "edited",
            What::LineEnds => "line ends",
            What::Dangling => "dangling",
            What::Cycle => "cycle",
            What::Duplicate => "duplicate",
            What::Misplaced => "misplaced",
            What::Unreadable => "unreadable",
            What::NotAFile => "not a file",
            What::Blob => "blob",
            What::Foreign => "foreign",
            What::Future => "future",
            What::Stray => "stray",
        }
    }

    /// Worth a word, and no failure.
    pub fn is_warning(self) -> bool {
        matches!(self, What::Foreign | What::Future | What::Stray)
    }
}

const LINE_ENDS: &str =
    "CRLF and LF were exchanged, as git does with core.autocrlf; `lepo fsck --recover` undoes it";

/// The state of a check: names to look at, and findings so far.
#[derive(Default)]
struct Check {
    bubbs: Vec<(OsString, Name)>,
    /// In a day, where `.lepo/` has the same name.
    copies: Vec<(OsString, Name)>,
    blobs: Vec<OsString>,
    found: Vec<Finding>,
}

impl Store {
    /// Checks all of it. `progress` is told the files done, and all files.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<Finding>> {
        let mut check = Check::default();
        self.scan_all(&mut check).map_err(|error| self.error("cannot read", "", error))?;
        self.scan_blobs(&mut check).map_err(|error| self.error("cannot read", BLOBS, error))?;
        check.names(now());
        check.branches(self)?;
        check.contents(self, progress);
        check.copies(self);
        let (strays, foreign) = self.strays()?;
        for stray in strays {
            let why = format!("{}; `lepo fsck --recover` saves or removes it", stray.about);
            check.add(What::Stray, format!("_tmp/{}", stray.name()), why);
        }
        for name in foreign {
            check.add(What::Foreign, format!("_tmp/{name}"), "not a name that lepo writes");
        }
        if self.kind_of_file(REPLACING)?.is_some() {
            check.add(What::Stray, REPLACING, "`lepo rm --redact` was interrupted, and completes it");
        }
        check.found.sort();
        Ok(check.found)
    }

    fn holds_a_store(&self, file: &[u8]) -> bool {
        let insts = Path::new(OsStr::from_bytes(file)).join("_insts.toml");
        self.open_file(insts.as_os_str()).is_ok()
    }

    fn scan_old(&self, check: &mut Check) {
        let recent = check.bubbs.len();
        let mut misplaced = Vec::new();
        self.each_old(|path, old| match old {
            Old::Bubb(name) => {
                let here = &check.bubbs[..recent];
                match here
                    .binary_search_by(|(file, _)| file.as_os_str().cmp(path.file_name().unwrap_or_default()))
                {
                    Ok(_) => check.copies.push((path.into(), name)),
                    Err(_) => check.bubbs.push((path.into(), name)),
                }
            }
            Old::Misplaced(name) => misplaced.push((path, name)),
            Old::Other(finding) => check.found.push(finding),
        });
        let ids: HashSet<BubbId> = misplaced.iter().map(|(_, name): &(_, Name)| name.id).collect();
        let counting = check.bubbs.iter().filter(|(_, name)| ids.contains(&name.id));
        let counting: HashMap<Name, OsString> = counting.map(|(path, name)| (*name, path.clone())).collect();
        for (path, name) in misplaced {
            check.found.push(self.misplaced(&path, &name, counting.get(&name)));
        }
        check.bubbs[recent..].sort();
    }

    /// The finding of a file below `_old/` where it does not count, while the file at `counting`, if there is one,
    /// has its name and counts.
    fn misplaced(&self, path: &Path, name: &Name, counting: Option<&OsString>) -> Finding {
        let finding = |what, why| Finding { name: lossy(path.as_os_str().as_bytes()), what, why };
        let read = |path: &OsStr| self.furniture(path).ok().flatten();
        if counting.is_some_and(|counting| read(counting) != read(path.as_os_str())) {
            return finding(What::Duplicate, format!("{name} has other bytes, and those are read"));
        }
        let why = match Day::of(name.id) {
            _ if name.prev.is_some_and(|prev| prev >= name.id) => {
                "it is not newer than the message before it, so it is read only outside _old/".into()
            }
            day => format!("its day is {day}"),
        };
        finding(What::Misplaced, format!("{why}; `lepo tidy` moves it"))
    }

    fn scan_all(&self, check: &mut Check) -> io::Result<()> {
        self.each_entry_of(".", |file, kind| match Name::parse(file) {
            _ if file.starts_with(b"_") || file.starts_with(b".") => {}
            Some(name) if kind == FileType::RegularFile => {
                check.bubbs.push((OsStr::from_bytes(file).into(), name));
            }
            Some(_) => {
                check.add(What::NotAFile, lossy(file), "it has a message's name and is not a regular file")
            }
            // A store of its own, as --save-to makes them.
            None if kind == FileType::Directory && self.holds_a_store(file) => {}
            None => check.add(What::Foreign, lossy(file), "its name is not a message's"),
        })?;
        check.bubbs.sort();
        self.scan_old(check);
        Ok(())
    }

    fn scan_blobs(&self, check: &mut Check) -> io::Result<()> {
        self.each_blob(|folder, file, kind| {
            let name = format!("{folder}/{}", lossy(file));
            match std::str::from_utf8(file).is_ok_and(is_hash) {
                true if kind == FileType::RegularFile => check.blobs.push(name.into()),
                true => check.add(What::NotAFile, name, "it has a blob's name and is not a regular file"),
                false => check.add(What::Foreign, name, "a blob's name is 64 hexadecimal digits"),
            }
        })
    }
}

impl Check {
    fn add(&mut self, what: What, name: impl Into<String>, why: impl Into<String>) {
        self.found.push(Finding { name: name.into(), what, why: why.into() });
    }

    fn names(&mut self, now: u64) {
        let names: Vec<Name> = self.bubbs.iter().map(|(_, name)| *name).collect();
        for (place, flaw) in flaws(&names, now) {
            let file = |place: usize| lossy(self.bubbs[place].0.as_bytes());
            let (what, why) = match flaw {
                Flaw::Dangling(prev) => (What::Dangling, format!("its prev {prev} is not there")),
                Flaw::Cycle(1) => (What::Cycle, "it is its own prev".to_string()),
                Flaw::Cycle(n) => (What::Cycle, format!("its prevs lead back to it, through {n} messages")),
                Flaw::Duplicate(first) => (What::Duplicate, format!("{} has its id too", file(first))),
                Flaw::Future => (What::Future, "it is dated more than a day ahead".to_string()),
            };
            self.add(what, file(place), why);
        }
    }

    fn branches(&mut self, store: &Store) -> Result<()> {
        let there: HashSet<BubbId> = self.bubbs.iter().map(|(_, name)| name.id).collect();
        let mut found = Vec::new();
        store
            .each_entry_of("_branches", |file, kind| match std::str::from_utf8(file) {
                Ok("." | "..") => {}
                Ok(file) if branches::check_branch_name(&branches::name_of(file)).is_ok() => {
                    found.push((file.to_string(), kind));
                }
                _ => self.add(
                    What::Foreign,
                    format!("_branches/{}", lossy(file)),
                    "it is not a valid branch name",
                ),
            })
            .map_err(|error| store.error("cannot read", "_branches", error))?;
        for (file, kind) in found {
            let branch = store.branch(&branches::name_of(&file));
            let file = format!("_branches/{file}");
            match branch {
                _ if kind != FileType::RegularFile => self.add(What::NotAFile, file, "it cannot be a branch"),
                Ok(Some(id)) if !there.contains(&id) => {
                    self.add(What::Dangling, file, format!("it names {id}, which is not there"));
                }
                Ok(_) => {}
                Err(error) => {
                    let why = std::error::Error::source(&error).map(|cause| cause.to_string());
                    self.add(What::Unreadable, file, why.unwrap_or("it holds no id".to_string()));
                }
            }
        }
        Ok(())
    }

    /// Reads every bubb and every blob.
    fn contents(&mut self, store: &Store, progress: &mut dyn FnMut(u64, u64)) {
        let files: Vec<OsString> =
            self.bubbs.iter().map(|(file, _)| file).chain(&self.blobs).cloned().collect();
        let mut read = files.iter().zip(store.read_all(&files, progress));
        let hash = |file: &OsString| Path::new(file).file_name().map(OsStr::to_os_string);
        let blobs: HashSet<OsString> = self.blobs.iter().filter_map(hash).collect();
        for (_, name) in std::mem::take(&mut self.bubbs) {
            let Some((file, read)) = read.next() else { return };
            self.bubb(store, &lossy(file.as_bytes()), &name, read, &blobs);
        }
        for (file, read) in read {
            let file = lossy(file.as_bytes());
            match read {
                Ok(read) if file.ends_with(&hex(&read.hash)) => {}
                Ok(_) if store.before_line_ends(&file).is_some() => self.add(What::LineEnds, file, LINE_ENDS),
                Ok(read) => {
                    self.add(What::Blob, file, format!("its bytes have the SHA-256 {}", hex(&read.hash)))
                }
                Err(error) => self.unreadable(&file, error),
            }
        }
    }

    /// A copy that is the same as what is in `.lepo/` is what a tidying leaves that was cut short.
    fn copies(&mut self, store: &Store) {
        for (path, name) in std::mem::take(&mut self.copies) {
            let file = Path::new(&path).file_name().unwrap_or_default();
            let [day, here] = [path.as_os_str(), file].map(|file| store.furniture(file));
            match (day, here) {
                (Ok(day), Ok(here)) if day == here || here.is_none() => {}
                (Ok(_), Ok(_)) => {
                    let why = format!("{name} has other bytes, and those are read");
                    self.add(What::Duplicate, lossy(path.as_bytes()), why);
                }
                (Err(error), _) | (_, Err(error)) => {
                    self.add(What::Unreadable, lossy(path.as_bytes()), error.chain());
                }
            }
        }
    }

    fn bubb(
        &mut self,
        store: &Store,
        file: &str,
        name: &Name,
        read: io::Result<Content>,
        blobs: &HashSet<OsString>,
    ) {
        match read {
            Err(error) => self.unreadable(file, error),
            Ok(Content { hash, blobs: named }) => {
                if BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &hash) != name.id {
                    match store.before_line_ends(file) {
                        Some(_) => self.add(What::LineEnds, file, LINE_ENDS),
                        None => self.add(What::Edited, file, "content does not match its id"),
                    }
                }
                for blob in named {
                    if !blobs.contains(OsStr::new(&blob)) {
                        let blob = format!("_blobs/{blob}");
                        self.add(What::Blob, file, format!("it names {blob}, which is not there"));
                    }
                }
            }
        }
    }

    /// One that was deleted meanwhile is no finding.
    fn unreadable(&mut self, file: &str, error: io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.add(What::Unreadable, file, error.to_string());
        }
    }
}

/// A file name on one line, whatever is in it.
pub(super) fn lossy(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let visible = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(visible).collect()
}
