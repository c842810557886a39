//! Enumerates the files of a store to search for secrets.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::term::ProgressMeter;
use lepo_base::error::{Error, Result};
use lepo_secrets::is_binary;
use lepo_store::bubb::BubbName;
use lepo_store::store::{OLD, Store};

/// Folders that are not searched: unmasked requests until they are decided, and files of running processes.
const LEFT_OUT: &[&str] = &["_wire", UNFINISHED];

const UNFINISHED: &str = "_tmp";

const FROM: &str = "_from";

pub struct SearchedFile {
    /// Within the store.
    pub path: PathBuf,
    /// The message, if the file is in a folder where messages are read.
    pub message: Option<BubbName>,
    /// The message that the file is named for, in a folder where none is read.
    pub named_for: Option<BubbName>,
    /// Clone that it belongs to, if not the user's own.
    pub clone_name: Option<String>,
}

impl SearchedFile {
    /// Returns the id of the message, or the path of another file in the store.
    pub fn subject(&self) -> String {
        match &self.message {
            Some(name) => name.id.to_string(),
            None => self.path.to_string_lossy().into_owned(),
        }
    }
}

/// Reads every text file of a store, each message once.
pub fn search(store: &Store, each: &mut dyn FnMut(SearchedFile, Vec<u8>)) -> Result<()> {
    let root = store.path();
    let files = files(&root)?;
    let mut progress = ProgressMeter::new(false);
    let (mut seen, total) = (BTreeSet::new(), files.len() as u64);
    for (done, path) in (0..).zip(files) {
        progress.show("looking", done, total);
        let Some(bytes) = read(&path)? else { continue };
        if is_binary(&bytes) {
            continue;
        }
        let path = path.strip_prefix(&root).unwrap_or(&path).to_path_buf();
        let clone_name = clone_of(&path);
        let name = path.file_name().and_then(OsStr::to_str).and_then(|file| BubbName::parse(file.as_bytes()));
        let (message, named_for) = if is_message_dir(&path) { (name, None) } else { (None, name) };
        // An interrupted tidy leaves two copies.
        if message.is_none_or(|name| seen.insert((clone_name.clone(), name.id))) {
            each(SearchedFile { path, message, named_for, clone_name }, bytes);
        }
    }
    Ok(())
}

/// Reads every text file in `_tmp/`: files being written, and files of processes that have ended.
pub fn search_unfinished(store: &Store, each: &mut dyn FnMut(PathBuf, Vec<u8>)) -> Result<()> {
    let (root, folder) = (store.path(), store.path().join(UNFINISHED));
    if !folder.is_dir() {
        return Ok(());
    }
    for path in files(&folder)? {
        if let Some(bytes) = read(&path)?.filter(|bytes| !is_binary(bytes)) {
            each(path.strip_prefix(&root).unwrap_or(&path).to_path_buf(), bytes);
        }
    }
    Ok(())
}

/// Whether a file at this path is read as a message: in the store itself, in a day of `_old/`, or likewise in
/// another user's store.
fn is_message_dir(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut parts: Vec<&OsStr> = folder.iter().collect();
    if parts.first().is_some_and(|first| *first == FROM) {
        parts.drain(..parts.len().min(2));
    }
    matches!(parts[..], []) || matches!(parts[..], [old, _, _] if old == OLD)
}

fn clone_of(path: &Path) -> Option<String> {
    let mut parts = path.iter();
    let first = parts.next()?;
    (first == FROM).then(|| parts.next().map(|name| name.to_string_lossy().into_owned())).flatten()
}

/// Lists the files below a directory, sorted; symbolic links are skipped.
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

/// Returns `None` if the file was deleted in the meantime.
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
