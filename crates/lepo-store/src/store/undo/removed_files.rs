//! `_removed/TIME-PROCESS/`: messages and blobs that a change removed, at the paths that they had in the store.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use super::super::dir::{DIR, READ, dir_at, each_entry, make_dir_at, regular};
use super::super::handle::Store;
use super::super::temporary::rename_new;
use super::super::tidy::same;
use super::change::{ChangedFiles, RemovedFolder};
use super::file_tree::FileTree;
use crate::bubb::BubbName;
use lepo_base::sys;

pub(super) const REMOVED: &str = "_removed";

/// Levels of folders below one of `_removed/`: `_old/YYYY-MM/DD`.
const DEPTH: usize = 4;

/// The open folder `_removed`.
pub(super) struct RemovedFiles<'s> {
    pub(super) store: &'s Store,
    pub(super) root: OwnedFd,
}

impl<'s> RemovedFiles<'s> {
    /// Opens `_removed`; `None` if it is missing.
    pub(super) fn open(store: &'s Store) -> io::Result<Option<RemovedFiles<'s>>> {
        Ok(store.dir.subdir_if_there(REMOVED)?.map(|root| RemovedFiles { store, root }))
    }

    /// Opens `_removed`, creating it if it is missing. Also returns whether it was.
    pub(super) fn make(store: &'s Store) -> io::Result<(RemovedFiles<'s>, bool)> {
        if let Some(there) = RemovedFiles::open(store)? {
            return Ok((there, false));
        }
        let root = make_dir_at(store.dir.as_fd(), REMOVED)?;
        Ok((RemovedFiles { store, root }, true))
    }

    /// Creates a new folder, named by `time` or the first free millisecond after it.
    pub(super) fn make_folder(&self, mut time: u64) -> io::Result<RemovedFolder> {
        let process = std::process::id();
        loop {
            let folder = RemovedFolder { time, process };
            match rustix::fs::mkdirat(&self.root, folder.to_string(), DIR) {
                Ok(()) => return Ok(folder),
                Err(Errno::EXIST) => time += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn has(&self, folder: &RemovedFolder) -> bool {
        matches!(dir_at(&self.root, folder.to_string()), Ok(Some(_)))
    }

    /// Returns the names of all entries, sorted.
    pub(super) fn entries(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let again = dir_at(&self.root, ".")?.ok_or(io::ErrorKind::NotFound)?;
        each_entry(&again, |name, _| {
            if name != b"." && name != b".." {
                names.push(String::from_utf8_lossy(name).into_owned());
            }
        })?;
        names.sort();
        Ok(names)
    }

    /// Moves files out of the store into a folder, durably. Missing ones have moved already.
    pub(super) fn take_out(&self, folder: &RemovedFolder, files: &ChangedFiles) -> io::Result<()> {
        let to = make_dir_at(self.root.as_fd(), &folder.to_string())?;
        let from = dir_at(&self.store.dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
        self.store.forget_cached_texts(&files.bubbs)?;
        move_files(&from, &to, files)?;
        sys::sync(&self.root)?;
        Ok(())
    }

    /// Moves files from a folder back into the store, durably, and removes the folder if nothing else is in it. A file
    /// with other bytes that the store has under the same name stays, and the removed one too.
    pub(super) fn put_back(&self, folder: &RemovedFolder, files: &ChangedFiles) -> io::Result<()> {
        let Some(from) = dir_at(&self.root, folder.to_string())? else { return Ok(()) };
        let to = dir_at(&self.store.dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
        // Blobs first and each message after its prev, so that no reader misses one.
        let bubbs = files.bubbs.iter().rev().copied().collect();
        move_files(&from, &to, &ChangedFiles { bubbs: Vec::new(), blobs: files.blobs.clone() })?;
        move_files(&from, &to, &ChangedFiles { bubbs, blobs: Vec::new() })?;
        let _ = remove_empty(&from, DEPTH);
        let _ = rustix::fs::unlinkat(&self.root, folder.to_string(), AtFlags::REMOVEDIR);
        sys::sync(&self.root)?;
        Ok(())
    }

    /// Returns those files that are neither in the folder nor in the store.
    pub(super) fn missing(
        &self,
        folder: Option<&RemovedFolder>,
        files: &ChangedFiles,
    ) -> io::Result<ChangedFiles> {
        let store = dir_at(&self.store.dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
        let mut folders = vec![store];
        if let Some(folder) = folder {
            folders.extend(dir_at(&self.root, folder.to_string())?);
        }
        let mut trees: Vec<FileTree<'_>> = folders.iter().map(FileTree::new).collect();
        let mut missing = ChangedFiles::default();
        for name in &files.bubbs {
            let is_there = |tree: &mut FileTree<'_>| Ok::<_, io::Error>(!tree.paths_of(name)?.is_empty());
            if !any(&mut trees, is_there)? {
                missing.bubbs.push(*name);
            }
        }
        for hash in &files.blobs {
            let is_there =
                |tree: &mut FileTree<'_>| Ok::<_, io::Error>(!tree.paths_of_blob(hash)?.is_empty());
            if !any(&mut trees, is_there)? {
                missing.blobs.push(*hash);
            }
        }
        Ok(missing)
    }

    /// Returns the messages that a folder and the store have with different bytes.
    pub(super) fn conflicts(
        &self,
        folder: &RemovedFolder,
        files: &ChangedFiles,
    ) -> io::Result<Vec<BubbName>> {
        let Some(from) = dir_at(&self.root, folder.to_string())? else { return Ok(Vec::new()) };
        let store = dir_at(&self.store.dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
        let (mut from, mut to) = (FileTree::new(&from), FileTree::new(&store));
        let mut conflicts = Vec::new();
        for name in &files.bubbs {
            for (dir, file) in from.paths_of(name)? {
                let (Some(file), Some(here)) = (file.to_str(), from.open(&dir)?) else { continue };
                let Some(there) = to.open(&dir)? else { continue };
                let is_there = rustix::fs::statat(there, file, AtFlags::SYMLINK_NOFOLLOW).is_ok();
                if is_there && !same(here, there, file)? {
                    conflicts.push(*name);
                    break;
                }
            }
        }
        Ok(conflicts)
    }

    /// Reads a message in a folder; `None` if it is missing.
    pub(super) fn read(&self, folder: &RemovedFolder, name: &BubbName) -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = dir_at(&self.root, folder.to_string())? else { return Ok(None) };
        let mut tree = FileTree::new(&dir);
        let Some((dir, file)) = tree.paths_of(name)?.into_iter().next() else { return Ok(None) };
        let Some(opened) = tree.open(&dir)? else { return Ok(None) };
        let (mut file, _) = regular(rustix::fs::openat(opened, file, READ, Mode::empty())?)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// Deletes a folder with all that is in it.
    pub(super) fn delete(&self, folder: &RemovedFolder) -> io::Result<()> {
        let name = folder.to_string();
        if let Some(dir) = dir_at(&self.root, &name)? {
            delete_below(&dir, DEPTH)?;
            rustix::fs::unlinkat(&self.root, name.as_str(), AtFlags::REMOVEDIR)?;
        }
        Ok(sys::sync(&self.root)?)
    }

    /// Removes empty folders that no line names: their process was killed before it wrote the line.
    pub(super) fn remove_unused(&self, named: &BTreeSet<RemovedFolder>) -> io::Result<()> {
        for name in self.entries()? {
            if RemovedFolder::parse(&name).is_some_and(|folder| !named.contains(&folder)) {
                let _ = rustix::fs::unlinkat(&self.root, name.as_str(), AtFlags::REMOVEDIR);
            }
        }
        Ok(())
    }

    /// Counts the files in a folder.
    pub(super) fn count(&self, folder: &RemovedFolder) -> io::Result<usize> {
        let Some(dir) = dir_at(&self.root, folder.to_string())? else { return Ok(0) };
        let mut count = 0;
        each_below(&dir, DEPTH, &mut |_, _| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

fn any<'t>(
    trees: &mut [FileTree<'t>],
    mut is_there: impl FnMut(&mut FileTree<'t>) -> io::Result<bool>,
) -> io::Result<bool> {
    for tree in trees {
        if is_there(tree)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves messages in their order, then blobs; syncs all folders that changed.
fn move_files(from: &OwnedFd, to: &OwnedFd, files: &ChangedFiles) -> io::Result<()> {
    let (mut from, mut to) = (FileTree::new(from), FileTree::new(to));
    let mut changed = BTreeSet::new();
    for name in &files.bubbs {
        for (dir, file) in from.paths_of(name)? {
            move_file(&mut from, &mut to, &dir, &file)?;
            changed.insert(dir);
        }
    }
    for hash in &files.blobs {
        for (dir, file) in from.paths_of_blob(hash)? {
            move_file(&mut from, &mut to, &dir, &file)?;
            changed.insert(dir);
        }
    }
    // The new names first: a power cut may leave a file with both names, but never with none.
    for tree in [&mut to, &mut from] {
        for dir in &changed {
            if let Some(opened) = tree.open(dir)? {
                sys::sync(opened)?;
            }
        }
    }
    Ok(())
}

fn move_file(from: &mut FileTree<'_>, to: &mut FileTree<'_>, dir: &str, file: &OsStr) -> io::Result<()> {
    let (Some(source), Some(name)) = (from.open(dir)?, file.to_str()) else { return Ok(()) };
    let target = to.make(dir)?;
    match rename_new((source, name), (target, name)) {
        Ok(true) => Ok(()),
        Ok(false) if same(source, target, name)? => Ok(rustix::fs::unlinkat(source, name, AtFlags::empty())?),
        Ok(false) => Ok(()),
        // Another process has moved it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Calls `each` for every entry below a folder that is not a folder itself, following no link.
fn each_below(
    dir: &OwnedFd,
    depth: usize,
    each: &mut dyn FnMut(&OwnedFd, &OsStr) -> io::Result<()>,
) -> io::Result<()> {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    let again = dir_at(dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
    each_entry(&again, |name, kind| {
        if name != b"." && name != b".." {
            let list = if kind == FileType::Directory { &mut folders } else { &mut files };
            list.push(OsStr::from_bytes(name).to_os_string());
        }
    })?;
    for file in files {
        each(dir, &file)?;
    }
    for folder in folders.iter().filter(|_| depth > 0) {
        if let Some(opened) = dir_at(dir, folder)? {
            each_below(&opened, depth - 1, each)?;
        }
    }
    Ok(())
}

fn delete_below(dir: &OwnedFd, depth: usize) -> io::Result<()> {
    each_below(dir, depth, &mut |at, file| match rustix::fs::unlinkat(at, file, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    })?;
    remove_empty(dir, depth)
}

/// Removes the empty folders below a folder.
fn remove_empty(dir: &OwnedFd, depth: usize) -> io::Result<()> {
    let mut folders = Vec::new();
    let again = dir_at(dir, ".")?.ok_or(io::ErrorKind::NotFound)?;
    each_entry(&again, |name, kind| {
        if kind == FileType::Directory && name != b"." && name != b".." {
            folders.push(name.to_vec());
        }
    })?;
    for folder in folders {
        if depth > 0
            && let Some(opened) = dir_at(dir, OsStr::from_bytes(&folder))?
        {
            remove_empty(&opened, depth - 1)?;
        }
        match rustix::fs::unlinkat(dir, folder.as_slice(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
