//! Reads a small text file of a repository: a regular UTF-8 file inside of it, of limited size.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

/// Formats a path for a notice: a single line, without control characters.
pub fn in_note(path: &Path) -> String {
    path.to_string_lossy().replace(char::is_control, "\u{fffd}")
}

/// Folders of a worktree whose files are never read.
const NOT_WORKED_ON: [&str; 2] = [".git", ".lepo"];

/// Returns the text at `path`, and the file that it resolves to. If `within` is set, the file must be inside
/// of that folder, which has no symbolic links in its path. The error is the reason for which the file is
/// skipped.
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
    // Does not block on a pipe, and does not follow a link that replaced the file in the meantime.
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
