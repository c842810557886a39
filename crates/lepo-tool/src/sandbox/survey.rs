//! Surveys a working directory for entries that other programs act on: git repositories, stores, and files that tools
//! run automatically. Used before a command that may write, and after it.

use std::collections::{BTreeMap, VecDeque};
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::autorun::{AutorunTrigger, runs_when};
use super::git_settings::{NamedPaths, paths_named_for};
use super::home_files::HomeFiles;
use crate::touched::KnownFolders;

/// Most entries of a directory to examine before a command. A longer survey would be a noticeable delay, and a
/// repository among unexamined entries would not be protected.
pub const MOST: usize = 500_000;

/// Most entries of a directory to examine before a command that only reads: at worst, it reads the keys of an
/// unexamined store that is not the user's own.
const MOST_FOR_READING: usize = 20_000;

/// The findings of a survey.
#[derive(Debug, Default)]
pub struct Survey {
    /// Entries named `.git`, which point to a repository or are one.
    pub repositories: Vec<PathBuf>,
    /// Entries named `.lepo`.
    pub stores: Vec<PathBuf>,
    /// Directories that git recognises as repositories by their entries.
    pub bare: Vec<PathBuf>,
    /// Files that tools run automatically, each with the stamp of its state; for a link, also the stamp of its target.
    pub runs: BTreeMap<PathBuf, (Stamp, Option<Stamp>)>,
    /// Files with a set-user-id or set-group-id bit, each with its stamp.
    pub set_ids: BTreeMap<PathBuf, Stamp>,
    /// Named pipes.
    pub pipes: Vec<PathBuf>,
    /// Directories that could not be read.
    pub unread: Vec<PathBuf>,
    /// Directories of hooks, and settings files, that git's settings name; they need not exist.
    pub obeyed: Vec<PathBuf>,
    /// These paths and the programs in git's settings, each with its stamp if it exists.
    pub named: BTreeMap<PathBuf, Option<Stamp>>,
    /// All other folders.
    pub known: KnownFolders,
    /// Files that the home directory names.
    home_files: HomeFiles,
}

impl Survey {
    /// Returns the occasion on which a file below `dir` runs automatically.
    pub fn runs_when(&self, dir: &Path, path: &Path) -> Option<AutorunTrigger> {
        runs_when(path.strip_prefix(dir).unwrap_or(path)).or_else(|| self.home_files.runs_when(path))
    }

    /// Adds the paths in `dir` that git's settings name.
    pub fn with_settings(mut self, dir: &Path) -> Survey {
        let NamedPaths { obeyed, programs } = paths_named_for(dir, &self.repositories);
        self.named = obeyed.iter().chain(&programs).map(|path| (path.clone(), stamp(path))).collect();
        self.obeyed = obeyed.into_iter().collect();
        self
    }
}

/// Returns the identity and last change of a file; `None` if it does not exist.
pub fn stamp(path: &Path) -> Option<Stamp> {
    path.symlink_metadata().ok().map(|meta| Stamp::from_metadata(&meta))
}

impl Stamp {
    fn from_metadata(meta: &std::fs::Metadata) -> Stamp {
        Stamp(meta.ino(), meta.ctime(), meta.ctime_nsec())
    }
}

/// Inode and time of the last status change, which a command cannot set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64, i64, i64);

/// The entries that together make a directory a repository.
#[derive(Default)]
struct Layout {
    head: bool,
    objects: bool,
    refs: bool,
    common: bool,
}

impl Layout {
    fn note(&mut self, name: &[u8]) {
        // Some file systems ignore case.
        for (known, seen) in [
            ("HEAD", &mut self.head),
            ("objects", &mut self.objects),
            ("refs", &mut self.refs),
            ("commondir", &mut self.common),
        ] {
            *seen |= name.eq_ignore_ascii_case(known.as_bytes());
        }
    }

    fn is_repository(&self) -> bool {
        self.head && (self.common || (self.objects && self.refs))
    }
}

/// Surveys `dir` without following links; fails if it has more than `most` entries.
pub fn survey(dir: &Path, most: usize) -> io::Result<Survey> {
    let mut found = Survey { home_files: HomeFiles::read(dir), ..Survey::default() };
    match scan_dir(dir, most, |_| false, |_| true, note_file, &mut found)? {
        SurveyExtent::All => Ok(found),
        SurveyExtent::Most => {
            let what = format!(
                "{} has more than {most} entries: not all of its repositories would be found",
                dir.display()
            );
            Err(io::Error::other(what))
        }
    }
}

/// Surveys the first entries of `dir`, for a command that can change nothing.
pub fn survey_for_reading(dir: &Path) -> Survey {
    let mut found = Survey::default();
    let _ = scan_dir(dir, MOST_FOR_READING, |_| false, |_| true, note_pipe, &mut found);
    found
}

/// Surveys `dir` after a command. Directories that have become unreadable are made readable, because git would still
/// find a repository in them.
pub fn survey_after(dir: &Path, before: &Survey) -> io::Result<Survey> {
    let reopened = |path: &Path| {
        let mode = std::fs::Permissions::from_mode(0o700);
        !before.unread.iter().any(|unread| unread == path) && std::fs::set_permissions(path, mode).is_ok()
    };
    // Only an earlier store is known to be a store: a command can give any directory that name.
    let mut found = Survey { home_files: before.home_files.clone(), ..Survey::default() };
    let is_store = |path: &Path| before.stores.iter().any(|store| store == path);
    scan_dir(dir, usize::MAX, reopened, is_store, note_file, &mut found)?;
    Ok(found)
}

/// How much a survey covered.
enum SurveyExtent {
    All,
    /// The limit was reached.
    Most,
}

fn scan_dir(
    dir: &Path,
    most: usize,
    reopened: impl Fn(&Path) -> bool,
    is_store: impl Fn(&Path) -> bool,
    note: fn(&Path, &DirEntry, &mut Survey),
    found: &mut Survey,
) -> io::Result<SurveyExtent> {
    let mut looked = 0;
    let mut paths = VecDeque::from([dir.to_path_buf()]);
    while let Some(path) = paths.pop_front() {
        let read = match std::fs::read_dir(&path) {
            Err(_) if reopened(&path) => std::fs::read_dir(&path),
            read => read,
        };
        let Ok(entries) = read else {
            found.unread.push(path);
            continue;
        };
        let mut layout = Layout::default();
        for entry in entries.flatten() {
            looked += 1;
            if looked > most {
                return Ok(SurveyExtent::Most);
            }
            let name = entry.file_name();
            layout.note(name.as_encoded_bytes());
            if name.eq_ignore_ascii_case(".git") {
                found.known.closed.insert(entry.path());
                found.repositories.push(entry.path());
            } else if name == ".lepo" && is_store(&entry.path()) {
                found.known.closed.insert(entry.path());
                found.stores.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.known.numbers.insert(entry.path(), entry.ino());
                paths.push_back(entry.path());
            } else {
                note(dir, &entry, found);
            }
        }
        if layout.is_repository() {
            found.bare.push(path);
        }
    }
    Ok(SurveyExtent::All)
}

/// Records a named pipe.
fn note_pipe(_: &Path, entry: &DirEntry, found: &mut Survey) {
    if entry.file_type().is_ok_and(|kind| kind.is_fifo()) {
        found.pipes.push(entry.path());
    }
}

/// Records a file that tools run automatically or that has a set-id bit, and a named pipe.
fn note_file(dir: &Path, entry: &DirEntry, found: &mut Survey) {
    note_pipe(dir, entry, found);
    let path = entry.path();
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    if let Some(meta) = is_file.then(|| entry.metadata().ok()).flatten()
        && meta.mode() & SET_IDS != 0
    {
        found.set_ids.insert(path.clone(), Stamp::from_metadata(&meta));
    }
    if found.runs_when(dir, &path).is_some()
        && let Some(stamp) = stamp(&path)
    {
        let leads_to = path.metadata().ok().filter(|_| !is_file).map(|meta| Stamp::from_metadata(&meta));
        found.runs.insert(path, (stamp, leads_to));
    }
}

/// Mode bits that make a program run with the rights of its owner or group.
pub const SET_IDS: u32 = 0o6000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_known_by_their_name_and_by_what_is_in_them() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        for path in [
            "a/.git/HEAD",
            "b/.GIT",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "tree/HEAD",
            "tree/commondir",
            "half/HEAD",
            "half/refs/x",
            "deep/er/.lepo/x.md",
            ".envrc",
            "src/main.c",
        ] {
            std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.join(path), "").unwrap();
        }
        let found = survey(dir, 100).unwrap();
        let short = |paths: &[PathBuf]| {
            let mut names: Vec<String> =
                paths.iter().map(|path| path.strip_prefix(dir).unwrap().display().to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(short(&found.repositories), ["a/.git", "b/.GIT"]);
        assert_eq!(short(&found.stores), ["deep/er/.lepo"]);
        assert_eq!(short(&found.bare), ["bare", "tree"]);
        assert_eq!(short(&found.runs.keys().cloned().collect::<Vec<_>>()), [".envrc"]);
        // A directory of that name that a command made is surveyed like any other.
        std::fs::create_dir_all(dir.join("new/.lepo/x/.git")).unwrap();
        std::fs::write(dir.join("new/.lepo/x/.git/HEAD"), "").unwrap();
        let after = survey_after(dir, &found).unwrap();
        assert_eq!(short(&after.repositories), ["a/.git", "b/.GIT", "new/.lepo/x/.git"]);
        assert_eq!(short(&after.stores), ["deep/er/.lepo"]);
        assert!(survey(dir, 5).unwrap_err().to_string().contains("more than 5 entries"));
    }
}
