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
use lepo_store::store::Store;

/// Folders that are not searched: one holds the truth of requests until they are decided on, and what a running process has open.
const LEFT_OUT: &[&str] = &["_wire", "_tmp"];

/// Other people's stores.
const FROM: &str = "_from";

/// A file of a store.
pub struct Searched {
    /// The path in the store.
    pub path: PathBuf,
    /// The message that it is, if it is one.
    pub message: Option<Name>,
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
        let name = path.file_name().and_then(OsStr::to_str);
        let message = name.and_then(|file| Name::parse(file.as_bytes()));
        // A tidying that was interrupted leaves two copies.
        if message.is_none_or(|name| seen.insert((of.clone(), name.id))) {
            each(Searched { path, message, of }, bytes);
        }
    }
    Ok(())
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
