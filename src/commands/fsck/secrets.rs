//! `lepo fsck --secrets`: what in a store looks like a secret, without the secret.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::commands::Context;
use crate::commands::finder::finder;
use crate::commands::words::resolve_all;
use crate::term::{Progress, say};
use lepo_base::error::{Error, Result};
use lepo_secrets::Finder;
use lepo_store::bubb::Name;
use lepo_store::conv::Found;
use lepo_store::store::Store;

/// Folders that are not searched: one holds the truth of requests until they are decided on, and what a running process has open.
const LEFT_OUT: &[&str] = &["_wire", "_tmp"];

/// Other people's stores.
const FROM: &str = "_from";

/// A finding.
struct Finding {
    /// The message's id, or the path of another file in the store.
    subject: String,
    kind: &'static str,
    line: usize,
    /// The clone whose it is, if it is another's.
    of: Option<String>,
}

/// Looks, and lists what was found.
pub fn look(store: &Store, addresses: &[String], as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let finder = finder();
    let mut found = Vec::new();
    match addresses {
        [] => everywhere(store, &finder, &mut found)?,
        addresses => {
            for name in named(store, addresses)? {
                note(&finder, &store.bubbs().read(&name)?, &name.id.to_string(), None, &mut found);
            }
        }
    }
    if as_json {
        let findings = found.iter().map(|finding| {
            json!({ "subject": finding.subject, "kind": finding.kind, "line": finding.line, "from": finding.of })
        });
        context.out.line(&json!({ "findings": findings.collect::<Vec<_>>() }).to_string());
    } else {
        for Finding { subject, kind, line, of } in &found {
            let of = of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
            context.out.line(&format!("{subject} {kind} line {line}{of}"));
        }
    }
    let others: BTreeSet<&str> = found.iter().filter_map(|finding| finding.of.as_deref()).collect();
    for other in others {
        say(&format!("note: what is of {other} is for {other} to take out"));
    }
    Ok(u8::from(!found.is_empty()))
}

/// The messages of addresses.
fn named(store: &Store, addresses: &[String]) -> Result<Vec<Name>> {
    let forest = store.names().forest()?;
    let mut names = Vec::new();
    for found in resolve_all(store, (&forest, true), addresses)? {
        match found {
            Found::One(found) => names.push(forest.name(found.ix)),
            Found::Range(all) => names.extend(all.into_iter().map(|ix| forest.name(ix))),
        }
    }
    Ok(names)
}

/// Reads every file of the store.
fn everywhere(store: &Store, finder: &Finder, found: &mut Vec<Finding>) -> Result<()> {
    let root = store.path();
    let files = files(&root)?;
    let mut progress = Progress::new(false);
    let (mut seen, total) = (BTreeSet::new(), files.len() as u64);
    for (done, path) in (0..).zip(files) {
        progress.show("looking", done, total);
        let Some(bytes) = read(&path)? else { continue };
        let relative = path.strip_prefix(&root).unwrap_or(&path);
        let of = of(relative);
        let subject = match relative
            .file_name()
            .and_then(OsStr::to_str)
            .and_then(|file| Name::parse(file.as_bytes()))
        {
            // A tidying that was interrupted leaves two copies.
            Some(name) if !seen.insert((of.clone(), name.id)) => continue,
            Some(name) => name.id.to_string(),
            None => relative.to_string_lossy().into_owned(),
        };
        note(finder, &bytes, &subject, of, found);
    }
    Ok(())
}

/// The clone to which a path of a store belongs.
fn of(path: &Path) -> Option<String> {
    let mut parts = path.iter();
    let first = parts.next()?;
    (first == FROM).then(|| parts.next().map(|name| name.to_string_lossy().into_owned())).flatten()
}

/// Notes the secrets of a text, and ids of AWS by themselves, as `sync` holds them back; a binary file is not searched.
fn note(finder: &Finder, bytes: &[u8], subject: &str, of: Option<String>, found: &mut Vec<Finding>) {
    if is_binary(bytes) {
        return;
    }
    for secret in finder.find_with_ids(bytes) {
        let line = bytes.iter().take(secret.span.start).filter(|byte| **byte == b'\n').count() + 1;
        found.push(Finding { subject: subject.to_string(), kind: secret.kind, line, of: of.clone() });
    }
}

/// Bytes from the beginning of a file by which it is told whether it is text.
const LOOKED_AT: usize = 64 << 10;

/// True if one byte in ten is no text. A few that are none are in the output of many commands.
fn is_binary(bytes: &[u8]) -> bool {
    let begun = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let zeros = begun.iter().filter(|byte| **byte == 0).count();
    let invalid: usize = begun.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    // A text of variables has a zero behind each: `env -0`.
    invalid * 10 > begun.len() || zeros * 10 > begun.len()
}

/// The files below a directory, sorted, without links.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let failed = |path: &Path| {
        let shown = path.display().to_string();
        move |error| Error::store(format!("cannot read {shown}")).because(error)
    };
    let (mut waiting, mut files) = (vec![root.to_path_buf()], Vec::new());
    while let Some(dir) = waiting.pop() {
        for entry in dir.read_dir().map_err(failed(&dir))? {
            let entry = entry.map_err(failed(&dir))?;
            let kind = entry.file_type().map_err(failed(&dir))?;
            let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !is_left_out {
                waiting.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The bytes of a file; `None` if it is gone meanwhile.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::store(format!("cannot read {}", path.display())).because(error)),
    }
}
