//! The threads of Codex, from the first record of each log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::json::JsonValue;
use super::source::{SourceReader, files_below, files_in};
use super::time;

/// Maximum depth of the logs below their folder, which sorts them by year, month and day.
const DEPTH: usize = 5;

#[derive(Debug, Clone, Default)]
pub struct CodexThread {
    pub path: PathBuf,
    pub id: String,
    /// The directory that it is about.
    pub dir: Option<String>,
    /// Milliseconds since 1970.
    pub start: Option<u64>,
    /// The thread that it continues.
    pub parent: Option<String>,
    /// The log has no copy of its parent: it continues the parent's records before this ordinal.
    pub base: Option<u64>,
    /// The thread that started this subagent.
    pub begun_by: Option<String>,
    /// Records before this ordinal are its parent's.
    pub own_from: u64,
    /// The ordinal of its first record.
    first: u64,
    /// The id of its log, to which logs that continue it refer; a thread's first log has the thread's id.
    log: String,
    /// Only the file's name tells which thread the log continues: a log of the same thread.
    is_torn: bool,
}

impl CodexThread {
    /// Reads the first record of a log, and of which thread a copy follows. If that record is malformed or missing, the
    /// id comes from the file's name.
    pub fn read(path: &Path) -> Option<CodexThread> {
        let mut values = SourceReader::default().lines(path).ok()?;
        let mut reading = SourceReader::default();
        let mut thread = CodexThread { path: path.to_path_buf(), ..CodexThread::default() };
        let mut first = reading.next(&mut values).ok()??;
        // The values within a cut record.
        while !first.is_object() {
            first = reading.next(&mut values).ok()??;
        }
        thread.first = first.get("ordinal").count().unwrap_or(0);
        if thread.read_meta(first).is_none() {
            thread.start = time::written(first.get("timestamp"));
            let (id, log) = ids_in(path).unwrap_or_default();
            if log.as_ref().is_some_and(|log| *log != id) {
                // Its first ordinal is the end of the records that it continues.
                (thread.parent, thread.is_torn) = (Some(id.clone()), true);
                thread.base = thread.first.checked_sub(1);
            }
            (thread.log, thread.id) = (log.unwrap_or_else(|| id.clone()), id);
            return (first.has("payload") || !thread.id.is_empty()).then_some(thread);
        }
        thread.log = ids_in(path).and_then(|(_, log)| log).unwrap_or_else(|| thread.id.clone());
        // A copy also has the first record of the thread that it copies.
        let next = reading.next(&mut values).ok().flatten();
        if let Some(copied) = next.filter(|line| line.get("type").is_str("session_meta")) {
            let id = id_of(copied.get("payload")).filter(|id| *id != thread.id);
            thread.parent = thread.parent.or(id);
        }
        Some(thread)
    }

    fn read_meta(&mut self, line: JsonValue<'_>) -> Option<()> {
        let is_meta = line.get("type").is_str("session_meta");
        // Older logs have the facts in the line itself, which has no type.
        let meta = if is_meta { line.get("payload") } else { line };
        self.id = id_of(meta).filter(|_| is_meta || !line.has("type"))?;
        self.dir = meta.get("cwd").non_empty();
        self.start = time::written(meta.get("timestamp"));
        let base = meta.get("history_base");
        self.parent = base.get("thread_id").non_empty().or_else(|| meta.get("forked_from_id").non_empty());
        self.base = base.get("end_ordinal_exclusive").count();
        let spawned = meta.at(&["source", "subagent", "thread_spawn", "parent_thread_id"]);
        self.begun_by = meta.get("parent_thread_id").non_empty().or_else(|| spawned.non_empty());
        self.own_from = meta.get("subagent_history_start_ordinal").count().unwrap_or(0);
        Some(())
    }

    /// Whether its log continues an earlier log of the same thread, which was rewound.
    pub fn continues_itself(&self) -> bool {
        self.log != self.id
    }

    /// Whether it is a subagent that thread `id` started.
    pub fn begun_by(&self, id: &str) -> bool {
        self.begun_by.as_deref() == Some(id)
    }
}

/// Returns the commit at which a thread of Codex began, if its log has it.
pub fn commit_of(log: &Path) -> Option<String> {
    let mut reading = SourceReader::default();
    let mut values = reading.lines(log).ok()?;
    let first = reading.next(&mut values).ok()??;
    let commit = first.at(&["payload", "git", "commit_hash"]).non_empty()?;
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(commit)
}

#[derive(Debug, Default)]
pub struct CodexThreads {
    /// In the order of their paths.
    pub all: Vec<CodexThread>,
    /// The logs of each thread, the earliest first: a rewound thread continues in another log.
    by_id: HashMap<String, Vec<usize>>,
    by_log: HashMap<String, usize>,
}

impl CodexThreads {
    /// Reads the threads of these logs, and of the folders of sessions that contain them.
    pub fn around(paths: &[PathBuf]) -> CodexThreads {
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
        let all: Vec<CodexThread> = logs.iter().filter_map(|path| CodexThread::read(path)).collect();
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, thread) in all.iter().enumerate() {
            by_id.entry(thread.id.clone()).or_default().push(index);
        }
        by_id.values_mut().for_each(|indices| indices.sort_by_key(|&index| (all[index].start, index)));
        let by_log =
            all.iter().enumerate().rev().map(|(index, thread)| (thread.log.clone(), index)).collect();
        CodexThreads { all, by_id, by_log }
    }

    /// Returns the logs of a thread, the earliest first.
    pub fn logs_of(&self, id: &str) -> impl DoubleEndedIterator<Item = &CodexThread> {
        self.by_id.get(id).into_iter().flatten().map(|&index| &self.all[index])
    }

    /// Returns the first log of a thread.
    pub fn find(&self, id: &str) -> Option<&CodexThread> {
        self.logs_of(id).next()
    }

    /// Returns the log that another one continues: the log with the parent's id, else the last earlier log of the
    /// parent thread that has the records, else the parent's first log.
    pub fn before(&self, thread: &CodexThread) -> Option<&CodexThread> {
        let named = thread.parent.as_ref().filter(|_| !thread.is_torn);
        let named = named.and_then(|id| self.by_log.get(id)).map(|&index| &self.all[index]);
        if let Some(named) = named.filter(|log| log.path != thread.path) {
            return Some(named);
        }
        let goes_on = |log: &&CodexThread| {
            let has = thread.base.is_none_or(|end| log.first < end);
            log.path != thread.path && log.start <= thread.start && has
        };
        let id = thread.parent.as_ref()?;
        let before = self.logs_of(id).rev().find(goes_on);
        before.or_else(|| self.find(id).filter(|log| log.id != thread.id))
    }

    /// Returns the start of the thread's next log, if it continues in one.
    pub fn until(&self, thread: &CodexThread) -> Option<u64> {
        let mut later = self.logs_of(&thread.id).skip_while(|log| log.path != thread.path).skip(1);
        later.next()?.start
    }
}

/// Returns the id of a thread from its first record.
fn id_of(meta: JsonValue<'_>) -> Option<String> {
    meta.get("id").non_empty().or_else(|| meta.get("session_id").non_empty())
}

/// Parses the name of a log: the id of a thread, `rollout-TIME-ID.jsonl`, and the log's own id if it continues another
/// log of the thread, `rollout-TIME-ID_LOG.jsonl`.
fn ids_in(path: &Path) -> Option<(String, Option<String>)> {
    /// Length of `01a0ae76-2436-7590-9a11-000000000001`.
    const UUID: usize = 36;
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    let (stem, log) = stem.split_once('_').map_or((stem, None), |(stem, log)| (stem, Some(log.to_string())));
    let id = stem.get(stem.len().checked_sub(UUID)?..)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (name.starts_with("rollout-") && is_id).then(|| (id.to_string(), log))
}

/// Returns the folder `sessions` or `archived_sessions` above a log, else its own folder.
fn home_of(path: &Path) -> Option<PathBuf> {
    let mut above = path.ancestors().skip(1).take(DEPTH);
    above.find(|folder| is_home(folder)).or(path.parent()).map(Path::to_path_buf)
}

fn is_home(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions")
}

pub fn logs_in(folder: &Path) -> Vec<PathBuf> {
    let mut logs = files_below(folder, DEPTH);
    logs.retain(|path| is_log(path));
    logs
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}
