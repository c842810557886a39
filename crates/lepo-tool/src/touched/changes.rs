//! Finds the changes below a folder since a time, by the ctime of each entry, which a command cannot set.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of entries to examine, and the time limit; beyond that, everything counts as changed.
const MOST_ENTRIES: usize = 2_000_000;
const LONGEST: Duration = Duration::from_secs(60);

/// Number of changed entries in one folder from which the whole folder counts as changed.
const MOST_IN_FOLDER: usize = 500;

/// Maximum number of changed paths; beyond that, their parent folders count as changed.
const MOST: usize = 5000;

/// The folders before a command ran.
#[derive(Debug, Default)]
pub struct KnownFolders {
    /// Inode numbers: a folder with a different number was moved to its path.
    pub numbers: HashMap<PathBuf, u64>,
    /// Folders that the command could not write to.
    pub closed: HashSet<PathBuf>,
}

/// The changed paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandChanges {
    pub files: BTreeSet<PathBuf>,
    /// Folders in which everything counts as changed.
    pub folders: BTreeSet<PathBuf>,
}

impl CommandChanges {
    pub fn everything(root: &Path) -> CommandChanges {
        CommandChanges { folders: BTreeSet::from([root.to_path_buf()]), ..CommandChanges::default() }
    }
}

/// Returns the time of the last change in nanoseconds.
pub(super) fn file_time(meta: &Metadata) -> i128 {
    i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec())
}

/// Returns the changes below `root`. Everything in a new or moved folder counts as changed, because files keep their
/// times when their folder is moved. Without `before`, so does everything in a changed folder.
pub(super) fn changed_below(root: &Path, since: i128, before: Option<&KnownFolders>) -> CommandChanges {
    let start = Instant::now();
    let (mut found, mut looked) = (CommandChanges::default(), 0);
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            found.folders.insert(folder);
            continue;
        };
        let mut changed = Vec::new();
        for entry in entries {
            looked += 1;
            if looked > MOST_ENTRIES || start.elapsed() > LONGEST {
                return CommandChanges::everything(root);
            }
            let Ok(entry) = entry else {
                found.folders.insert(folder.clone());
                continue;
            };
            let path = entry.path();
            let is_changed = || {
                entry.metadata().map_or_else(
                    |error| error.kind() != std::io::ErrorKind::NotFound,
                    |meta| file_time(&meta) >= since,
                )
            };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                changed.extend(is_changed().then_some(path));
                continue;
            }
            let is_same = match before {
                Some(before) if before.closed.contains(&path) => continue,
                Some(before) => before.numbers.get(&path) == Some(&entry.ino()),
                None => !is_changed(),
            };
            let is_own = before.is_none() && [".git", ".lepo"].iter().any(|name| entry.file_name() == *name);
            match is_same {
                false => drop(found.folders.insert(path)),
                // Commands cannot write there, unless the folder is the command's.
                true if is_own => {}
                true => folders.push(path),
            }
        }
        match changed.len() > MOST_IN_FOLDER && folder != root {
            true => drop(found.folders.insert(folder)),
            false => found.files.extend(changed),
        }
    }
    fewer(found, root)
}

/// Replaces the deepest paths by their parent folders.
fn fewer(changes: CommandChanges, root: &Path) -> CommandChanges {
    let CommandChanges { files, folders } = &changes;
    let deepest = files.iter().map(|path| path.components().count()).max().unwrap_or_default();
    if files.len() + folders.len() <= MOST {
        return changes;
    }
    let above = root.components().count();
    for depth in (above..deepest).rev() {
        let mut all: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let paths = files.iter().map(|path| (path, false)).chain(folders.iter().map(|path| (path, true)));
        for (path, is_folder) in paths {
            let is_deeper = path.components().count() > depth;
            let path: PathBuf = path.components().take(depth).collect();
            *all.entry(path).or_default() |= is_deeper || is_folder;
        }
        if all.len() <= MOST {
            let (folders, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, is_folder)| *is_folder);
            let paths = |all: Vec<(PathBuf, bool)>| all.into_iter().map(|(path, _)| path).collect();
            return CommandChanges { files: paths(files), folders: paths(folders) };
        }
    }
    CommandChanges::everything(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    fn time_in(dir: &Path) -> i128 {
        file_time(&tempfile::tempfile_in(dir).unwrap().metadata().unwrap())
    }

    /// The time of a later tick than that of all files so far.
    fn next_tick(dir: &Path) -> i128 {
        let first = time_in(dir);
        loop {
            let now = time_in(dir);
            if now > first {
                return now;
            }
        }
    }

    fn numbers(dir: &Path, names: &[&str]) -> HashMap<PathBuf, u64> {
        names.iter().map(|name| (dir.join(name), dir.join(name).metadata().unwrap().ino())).collect()
    }

    #[test]
    fn every_way_to_change_an_entry_is_seen() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        for name in ["kept", "old/file", "old/deep/file", "times", "mode", "moved/file", "linked", "closed/x"]
        {
            write(&dir.join(name));
        }
        let numbers = numbers(dir, &["old", "old/deep", "moved", "closed"]);
        let before = KnownFolders { numbers, closed: HashSet::from([dir.join("closed")]) };
        let since = next_tick(dir);
        write(&dir.join("old/file"));
        write(&dir.join("old/new"));
        write(&dir.join("new/deep/file"));
        write(&dir.join("closed/y"));
        // A time that says nothing of the change.
        write(&dir.join("times"));
        let long_ago = std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
        std::fs::File::options().write(true).open(dir.join("times")).unwrap().set_times(long_ago).unwrap();
        std::fs::set_permissions(dir.join("mode"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        std::fs::rename(dir.join("moved"), dir.join("old/moved")).unwrap();
        std::fs::hard_link(dir.join("linked"), dir.join("second")).unwrap();
        std::os::unix::fs::symlink("kept", dir.join("link")).unwrap();
        let found = changed_below(dir, since, Some(&before));
        let names = |names: &[&str]| names.iter().map(|name| dir.join(name)).collect::<BTreeSet<_>>();
        assert_eq!(found.files, names(&["old/file", "old/new", "times", "mode", "linked", "second", "link"]));
        assert_eq!(found.folders, names(&["new", "old/moved"]));
        // Without the folders of before, each that changed counts as a whole.
        let found = changed_below(dir, since, None);
        assert_eq!(found.folders, names(&["new", "old", "closed"]));
    }

    #[test]
    fn very_many_changes_are_the_folder_and_too_many_folders_are_those_above() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        std::fs::create_dir(dir.join("many")).unwrap();
        let before = KnownFolders { numbers: numbers(dir, &["many"]), ..KnownFolders::default() };
        (0..=MOST_IN_FOLDER).for_each(|number| write(&dir.join(format!("many/{number}"))));
        assert_eq!(changed_below(dir, 0, Some(&before)).folders, BTreeSet::from([dir.join("many")]));
        let root = Path::new("/r");
        let files = (0..=MOST).map(|number| root.join(format!("a/{}/{number}", number % 3))).collect();
        let folders = BTreeSet::from([root.join("b")]);
        let few = fewer(CommandChanges { files, folders }, root);
        let expected = ["a/0", "a/1", "a/2", "b"].map(|name| root.join(name));
        assert_eq!(few, CommandChanges { files: BTreeSet::new(), folders: BTreeSet::from(expected) });
        let files = (0..=MOST).map(|number| root.join(number.to_string())).collect();
        assert_eq!(
            fewer(CommandChanges { files, ..CommandChanges::default() }, root),
            CommandChanges::everything(root)
        );
    }
}
