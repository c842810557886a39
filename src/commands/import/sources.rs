//! Finds the sources of an import: paths whose format is recognised, or a tool's own folders.

use std::path::{Path, PathBuf};

use super::former_dirs::{LoggedDir, none_about};
use crate::commands::Context;
use crate::import::store_in;
use lepo_base::env;
use lepo_base::error::{Error, Result};
use lepo_import::{
    FORMATS, LogFolder, SourceFormat, SourceReader, ToolHistory, directory_of, find_histories, is_below,
    log_folders, recognise,
};

pub struct SourceGroup {
    pub format: SourceFormat,
    pub paths: Vec<PathBuf>,
    /// Directories to import conversations about, if only the conversations contain their directory; empty
    /// for all.
    pub about: Vec<PathBuf>,
    /// The sources are in the tool's own folder: no other program wrote them.
    pub is_own: bool,
}

pub fn choose(
    words: &[PathBuf],
    all: bool,
    context: &Context<'_>,
    reading: &mut SourceReader,
) -> Result<Vec<SourceGroup>> {
    let named = words.first().and_then(|word| word.to_str()).and_then(SourceFormat::parse);
    let named = named.filter(|_| words.len() > 1 || !words[0].exists());
    let paths = if named.is_some() { &words[1..] } else { words };
    if let (Some(format), []) = (named, paths) {
        let word = words[0].to_string_lossy();
        return own_sessions(format, &word, all, context);
    }
    let mut found = Vec::new();
    for path in paths {
        let path = expand(path);
        if named.is_none() && !path.exists() {
            let names: Vec<&str> = FORMATS.iter().map(|(name, ..)| *name).collect();
            return Err(Error::usage(format!("{} is neither a file nor a format", path.display()))
                .hint(format!("formats: {}", names.join(", "))));
        }
        let found_there = match store_in(&path) {
            Some(store) => Ok(vec![(SourceFormat::Lepo, store)]),
            None => recognise(&path, reading),
        };
        match (found_there, named) {
            (Ok(sources), None) => found.extend(sources),
            (Ok(sources), Some(format)) => {
                let (fits, others): (Vec<_>, Vec<_>) = sources
                    .into_iter()
                    .partition(|(found, _)| *found == format || is_other_form(format, *found));
                if let (true, Some((other, path))) = (fits.is_empty(), others.first()) {
                    return Err(Error::usage(format!(
                        "{} has the format {}, not {}",
                        path.display(),
                        other.as_str(),
                        format.as_str()
                    )));
                }
                reading.tally.skip("file of another format", others.len() as u64);
                found.extend(fits);
            }
            // The content is not recognised, but the user named the format.
            (Err(_), Some(format)) if path.is_file() => found.push((format, path)),
            (Err(error), _) => return Err(error),
        }
    }
    let mut chosen: Vec<SourceGroup> = Vec::new();
    for (format, path) in found {
        match chosen.iter_mut().find(|chosen| chosen.format == format) {
            Some(chosen) if chosen.paths.contains(&path) => {}
            Some(chosen) => chosen.paths.push(path),
            None => chosen.push(SourceGroup { format, paths: vec![path], about: Vec::new(), is_own: false }),
        }
    }
    Ok(chosen)
}

/// Since version 1.2, opencode stores its sessions in a database.
fn is_other_form(format: SourceFormat, found: SourceFormat) -> bool {
    format == SourceFormat::OpenCode && found == SourceFormat::Database
}

/// Expands a `~` that no shell expanded, unless a file has this name.
fn expand(path: &Path) -> PathBuf {
    let home = env::var("HOME").filter(|_| !path.exists());
    env::expand_home(path.to_path_buf(), home.as_deref().map(Path::new))
}

/// Returns a tool's own sessions on this machine: those about this repository, or all.
fn own_sessions(
    format: SourceFormat,
    word: &str,
    all: bool,
    context: &Context<'_>,
) -> Result<Vec<SourceGroup>> {
    let chosen = own_groups(word)?;
    if all {
        return Ok(chosen);
    }
    if !format.knows_directories() {
        return Err(Error::usage(format!(
            "{word} does not record which conversations are about this directory"
        ))
        .hint(format!("`lepo import {word} --all` takes all of them; or name a file")));
    }
    let own = directories(context)?;
    let dirs = [&own[..], &remembered_dirs(format, context)?].concat();
    let there = logs_of(&chosen);
    let chosen = about(chosen, &dirs);
    match own.first() {
        Some(dir) if chosen.is_empty() => Err(none_about(word, dir, &LoggedDir::read_all(&there))),
        _ => Ok(chosen),
    }
}

/// Returns all of a tool's own sources on this machine.
pub fn own_groups(word: &str) -> Result<Vec<SourceGroup>> {
    let is_meant = |history: &ToolHistory| {
        let is_any_database =
            word == SourceFormat::Database.as_str() && history.format == SourceFormat::Database;
        is_any_database || history.word == word
    };
    let mut chosen: Vec<SourceGroup> = Vec::new();
    for ToolHistory { format, sources, .. } in on_this_machine().into_iter().filter(is_meant) {
        match chosen.iter_mut().find(|chosen| chosen.format == format) {
            Some(chosen) => chosen.paths.extend(sources),
            None => chosen.push(SourceGroup { format, paths: sources, about: Vec::new(), is_own: true }),
        }
    }
    if chosen.is_empty() {
        return Err(Error::nothing(format!("no conversations of {word} on this machine"))
            .hint(format!("name a file or a folder: lepo import {word} PATH")));
    }
    // Databases first: older files with the same conversations are then skipped.
    chosen.sort_by_key(|chosen| chosen.format != SourceFormat::Database);
    Ok(chosen)
}

/// Returns those sources that are about one of these directories.
pub fn about(mut chosen: Vec<SourceGroup>, dirs: &[PathBuf]) -> Vec<SourceGroup> {
    for chosen in &mut chosen {
        match chosen.format {
            // Each conversation in a database contains its directory.
            SourceFormat::Database => chosen.about = dirs.to_vec(),
            format => chosen.paths.retain(|path| {
                directory_of(format, path)
                    .is_some_and(|its_dir| dirs.iter().any(|dir| is_below(&its_dir, dir)))
            }),
        }
    }
    chosen.retain(|chosen| !chosen.paths.is_empty());
    chosen
}

/// Returns the directories that earlier imports of a format were told with `--from`.
pub fn remembered_dirs(format: SourceFormat, context: &Context<'_>) -> Result<Vec<PathBuf>> {
    let Some(store) = context.find_store()? else { return Ok(Vec::new()) };
    let dirs = store.journal().import_choices().dirs.into_iter();
    Ok(dirs
        .filter(|(its_format, _)| its_format == format.as_str())
        .map(|(_, dir)| PathBuf::from(dir))
        .collect())
}

/// Returns the store's directory, and in a linked worktree also the main one's.
pub fn directories(context: &Context<'_>) -> Result<Vec<PathBuf>> {
    let mut dirs = match context.find_store()? {
        Some(store) => {
            let main = store.path().parent().filter(|_| store.is_linked()).map(Path::to_path_buf);
            [Some(store.root().to_path_buf()), main].into_iter().flatten().collect()
        }
        None => vec![context.cwd().to_path_buf()],
    };
    dirs.iter_mut().for_each(|dir| *dir = dir.canonicalize().unwrap_or(std::mem::take(dir)));
    Ok(dirs)
}

/// Returns the sources with their formats.
pub fn logs_of(chosen: &[SourceGroup]) -> Vec<(SourceFormat, PathBuf)> {
    let logs = |group: &SourceGroup| -> Vec<_> {
        group.paths.iter().map(|path| (group.format, path.clone())).collect()
    };
    chosen.iter().flat_map(logs).collect()
}

/// Returns the home directory and the lookup of variables by which tools' folders are found.
fn environment() -> Option<(PathBuf, impl Fn(&str) -> Option<PathBuf>)> {
    let home = env::var("HOME").map(PathBuf::from)?;
    let variable = |name: &str| {
        let value = env::var(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    Some((home, variable))
}

pub fn on_this_machine() -> Vec<ToolHistory> {
    environment().map_or_else(Vec::new, |(home, variable)| find_histories(&home, &variable))
}

/// Returns the folders into which tools write logs, whether they exist or not.
pub fn folders_on_this_machine() -> Vec<LogFolder> {
    environment().map_or_else(Vec::new, |(home, variable)| log_folders(&home, &variable))
}
