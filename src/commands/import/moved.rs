//! Sessions about a directory where this repository was before: `--from`, and the search for such directories.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::ImportArgs;
use super::sources::{self, SourceGroup};
use crate::commands::Context;
use crate::term::{StatusLine, one_line, print_status};
use lepo_base::error::{Error, Result};
use lepo_base::work_tree::{WorkTree, has_commit};
use lepo_import::{SourceFormat, commit_of, directory_of};
use lepo_store::store::Store;

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

/// Returns a tool's sessions about this repository and about `from`.
pub fn choose_from(args: &ImportArgs, from: &Path, context: &Context<'_>) -> Result<Vec<SourceGroup>> {
    let (format, word) = format_of(args)?;
    let from = absolute(from, context.cwd());
    let chosen = sources::own_groups(word)?;
    let there = sources::logs_of(&chosen);
    let is_about = sources::about(there_groups(&there), std::slice::from_ref(&from));
    if is_about.is_empty() {
        return Err(none_about(word, &from, &LoggedDir::read_all(&there)));
    }
    let mut dirs = sources::directories(context)?;
    dirs.extend(sources::remembered(format, context)?);
    dirs.push(from);
    Ok(sources::about(chosen, &dirs))
}

/// Remembers the directory in the store's journal.
pub fn remember(args: &ImportArgs, from: &Path, store: &Store) -> Result<()> {
    let (format, _) = format_of(args)?;
    let from = absolute(from, &std::env::current_dir().unwrap_or_default());
    if !store.journal().add_import_dir(format.as_str(), &from.to_string_lossy())? {
        print_status(&StatusLine::note(
            "--from is not remembered: there is no key in lepo's state folder".to_string(),
        ));
    }
    Ok(())
}

/// Returns the single format of an import with `--from`.
fn format_of(args: &ImportArgs) -> Result<(SourceFormat, &str)> {
    let word = match &args.words[..] {
        [word] => word.to_str(),
        _ => None,
    };
    let format = word.and_then(SourceFormat::parse).filter(|format| format.knows_directories());
    word.zip(format).map(|(word, format)| (format, word)).ok_or_else(|| {
        Error::usage("--from takes one format that records directories")
            .hint("like `lepo import claude-code --from OLD-DIRECTORY`; also codex, gemini-cli, opencode, pi")
    })
}

/// Returns the groups of these sources.
fn there_groups(logs: &[(SourceFormat, PathBuf)]) -> Vec<SourceGroup> {
    let mut groups: Vec<SourceGroup> = Vec::new();
    for (format, path) in logs {
        match groups.iter_mut().find(|group| group.format == *format) {
            Some(group) => group.paths.push(path.clone()),
            None => groups.push(SourceGroup {
                format: *format,
                paths: vec![path.clone()],
                about: Vec::new(),
                is_own: true,
            }),
        }
    }
    groups
}

/// Makes a path absolute, without `.` and `..`; it may no longer exist.
fn absolute(path: &Path, cwd: &Path) -> PathBuf {
    let path = cwd.join(path);
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = clean.pop(),
            part => clean.push(part),
        }
    }
    clean
}

/// The error for a directory without sessions. It names directories that are gone and may be this one's former path.
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

/// Returns directories of sessions that no longer exist, with the number of sessions, most first: those with the same
/// last name, and those at a commit that this repository has.
fn former_dirs(dir: &Path, sessions: &[LoggedDir]) -> Vec<(String, usize)> {
    let mut gone: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let tree = WorkTree::containing(dir).filter(|tree| tree.is_taken);
    let mut lookups = 0;
    for LoggedDir { dir: of, log } in sessions {
        let Some(of) = of.as_ref().filter(|of| !Path::new(of).exists()) else { continue };
        let is_named_so = dir.file_name().is_some() && Path::new(of).file_name() == dir.file_name();
        let (count, is_former) = gone.entry(of.clone()).or_insert((0, is_named_so));
        *count += 1;
        if !*is_former
            && lookups < MOST_COMMITS
            && let (Some(tree), Some(commit)) = (&tree, log.as_ref().and_then(|log| commit_of(log)))
        {
            lookups += 1;
            *is_former = has_commit(&tree.root, &commit);
        }
    }
    let mut former: Vec<(String, usize)> = gone
        .into_iter()
        .filter(|(_, (_, is_former))| *is_former)
        .map(|(dir, (count, _))| (dir, count))
        .collect();
    former.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    former
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_gone_is_made_absolute_by_its_text() {
        for (path, absolute_path) in [
            ("/gone/a", "/gone/a"),
            ("/gone/a/", "/gone/a"),
            ("gone", "/nowhere/work/gone"),
            ("../gone/./x", "/nowhere/gone/x"),
        ] {
            assert_eq!(
                absolute(Path::new(path), Path::new("/nowhere/work")),
                Path::new(absolute_path),
                "{path}"
            );
        }
    }
}
