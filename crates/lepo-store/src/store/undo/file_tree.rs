//! A folder with the layout of a store: the store itself, or one of `_removed/`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::super::blob_folders::{BLOBS, shard_of};
use super::super::dir::{OLD, dir_at, each_entry, make_dir_at};
use crate::bubb::{BubbName, ContentHash, Day};

/// A folder with the layout of a store, whose subfolders are opened once.
pub(super) struct FileTree<'t> {
    root: &'t OwnedFd,
    open: BTreeMap<String, Option<OwnedFd>>,
    /// File names of messages in another spelling, such as lower case, by folder.
    unusual: BTreeMap<String, Vec<(BubbName, OsString)>>,
}

impl<'t> FileTree<'t> {
    pub(super) fn new(root: &'t OwnedFd) -> FileTree<'t> {
        FileTree { root, open: BTreeMap::new(), unusual: BTreeMap::new() }
    }

    /// Opens a subfolder by its path; the empty path is the folder itself.
    pub(super) fn open(&mut self, dir: &str) -> io::Result<Option<&OwnedFd>> {
        if dir.is_empty() {
            return Ok(Some(self.root));
        }
        if !self.open.contains_key(dir) {
            let mut opened: Option<OwnedFd> = None;
            for part in Path::new(dir) {
                let at = opened.as_ref().unwrap_or(self.root);
                opened = dir_at(at, part)?;
                if opened.is_none() {
                    break;
                }
            }
            self.open.insert(dir.to_string(), opened);
        }
        Ok(self.open.get(dir).and_then(Option::as_ref))
    }

    /// Opens a subfolder, creating it if it is missing.
    pub(super) fn make(&mut self, dir: &str) -> io::Result<&OwnedFd> {
        if self.open(dir)?.is_none() {
            let mut made: Option<OwnedFd> = None;
            for part in dir.split('/') {
                let at = made.as_ref().unwrap_or(self.root);
                made = Some(make_dir_at(at.as_fd(), part)?);
            }
            self.open.insert(dir.to_string(), made);
        }
        self.open(dir)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns folder and file name of a message: in the folder itself, in its day's folder, or in both.
    pub(super) fn paths_of(&mut self, name: &BubbName) -> io::Result<Vec<(String, OsString)>> {
        let day = Day::from_id(name.id);
        let dirs = [String::new(), format!("{OLD}/{}/{}", day.month(), day.day())];
        let file = name.to_string();
        let mut found = Vec::new();
        for dir in &dirs {
            let Some(opened) = self.open(dir)? else { continue };
            if is_file(opened, &file)? {
                found.push((dir.clone(), file.clone().into()));
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        for dir in dirs {
            let spelled = self.unusual_in(&dir)?.iter().filter(|(other, _)| other == name);
            found.extend(spelled.map(|(_, file)| (dir.clone(), file.clone())));
        }
        Ok(found)
    }

    fn unusual_in(&mut self, dir: &str) -> io::Result<&[(BubbName, OsString)]> {
        if !self.unusual.contains_key(dir) {
            let mut names = Vec::new();
            let again = self.open(dir)?.map(|opened| dir_at(opened, ".")).transpose()?.flatten();
            if let Some(again) = again {
                each_entry(&again, |entry, kind| {
                    let name = BubbName::parse(entry).filter(|_| kind == FileType::RegularFile);
                    let name = name.filter(|_| !BubbName::is_canonical(entry));
                    names.extend(name.map(|name| (name, OsStr::from_bytes(entry).to_os_string())));
                })?;
            }
            self.unusual.insert(dir.to_string(), names);
        }
        Ok(self.unusual.get(dir).map(Vec::as_slice).unwrap_or_default())
    }

    pub(super) fn paths_of_blob(&mut self, hash: &ContentHash) -> io::Result<Vec<(String, OsString)>> {
        let file = hash.to_string();
        let mut found = Vec::new();
        for dir in [BLOBS.to_string(), format!("{BLOBS}/{}", shard_of(hash))] {
            let Some(opened) = self.open(&dir)? else { continue };
            if is_file(opened, &file)? {
                found.push((dir, file.clone().into()));
            }
        }
        Ok(found)
    }
}

fn is_file(dir: &OwnedFd, file: &str) -> io::Result<bool> {
    match rustix::fs::statat(dir, file, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
