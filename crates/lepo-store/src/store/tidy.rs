//! Tidying: bubbs of days that are over move from `.lepo/` into the folders of their days.
//!
//! A bubb is linked into its day, the folder is synced, and only then it leaves `.lepo/`. So at every moment it
//! has one of the two places, whenever the process ends and while others tidy too; a name that a kill leaves in both is
//! one bubb. What is in both with other bytes stays, for `fsck`.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::blob_folders::MANY_BLOBS;
use super::dir::{OLD, READ, dir_at, now};
use super::folders::counts_in;
use super::old_tree::{Old, day_of, each_old};
use super::temporary::rename_new;
use super::upkeep::Upkeep;
use crate::bubb::{Day, Name};
use lepo_base::error::Result;
use lepo_base::sys;

/// Bubbs younger than this stay, in milliseconds, by their ids.
const YOUNG: u64 = 48 * 60 * 60 * 1000;

/// The most bubbs that [`Upkeep::tidy_some`] moves, for the sake of the command that it follows.
const MOST_BESIDE: usize = 4_096;

/// The most bubbs that are linked before their folder is synced: one sync for all of them.
const MOST_PER_SYNC: usize = 1_024;

/// The moves of a tidying: bubbs of `.lepo/` by their days, and misplaced ones below `_old/`.
#[derive(Debug, Default)]
pub struct TidyPlan {
    /// Whole days, the oldest first.
    pub days: BTreeMap<Day, Vec<Name>>,
    /// Files below `_old/` that do not count there.
    pub misplaced: Vec<(PathBuf, Name)>,
    /// The bubbs that stay in `.lepo/`.
    pub stay: usize,
    /// Those of them that are of days which ended less than 48 hours ago, or have not ended.
    pub young: usize,
    /// Those of them, of older days, that count nowhere else: not newer than the bubb before, or named by hand.
    pub unusual: usize,
    /// Blobs that get folders, as they are many.
    pub blobs: usize,
}

/// The result of a tidying.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tidied {
    /// Bubbs that left `.lepo/`.
    pub moved: usize,
    /// Misplaced bubbs that count now.
    pub righted: usize,
    /// Blobs that got a folder.
    pub blobs: usize,
    /// Names that were in both places with other bytes, and stayed.
    pub left: usize,
}

impl TidyPlan {
    /// The number of files it moves.
    pub fn len(&self) -> usize {
        self.days.values().map(Vec::len).sum::<usize>() + self.misplaced.len() + self.blobs
    }

    /// Nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Upkeep<'_> {
    /// True if the last reading of `.lepo/` saw more bubbs than this, and one that is old enough to move.
    pub fn is_untidy(&self, limit: usize) -> bool {
        let oldest = Day::at(self.store.last_reading.oldest());
        self.store.last_reading.count() > limit && oldest < first_young()
    }

    /// Moves the oldest days until half of `limit` remain, or a few thousand have moved. Readers and other
    /// writers go on beside it.
    pub fn tidy_some(&self, limit: usize) -> Result<Tidied> {
        let mut plan = self.plan_days(limit / 2)?;
        let mut left = MOST_BESIDE;
        for names in plan.days.values_mut() {
            names.truncate(left);
            left -= names.len();
        }
        plan.days.retain(|_, names| !names.is_empty());
        self.carry_out(&plan, &mut |_| ())
    }

    /// Plans a tidying that leaves `keep` bubbs in `.lepo/`, or as few more as there are young ones
    /// and whole days.
    pub fn plan_tidy(&self, keep: usize) -> Result<TidyPlan> {
        let mut plan = self.plan_days(keep)?;
        each_old(&self.store.dir, |path, old| {
            if let Old::Misplaced(name) = old {
                plan.misplaced.push((path, name));
            }
        });
        let blobs = self
            .store
            .blobs()
            .count()
            .map_err(|error| self.store.dir.error("cannot read", "_blobs", error))?;
        plan.blobs = if blobs > MANY_BLOBS { blobs } else { 0 };
        Ok(plan)
    }

    fn plan_days(&self, keep: usize) -> Result<TidyPlan> {
        let mut names = self.store.names().recent()?;
        let first_young = first_young();
        let young = names.iter().filter(|name| Day::of(name.id) >= first_young).count();
        let mut plan = TidyPlan { stay: names.len(), young, ..TidyPlan::default() };
        names.retain(|name| Day::of(name.id) < first_young && counts_in(Day::of(name.id), name));
        if self.store.last_reading.is_unusual() {
            // A name in lower case was made by hand, and stays.
            names.retain(|name| {
                inode(&self.store.dir.fd, &name.to_string()).is_ok_and(|found| found.is_some())
            });
        }
        plan.unusual = plan.stay - plan.young - names.len();
        for of_day in names.chunk_by(|a, b| Day::of(a.id) == Day::of(b.id)) {
            if plan.stay <= keep {
                break;
            }
            plan.stay -= of_day.len();
            plan.days.insert(Day::of(of_day[0].id), of_day.to_vec());
        }
        Ok(plan)
    }

    /// Does what a plan says. `progress` is told how many files are done.
    pub fn carry_out(&self, plan: &TidyPlan, progress: &mut dyn FnMut(u64)) -> Result<Tidied> {
        let mut tidied = Tidied::default();
        let failed = |error: io::Error| self.store.dir.error("cannot write in", OLD, error);
        let mut done = 0;
        for (day, names) in &plan.days {
            for step in names.chunks(MOST_PER_SYNC) {
                let files: Vec<String> = step.iter().map(Name::to_string).collect();
                let folder = self.store.places().make_day_dir(*day).map_err(failed)?;
                let (moved, left) = move_all(&self.store.dir.fd, &files, &folder).map_err(failed)?;
                (tidied.moved, tidied.left) = (tidied.moved + moved, tidied.left + left);
                done += step.len() as u64;
                progress(done);
            }
        }
        for (path, name) in &plan.misplaced {
            let (moved, left) = self.put_right(path, name).map_err(failed)?;
            (tidied.righted, tidied.left) = (tidied.righted + moved, tidied.left + left);
            done += 1;
            progress(done);
        }
        if plan.blobs > 0 {
            let moved = self.store.blobs().tidy(&mut || {
                done += 1;
                progress(done);
            });
            tidied.blobs = moved.map_err(|error| self.store.dir.error("cannot write in", "_blobs", error))?;
        }
        Ok(tidied)
    }

    /// Moves a misplaced file to where it counts: into its day, or `.lepo/` where only that can have it.
    fn put_right(&self, path: &Path, name: &Name) -> io::Result<(usize, usize)> {
        let (Some(folder), Some(file)) = (path.parent(), path.file_name().and_then(|file| file.to_str()))
        else {
            return Ok((0, 0));
        };
        let Some(from) = self.store.dir.open_below(folder)? else { return Ok((0, 0)) };
        let day = Day::of(name.id);
        let to = match counts_in(day, name) {
            true => self.store.places().make_day_dir(day)?,
            false => dir_at(&self.store.dir, ".")?.ok_or(io::ErrorKind::NotFound)?,
        };
        let moved = move_all(&from, &[file.to_string()], &to)?;
        // A folder that is no day's goes once it is empty.
        if let (Some(above), Some(empty)) = (folder.parent(), folder.file_name())
            && folder.components().count() > 1
            && day_of(folder).is_none()
            && let Some(above) = self.store.dir.open_below(above)?
        {
            let _ = rustix::fs::unlinkat(&above, empty, AtFlags::REMOVEDIR);
        }
        Ok(moved)
    }

    /// The size of the directory itself, in bytes: some filesystems never make one smaller.
    pub fn directory_size(&self) -> u64 {
        rustix::fs::fstat(&self.store.dir).map_or(0, |stat| stat.st_size as u64)
    }
}

/// The first day that is not over for at least as long as bubbs stay.
fn first_young() -> Day {
    Day::at(now().saturating_sub(YOUNG))
}

/// Moves files into a folder that may have them already; how many left, and how many stayed as the folder has
/// others of their names.
fn move_all(from: &OwnedFd, files: &[String], to: &OwnedFd) -> io::Result<(usize, usize)> {
    let (mut linked, mut moved, mut left) = (Vec::new(), 0, 0);
    for file in files {
        // Made sure of before it is linked: what takes its place later is not what was linked.
        let Some(inode) = inode(from, file)? else { continue };
        match rustix::fs::linkat(from, file.as_str(), to, file.as_str(), AtFlags::empty()) {
            Ok(()) => linked.push((file, inode)),
            Err(Errno::EXIST) => match same(from, to, file)? {
                true => linked.push((file, inode)),
                false => left += still_here(from, file)?,
            },
            // Another tidying was quicker, or it was deleted.
            Err(Errno::NOENT) => {}
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                match rename_new((from, file), (to, file)) {
                    Ok(true) => moved += 1,
                    Ok(false) if same(from, to, file)? => linked.push((file, inode)),
                    Ok(false) => left += still_here(from, file)?,
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
            continue; // written over meanwhile: that counts
        }
        match rustix::fs::unlinkat(from, file.as_str(), AtFlags::empty()) {
            Ok(()) => moved += 1,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((moved, left))
}

/// 1 if a file is there, 0 once another tidying has moved it.
fn still_here(from: &OwnedFd, file: &str) -> io::Result<usize> {
    Ok(usize::from(inode(from, file)?.is_some()))
}

/// Tells one file from another that takes its name; none if there is no regular file.
fn inode(dir: &OwnedFd, file: &str) -> io::Result<Option<(i128, u64)>> {
    match rustix::fs::statat(dir, file, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() => {
            Ok(Some((i128::from(stat.st_dev), stat.st_ino)))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// True if two files of one name are one file, or have the same bytes.
fn same(here: &OwnedFd, there: &OwnedFd, file: &str) -> io::Result<bool> {
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
