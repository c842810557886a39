//! The threads of Codex: what the first record of each log says of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::json::Value;
use super::source::{Reading, files_below, files_in};
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
    /// The number of its first record.
    first: u64,
    /// The id of its log, by which the logs that go on from it name it: the thread's for its first one.
    log: String,
    /// The log that it goes on from is told by its name alone: one of the same thread.
    is_torn: bool,
}

impl Thread {
    /// Reads the first record of a log, and whose copy follows it. Where that record is torn or missing, the name of
    /// the file tells the thread.
    pub fn of(path: &Path) -> Option<Thread> {
        let mut values = Reading::default().lines(path).ok()?;
        let mut reading = Reading::default();
        let mut thread = Thread { path: path.to_path_buf(), ..Thread::default() };
        let first = reading.next(&mut values).ok()??;
        thread.first = first.get("ordinal").count().unwrap_or(0);
        if thread.tell(first).is_none() {
            thread.start = time::written(first.get("timestamp"));
            let (id, log) = ids_in(path).unwrap_or_default();
            if log.as_ref().is_some_and(|log| *log != id) {
                // Its first record has the number of the first one that it does not go on from.
                (thread.parent, thread.is_torn) = (Some(id.clone()), true);
                thread.base = thread.first.checked_sub(1);
            }
            (thread.log, thread.id) = (log.unwrap_or_else(|| id.clone()), id);
            return (first.has("payload") || !thread.id.is_empty()).then_some(thread);
        }
        thread.log = ids_in(path).and_then(|(_, log)| log).unwrap_or_else(|| thread.id.clone());
        // A copy has the first record of what it copies too.
        let next = reading.next(&mut values).ok().flatten();
        if let Some(copied) = next.filter(|line| line.get("type").is("session_meta")) {
            let id = id_of(copied.get("payload")).filter(|id| *id != thread.id);
            thread.parent = thread.parent.or(id);
        }
        Some(thread)
    }

    fn tell(&mut self, line: Value<'_>) -> Option<()> {
        let is_meta = line.get("type").is("session_meta");
        // Older logs have the facts in the line itself, which has no type.
        let meta = if is_meta { line.get("payload") } else { line };
        self.id = id_of(meta).filter(|_| is_meta || !line.has("type"))?;
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

    /// True if its log goes on from an earlier log of the same thread, which was rewound.
    pub fn goes_on_itself(&self) -> bool {
        self.log != self.id
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
    /// Logs of each thread, the earliest first: one that was rewound goes on in another log.
    by_id: HashMap<String, Vec<usize>>,
    by_log: HashMap<String, usize>,
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
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, thread) in all.iter().enumerate() {
            by_id.entry(thread.id.clone()).or_default().push(place);
        }
        by_id.values_mut().for_each(|places| places.sort_by_key(|&place| (all[place].start, place)));
        let by_log =
            all.iter().enumerate().rev().map(|(place, thread)| (thread.log.clone(), place)).collect();
        Threads { all, by_id, by_log }
    }

    /// The logs of a thread, the earliest first.
    pub fn logs_of(&self, id: &str) -> impl DoubleEndedIterator<Item = &Thread> {
        self.by_id.get(id).into_iter().flatten().map(|&place| &self.all[place])
    }

    /// The first log of a thread.
    pub fn find(&self, id: &str) -> Option<&Thread> {
        self.logs_of(id).next()
    }

    /// The log that another one goes on from: the one of that id; of a thread with several where none is named, the
    /// last one before it that has the records it goes on from.
    pub fn before(&self, thread: &Thread) -> Option<&Thread> {
        let named = thread.parent.as_ref().filter(|_| !thread.is_torn);
        let named = named.and_then(|id| self.by_log.get(id)).map(|&place| &self.all[place]);
        if let Some(named) = named.filter(|log| log.path != thread.path) {
            return Some(named);
        }
        let goes_on = |log: &&Thread| {
            let has = thread.base.is_none_or(|end| log.first < end);
            log.path != thread.path && log.start <= thread.start && has
        };
        let id = thread.parent.as_ref()?;
        let before = self.logs_of(id).rev().find(goes_on);
        before.or_else(|| self.find(id).filter(|log| log.id != thread.id))
    }

    /// The moment from which on a thread goes on in a later log than this one.
    pub fn until(&self, thread: &Thread) -> Option<u64> {
        let mut later = self.logs_of(&thread.id).skip_while(|log| log.path != thread.path).skip(1);
        later.next()?.start
    }
}

/// The id of a thread in its first record.
fn id_of(meta: Value<'_>) -> Option<String> {
    meta.get("id").said().or_else(|| meta.get("session_id").said())
}

/// The id of a thread in the name of its log, `rollout-TIME-ID.jsonl`, and that of the log where it goes on from
/// another one of the thread: `rollout-TIME-ID_LOG.jsonl`.
fn ids_in(path: &Path) -> Option<(String, Option<String>)> {
    /// `01a0ae76-2436-7590-9a11-000000000001`
    const UUID: usize = 36;
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    let (stem, log) = stem.split_once('_').map_or((stem, None), |(stem, log)| (stem, Some(log.to_string())));
    let id = stem.get(stem.len().checked_sub(UUID)?..)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (name.starts_with("rollout-") && is_id).then(|| (id.to_string(), log))
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
    let mut logs = files_below(folder, DEPTH);
    logs.retain(|path| is_log(path));
    logs
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}
