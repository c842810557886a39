//! Surveys a working directory for entries that others act on: git repositories, stores, and files that tools run by
//! themselves. Looked at before a command that may write, and after it.

use std::collections::{BTreeMap, VecDeque};
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::autorun::runs_when;
use super::git_settings::{Named, named};
use crate::touched::KnownFolders;

/// Entries of a directory that are looked at before a command. More would be felt as a delay, and a
/// repository among those that were not looked at would not be protected.
pub const MOST: usize = 500_000;

/// Entries of a directory that are looked at before a command that only reads, in which case nothing worse comes of those
/// that were not than that the keys of a store that is not the user's own are read.
const MOST_FOR_READING: usize = 20_000;

/// The findings.
#[derive(Debug, Default)]
pub struct Survey {
    /// Entries named `.git`, which name a repository or are one.
    pub repositories: Vec<PathBuf>,
    /// Entries named `.lepo`.
    pub stores: Vec<PathBuf>,
    /// Directories that git takes for a repository by what is in them.
    pub bare: Vec<PathBuf>,
    /// Files that tools run by themselves, each with what tells whether it is the same as before: of a link, the link and
    /// the file that it leads to.
    pub runs: BTreeMap<PathBuf, (Stamp, Option<Stamp>)>,
    /// Files that run with the rights of their owner or group (set-user-id, set-group-id), each as it is.
    pub set_ids: BTreeMap<PathBuf, Stamp>,
    /// Named pipes.
    pub pipes: Vec<PathBuf>,
    /// Directories that could not be read.
    pub unread: Vec<PathBuf>,
    /// Directories of hooks and files of settings that git's settings name; they need not be there.
    pub obeyed: Vec<PathBuf>,
    /// These, and programs that git's settings name, each as it is if it is there.
    pub named: BTreeMap<PathBuf, Option<Stamp>>,
    /// All other folders.
    pub known: KnownFolders,
}

impl Survey {
    /// Adds what settings of git name in `dir`.
    pub fn with_settings(mut self, dir: &Path) -> Survey {
        let Named { obeyed, programs } = named(dir, &self.repositories);
        self.named = obeyed.iter().chain(&programs).map(|path| (path.clone(), stamp(path))).collect();
        self.obeyed = obeyed.into_iter().collect();
        self
    }
}

/// The identity and last change of a file; `None` if it does not exist.
pub fn stamp(path: &Path) -> Option<Stamp> {
    path.symlink_metadata().ok().map(|meta| Stamp::of(&meta))
}

impl Stamp {
    fn of(meta: &std::fs::Metadata) -> Stamp {
        Stamp(meta.ino(), meta.ctime(), meta.ctime_nsec())
    }
}

/// Inode and time of the last change: a command cannot set the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64, i64, i64);

/// The entries of a directory that together make it a repository.
#[derive(Default)]
struct Layout {
    head: bool,
    objects: bool,
    refs: bool,
    common: bool,
}

impl Layout {
    fn note(&mut self, name: &[u8]) {
        // Some file systems do not tell upper from lower case.
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

/// Looks through `dir`, links not followed; an error if it has more than `most` entries.
pub fn survey(dir: &Path, most: usize) -> io::Result<Survey> {
    let mut found = Survey::default();
    match look_through(dir, most, |_| false, |_| true, note_file, &mut found)? {
        Looked::All => Ok(found),
        Looked::Most => {
            let what = format!(
                "{} has more than {most} entries: not all of its repositories would be found",
                dir.display()
            );
            Err(io::Error::other(what))
        }
    }
}

/// The findings among the first entries of `dir`, for a command that can change nothing.
pub fn survey_for_reading(dir: &Path) -> Survey {
    let mut found = Survey::default();
    let _ = look_through(dir, MOST_FOR_READING, |_| false, |_| true, note_pipe, &mut found);
    found
}

/// Surveys the layout after a command. Directories that cannot be read, and could before, are made readable: git finds
/// a repository in one all the same.
pub fn survey_after(dir: &Path, before: &Survey) -> io::Result<Survey> {
    let reopened = |place: &Path| {
        let mode = std::fs::Permissions::from_mode(0o700);
        !before.unread.iter().any(|unread| unread == place) && std::fs::set_permissions(place, mode).is_ok()
    };
    // Only a store that was there before is known to be one: a command can call any directory so.
    let mut found = Survey::default();
    let is_store = |place: &Path| before.stores.iter().any(|store| store == place);
    look_through(dir, usize::MAX, reopened, is_store, note_file, &mut found)?;
    Ok(found)
}

/// The extent of a look.
enum Looked {
    All,
    /// There were more entries than were to be looked at.
    Most,
}

fn look_through(
    dir: &Path,
    most: usize,
    reopened: impl Fn(&Path) -> bool,
    is_store: impl Fn(&Path) -> bool,
    note: fn(&Path, &DirEntry, &mut Survey),
    found: &mut Survey,
) -> io::Result<Looked> {
    let mut looked = 0;
    let mut places = VecDeque::from([dir.to_path_buf()]);
    while let Some(place) = places.pop_front() {
        let read = match std::fs::read_dir(&place) {
            Err(_) if reopened(&place) => std::fs::read_dir(&place),
            read => read,
        };
        let Ok(entries) = read else {
            found.unread.push(place);
            continue;
        };
        let mut layout = Layout::default();
        for entry in entries.flatten() {
            looked += 1;
            if looked > most {
                return Ok(Looked::Most);
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
                places.push_back(entry.path());
            } else {
                note(dir, &entry, found);
            }
        }
        if layout.is_repository() {
            found.bare.push(place);
        }
    }
    Ok(Looked::All)
}

/// Notes a named pipe.
fn note_pipe(_: &Path, entry: &DirEntry, found: &mut Survey) {
    if entry.file_type().is_ok_and(|kind| kind.is_fifo()) {
        found.pipes.push(entry.path());
    }
}

/// Notes a file that tools run by themselves, one that runs with rights of its own, and a named pipe.
fn note_file(dir: &Path, entry: &DirEntry, found: &mut Survey) {
    note_pipe(dir, entry, found);
    let path = entry.path();
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    if let Some(meta) = is_file.then(|| entry.metadata().ok()).flatten()
        && meta.mode() & SET_IDS != 0
    {
        found.set_ids.insert(path.clone(), Stamp::of(&meta));
    }
    if runs_when(path.strip_prefix(dir).unwrap_or(&path)).is_some()
        && let Some(stamp) = stamp(&path)
    {
        let leads_to = path.metadata().ok().filter(|_| !is_file).map(|meta| Stamp::of(&meta));
        found.runs.insert(path, (stamp, leads_to));
    }
}

/// The bits of a mode that make a program run with the rights of its owner or group.
pub const SET_IDS: u32 = 0o6000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_known_by_their_name_and_by_what_is_in_them() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
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
        // A directory of that name that a command made is looked through like any other.
        std::fs::create_dir_all(dir.join("new/.lepo/x/.git")).unwrap();
        std::fs::write(dir.join("new/.lepo/x/.git/HEAD"), "").unwrap();
        let after = survey_after(dir, &found).unwrap();
        assert_eq!(short(&after.repositories), ["a/.git", "b/.GIT", "new/.lepo/x/.git"]);
        assert_eq!(short(&after.stores), ["deep/er/.lepo"]);
        assert!(survey(dir, 5).unwrap_err().to_string().contains("more than 5 entries"));
    }
}
