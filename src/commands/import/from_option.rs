//! Sessions about a directory where this repository was before: `--from`.

use std::path::{Component, Path, PathBuf};

use super::args::ImportArgs;
use super::database::read_database;
use super::former_dirs::{LoggedDir, none_about};
use super::sources::{self, SourceGroup};
use crate::commands::Context;
use crate::term::{StatusLine, print_status};
use lepo_base::error::{Error, Result};
use lepo_import::{SourceFormat, SourceReader, is_below};
use lepo_store::store::Store;

/// Returns a tool's sessions about this repository and about `from`.
pub fn choose_from(args: &ImportArgs, from: &Path, context: &Context<'_>) -> Result<Vec<SourceGroup>> {
    let (format, word) = format_of(args)?;
    let from = absolute(from, context.cwd());
    let chosen = sources::own_groups(word)?;
    let there = sources::logs_of(&chosen);
    let is_about = sources::about(there_groups(&there), std::slice::from_ref(&from));
    if !has_session(&is_about)? {
        return Err(none_about(word, &from, &LoggedDir::read_all(&there)));
    }
    let mut dirs = sources::directories(context)?;
    dirs.extend(sources::remembered_dirs(format, context)?);
    dirs.push(from);
    Ok(sources::about(chosen, &dirs))
}

/// Whether any source has a session. Databases must be read: their paths do not say which directories they have.
fn has_session(chosen: &[SourceGroup]) -> Result<bool> {
    let mut has_one = false;
    for SourceGroup { format, paths, about, .. } in chosen {
        if *format != SourceFormat::Database {
            return Ok(true);
        }
        for path in paths {
            read_database(path, &mut SourceReader::default(), &mut |_, conversation| {
                let dir = conversation.dir.as_deref();
                has_one |= dir.is_some_and(|dir| about.iter().any(|about| is_below(dir, about)));
                Ok(())
            })?;
        }
    }
    Ok(has_one)
}

/// Remembers the directory in the store's journal.
pub fn remember(args: &ImportArgs, from: &Path, store: &Store) -> Result<()> {
    let (format, _) = format_of(args)?;
    let from = absolute(from, &std::env::current_dir().unwrap_or_default());
    if !store.journal().add_import_dir(format.as_str(), &from.to_string_lossy())? {
        print_status(&StatusLine::note(
            "--from is not remembered: there is no key in lepo's state directory".to_string(),
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
