//! Watches the folders into which tools write logs, by events of the kernel and without polling.
//!
//! A folder is first watched and then listed, so that no file is missed between the two. A folder that does not exist
//! is awaited in its nearest parent that does.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use walkdir::WalkDir;

use super::stop::StopSignal;
use lepo_base::error::{Error, Result};
use lepo_base::sys;
use lepo_import::{LogFolder, SourceFormat, sources_of};

/// Sources to read again.
pub type ChangedLogs = BTreeSet<(SourceFormat, PathBuf)>;

/// The longest wait, because a monotonic clock does not count the time during which the machine sleeps.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

enum Wake {
    /// Written, new and removed paths.
    Paths(Vec<PathBuf>),
    /// Events were lost.
    Missed,
    Signal,
}

pub struct LogWatch {
    folders: Vec<LogFolder>,
    /// Folders with logs, and the nearest existing parents of missing ones.
    watched: HashSet<PathBuf>,
    wakes: Receiver<Wake>,
    watcher: RecommendedWatcher,
}

impl LogWatch {
    /// Starts watching; also adds the logs that exist.
    pub fn start(folders: Vec<LogFolder>, stop: &StopSignal) -> Result<(LogWatch, ChangedLogs)> {
        let (sender, wakes) = channel();
        let signals: Sender<Wake> = sender.clone();
        stop.call_on_signal(move || drop(signals.send(Wake::Signal)))?;
        let watcher = notify::recommended_watcher(move |event| {
            if let Some(wake) = parse_event(event) {
                let _ = sender.send(wake); // fails once the watch has been dropped
            }
        });
        let watcher = watcher.map_err(|error| Error::store("cannot watch").because(error))?;
        let mut watch = LogWatch { folders, watched: HashSet::new(), wakes, watcher };
        let changed = watch.look_everywhere()?;
        Ok((watch, changed))
    }

    /// Waits until a log is written; returns the sources to read again. Returns nothing after a signal, and after
    /// `patience` without an event.
    pub fn wait(&mut self, patience: Option<Duration>) -> Result<ChangedLogs> {
        let patience = patience.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
        let until = Instant::now() + patience;
        let mut changed = ChangedLogs::new();
        while changed.is_empty() {
            let Ok(first) = self.wakes.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                return Ok(changed);
            };
            let mut wakes = vec![first];
            wakes.extend(self.wakes.try_iter());
            for wake in wakes {
                if !self.add_wake(wake, &mut changed)? {
                    return Ok(changed);
                }
            }
        }
        Ok(changed)
    }

    /// Collects events for `rest`, so that a busy log is not read all the time. A signal ends the wait.
    pub fn wait_at_least(&mut self, rest: Duration) -> Result<ChangedLogs> {
        let until = Instant::now() + rest;
        let mut changed = ChangedLogs::new();
        while let Ok(wake) = self.wakes.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if !self.add_wake(wake, &mut changed)? {
                break;
            }
        }
        Ok(changed)
    }

    /// Adds the sources of an event; returns false for a signal.
    fn add_wake(&mut self, wake: Wake, changed: &mut ChangedLogs) -> Result<bool> {
        match wake {
            Wake::Signal => return Ok(false),
            Wake::Missed => changed.extend(self.look_everywhere()?),
            Wake::Paths(paths) => {
                for path in paths {
                    self.add_path(&path, changed)?;
                }
            }
        }
        Ok(true)
    }

    /// Watches what exists by now; returns all sources.
    pub fn look_everywhere(&mut self) -> Result<ChangedLogs> {
        let mut changed = ChangedLogs::new();
        self.watched.clear();
        for number in 0..self.folders.len() {
            let path = self.folders[number].path.clone();
            self.add_folder(number, &path, &mut changed)?;
        }
        Ok(changed)
    }

    fn add_path(&mut self, path: &Path, changed: &mut ChangedLogs) -> Result<()> {
        for number in 0..self.folders.len() {
            let LogFolder { format, path: folder, .. } = self.folders[number].clone();
            if path.starts_with(&folder) && path.is_file() {
                let sources = sources_of(format, &folder, path);
                changed.extend(sources.into_iter().map(|source| (format, source)));
            } else if path.starts_with(&folder) || folder.starts_with(path) {
                // A folder was made, moved or removed.
                self.watched.retain(|watched| !watched.starts_with(path));
                let from = if path.starts_with(&folder) { path.to_path_buf() } else { folder };
                self.add_folder(number, &from, changed)?;
            }
        }
        Ok(())
    }

    /// Watches a folder and those below it, then adds their logs. If it does not exist, its nearest parent is watched.
    fn add_folder(&mut self, number: usize, from: &Path, changed: &mut ChangedLogs) -> Result<()> {
        let LogFolder { format, path: folder, levels } = self.folders[number].clone();
        if !from.is_dir() {
            let above = from.ancestors().skip(1).find(|above| above.is_dir());
            if let Some(above) = above {
                self.watch(above)?;
                // Another process may have created the folder since the check.
                return if from.is_dir() { self.add_folder(number, from, changed) } else { Ok(()) };
            }
            return Ok(());
        }
        let depth = from.strip_prefix(&folder).map_or(0, |below| below.components().count());
        let Some(levels) = levels.checked_sub(depth) else { return Ok(()) };
        // The folder itself may be removed and made again.
        if let Some(above) = from.parent().filter(|_| depth == 0) {
            self.watch(above)?;
        }
        // Watched before it is listed; `WalkDir` lists a folder after it was returned.
        for entry in WalkDir::new(from).max_depth(levels + 1).follow_root_links(true).into_iter().flatten() {
            if entry.file_type().is_dir() && entry.depth() <= levels {
                self.watch(entry.path())?;
            } else if entry.file_type().is_file() {
                let sources = sources_of(format, &folder, entry.path());
                changed.extend(sources.into_iter().map(|source| (format, source)));
            }
        }
        Ok(())
    }

    fn watch(&mut self, path: &Path) -> Result<()> {
        if !self.watched.insert(path.to_path_buf()) {
            return Ok(());
        }
        match self.watcher.watch(path, RecursiveMode::NonRecursive) {
            Ok(()) => Ok(()),
            // Another process removed the folder.
            Err(_) if !path.is_dir() => {
                self.watched.remove(path);
                Ok(())
            }
            Err(error) => {
                let is_limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
                let error = Error::store(format!("cannot watch {}", path.display())).because(error);
                Err(if is_limit { error.hint(sys::WATCH_LIMITS) } else { error })
            }
        }
    }
}

/// Returns the paths that an event is about; `None` for reading, which imports do themselves.
fn parse_event(event: notify::Result<notify::Event>) -> Option<Wake> {
    let Ok(event) = event else { return Some(Wake::Missed) };
    if event.need_rescan() || !sys::WATCH_TELLS_CLOSING {
        return Some(Wake::Missed);
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_) => Some(Wake::Paths(event.paths)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the names of the logs that are written until `last` is among them.
    fn names_until(watch: &mut LogWatch, last: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        while !names.contains(last) {
            for (_, path) in watch.wait(None).unwrap() {
                names.insert(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
        names.into_iter().collect()
    }

    #[test]
    fn folders_that_come_later_go_and_come_again_are_watched() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let folder = root.join(".claude/projects");
        let folders = vec![LogFolder { format: SourceFormat::ClaudeCode, path: folder.clone(), levels: 3 }];
        let stop = StopSignal::listen().unwrap();
        let (mut watch, changed) = LogWatch::start(folders, &stop).unwrap();
        assert!(changed.is_empty());
        for round in 0..20 {
            let project = folder.join(format!("-p{round}"));
            fs::create_dir_all(&project).unwrap();
            let name = format!("s{round}.jsonl");
            fs::write(project.join(&name), "{}\n").unwrap();
            assert!(names_until(&mut watch, &name).contains(&name), "{round}");
            // Written again, it is reported again.
            fs::write(project.join(&name), "{}\n{}\n").unwrap();
            names_until(&mut watch, &name);
            if round % 5 == 4 {
                fs::remove_dir_all(root.join(".claude")).unwrap();
            }
        }
    }
}
