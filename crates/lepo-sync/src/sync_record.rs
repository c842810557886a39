//! The record of the last sync: the content of this clone's commit, by days, and the state of all refs. With it the
//! next sync lists only the days changed since, and starts fewer programs.
//!
//! The file is in the bare repository, so that it is deleted with it, and is removed before any ref changes: after a
//! crash, or if it is unreadable, everything is listed again.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use super::git::Git;
use super::remote::{Refs, RemoteRefs};
use super::removal_counts::RemovalCounts;
use super::replace::replace;
use super::settings::SyncSettings;
use super::titles::SyncTitles;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, BubbName, Day};
use lepo_store::store::FolderState;

const FILE: &str = "lepo-record.json";

/// Version of the file's format.
const FORM: u32 = 3;

/// With more bubbs than this outside of settled days no record is written, because listing costs no more.
const MOST_NAMES: usize = 20_000;

/// The state after the last sync.
#[derive(Debug, Default)]
pub struct SyncRecord {
    /// The refs of the bare repository. This clone's own ref is the commit that the record describes.
    pub refs: Refs,
    /// The refs of the remote, if it answered.
    pub remote: RemoteRefs,
    /// The settings with which no work remained; `None` if some did.
    pub settled: Option<String>,
    /// Days that are equal in the commit and in the store, with the states of their folders. No bubb of such a day
    /// was in `.lepo/` itself.
    pub days: BTreeMap<Day, FolderState>,
    /// All other bubbs of the commit.
    pub names: HashMap<BubbId, BubbName>,
    /// Branches by their file names.
    pub branches: BTreeMap<String, BubbId>,
    pub titles: SyncTitles,
    pub removed: RemovalCounts,
}

#[derive(Serialize, Deserialize)]
struct SyncRecordFile {
    form: u32,
    clone: String,
    refs: Refs,
    remote: RemoteRefs,
    settled: Option<String>,
    days: Vec<(String, u64, u64, u64)>,
    names: Vec<String>,
    branches: BTreeMap<String, String>,
    titles: String,
    removed: String,
}

impl SyncRecord {
    /// Reads the record of this clone; `None` if it is missing or unreadable.
    pub fn read(git: &Git, clone: &str) -> Option<SyncRecord> {
        let written: SyncRecordFile = serde_json::from_slice(&fs::read(git.file(FILE)).ok()?).ok()?;
        let is_good = written.form == FORM && written.clone == clone && written.refs.own.is_some();
        let day = |(day, inode, ctime, mtime): (String, u64, u64, u64)| {
            let (month, number) = day.split_once('/')?;
            let state = FolderState { inode, ctime, mtime };
            Some((Day::parse(month.as_bytes(), number.as_bytes())?, state))
        };
        let name = |file: String| BubbName::parse(file.as_bytes()).map(|name| (name.id, name));
        let branch = |(file, id): (String, String)| Some((file, BubbId::parse(id.as_bytes())?));
        Some(SyncRecord {
            refs: written.refs,
            remote: written.remote,
            settled: written.settled,
            days: written.days.into_iter().map(day).collect::<Option<_>>()?,
            names: written.names.into_iter().map(name).collect::<Option<_>>()?,
            branches: written.branches.into_iter().map(branch).collect::<Option<_>>()?,
            titles: SyncTitles::parse(written.titles.as_bytes()),
            removed: RemovalCounts::parse(written.removed.as_bytes()),
        })
        .filter(|_| is_good)
    }

    /// Saves the record of this clone, but not durably: a torn file after a power cut is not used.
    pub fn save(self, git: &Git, clone: &str) -> Result<()> {
        if self.names.len() > MOST_NAMES || self.refs.own.is_none() {
            return Ok(());
        }
        let mut names: Vec<String> = self.names.values().map(BubbName::to_string).collect();
        names.sort_unstable();
        let day =
            |(day, state): (&Day, &FolderState)| (day.to_string(), state.inode, state.ctime, state.mtime);
        let written = SyncRecordFile {
            form: FORM,
            clone: clone.into(),
            days: self.days.iter().map(day).collect(),
            names,
            branches: self.branches.iter().map(|(file, id)| (file.clone(), id.to_string())).collect(),
            titles: self.titles.text(),
            removed: self.removed.text(),
            refs: self.refs,
            remote: self.remote,
            settled: self.settled,
        };
        let path = git.file(FILE);
        let text = serde_json::to_vec(&written)
            .map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))?;
        replace(&path, &text, false)
    }

    /// Removes the record, because the refs are about to change.
    pub fn remove(git: &Git) -> Result<()> {
        let path = git.file(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::store(format!("cannot remove {}", path.display())).because(error))
            }
            _ => Ok(()),
        }
    }
}

/// Formats the settings that decide what a sync does, for comparison.
pub fn decided(settings: &SyncSettings) -> String {
    let SyncSettings { url, name, mine, seen: _, others, lately: _, allowed, heads, held_blobs } = settings;
    format!("{url:?} {name} {heads} {mine:?} {others:?} {allowed:?} {held_blobs:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{id, names};

    fn record() -> SyncRecord {
        let day = Day::from_millis(1_763_034_245_123);
        let mut removed = RemovalCounts::default();
        removed.remove(id("C"));
        SyncRecord {
            refs: Refs { own: Some("0".repeat(40)), ..Refs::default() },
            settled: Some("so".into()),
            days: [(day, FolderState { inode: 1, ctime: 2, mtime: 3 })].into(),
            names: names("A s1 head / B u0 A").into_iter().map(|name| (name.id, name)).collect(),
            branches: [("main".to_string(), id("B"))].into(),
            titles: SyncTitles::parse(format!("5 {} so\n", id("A")).as_bytes()),
            removed,
            ..SyncRecord::default()
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_rubbish_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::at(dir.path(), false);
        assert!(SyncRecord::read(&git, "me").is_none());
        record().save(&git, "me").unwrap();
        assert_eq!(
            format!("{:?}", SyncRecord::read(&git, "me").unwrap().days),
            format!("{:?}", record().days)
        );
        let read = SyncRecord::read(&git, "me").unwrap();
        let wanted = record();
        assert_eq!((read.refs, read.remote, read.settled), (wanted.refs, wanted.remote, wanted.settled));
        assert_eq!(
            (read.names, read.branches, read.titles, read.removed),
            (wanted.names, wanted.branches, wanted.titles, wanted.removed)
        );
        // The record of another clone, a torn one, an invalid day, no commit.
        assert!(SyncRecord::read(&git, "you").is_none());
        let whole = fs::read_to_string(git.file(FILE)).unwrap();
        let cut = whole.split_at(whole.len() / 2).0.to_string();
        let commit = format!("\"{}\"", "0".repeat(40));
        for bad in [cut, whole.replace("2025-11/13", "2025-11/31"), whole.replace(&commit, "null")] {
            assert_ne!(bad, whole);
            fs::write(git.file(FILE), bad).unwrap();
            assert!(SyncRecord::read(&git, "me").is_none());
        }
        SyncRecord::remove(&git).unwrap();
        SyncRecord::remove(&git).unwrap();
        assert!(!git.file(FILE).exists());
    }
}
