//! Checks a whole store: every name, link, id, branch, blob and temporary file.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::branches;
use super::dir::now;
use super::finding::{Finding, FindingKind, lossy};
use super::handle::Store;
use super::hash::{StoredContent, read_all};
use super::line_ends::before_line_ends;
use super::listing::NameListing;
use super::replacement::REPLACING;
use super::walk::{StoreEntry, StoreFolder, walk};
use crate::bubb::{BubbId, BubbName, Day};
use crate::conv::{Flaw, flaws};
use lepo_base::error::Result;

const LINE_ENDS: &str =
    "CRLF and LF were exchanged, as git does with core.autocrlf; `lepo fsck --recover` undoes it";

#[derive(Default)]
struct Check {
    bubbs: Vec<(OsString, BubbName)>,
    /// Bubbs in a folder of a day while `.lepo/` has a file of the same name.
    copies: Vec<(OsString, BubbName)>,
    blobs: Vec<OsString>,
    /// The paths of branches.
    branches: Vec<String>,
    found: Vec<Finding>,
}

#[doc(hidden)]
impl Store {
    /// Checks the whole store. `progress` receives the number of files checked and the total.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<Finding>> {
        let (mut check, store) = (Check::default(), self);
        check.scan(store)?;
        check.names(store, now())?;
        check.branches(store)?;
        check.contents(store, progress);
        check.copies(store);
        for stray in self.strays()? {
            let why = format!("{}; `lepo fsck --recover` saves or removes it", stray.about);
            check.add(FindingKind::Stray, format!("_tmp/{}", stray.name()), why);
        }
        if self.dir.has(REPLACING)? {
            check.add(FindingKind::Stray, REPLACING, "`lepo rm --redact` was interrupted, and completes it");
        }
        check.found.sort();
        Ok(check.found)
    }
}

impl Check {
    /// Lists all files, and reports the misplaced and the foreign ones.
    fn scan(&mut self, store: &Store) -> Result<()> {
        let (mut astray, mut recent) = (Vec::new(), 0);
        for folder in StoreFolder::ALL {
            let walked = walk(&store.dir, folder, |path, entry| match entry {
                StoreEntry::Bubb(name) => {
                    let file = path.file_name().unwrap_or_default();
                    let here = &self.bubbs[..recent];
                    match here.binary_search_by(|(known, _)| known.as_os_str().cmp(file)) {
                        Ok(_) => self.copies.push((path.into(), name)),
                        Err(_) => self.bubbs.push((path.into(), name)),
                    }
                }
                StoreEntry::Misplaced(name) => astray.push((path, name)),
                StoreEntry::Blob => self.blobs.push(path.into()),
                StoreEntry::Branch => self.branches.push(lossy(path.as_os_str().as_bytes())),
                StoreEntry::Temporary => {}
                StoreEntry::Other(finding) => self.found.push(finding),
            });
            walked.map_err(|error| store.dir.error("cannot read", folder.path(), error))?;
            self.bubbs[recent..].sort();
            if folder == StoreFolder::Recent {
                recent = self.bubbs.len();
            }
        }
        let ids: HashSet<BubbId> = astray.iter().map(|(_, name): &(_, BubbName)| name.id).collect();
        let counting = self.bubbs.iter().filter(|(_, name)| ids.contains(&name.id));
        let counting: HashMap<BubbName, OsString> =
            counting.map(|(path, name)| (*name, path.clone())).collect();
        for (path, name) in astray {
            self.found.push(misplaced(store, &path, &name, counting.get(&name)));
        }
        Ok(())
    }

    fn add(&mut self, what: FindingKind, name: impl Into<String>, why: impl Into<String>) {
        self.found.push(Finding { name: name.into(), what, why: why.into() });
    }

    fn names(&mut self, store: &Store, now: u64) -> Result<()> {
        let mut elsewhere = Elsewhere::read(store)?;
        let names: Vec<BubbName> = self.bubbs.iter().map(|(_, name)| *name).collect();
        let followed: HashSet<BubbId> = names.iter().filter_map(|name| name.prev).collect();
        for (index, flaw) in flaws(&names, now) {
            let file = |index: usize| lossy(self.bubbs[index].0.as_bytes());
            let (what, why) = match flaw {
                Flaw::Dangling(prev) if elsewhere.has(prev)? => continue,
                Flaw::Dangling(prev) => {
                    (FindingKind::Dangling, format!("the message before it, {prev}, is missing"))
                }
                Flaw::Cycle(1) => (FindingKind::Cycle, "it follows itself".to_string()),
                Flaw::Cycle(n) => (FindingKind::Cycle, format!("it follows itself, through {n} messages")),
                Flaw::Duplicate(first) => {
                    (FindingKind::Duplicate, format!("{} has the same id", file(first)))
                }
                Flaw::Future => (FindingKind::Future, dated_ahead(names[index].id, &followed)),
            };
            self.add(what, file(index), why);
        }
        Ok(())
    }

    fn branches(&mut self, store: &Store) -> Result<()> {
        let there: HashSet<BubbId> = self.bubbs.iter().map(|(_, name)| name.id).collect();
        let mut elsewhere = Elsewhere::read(store)?;
        for file in std::mem::take(&mut self.branches) {
            let name = file.strip_prefix("_branches/").unwrap_or_default();
            match store.branch(&branches::name_of(name)) {
                Ok(Some(id)) if !there.contains(&id) && !elsewhere.has(id)? => {
                    self.add(FindingKind::Dangling, file, format!("it names {id}, which is missing"));
                }
                Ok(_) => {}
                Err(error) => {
                    let why = std::error::Error::source(&error).map(|cause| cause.to_string());
                    self.add(FindingKind::Unreadable, file, why.unwrap_or("it contains no id".to_string()));
                }
            }
        }
        Ok(())
    }

    fn contents(&mut self, store: &Store, progress: &mut dyn FnMut(u64, u64)) {
        let files: Vec<OsString> =
            self.bubbs.iter().map(|(file, _)| file).chain(&self.blobs).cloned().collect();
        let mut read = files.iter().zip(read_all(store, &files, progress));
        let hash = |file: &OsString| Path::new(file).file_name().map(OsStr::to_os_string);
        let blobs: HashSet<OsString> = self.blobs.iter().filter_map(hash).collect();
        for (_, name) in std::mem::take(&mut self.bubbs) {
            let Some((file, read)) = read.next() else { return };
            self.bubb(store, &lossy(file.as_bytes()), &name, read, &blobs);
        }
        for (file, read) in read {
            let file = lossy(file.as_bytes());
            match read {
                Ok(read) if file.ends_with(&read.hash.to_string()) => {}
                Ok(_) if before_line_ends(store, &file).is_some() => {
                    self.add(FindingKind::LineEnds, file, LINE_ENDS)
                }
                Ok(read) => {
                    self.add(FindingKind::Blob, file, format!("its bytes have the SHA-256 {}", read.hash))
                }
                Err(error) => self.unreadable(&file, error),
            }
        }
    }

    /// A copy equal to the file in `.lepo/` is not a finding: an interrupted tidying leaves it.
    fn copies(&mut self, store: &Store) {
        for (path, name) in std::mem::take(&mut self.copies) {
            let file = Path::new(&path).file_name().unwrap_or_default();
            let [day, here] = [path.as_os_str(), file].map(|file| store.dir.read_file(file));
            match (day, here) {
                (Ok(day), Ok(here)) if day == here || here.is_none() => {}
                (Ok(_), Ok(_)) => {
                    let why = format!("{name} has different bytes, which are read instead");
                    self.add(FindingKind::Duplicate, lossy(path.as_bytes()), why);
                }
                (Err(error), _) | (_, Err(error)) => {
                    self.add(FindingKind::Unreadable, lossy(path.as_bytes()), error.chain());
                }
            }
        }
    }

    fn bubb(
        &mut self,
        store: &Store,
        file: &str,
        name: &BubbName,
        read: io::Result<StoredContent>,
        blobs: &HashSet<OsString>,
    ) {
        match read {
            Err(error) => self.unreadable(file, error),
            Ok(StoredContent { hash, blobs: named }) => {
                if BubbId::new(name.id.time(), name.role, name.hidden, name.prev, &hash) != name.id {
                    match before_line_ends(store, file) {
                        Some(_) => self.add(FindingKind::LineEnds, file, LINE_ENDS),
                        None => self.add(FindingKind::Edited, file, "content does not match its id"),
                    }
                }
                for blob in named {
                    if !blobs.contains(OsStr::new(&blob.to_string())) {
                        let blob = format!("_blobs/{blob}");
                        self.add(FindingKind::Blob, file, format!("it names {blob}, which is missing"));
                    }
                }
            }
        }
    }

    /// A file deleted in the meantime is not a finding.
    fn unreadable(&mut self, file: &str, error: io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.add(FindingKind::Unreadable, file, error.to_string());
        }
    }
}

/// Other users' stores, in which only referenced messages are searched for.
struct Elsewhere<'s> {
    peers: Vec<NameListing<'s>>,
}

impl<'s> Elsewhere<'s> {
    fn read(store: &'s Store) -> Result<Elsewhere<'s>> {
        let peers = store.peers().iter().map(|(_, peer)| peer.listing());
        Ok(Elsewhere { peers: peers.collect::<Result<_>>()? })
    }

    fn has(&mut self, id: BubbId) -> Result<bool> {
        for peer in &mut self.peers {
            if peer.find_own(id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Suggests the remedy only at the end of a conversation, because the remedy copies a whole one.
fn dated_ahead(id: BubbId, followed: &HashSet<BubbId>) -> String {
    let why = "it is dated more than a day ahead";
    if followed.contains(&id) {
        return why.to_string();
    }
    format!(
        "{why}; `lepo rebase {id} --root --redate` copies its conversation with the current time, then `lepo rm {id}`"
    )
}

/// Returns the finding for a file below `_old/` that does not count; `counting` is the file, if any, of the same name
/// that does.
fn misplaced(store: &Store, path: &Path, name: &BubbName, counting: Option<&OsString>) -> Finding {
    let finding = |what, why| Finding { name: lossy(path.as_os_str().as_bytes()), what, why };
    let read = |path: &OsStr| store.dir.read_file(path).ok().flatten();
    if counting.is_some_and(|counting| read(counting) != read(path.as_os_str())) {
        return finding(
            FindingKind::Duplicate,
            format!("{name} has different bytes, which are read instead"),
        );
    }
    let why = match Day::from_id(name.id) {
        _ if name.prev.is_some_and(|prev| prev >= name.id) => {
            "it is not newer than the message before it, so it is read only outside _old/".into()
        }
        day => format!("its day is {day}"),
    };
    finding(FindingKind::Misplaced, format!("{why}; `lepo tidy` moves it"))
}
