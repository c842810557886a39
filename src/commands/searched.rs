//! The files of a store that are searched for secrets.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::term::Progress;
use lepo_base::error::{Error, Result};
use lepo_secrets::is_binary;
use lepo_store::bubb::Name;
use lepo_store::store::{OLD, Store};

/// Folders that are not searched: one holds the truth of requests until they are decided on, and what a running process has open.
const LEFT_OUT: &[&str] = &["_wire", UNFINISHED];

/// What is being written.
const UNFINISHED: &str = "_tmp";

/// Other people's stores.
const FROM: &str = "_from";

/// A file of a store.
pub struct Searched {
    /// The path in the store.
    pub path: PathBuf,
    /// The message that it is, if it is one by its place.
    pub message: Option<Name>,
    /// The message whose name it has, in a folder where none is read.
    pub named_for: Option<Name>,
    /// The clone whose it is, if it is another's.
    pub of: Option<String>,
}

impl Searched {
    /// The message's id, or the path of another file in the store.
    pub fn subject(&self) -> String {
        match &self.message {
            Some(name) => name.id.to_string(),
            None => self.path.to_string_lossy().into_owned(),
        }
    }
}

/// Reads every file of a store that is text, each message once.
pub fn search(store: &Store, each: &mut dyn FnMut(Searched, Vec<u8>)) -> Result<()> {
    let root = store.path();
    let files = files(&root)?;
    let mut progress = Progress::new(false);
    let (mut seen, total) = (BTreeSet::new(), files.len() as u64);
    for (done, path) in (0..).zip(files) {
        progress.show("looking", done, total);
        let Some(bytes) = read(&path)? else { continue };
        if is_binary(&bytes) {
            continue;
        }
        let path = path.strip_prefix(&root).unwrap_or(&path).to_path_buf();
        let of = of(&path);
        let name = path.file_name().and_then(OsStr::to_str).and_then(|file| Name::parse(file.as_bytes()));
        let (message, named_for) = if is_place_of_messages(&path) { (name, None) } else { (None, name) };
        // A tidying that was interrupted leaves two copies.
        if message.is_none_or(|name| seen.insert((of.clone(), name.id))) {
            each(Searched { path, message, named_for, of }, bytes);
        }
    }
    Ok(())
}

/// Reads every file in `_tmp/` that is text: what is being written, and what an ended process left.
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

/// True if a file at this path of a store is read as a message: in the store itself, in a day of `_old/`, and the same
/// in another person's store.
fn is_place_of_messages(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut parts: Vec<&OsStr> = folder.iter().collect();
    if parts.first().is_some_and(|first| *first == FROM) {
        parts.drain(..parts.len().min(2));
    }
    matches!(parts[..], []) || matches!(parts[..], [old, _, _] if old == OLD)
}

/// The clone to which a path of a store belongs.
fn of(path: &Path) -> Option<String> {
    let mut parts = path.iter();
    let first = parts.next()?;
    (first == FROM).then(|| parts.next().map(|name| name.to_string_lossy().into_owned())).flatten()
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
