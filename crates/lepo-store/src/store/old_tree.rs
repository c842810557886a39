//! All files below `_old/`, wherever they are: for `fsck`, which reports misplaced ones, and for `tidy`, which moves
//! them.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use super::day_folders::counts_in;
use super::dir::{Dir, OLD, each_entry};
use super::finding::{Finding, FindingKind, lossy};
use crate::bubb::{BubbName, Day};

/// Maximum depth of directories searched below `_old/`.
const DEPTH: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OldEntry {
    /// A bubb that counts.
    Bubb(BubbName),
    /// A bubb that does not count in its folder.
    Misplaced(BubbName),
    /// Any other file.
    Other(Finding),
}

/// Calls `each` for all files below `_old/`, with their paths in the store, and for folders that cannot be read. No
/// link is followed.
pub(super) fn each_old(dir: &Dir, mut each: impl FnMut(PathBuf, OldEntry)) {
    if let Some(finding) = misplaced_root(dir) {
        return each(PathBuf::from(OLD), OldEntry::Other(finding));
    }
    let mut folders = vec![PathBuf::from(OLD)];
    while let Some(folder) = folders.pop() {
        if let Err(error) = each_in_folder(dir, &folder, &mut folders, &mut each) {
            let name = lossy(folder.as_os_str().as_bytes());
            each(
                folder,
                OldEntry::Other(Finding { name, what: FindingKind::Unreadable, why: error.to_string() }),
            );
        }
    }
}

/// Returns the finding about `_old` itself if it is not a directory, so that nothing below it is read.
fn misplaced_root(dir: &Dir) -> Option<Finding> {
    let stat = rustix::fs::statat(dir, OLD, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let why = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => return None,
        FileType::Symlink => "it is a link, which is not followed here: messages of past days are not read",
        _ => "it is not a directory: messages of past days are not read",
    };
    Some(Finding { name: OLD.to_string(), what: FindingKind::Misplaced, why: why.to_string() })
}

/// Calls `each` for the files of a folder, and appends its subfolders to `folders`.
fn each_in_folder(
    dir: &Dir,
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    each: &mut impl FnMut(PathBuf, OldEntry),
) -> io::Result<()> {
    let Some(opened) = dir.open_below(folder)? else { return Ok(()) };
    let day = day_of(folder);
    each_entry(&opened, |file, kind| {
        let path = folder.join(std::ffi::OsStr::from_bytes(file));
        if file == b"." || file == b".." {
            return;
        }
        if kind == FileType::Directory && path.components().count() <= DEPTH {
            folders.push(path.clone());
            if BubbName::parse(file).is_none() {
                return;
            }
        }
        let old = kind_of(&path, day, file, kind);
        each(path, old);
    })
}

pub(super) fn day_of(folder: &Path) -> Option<Day> {
    let mut parts = folder.components().skip(1);
    let (month, day) = (parts.next()?, parts.next()?);
    let day = Day::parse(month.as_os_str().as_bytes(), day.as_os_str().as_bytes());
    day.filter(|_| parts.next().is_none())
}

fn kind_of(path: &Path, day: Option<Day>, file: &[u8], kind: FileType) -> OldEntry {
    let finding = |what, why: &str| {
        let name = lossy(path.as_os_str().as_bytes());
        OldEntry::Other(Finding { name, what, why: why.to_string() })
    };
    match (BubbName::parse(file), kind) {
        (Some(name), FileType::RegularFile) if day.is_some_and(|day| counts_in(day, &name)) => {
            OldEntry::Bubb(name)
        }
        (Some(name), FileType::RegularFile) => OldEntry::Misplaced(name),
        (Some(_), FileType::Directory) => {
            finding(FindingKind::NotAFile, "it has the name of a message but is not a regular file")
        }
        (_, FileType::Symlink) => finding(FindingKind::Misplaced, "it is a link, which is not followed here"),
        (Some(_), _) => {
            finding(FindingKind::NotAFile, "it has the name of a message but is not a regular file")
        }
        (None, _) => finding(FindingKind::Foreign, "it does not have the name of a message"),
    }
}
