//! Writes the user's own files whole or not at all, for their owner only: they may hold keys.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Puts `bytes` in the place of a file, mode 0600, by a rename in its directory. A symbolic link
/// stays one: what it points to is replaced, as a manager of dotfiles expects. Exit 2 on failure,
/// and then the old file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || {
        let target = follow(path)?;
        let temporary = write_beside(&target, bytes)?;
        fs::rename(&temporary, &target).inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        sync_directory(&target)
    };
    attempt().map_err(|error| failed(path, error))
}

/// Makes a file with `bytes`, mode 0600, in a directory that is made 0700 if need be. If there is
/// one by then it stays untouched; whoever reads it sees all of it. Exit 2 on failure.
pub fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || {
        let temporary = write_beside(path, bytes)?;
        // A link never replaces what is there, unlike a rename.
        let made = match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // A file system without links.
            Err(_) => exclusively(path, bytes),
            Ok(()) => Ok(()),
        };
        drop(fs::remove_file(&temporary));
        made?;
        sync_directory(path)
    };
    attempt().map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::usage(format!("cannot write {}", path.display()))
        .because(error)
        .hint("make its directory writable, or name another one with LEPO_CONFIG_HOME")
}

/// The file that a path means in the end. One that does not exist yet means itself.
fn follow(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(directory(path).join(target)),
            Err(_) => Ok(path.to_path_buf()),
        },
        Err(error) => Err(error),
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new file with `bytes` on disk, beside the one it is meant for.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let directory = directory(path);
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let process = std::process::id();
    // What a crash left behind may bear the first name; nobody else writes the last one.
    for attempt in 0..100 {
        let temporary = directory.join(format!(".{name}.{process}.{attempt}.tmp"));
        match exclusively(&temporary, bytes) {
            Ok(()) => return Ok(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                drop(fs::remove_file(&temporary));
                return Err(error);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn exclusively(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(directory(path))?.sync_all()
}
