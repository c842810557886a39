//! Reads a small text file of a repository: a regular file inside of it, in UTF-8, never more than fits.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

/// A path for a note: on one line, whatever is in it.
pub fn in_note(path: &Path) -> String {
    path.to_string_lossy().replace(char::is_control, "\u{fffd}")
}

/// Folders of a work tree that are no part of what is worked on.
const NOT_WORKED_ON: [&str; 2] = [".git", ".lepo"];

/// The text at `path`, and the file that links on the way lead to. `within`, if set, is the folder, without links, that
/// it must lie in. The error says why it is left out.
pub fn read_inside(
    within: Option<&Path>,
    path: &Path,
    most: usize,
) -> std::result::Result<(String, PathBuf), String> {
    let real = path.canonicalize().map_err(|error| match path.is_symlink() {
        true => "it is a broken link".to_string(),
        false => error.to_string(),
    })?;
    if let Some(within) = within {
        let inside = real.strip_prefix(within).map_err(|_| "its link leads outside the repository")?;
        for part in inside.components() {
            if let Some(name) = NOT_WORKED_ON.iter().find(|name| part.as_os_str() == **name) {
                return Err(format!("its link leads into {name}"));
            }
        }
    }
    // Not blocked by a pipe, and no link that took the file's place meanwhile is followed.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file: File = open(&real, flags, Mode::empty()).map_err(|error| error.to_string())?.into();
    let kind = file.metadata().map_err(|error| error.to_string())?;
    if !kind.is_file() {
        return Err("it is not a regular file".to_string());
    }
    let too_large = || format!("it is larger than {} KiB", most >> 10);
    if kind.len() > most as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > most {
        return Err(too_large());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok((text, real)),
        _ => Err("it is not UTF-8 text".to_string()),
    }
}
