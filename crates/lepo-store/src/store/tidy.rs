//! Tidying: moves bubbs of past days from `.lepo/` into the folders of their days.
//!
//! A bubb is linked into its day, the folder is synced, and only then the bubb leaves `.lepo/`. So at every moment it
//! has at least one of the two paths, whenever the process ends and even if others tidy at the same time; a name that
//! a kill leaves in both is a single bubb. If the two have different bytes, both stay, for `fsck`.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::blob_folders::MANY_BLOBS;
use super::day_folders::counts_in;
use super::dir::{OLD, READ, dir_at, now};
use super::handle::Store;
use super::temporary::rename_new;
use super::walk::{StoreEntry, StoreFolder, day_of, walk};
use crate::bubb::{BubbName, Day};
use lepo_base::error::Result;
use lepo_base::sys;

/// Bubbs younger than this stay in `.lepo/`; milliseconds, by the time of their ids.
const YOUNG: u64 = 48 * 60 * 60 * 1000;

/// Maximum number of bubbs that [`Store::tidy_some`] moves, so that the command before it is not slowed much.
const MOST_BESIDE: usize = 4_096;

/// Maximum number of bubbs linked before their folder is synced once for all of them.
const MOST_PER_SYNC: usize = 1_024;

/// The planned moves: bubbs of `.lepo/` by their days, and misplaced ones below `_old/`.
#[derive(Debug, Default)]
pub struct TidyPlan {
    /// Whole days, oldest first.
    pub days: BTreeMap<Day, Vec<BubbName>>,
    /// Files below `_old/` that do not count in their folder.
    pub misplaced: Vec<(PathBuf, BubbName)>,
    /// Number of bubbs that stay in `.lepo/`.
    pub stay: usize,
    /// How many of the bubbs in `.lepo/` are of days that ended less than 48 hours ago, or have not ended.
    pub young: usize,
    /// How many of the older ones count only in `.lepo/`: not newer than their prev, or named by hand.
    pub unusual: usize,
    /// Number of blobs that move into folders, because there are many.
    pub blobs: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TidyResult {
    /// Number of bubbs that left `.lepo/`.
    pub moved: usize,
    /// Number of misplaced bubbs that count now.
    pub righted: usize,
    /// Number of blobs moved into folders.
    pub blobs: usize,
    /// Number of names that exist in both folders with different bytes, and stayed.
    pub conflicting: usize,
}

impl TidyPlan {
    pub fn len(&self) -> usize {
        self.days.values().map(Vec::len).sum::<usize>() + self.misplaced.len() + self.blobs
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[doc(hidden)]
impl Store {
    /// Whether the last reading of `.lepo/` found more than `limit` bubbs, and one old enough to move.
    pub fn is_untidy(&self, limit: usize) -> bool {
        let oldest = Day::from_millis(self.last_reading.oldest());
        self.last_reading.count() > limit && oldest < first_young()
    }

    /// Moves the oldest days until half of `limit` remain, or a few thousand bubbs have moved. Readers and other
    /// writers are not blocked.
    pub fn tidy_some(&self, limit: usize) -> Result<TidyResult> {
        let mut plan = self.plan_days(limit / 2)?;
        let mut remaining = MOST_BESIDE;
        for names in plan.days.values_mut() {
            names.truncate(remaining);
            remaining -= names.len();
        }
        plan.days.retain(|_, names| !names.is_empty());
        self.tidy_by_plan(&plan, &mut |_| ())
    }

    /// Plans to move whole days, oldest first, until at most `keep` bubbs, or only young and unusual ones, remain in
    /// `.lepo/`; and to move misplaced bubbs, and blobs if there are many.
    pub fn plan_tidy(&self, keep: usize) -> Result<TidyPlan> {
        let mut plan = self.plan_days(keep)?;
        let walked = walk(&self.dir, StoreFolder::Old, |path, entry| {
            if let StoreEntry::Misplaced(name) = entry {
                plan.misplaced.push((path, name));
            }
        });
        walked.map_err(|error| self.dir.old_error(error))?;
        let blobs = self.count_blobs().map_err(|error| self.dir.error("cannot read", "_blobs", error))?;
        plan.blobs = if blobs > MANY_BLOBS { blobs } else { 0 };
        Ok(plan)
    }

    fn plan_days(&self, keep: usize) -> Result<TidyPlan> {
        let mut names = self.recent_names()?;
        let first_young = first_young();
        let young = names.iter().filter(|name| Day::from_id(name.id) >= first_young).count();
        let mut plan = TidyPlan { stay: names.len(), young, ..TidyPlan::default() };
        names.retain(|name| Day::from_id(name.id) < first_young && counts_in(Day::from_id(name.id), name));
        if self.last_reading.is_unusual() {
            // A name in lower case was created by hand, and stays.
            names.retain(|name| inode(&self.dir.fd, &name.to_string()).is_ok_and(|found| found.is_some()));
        }
        plan.unusual = plan.stay - plan.young - names.len();
        for of_day in names.chunk_by(|a, b| Day::from_id(a.id) == Day::from_id(b.id)) {
            if plan.stay <= keep {
                break;
            }
            plan.stay -= of_day.len();
            plan.days.insert(Day::from_id(of_day[0].id), of_day.to_vec());
        }
        Ok(plan)
    }

    /// Executes a plan. `progress` receives the number of files done.
    pub fn tidy_by_plan(&self, plan: &TidyPlan, progress: &mut dyn FnMut(u64)) -> Result<TidyResult> {
        let mut tidied = TidyResult::default();
        let failed = |error: io::Error| self.dir.error("cannot write in", OLD, error);
        let mut done = 0;
        for (day, names) in &plan.days {
            for step in names.chunks(MOST_PER_SYNC) {
                let files: Vec<String> = step.iter().map(BubbName::to_string).collect();
                let folder = self.make_day_dir(*day).map_err(failed)?;
                let (moved, conflicting) = move_all(&self.dir.fd, &files, &folder).map_err(failed)?;
                (tidied.moved, tidied.conflicting) = (tidied.moved + moved, tidied.conflicting + conflicting);
                done += step.len() as u64;
                progress(done);
            }
        }
        for (path, name) in &plan.misplaced {
            let (moved, conflicting) = self.move_misplaced(path, name).map_err(failed)?;
            (tidied.righted, tidied.conflicting) = (tidied.righted + moved, tidied.conflicting + conflicting);
            done += 1;
            progress(done);
        }
        if plan.blobs > 0 {
            let moved = self.tidy_blobs(&mut || {
                done += 1;
                progress(done);
            });
            tidied.blobs = moved.map_err(|error| self.dir.error("cannot write in", "_blobs", error))?;
        }
        Ok(tidied)
    }

    /// Moves a misplaced file to where it counts: into its day, or into `.lepo/` if it counts only there.
    fn move_misplaced(&self, path: &Path, name: &BubbName) -> io::Result<(usize, usize)> {
        let (Some(folder), Some(file)) = (path.parent(), path.file_name().and_then(|file| file.to_str()))
        else {
            return Ok((0, 0));
        };
        let Some(from) = self.dir.open_below(folder)? else { return Ok((0, 0)) };
        let day = Day::from_id(name.id);
        let to = match counts_in(day, name) {
            true => self.make_day_dir(day)?,
            false => dir_at(&self.dir, ".")?.ok_or(io::ErrorKind::NotFound)?,
        };
        let moved = move_all(&from, &[file.to_string()], &to)?;
        // A folder that is not a day's is removed once it is empty.
        if let (Some(above), Some(empty)) = (folder.parent(), folder.file_name())
            && folder.components().count() > 1
            && day_of(folder).is_none()
            && let Some(above) = self.dir.open_below(above)?
        {
            let _ = rustix::fs::unlinkat(&above, empty, AtFlags::REMOVEDIR);
        }
        Ok(moved)
    }

    /// Returns the size of the directory itself in bytes: some file systems never shrink one.
    pub fn directory_size(&self) -> u64 {
        rustix::fs::fstat(&self.dir).map_or(0, |stat| stat.st_size as u64)
    }
}

/// The first day that has not been over for as long as bubbs stay in `.lepo/`.
fn first_young() -> Day {
    Day::from_millis(now().saturating_sub(YOUNG))
}

/// Moves files into a folder that may have them already. Returns how many moved, and how many stayed because the
/// folder has different files of these names.
fn move_all(from: &OwnedFd, files: &[String], to: &OwnedFd) -> io::Result<(usize, usize)> {
    let (mut linked, mut moved, mut conflicting) = (Vec::new(), 0, 0);
    for file in files {
        // Read before linking, because another file may get this name afterwards.
        let Some(inode) = inode(from, file)? else { continue };
        match rustix::fs::linkat(from, file.as_str(), to, file.as_str(), AtFlags::empty()) {
            Ok(()) => linked.push((file, inode)),
            Err(Errno::EXIST) => match same(from, to, file)? {
                true => linked.push((file, inode)),
                false => conflicting += still_here(from, file)?,
            },
            // Another tidying has moved it, or it was deleted.
            Err(Errno::NOENT) => {}
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                match rename_new((from, file), (to, file)) {
                    Ok(true) => moved += 1,
                    Ok(false) if same(from, to, file)? => linked.push((file, inode)),
                    Ok(false) => conflicting += still_here(from, file)?,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    sys::sync(to)?;
    for (file, linked_inode) in linked {
        if inode(from, file)? != Some(linked_inode) {
            continue; // overwritten in the meantime: the new file counts
        }
        match rustix::fs::unlinkat(from, file.as_str(), AtFlags::empty()) {
            Ok(()) => moved += 1,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((moved, conflicting))
}

/// Returns 1 if a file exists, 0 once another tidying has moved it.
fn still_here(from: &OwnedFd, file: &str) -> io::Result<usize> {
    Ok(usize::from(inode(from, file)?.is_some()))
}

/// Identifies a file, to notice when another gets its name; `None` unless it is a regular file.
fn inode(dir: &OwnedFd, file: &str) -> io::Result<Option<(i128, u64)>> {
    match rustix::fs::statat(dir, file, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() => {
            Ok(Some((i128::from(stat.st_dev), stat.st_ino)))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether two files of equal name are the same file or have equal bytes.
pub(super) fn same(here: &OwnedFd, there: &OwnedFd, file: &str) -> io::Result<bool> {
    let (first, second) = (inode(here, file)?, inode(there, file)?);
    if first == second {
        return Ok(first.is_some());
    }
    let bytes = |dir: &OwnedFd| -> io::Result<Vec<u8>> {
        let opened = rustix::fs::openat(dir, file, READ, Mode::empty())?;
        let (mut file, _) = super::dir::regular(opened)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(bytes)
    };
    match (bytes(here), bytes(there)) {
        (Ok(here), Ok(there)) => Ok(here == there),
        (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}
