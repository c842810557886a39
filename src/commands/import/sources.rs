//! Finds the sources of an import: paths whose format is recognised, or a tool's own folders.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Stdio};
use std::thread;

use crate::commands::Context;
use crate::import::store_in;
use lepo_base::env;
use lepo_base::error::{Error, Result};
use lepo_base::search_path::{self, own_program};
use lepo_import::{
    FORMATS, History, SourceFormat, SourceReader, ToolHistory, find_histories, is_about, read_stream,
    recognise,
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
        return own(format, &word, all, context);
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

/// Expands a `~/` that no shell expanded.
fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), env::var("HOME")) {
        (Ok(rest), Some(home)) if !path.exists() => PathBuf::from(home).join(rest),
        _ => path.to_path_buf(),
    }
}

/// Returns a tool's own sessions on this machine: those about this repository, or all.
fn own(format: SourceFormat, word: &str, all: bool, context: &Context<'_>) -> Result<Vec<SourceGroup>> {
    let is_meant = |place: &ToolHistory| {
        let is_any_database =
            word == SourceFormat::Database.as_str() && place.format == SourceFormat::Database;
        is_any_database || place.word == word
    };
    let places: Vec<ToolHistory> = on_this_machine().into_iter().filter(is_meant).collect();
    let there: Vec<PathBuf> = places.iter().flat_map(|place| place.sources.iter().cloned()).collect();
    if there.is_empty() {
        return Err(Error::nothing(format!("no conversations of {word} on this machine"))
            .hint(format!("name a file or a folder: lepo import {word} PATH")));
    }
    let count = there.len();
    let mut chosen: Vec<SourceGroup> = Vec::new();
    for ToolHistory { format, sources, .. } in places {
        match chosen.iter_mut().find(|chosen| chosen.format == format) {
            Some(chosen) => chosen.paths.extend(sources),
            None => chosen.push(SourceGroup { format, paths: sources, about: Vec::new(), is_own: true }),
        }
    }
    // Databases first: older files with the same conversations are then skipped.
    chosen.sort_by_key(|chosen| chosen.format != SourceFormat::Database);
    if all {
        return Ok(chosen);
    }
    if !format.knows_directories() {
        return Err(Error::usage(format!(
            "{word} does not record which conversations are about this directory"
        ))
        .hint(format!("`lepo import {word} --all` takes all of them; or name a file")));
    }
    let dirs = directories(context)?;
    for chosen in &mut chosen {
        match chosen.format {
            // Each conversation in a database contains its directory.
            SourceFormat::Database => chosen.about = dirs.clone(),
            format => chosen.paths.retain(|path| dirs.iter().any(|dir| is_about(format, path, dir))),
        }
    }
    chosen.retain(|chosen| !chosen.paths.is_empty());
    match dirs.first() {
        Some(dir) if chosen.is_empty() => Err(none_about(word, dir, count)),
        _ => Ok(chosen),
    }
}

/// Returns the store's directory, and in a linked worktree also the main one's.
fn directories(context: &Context<'_>) -> Result<Vec<PathBuf>> {
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

pub fn none_about(word: &str, dir: &Path, count: usize) -> Error {
    Error::nothing(format!("no conversations of {word} are about {}", dir.display()))
        .hint(format!("`lepo import {word} --all` takes all {count}, of every directory"))
}

pub fn on_this_machine() -> Vec<ToolHistory> {
    let Some(home) = env::var("HOME").map(PathBuf::from) else { return Vec::new() };
    let variable = |name: &str| {
        let value = env::var(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    find_histories(&home, &variable)
}

/// The program that reads databases.
const PROGRAM: &str = "lepo-import-db";

/// Maximum bytes to read of its error output.
const MOST_COMPLAINT: u64 = 4096;

pub fn database(
    path: &Path,
    reading: &mut SourceReader,
    each: &mut dyn FnMut(&str, History) -> Result<()>,
) -> Result<()> {
    let program = own_program(PROGRAM).unwrap_or_else(|| PROGRAM.into());
    read_from(&program, path, reading, each)
}

fn read_from(
    program: &Path,
    path: &Path,
    reading: &mut SourceReader,
    each: &mut dyn FnMut(&str, History) -> Result<()>,
) -> Result<()> {
    let mut child = search_path::command(program)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Error::usage(format!(
                "{} is a database, and the program {PROGRAM} is not \
                installed",
                path.display()
            ))
            .because(error)
            .hint("build it: cargo install --path crates/lepo-import-db")
        })?;
    // Both pipes are read concurrently: a program with much output on one of them would block.
    let err = child.stderr.take();
    let complaint = thread::spawn(move || err.map(beginning).unwrap_or_default());
    let told = match child.stdout.take() {
        Some(out) => read_stream(BufReader::with_capacity(1 << 18, out), reading, each),
        None => Ok(()),
    };
    let complaint = complaint.join().unwrap_or_default();
    let ended = child.wait();
    told?;
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(match complaint.lines().find_map(|line| line.strip_prefix("error: ")) {
            Some(why) => Error::usage(why),
            None => Error::usage(format!("{} could not be read as a database", path.display())),
        }),
        Err(error) => Err(Error::usage(format!("{PROGRAM} failed")).because(error)),
    }
}

/// Returns the first bytes of the error output, and drains the rest.
fn beginning(mut err: ChildStderr) -> String {
    let mut complaint = Vec::new();
    let _ = err.by_ref().take(MOST_COMPLAINT).read_to_end(&mut complaint);
    let _ = io::copy(&mut err, &mut io::sink());
    String::from_utf8_lossy(&complaint).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_that_complains_at_length_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let script = "#!/bin/sh\necho 'error: no such table' >&2\nhead -c 300000 /dev/zero >&2\nexit 2\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let read = read_from(&program, Path::new("x.db"), &mut SourceReader::default(), &mut |_, _| Ok(()));
        assert_eq!(read.unwrap_err().message, "no such table");
    }
}
