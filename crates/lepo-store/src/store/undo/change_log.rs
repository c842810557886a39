//! `_undo.ndjson`: a line for each change, written before the change is made.
//!
//! A line begins with its state, which is overwritten once the change is made: that needs no space on the
//! disk. A line counts only with a proof by this machine's key for this store.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memmem;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::super::dir::{FILE, regular};
use super::super::handle::Store;
use super::super::proof::Statement;
use super::change::{Change, ChangeDirection, RemovedFolder};
use lepo_base::error::{Error, Result};

const CHANGES: &str = "_undo.ndjson";

/// Maximum number of lines, besides those whose folder in `_removed/` is not emptied yet.
const MOST_LINES: usize = 1_000;

const BEGUN: &[u8] = b"{\"state\":\"begun\"";
const ENDED: &[u8] = b"{\"state\":\"ended\"";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChangeState {
    Begun,
    Ended,
}

#[derive(Serialize, Deserialize)]
struct ChangeLine {
    state: ChangeState,
    proof: String,
    change: Change,
}

/// The fields of a change before its messages, branches and titles.
#[derive(Deserialize)]
struct ChangeHead {
    n: u64,
    #[serde(default)]
    folder: Option<RemovedFolder>,
}

/// The fields of a change that may be long, in the form in which they follow the head.
const LONG_FIELDS: [&str; 5] =
    [",\"removed\":", ",\"added\":", ",\"dropped\":", ",\"branches\":", ",\"titles\":"];

/// Maximum bytes of a head: two numbers, a command, a direction and two names of folders.
const LONGEST_HEAD: usize = 512;

/// A line with its offset in the file. Only its head is parsed until the change is asked for: a list may have millions
/// of messages, and most commands need none of them.
pub(super) struct LoggedChange {
    pub at: u64,
    pub state: ChangeState,
    head: ChangeHead,
    /// The change as JSON.
    bytes: Vec<u8>,
    change: OnceCell<Option<Change>>,
}

impl LoggedChange {
    /// Parses a line that lepo wrote, as far as needed; `None` for any other line, and for one without a proof.
    fn parse_proven(store: &Store, at: u64, line: &[u8]) -> Option<LoggedChange> {
        let states = [(BEGUN, ChangeState::Begun), (ENDED, ChangeState::Ended)];
        let (rest, state) =
            states.into_iter().find_map(|(prefix, state)| Some((line.strip_prefix(prefix)?, state)))?;
        let rest = rest.strip_prefix(b",\"proof\":\"")?;
        let (proof, rest) = rest.split_at_checked(memchr::memchr(b'"', rest)?)?;
        let bytes = rest.strip_prefix(b"\",\"change\":")?.strip_suffix(b"}\n")?;
        if !store.is_proven(Statement::Change(bytes), std::str::from_utf8(proof).ok()?) {
            return None;
        }
        // The bytes are lepo's own, so the first of these is not within a string.
        let begin = bytes.get(..LONGEST_HEAD).unwrap_or(bytes);
        let end = LONG_FIELDS.iter().filter_map(|field| memmem::find(begin, field.as_bytes())).min();
        let head = match end {
            Some(end) => serde_json::from_slice(&[bytes.get(..end)?, b"}"].concat()),
            None => serde_json::from_slice(bytes),
        };
        Some(LoggedChange { at, state, head: head.ok()?, bytes: bytes.to_vec(), change: OnceCell::new() })
    }

    #[cfg(test)]
    pub fn is_parsed(&self) -> bool {
        self.change.get().is_some()
    }

    /// Parses the change. `None` if a later lepo wrote it in another form.
    pub fn change(&self) -> Option<&Change> {
        self.change.get_or_init(|| serde_json::from_slice(&self.bytes).ok()).as_ref()
    }
}

/// The lines of the list that count, oldest first.
#[derive(Default)]
pub struct ChangeLog {
    pub(super) lines: Vec<LoggedChange>,
    /// Lines without this machine's proof.
    pub unproven: usize,
    /// Number of lines in the file.
    count: usize,
}

/// A change, and whether it is taken back.
#[derive(Debug, Clone)]
pub struct ListedChange<'l> {
    /// The line that made it first, or its oldest remaining line.
    pub first: &'l Change,
    /// All lines that made it first: an import in several steps has several.
    pub steps: Vec<&'l Change>,
    /// The line that made it last, or took it back.
    pub last: &'l Change,
}

impl ListedChange<'_> {
    pub fn is_taken_back(&self) -> bool {
        self.last.direction == ChangeDirection::Undo
    }
}

impl ChangeLog {
    pub(super) fn read(store: &Store) -> Result<ChangeLog> {
        let bytes = store.dir.read_file(CHANGES)?.unwrap_or_default();
        let (mut log, mut at) = (ChangeLog::default(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            log.count += 1;
            match LoggedChange::parse_proven(store, at, line) {
                Some(logged) => log.lines.push(logged),
                // Any other line is a torn one of a killed process: its change was not begun.
                None => {
                    log.unproven += usize::from(serde_json::from_slice::<ChangeLine>(line).is_ok());
                }
            }
            at += line.len() as u64;
        }
        Ok(log)
    }

    /// Returns the changes, newest first.
    pub fn changes(&self) -> Vec<ListedChange<'_>> {
        let mut changes: BTreeMap<u64, ListedChange<'_>> = BTreeMap::new();
        for change in self.lines.iter().filter_map(LoggedChange::change) {
            let new = || ListedChange { first: change, steps: Vec::new(), last: change };
            let listed = changes.entry(change.n).or_insert_with(new);
            listed.steps.extend((change.direction == ChangeDirection::First).then_some(change));
            listed.last = change;
        }
        changes.into_values().rev().collect()
    }

    /// Returns the newest change without effect, which a redo makes again.
    pub(super) fn last_taken_back(&self) -> Option<u64> {
        let taken_back: BTreeSet<u64> = self
            .changes()
            .iter()
            .filter(|change| change.is_taken_back())
            .map(|change| change.last.n)
            .collect();
        self.lines.iter().rev().map(|line| line.head.n).find(|n| taken_back.contains(n))
    }

    pub(super) fn next_number(&self) -> u64 {
        self.lines.iter().map(|line| line.head.n).max().unwrap_or(0) + 1
    }

    /// Returns the folders of `_removed/` that a line names.
    pub fn folders(&self) -> BTreeSet<RemovedFolder> {
        self.lines.iter().filter_map(|line| line.head.folder).collect()
    }

    /// Appends a line, durable when this returns. First cuts old lines if there are too many.
    pub(super) fn append(
        &mut self,
        store: &Store,
        change: &Change,
        has_folder: &dyn Fn(&RemovedFolder) -> bool,
    ) -> Result<u64> {
        if self.count >= MOST_LINES {
            self.cut(store, has_folder)?;
            *self = ChangeLog::read(store)?;
        }
        let bytes = begun_line(store, change)?;
        store.dir.append_durably(CHANGES, &bytes)?;
        let failed = |error| store.dir.error("cannot read", CHANGES, error);
        let end = store.dir.open_file(CHANGES).and_then(|file| file.metadata()).map_err(failed)?.len();
        let at = end - bytes.len() as u64;
        self.lines.push(LoggedChange {
            at,
            state: ChangeState::Begun,
            head: ChangeHead { n: change.n, folder: change.folder },
            bytes: Vec::new(),
            change: OnceCell::from(Some(change.clone())),
        });
        self.count += 1;
        Ok(at)
    }

    /// Drops the oldest lines, except those whose folder is not emptied yet.
    fn cut(&self, store: &Store, has_folder: &dyn Fn(&RemovedFolder) -> bool) -> Result<()> {
        let bytes = store.dir.read_file(CHANGES)?.unwrap_or_default();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let first = lines.len().saturating_sub(MOST_LINES - 1);
        let is_needed: BTreeMap<u64, bool> = self
            .lines
            .iter()
            .map(|line| (line.at, line.head.folder.as_ref().is_some_and(has_folder)))
            .collect();
        let (mut rest, mut at) = (Vec::new(), 0);
        for (number, line) in lines.into_iter().enumerate() {
            if number >= first || is_needed.get(&at).copied().unwrap_or_default() {
                rest.extend(line);
            }
            at += line.len() as u64;
        }
        store.dir.put_file(Path::new(CHANGES), &rest)
    }

    /// Replaces the lines that `edit` changes, with new proofs.
    pub(super) fn rewrite(&mut self, store: &Store, edit: &mut dyn FnMut(&mut Change) -> bool) -> Result<()> {
        let mut change_line = |line: &[u8]| {
            let mut parsed = serde_json::from_slice::<ChangeLine>(line).ok()?;
            if !is_proven(store, &parsed) || !edit(&mut parsed.change) {
                return None;
            }
            parsed.proof = prove(store, &parsed.change);
            let mut bytes = serde_json::to_vec(&parsed).ok()?;
            bytes.push(b'\n');
            Some(bytes)
        };
        if store.dir.rewrite_lines(CHANGES, &mut change_line)? {
            *self = ChangeLog::read(store)?;
        }
        Ok(())
    }

    /// Records that the change of the line at this offset is made.
    pub(super) fn end(&mut self, store: &Store, at: u64) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(&store.dir, CHANGES, flags, FILE)?;
            let (file, _): (File, u64) = regular(opened)?;
            let mut found = [0; BEGUN.len()];
            file.read_exact_at(&mut found, at)?;
            if found == BEGUN { file.write_all_at(ENDED, at) } else { Ok(()) }
        };
        write().map_err(|error| store.dir.error("cannot write", CHANGES, error))?;
        if let Some(line) = self.lines.iter_mut().find(|line| line.at == at) {
            line.state = ChangeState::Ended;
        }
        Ok(())
    }
}

/// Returns the line of a change that is not made yet.
pub(super) fn begun_line(store: &Store, change: &Change) -> Result<Vec<u8>> {
    let line = ChangeLine { state: ChangeState::Begun, proof: prove(store, change), change: change.clone() };
    let mut bytes = serde_json::to_vec(&line)
        .map_err(|error| Error::store(format!("cannot write {CHANGES}")).because(error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns the bytes that a proof covers: the change, without its state.
fn proven_bytes(change: &Change) -> Vec<u8> {
    serde_json::to_vec(change).unwrap_or_default()
}

fn prove(store: &Store, change: &Change) -> String {
    store.proof(Statement::Change(&proven_bytes(change))).unwrap_or_default()
}

fn is_proven(store: &Store, line: &ChangeLine) -> bool {
    store.is_proven(Statement::Change(&proven_bytes(&line.change)), &line.proof)
}
