//! Surveys a working directory for entries that others act on: git repositories, stores, and files that tools run by
//! themselves. Looked at before a command that may write, and after it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::autorun::runs_when;
use super::git_settings::{Named, named};

/// Entries of a directory that are looked at before a command. More would be felt as a delay, and a
/// repository among those that were not looked at would not be protected.
pub const MOST: usize = 500_000;

/// The findings.
#[derive(Debug, Default)]
pub struct Survey {
    /// Entries named `.git`, which name a repository or are one.
    pub repositories: Vec<PathBuf>,
    /// Entries named `.lepo`.
    pub stores: Vec<PathBuf>,
    /// Directories that git takes for a repository by what is in them.
    pub bare: Vec<PathBuf>,
    /// Files that tools run by themselves, each with what tells whether it is the same as before.
    pub runs: BTreeMap<PathBuf, Stamp>,
    /// Directories that could not be read.
    pub unread: Vec<PathBuf>,
    /// Directories of hooks and files of settings that git's settings name; they need not be there.
    pub obeyed: Vec<PathBuf>,
    /// These, and programs that git's settings name, each as it is if it is there.
    pub named: BTreeMap<PathBuf, Option<Stamp>>,
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

/// The identity and last change of a file; `None` if there is none.
pub fn stamp(path: &Path) -> Option<Stamp> {
    path.symlink_metadata().ok().map(|meta| Stamp(meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

/// Inode and time of the last change: a command cannot set the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64, i64, i64);

/// Entries that make their directory a repository. Some file systems do not tell upper from lower case.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// True if git takes a directory with these entries for a repository.
fn is_repository(parts: &BTreeSet<&str>) -> bool {
    let has = |part| parts.contains(part);
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Looks through `dir`, links not followed; an error if it has more than `most` entries.
pub fn survey(dir: &Path, most: usize) -> io::Result<Survey> {
    look_through(dir, most, |_| false, |_| true)
}

/// Surveys the layout after a command. Directories that cannot be read, and could before, are made readable: git finds
/// a repository in one all the same.
pub fn survey_after(dir: &Path, before: &Survey) -> io::Result<Survey> {
    let reopened = |place: &Path| {
        let mode = std::fs::Permissions::from_mode(0o700);
        !before.unread.iter().any(|unread| unread == place) && std::fs::set_permissions(place, mode).is_ok()
    };
    // Only a store that was there before is known to be one: a command can call any directory so.
    look_through(dir, usize::MAX, reopened, |place| before.stores.iter().any(|store| store == place))
}

fn look_through(
    dir: &Path,
    most: usize,
    reopened: impl Fn(&Path) -> bool,
    is_store: impl Fn(&Path) -> bool,
) -> io::Result<Survey> {
    let (mut found, mut looked) = (Survey::default(), 0);
    let mut parts: BTreeMap<PathBuf, BTreeSet<&str>> = BTreeMap::new();
    // Directories that were made readable are walked by themselves, and tried once.
    let (mut roots, mut tried) = (vec![dir.to_path_buf()], HashSet::new());
    while let Some(root) = roots.pop() {
        let mut walk = WalkDir::new(&root).min_depth(1).into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let Some(place) = error.path().map(Path::to_path_buf) else { continue };
                    match tried.insert(place.clone()) && reopened(&place) {
                        true => roots.push(place),
                        false => found.unread.push(place),
                    }
                    continue;
                }
            };
            looked += 1;
            if looked > most {
                let what = format!(
                    "{} has more than {most} entries: not all of its repositories would be found",
                    dir.display()
                );
                return Err(io::Error::other(what));
            }
            let (name, path) = (entry.file_name(), entry.path());
            if let Some(part) = PARTS.into_iter().find(|part| name.eq_ignore_ascii_case(part)) {
                parts.entry(path.parent().unwrap_or(dir).to_path_buf()).or_default().insert(part);
            }
            let is_git = name.eq_ignore_ascii_case(".git");
            if is_git || name == ".lepo" && is_store(path) {
                let list = if is_git { &mut found.repositories } else { &mut found.stores };
                list.push(path.to_path_buf());
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            } else if !entry.file_type().is_dir()
                && runs_when(path.strip_prefix(dir).unwrap_or(path)).is_some()
                && let Some(stamp) = stamp(path)
            {
                found.runs.insert(path.to_path_buf(), stamp);
            }
        }
    }
    found.bare =
        parts.into_iter().filter(|(_, parts)| is_repository(parts)).map(|(place, _)| place).collect();
    Ok(found)
}

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
