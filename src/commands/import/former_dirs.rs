//! Finds former paths of a repository among the directories of sessions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::term::one_line;
use lepo_base::error::Error;
use lepo_base::worktree::{Worktree, has_commit};
use lepo_import::{SourceFormat, commit_of, directory_of};

/// Maximum number of directories in a hint.
const MOST_NAMED: usize = 3;

/// Maximum number of commits to look up in a repository; each starts a process.
const MOST_COMMITS: usize = 50;

/// The directory of a session.
pub struct LoggedDir {
    /// `None` if the log does not contain it.
    pub dir: Option<String>,
    /// The log, if it may contain a commit.
    pub log: Option<PathBuf>,
}

impl LoggedDir {
    pub fn read_all(logs: &[(SourceFormat, PathBuf)]) -> Vec<LoggedDir> {
        let read = |(format, path): &(SourceFormat, PathBuf)| LoggedDir {
            dir: directory_of(*format, path),
            log: (*format == SourceFormat::Codex).then(|| path.clone()),
        };
        logs.iter().map(read).collect()
    }
}

/// Returns the error for a directory without sessions, which names former paths that it may have had.
pub fn none_about(word: &str, dir: &Path, sessions: &[LoggedDir]) -> Error {
    let error = Error::nothing(format!("no conversations of {word} are about {}", dir.display()));
    let former = former_dirs(dir, sessions);
    if former.is_empty() {
        let count = sessions.len();
        return error.hint(format!("`lepo import {word} --all` takes all {count}, of every directory"));
    }
    let named = former.iter().take(MOST_NAMED).map(|(from, count)| {
        let sessions = if *count == 1 { "1 session is".to_string() } else { format!("{count} sessions are") };
        let quoted = shlex::try_quote(from).map_or_else(|_| from.clone(), |quoted| quoted.into_owned());
        one_line(&format!("{sessions} about {from}, which is gone: lepo import {word} --from {quoted}"))
    });
    error.hint(named.collect::<Vec<_>>().join("\n"))
}

/// Returns directories of sessions that no longer exist, with the number of sessions: first those with the same last name
/// and those at a commit that this repository has, then those with the same parent, which a rename leaves. Both are sorted
/// by number of sessions.
fn former_dirs(dir: &Path, sessions: &[LoggedDir]) -> Vec<(String, usize)> {
    let mut gone: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let tree = Worktree::containing(dir).filter(|tree| tree.is_taken);
    let mut lookups = 0;
    for LoggedDir { dir: session_dir, log } in sessions {
        let Some(session_dir) = session_dir.as_ref().filter(|session_dir| !Path::new(session_dir).exists())
        else {
            continue;
        };
        let is_named_so = dir.file_name().is_some() && Path::new(session_dir).file_name() == dir.file_name();
        let (count, is_former) = gone.entry(session_dir.clone()).or_insert((0, is_named_so));
        *count += 1;
        if !*is_former
            && lookups < MOST_COMMITS
            && let (Some(tree), Some(commit)) = (&tree, log.as_ref().and_then(|log| commit_of(log)))
        {
            lookups += 1;
            *is_former = has_commit(&tree.root, &commit);
        }
    }
    let is_beside =
        |session_dir: &str| Path::new(session_dir).parent().is_some_and(|above| Some(above) == dir.parent());
    gone.retain(|session_dir, (_, is_former)| *is_former || is_beside(session_dir));
    let mut former: Vec<(String, (usize, bool))> = gone.into_iter().collect();
    former.sort_by_key(|(_, (count, is_former))| std::cmp::Reverse((*is_former, *count)));
    former.into_iter().map(|(dir, (count, _))| (dir, count)).collect()
}
