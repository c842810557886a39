//! Files that a sandboxed command changed and that a program may run. They need consent, even if the user agreed to
//! the program.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lepo_base::error::{Error, Result};
use lepo_base::hash::hash_of;
use lepo_tool::{NamedProgram, Reach, TouchedFiles, TouchedPaths, reach_of};

/// Maximum number of entries to examine in a folder that changed as a whole.
const MOST_ENTRIES: usize = 5000;

/// Maximum number of files in such a folder to ask about separately.
const MOST_FILES: usize = 100;

/// Prefixes of the hashes.
const LINK: &[u8] = b"program link";
const FOLDER: &[u8] = b"program folder";
const OTHER: &[u8] = b"program entry";

/// Folders whose paths mean something else at each access.
const NEVER_SAME: &[&str] = &["/proc", "/dev", "/sys"];

/// The files that commands changed, and those that a program may run.
pub(super) struct Touched {
    /// `None` if the program can run no file of the user.
    paths: Option<TouchedPaths>,
    reach: Reach,
}

/// A path that a command changed and that a program may run.
pub(super) struct TouchedEntry {
    pub path: PathBuf,
    pub form: EntryForm,
}

/// The kind of such a path.
pub(super) enum EntryForm {
    File,
    /// Not a regular file: the hash of its state, and a description.
    Other(String, String),
}

impl Touched {
    /// Reads the record once no command runs that concerns the program.
    pub fn by_commands(record: &TouchedFiles, program: &NamedProgram) -> Result<Touched> {
        let reach = reach_of(program);
        if reach.is_empty() {
            return Ok(Touched { paths: None, reach });
        }
        let paths = record.wait_for_changes(|folder| reach.meets(folder)).map_err(Error::usage)?;
        Ok(Touched { paths: Some(paths), reach })
    }

    /// Whether a command changed this path.
    pub fn contains(&self, path: &Path) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.contains(path))
    }

    /// Returns the lock that prevents commands from starting.
    pub fn into_lock(self) -> Option<OwnedFd> {
        self.paths.map(TouchedPaths::into_lock)
    }

    /// Returns all changed paths that the program may run.
    pub fn entries(&self) -> Vec<TouchedEntry> {
        let Some(paths) = self.paths.as_ref().filter(|paths| !paths.is_empty()) else { return Vec::new() };
        let reach = self.reach.clone().with_links();
        let mut found: Vec<TouchedEntry> =
            paths.files.iter().filter_map(|path| reached(path, &reach)).collect();
        for (folder, id) in paths.folders.iter().filter(|(folder, _)| reach.meets(folder)) {
            let below = below(folder, id, &reach).into_iter();
            found.extend(below.filter(|entry| !paths.files.contains(&entry.path)));
        }
        found
    }
}

/// Returns the entry of a path if a program may run it.
fn reached(path: &Path, reach: &Reach) -> Option<TouchedEntry> {
    let kind = path.symlink_metadata().ok()?.file_type();
    if kind.is_dir() || !reach.covers(path, kind.is_symlink()) {
        return None;
    }
    if kind.is_file() {
        return Some(TouchedEntry { path: path.to_path_buf(), form: EntryForm::File });
    }
    let Ok(target) = path.read_link() else {
        return Some(other_entry(path, &[OTHER], "(neither a file nor a link)".to_string()));
    };
    let leads_to = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    let is_same = !NEVER_SAME.iter().any(|folder| leads_to.starts_with(folder));
    let nonce = if is_same { String::new() } else { format!("{:?}", SystemTime::now()) };
    let about = format!("(a link to {})", target.display());
    Some(other_entry(path, &[LINK, target.as_os_str().as_bytes(), nonce.as_bytes()], about))
}

/// Returns the files of a folder in which everything counts as changed; the folder itself if they are too many.
fn below(folder: &Path, id: &str, reach: &Reach) -> Vec<TouchedEntry> {
    // The agreed content is unchanged until another command changes the folder.
    let whole = || {
        let about = "(everything below it: too many files to compare)".to_string();
        vec![other_entry(folder, &[FOLDER, id.as_bytes()], about)]
    };
    let (mut found, mut looked) = (Vec::new(), 0);
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        let entries = match std::fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return whole(),
        };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MOST_ENTRIES || found.len() > MOST_FILES {
                return whole();
            }
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true if reach.meets(&entry.path()) => folders.push(entry.path()),
                true => {}
                false => found.extend(reached(&entry.path(), reach)),
            }
        }
    }
    found
}

fn other_entry(path: &Path, parts: &[&[u8]], about: String) -> TouchedEntry {
    let all: Vec<&[u8]> = parts.iter().copied().chain([path.as_os_str().as_bytes()]).collect();
    TouchedEntry { path: path.to_path_buf(), form: EntryForm::Other(hash_of(&all), about) }
}
