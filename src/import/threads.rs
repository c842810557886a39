//! The threads of Codex: what the first record of each log says of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::json::Value;
use super::source::{Reading, files_in, folders_in};
use super::time;

/// The depth of the logs below their folder: year, month, day.
const DEPTH: usize = 5;

/// A thread, by its first record.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// Its log.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// The directory it is about.
    pub dir: Option<String>,
    /// The time of its beginning.
    pub start: Option<u64>,
    /// The thread it goes on from.
    pub parent: Option<String>,
    /// It holds nothing of its parent, whose records before this one are its beginning.
    pub base: Option<u64>,
    /// The thread whose subagent it is.
    pub begun_by: Option<String>,
    /// Records before this one are its parent's.
    pub own_from: u64,
}

impl Thread {
    /// Reads the first record of a log, and whose copy follows it.
    pub fn of(path: &Path) -> Option<Thread> {
        let mut values = Reading::default().lines(path).ok()?;
        let mut reading = Reading::default();
        let mut thread = Thread { path: path.to_path_buf(), ..Thread::default() };
        thread.tell(reading.next(&mut values).ok()??)?;
        // A copy has the first record of what it copies too.
        let next = reading.next(&mut values).ok().flatten();
        if let Some(copied) = next.filter(|line| line.get("type").is("session_meta")) {
            let id = copied.at(&["payload", "id"]).said().filter(|id| *id != thread.id);
            thread.parent = thread.parent.or(id);
        }
        Some(thread)
    }

    fn tell(&mut self, line: Value<'_>) -> Option<()> {
        let meta = if line.get("type").is("session_meta") { line.get("payload") } else { line };
        self.id = meta.get("id").said()?;
        self.dir = meta.get("cwd").said();
        self.start = time::written(meta.get("timestamp"));
        let base = meta.get("history_base");
        self.parent = base.get("thread_id").said().or_else(|| meta.get("forked_from_id").said());
        self.base = base.get("end_ordinal_exclusive").count();
        let spawned = meta.at(&["source", "subagent", "thread_spawn", "parent_thread_id"]);
        self.begun_by = meta.get("parent_thread_id").said().or_else(|| spawned.said());
        self.own_from = meta.get("subagent_history_start_ordinal").count().unwrap_or(0);
        Some(())
    }

    /// True if it is a subagent of a thread.
    pub fn begun_by(&self, id: &str) -> bool {
        self.begun_by.as_deref() == Some(id)
    }
}

/// All threads that are known.
#[derive(Debug, Default)]
pub struct Threads {
    /// In the order of their paths.
    pub all: Vec<Thread>,
    by_id: HashMap<String, usize>,
}

impl Threads {
    /// The threads of these logs, and of the folders of sessions that they stand in.
    pub fn around(paths: &[PathBuf]) -> Threads {
        let mut logs: Vec<PathBuf> = paths.to_vec();
        let mut folders: Vec<PathBuf> = paths.iter().filter_map(|path| home_of(path)).collect();
        folders.sort();
        folders.dedup();
        for folder in folders {
            match is_home(&folder) {
                true => logs.extend(logs_in(&folder)),
                false => logs.extend(files_in(&folder).into_iter().filter(|path| is_log(path))),
            }
        }
        logs.sort();
        logs.dedup();
        let all: Vec<Thread> = logs.iter().filter_map(|path| Thread::of(path)).collect();
        let by_id = all.iter().enumerate().rev().map(|(place, thread)| (thread.id.clone(), place)).collect();
        Threads { all, by_id }
    }

    /// The thread of an id.
    pub fn find(&self, id: &str) -> Option<&Thread> {
        self.by_id.get(id).map(|&place| &self.all[place])
    }
}

/// The folder `sessions` or `archived_sessions` that a log stands in; else its own folder.
fn home_of(path: &Path) -> Option<PathBuf> {
    let mut above = path.ancestors().skip(1).take(DEPTH);
    above.find(|folder| is_home(folder)).or(path.parent()).map(Path::to_path_buf)
}

fn is_home(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions")
}

/// The logs below a folder.
pub fn logs_in(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![(folder.to_path_buf(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        found.extend(files_in(&folder).into_iter().filter(|path| is_log(path)));
        if depth < DEPTH {
            folders.extend(folders_in(&folder).into_iter().map(|folder| (folder, depth + 1)));
        }
    }
    found.sort();
    found
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}
