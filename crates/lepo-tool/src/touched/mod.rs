//! The record of files that sandboxed commands changed, for all worktrees and stores of the user, in the state
//! folder. The user is asked about such a file before a program outside of every sandbox runs it.
//!
//! A command is marked before it starts, and its changes are recorded before the mark is removed. A mark without an
//! end and without a running command was left by a killed lepo: the next reader searches the command's folders for
//! changes.

mod changes;
mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::dir_lock::DirLock;
use changes::{CommandChanges, changed_below, file_time};
use lines::{Line, OpenMark, Record};

pub use changes::KnownFolders;

/// How long a start waits for a command that may change the program's files.
const START_PATIENCE: Duration = Duration::from_secs(2);

/// Interval between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Size of the record in bytes from which it is rewritten without missing paths.
const LONG_RECORD: u64 = 4 << 20;

/// Tolerated lag between two clocks, plus a thousandth of the time between two readings of both.
const CLOCK_LAG: Duration = Duration::from_millis(100);

/// The record in a state folder.
#[derive(Debug, Clone)]
pub struct TouchedFiles {
    path: PathBuf,
    lock: PathBuf,
}

/// The mark of a running command in the record.
#[derive(Debug)]
pub struct CommandMark {
    record: TouchedFiles,
    id: String,
    root: PathBuf,
    since: Option<i128>,
    /// Further folders that the command may write to.
    other_folders: Vec<PathBuf>,
    started: (Instant, SystemTime),
}

/// The paths that commands changed. No command starts before it is dropped.
#[derive(Debug)]
pub struct TouchedPaths {
    /// Changed files and links.
    pub files: BTreeSet<PathBuf>,
    /// Folders in which everything counts as changed, each with the command that changed it last.
    pub folders: BTreeMap<PathBuf, String>,
    lock: File,
}

impl TouchedPaths {
    /// Whether no command changed anything.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    /// Whether a command changed this path.
    pub fn contains(&self, path: &Path) -> bool {
        self.files.contains(path) || path.ancestors().any(|above| self.folders.contains_key(above))
    }

    /// Returns the lock: no command starts until it is closed.
    pub fn into_lock(self) -> OwnedFd {
        self.lock.into()
    }
}

impl TouchedFiles {
    /// Creates the record of this state folder.
    pub fn in_state(state: &Path) -> TouchedFiles {
        TouchedFiles { path: state.join("touched"), lock: state.join("touched.lock") }
    }

    /// Returns a number that changes with every change of the record.
    pub fn stamp(&self) -> u64 {
        let meta = self.path.metadata().ok();
        meta.map_or(0, |meta| (meta.len() << 20) ^ (meta.mtime() as u64) ^ ((meta.mtime_nsec() as u64) << 24))
    }

    /// Marks a command that may write below `root`, without following links, and in the other folders; durable when
    /// this returns. The caller has locked `root`: an open mark of an unlocked folder counts as abandoned.
    pub fn start_command(&self, root: &Path, other_folders: &[PathBuf]) -> io::Result<CommandMark> {
        let now = SystemTime::now();
        let id = format!("{:016x}", RandomState::new().hash_one(now));
        let since = tempfile::tempfile_in(root).and_then(|file| Ok(file_time(&file.metadata()?))).ok();
        let lock = self.locked(FlockOperation::LockExclusive)?;
        if self.path.metadata().is_ok_and(|meta| meta.len() > LONG_RECORD) {
            self.shorten()?;
        }
        let mark = |root: &PathBuf, since| {
            Line::Begin(OpenMark { id: id.clone(), since, root: root.clone() }).to_text()
        };
        let other_marks = other_folders.iter().map(|folder| mark(folder, None));
        let lines: String = std::iter::once(mark(&root.to_path_buf(), since)).chain(other_marks).collect();
        self.append(&lines)?;
        drop(lock);
        Ok(CommandMark {
            record: self.clone(),
            id,
            root: root.to_path_buf(),
            since,
            other_folders: other_folders.to_vec(),
            started: (Instant::now(), now),
        })
    }

    /// Waits until no command runs in a folder for which `is_concerned` is true, and returns the changed paths. The error
    /// says why they are unknown.
    pub fn wait_for_changes(&self, is_concerned: impl Fn(&Path) -> bool) -> Result<TouchedPaths, String> {
        let start = Instant::now();
        loop {
            let failed = |error: io::Error| format!("{} cannot be read: {error}", self.path.display());
            let lock = self.locked(FlockOperation::LockShared).map_err(failed)?;
            let Record { files, folders, open } = Record::read(&self.path).map_err(failed)?;
            let Some(mark) = open.iter().find(|mark| is_concerned(&mark.root)).cloned() else {
                return Ok(TouchedPaths { files, folders, lock });
            };
            drop(lock);
            let marks: Vec<OpenMark> = open.into_iter().filter(|other| other.id == mark.id).collect();
            if self.recover_command(&marks, &mark.id).map_err(failed)? {
                continue;
            }
            if start.elapsed() > START_PATIENCE {
                return Err(format!(
                    "a command runs in {} that may change the files of the program; it can start when that has ended",
                    mark.root.display()
                ));
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Records the changes of a command whose lepo was killed, and ends its marks; returns false if the command is
    /// still running.
    fn recover_command(&self, marks: &[OpenMark], id: &str) -> io::Result<bool> {
        let mut locks = Vec::new();
        for mark in marks {
            match DirLock::acquire(&mark.root, false) {
                Ok(Some(lock)) => locks.push(lock),
                Ok(None) => return Ok(false),
                // A folder that replaces a missing one counts as changed.
                Err(_) => {}
            }
        }
        let mut changes = CommandChanges::default();
        for mark in marks {
            let CommandChanges { files, folders } = match mark.since.filter(|_| mark.root.is_dir()) {
                Some(since) => changed_below(&mark.root, since, None),
                None => CommandChanges::everything(&mark.root),
            };
            changes.files.extend(files);
            changes.folders.extend(folders);
        }
        let _lock = self.locked(FlockOperation::LockExclusive)?;
        let text = self.changes_text(&changes, id)? + &Line::End(id.to_string()).to_text();
        self.append(&text)?;
        Ok(true)
    }

    /// Returns the lines of these changes, without files that are already recorded.
    fn changes_text(&self, changes: &CommandChanges, id: &str) -> io::Result<String> {
        let known = Record::read(&self.path)?.files;
        let new = changes.files.iter().filter(|path| !known.contains(*path));
        let files = new.map(|path| Line::File(path.clone()).to_text());
        let folders = changes.folders.iter().map(|path| Line::Folder(path.clone(), id.to_string()).to_text());
        Ok(files.chain(folders).collect())
    }

    /// Rewrites the record without missing paths. If a command creates such a path again, it is recorded again.
    fn shorten(&self) -> io::Result<()> {
        let Record { files, folders, open } = Record::read(&self.path)?;
        let exists = |path: &Path| {
            !path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let files = files.into_iter().filter(|path| exists(path)).map(Line::File);
        let folders = folders.into_iter().filter(|(path, _)| exists(path));
        let folders = folders.map(|(path, id)| Line::Folder(path, id));
        let lines = files.chain(folders).chain(open.into_iter().map(Line::Begin));
        let text: String = lines.map(|line| line.to_text()).collect();
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(&self.path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    }

    fn locked(&self, operation: FlockOperation) -> io::Result<File> {
        if let Some(folder) = self.lock.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&self.lock)?;
        loop {
            match rustix::fs::flock(&file, operation) {
                Err(Errno::INTR) => {}
                // The file system has no locks.
                Ok(()) | Err(_) => return Ok(file),
            }
        }
    }

    /// Adds lines, durable when this returns.
    fn append(&self, lines: &str) -> io::Result<()> {
        let mut record = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        // An incomplete line stays separate.
        record.write_all(format!("\n{lines}").as_bytes())?;
        record.sync_all()
    }
}

impl CommandMark {
    /// Records the changes of the finished command, compared with the folders before it. If that fails, the mark
    /// stays open, and the next start of a program searches the folders.
    pub fn end(self, before: &KnownFolders) -> io::Result<()> {
        let mut changes = match self.since.filter(|_| self.is_clock_steady()) {
            Some(since) => changed_below(&self.root, since, Some(before)),
            None => CommandChanges::everything(&self.root),
        };
        changes.folders.extend(self.other_folders.iter().cloned());
        let _lock = self.record.locked(FlockOperation::LockExclusive)?;
        let text = self.record.changes_text(&changes, &self.id)? + &Line::End(self.id.clone()).to_text();
        self.record.append(&text)
    }

    /// Returns false if the clock was set back while the command ran, so that changes may be dated before its start.
    fn is_clock_steady(&self) -> bool {
        let (started, wall) = self.started;
        let passed = started.elapsed();
        wall.elapsed().is_ok_and(|by_wall| by_wall + CLOCK_LAG + passed / 1000 >= passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folders {
        _dir: tempfile::TempDir,
        record: TouchedFiles,
        root: PathBuf,
    }

    fn folders() -> Folders {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("tree");
        std::fs::create_dir(&root).unwrap();
        Folders { _dir: dir, record: TouchedFiles::in_state(&top.join("state")), root }
    }

    fn touched(record: &TouchedFiles) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let paths = record.wait_for_changes(|_| true).unwrap();
        (paths.files.iter().cloned().collect(), paths.folders.keys().cloned().collect())
    }

    #[test]
    fn changes_of_a_command_are_in_the_record_and_a_start_waits_for_it() {
        let Folders { _dir, record, root } = folders();
        assert_eq!(touched(&record), (vec![], vec![]));
        let mark = record.start_command(&root, &[]).unwrap();
        std::fs::write(root.join("a b%\n"), "x").unwrap();
        let running = DirLock::acquire(&root, true).unwrap();
        let refused = record.wait_for_changes(|folder| folder == root).unwrap_err();
        assert!(refused.contains("a command runs in"), "{refused}");
        assert!(record.wait_for_changes(|_| false).unwrap().is_empty(), "it concerns another folder");
        drop(running);
        mark.end(&KnownFolders::default()).unwrap();
        assert_eq!(touched(&record), (vec![root.join("a b%\n")], vec![]));
        assert!(record.wait_for_changes(|_| true).unwrap().contains(&root.join("a b%\n")));
    }

    #[test]
    fn after_a_killed_lepo_the_next_start_looks_itself() {
        let Folders { _dir, record, root } = folders();
        std::fs::create_dir(root.join("old")).unwrap();
        std::fs::write(root.join("old/file"), "x").unwrap();
        // The clock of files ticks.
        let ticked = || record.start_command(&root, &[]).unwrap().since;
        let first = ticked();
        while ticked() <= first {}
        std::fs::remove_file(&record.path).unwrap();
        let agent = root.with_file_name("agent");
        std::fs::create_dir(&agent).unwrap();
        drop(record.start_command(&root, std::slice::from_ref(&agent)).unwrap());
        std::fs::write(root.join("new"), "x").unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        assert_eq!(touched(&record), (vec![root.join("new")], vec![agent, root.join("sub")]));
        let stamp = record.stamp();
        touched(&record);
        assert_eq!(record.stamp(), stamp, "once");
    }

    #[test]
    fn a_record_is_shortened_by_what_is_gone() {
        let Folders { _dir, record, root } = folders();
        let mark = record.start_command(&root, &[]).unwrap();
        for name in ["stays", "goes"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        mark.end(&KnownFolders::default()).unwrap();
        drop(record.start_command(&root, &[]).unwrap());
        std::fs::remove_file(root.join("goes")).unwrap();
        record.shorten().unwrap();
        let Record { files, open, .. } = Record::read(&record.path).unwrap();
        assert_eq!((files.into_iter().collect::<Vec<_>>(), open.len()), (vec![root.join("stays")], 1));
    }
}
