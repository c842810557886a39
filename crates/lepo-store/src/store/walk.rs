//! All files of a store, folder by folder: `fsck` reports those at fault, `tidy` moves the misplaced ones, and recovery
//! opens the temporary ones.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use super::blob_folders::{BLOBS, is_shard};
use super::branches::{check_branch_name, name_of};
use super::day_folders::counts_in;
use super::dir::{Dir, OLD, each_entry};
use super::finding::{Finding, FindingKind, lossy};
use super::stage::STAGE;
use super::temporary::TempKind;
use crate::bubb::{BubbName, ContentHash, Day};

/// Maximum depth of directories searched below `_old/`.
const DEPTH: usize = 8;

/// The folders of a store with files of lepo's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreFolder {
    /// `.lepo/` itself.
    Recent,
    Old,
    Blobs,
    Branches,
    Temporary,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoreEntry {
    /// A bubb that counts.
    Bubb(BubbName),
    /// A bubb below `_old/` that does not count in its folder.
    Misplaced(BubbName),
    Blob,
    Branch,
    /// A file or a folder that a process has in `_tmp/`, or left there.
    Temporary,
    /// Any other file, or a folder that cannot be read.
    Other(Finding),
}

impl StoreFolder {
    pub const ALL: [StoreFolder; 5] = [
        StoreFolder::Recent,
        StoreFolder::Old,
        StoreFolder::Blobs,
        StoreFolder::Branches,
        StoreFolder::Temporary,
    ];

    /// Returns the path in the store.
    pub fn path(self) -> &'static str {
        match self {
            StoreFolder::Recent => "",
            StoreFolder::Old => OLD,
            StoreFolder::Blobs => BLOBS,
            StoreFolder::Branches => "_branches",
            StoreFolder::Temporary => "_tmp",
        }
    }

    /// Whether a directory at this path in the store is part of the folder.
    fn has_subfolder(self, path: &Path) -> bool {
        match self {
            StoreFolder::Old => path.components().count() <= DEPTH,
            StoreFolder::Blobs => path.strip_prefix(BLOBS).ok().and_then(Path::to_str).is_some_and(is_shard),
            _ => false,
        }
    }

    /// Returns what an entry is; `None` if it belongs to another folder, or to a store of its own.
    fn entry(self, dir: &Dir, path: &Path, file: &[u8], kind: FileType) -> Option<StoreEntry> {
        let is_file = kind == FileType::RegularFile;
        let text = std::str::from_utf8(file).unwrap_or_default();
        let other = |what, why: &str| {
            let name = lossy(path.as_os_str().as_bytes());
            Some(StoreEntry::Other(Finding { name, what, why: why.to_string() }))
        };
        match (self, BubbName::parse(file)) {
            (StoreFolder::Recent, _) if file.starts_with(b"_") || file.starts_with(b".") => None,
            (StoreFolder::Recent, Some(name)) if is_file => Some(StoreEntry::Bubb(name)),
            // A separate store, created by --save-to.
            (StoreFolder::Recent, None) if kind == FileType::Directory && holds_a_store(dir, path) => None,
            (StoreFolder::Old, Some(name)) if is_file => {
                let day = path.parent().and_then(day_of);
                let counts = day.is_some_and(|day| counts_in(day, &name));
                Some(if counts { StoreEntry::Bubb(name) } else { StoreEntry::Misplaced(name) })
            }
            (StoreFolder::Old, _) if kind == FileType::Symlink => {
                other(FindingKind::Misplaced, "it is a link, which is not followed here")
            }
            (StoreFolder::Recent | StoreFolder::Old, Some(_)) => {
                other(FindingKind::NotAFile, "it has the name of a message but is not a regular file")
            }
            (StoreFolder::Recent | StoreFolder::Old, None) => {
                other(FindingKind::Foreign, "it does not have the name of a message")
            }
            (StoreFolder::Blobs, _) if ContentHash::parse(text).is_none() => {
                other(FindingKind::Foreign, "a blob's name is 64 hexadecimal digits")
            }
            (StoreFolder::Blobs, _) if is_file => Some(StoreEntry::Blob),
            (StoreFolder::Blobs, _) => {
                other(FindingKind::NotAFile, "it has the name of a blob but is not a regular file")
            }
            (StoreFolder::Branches, _) if check_branch_name(&name_of(text)).is_err() => {
                other(FindingKind::Foreign, "it is not a valid branch name")
            }
            (StoreFolder::Branches, _) if is_file => Some(StoreEntry::Branch),
            (StoreFolder::Branches, _) => other(FindingKind::NotAFile, "it cannot be a branch"),
            (StoreFolder::Temporary, _) if text.starts_with(STAGE) || TempKind::parse(text).is_some() => {
                Some(StoreEntry::Temporary)
            }
            (StoreFolder::Temporary, _) => other(FindingKind::Foreign, "not a name that lepo writes"),
        }
    }
}

/// Calls `each` for all files of a folder and below it, with their paths in the store. No link is followed. Only below
/// `_old/` a folder that cannot be read is an entry, too; elsewhere it is an error.
pub(super) fn walk(
    dir: &Dir,
    folder: StoreFolder,
    mut each: impl FnMut(PathBuf, StoreEntry),
) -> io::Result<()> {
    if folder == StoreFolder::Old
        && let Some(finding) = misplaced_root(dir)
    {
        each(PathBuf::from(OLD), StoreEntry::Other(finding));
        return Ok(());
    }
    let mut folders = vec![PathBuf::from(folder.path())];
    while let Some(path) = folders.pop() {
        match walk_one(dir, folder, &path, &mut folders, &mut each) {
            Err(error) if folder == StoreFolder::Old => {
                let name = lossy(path.as_os_str().as_bytes());
                let finding = Finding { name, what: FindingKind::Unreadable, why: error.to_string() };
                each(path, StoreEntry::Other(finding));
            }
            walked => walked?,
        }
    }
    Ok(())
}

/// Calls `each` for the files of a single folder, and appends its subfolders to `folders`.
fn walk_one(
    dir: &Dir,
    folder: StoreFolder,
    path: &Path,
    folders: &mut Vec<PathBuf>,
    each: &mut impl FnMut(PathBuf, StoreEntry),
) -> io::Result<()> {
    // Except for `_old`, a link or a file in the position of a folder is an error.
    let opened = match folder {
        StoreFolder::Recent => dir.subdir_if_there(".")?,
        folder if folder != StoreFolder::Old && path == Path::new(folder.path()) => {
            dir.subdir_if_there(folder.path())?
        }
        _ => dir.open_below(path)?,
    };
    let Some(opened) = opened else { return Ok(()) };
    each_entry(&opened, |file, kind| {
        if file == b"." || file == b".." {
            return;
        }
        let path = path.join(OsStr::from_bytes(file));
        if kind == FileType::Directory && folder.has_subfolder(&path) {
            folders.push(path.clone());
            if BubbName::parse(file).is_none() {
                return;
            }
        }
        if let Some(entry) = folder.entry(dir, &path, file, kind) {
            each(path, entry);
        }
    })
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

pub(super) fn day_of(folder: &Path) -> Option<Day> {
    let mut parts = folder.components().skip(1);
    let (month, day) = (parts.next()?, parts.next()?);
    let day = Day::parse(month.as_os_str().as_bytes(), day.as_os_str().as_bytes());
    day.filter(|_| parts.next().is_none())
}

fn holds_a_store(dir: &Dir, folder: &Path) -> bool {
    dir.open_file(folder.join("_insts.toml").as_os_str()).is_ok()
}
