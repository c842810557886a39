//! Finds, opens and creates stores.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::dir::{DIR, DIRECTORY, failure};
use super::handle::{Store, store_in};
use lepo_base::error::{Error, Result};

/// The store's name in a working directory.
pub const STORE: &str = ".lepo";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitOutcome {
    New,
    /// The store existed without `_insts.toml`, `.gitattributes` or `.gitignore`.
    Completed,
    Nothing,
}

#[doc(hidden)]
impl Store {
    /// Finds the store in `cwd` or in its nearest parent with a store of the user: not above `home`, not across file
    /// systems, not above the root of the `worktree`. A store of another user is an error in `cwd`, and is skipped
    /// in a parent.
    pub fn find(cwd: &Path, home: Option<&Path>, worktree: Option<&Path>) -> Result<Option<Store>> {
        let device =
            fs::metadata(cwd).map_err(|e| failure(format!("cannot read {}", cwd.display()), e))?.dev();
        let mut shown = PathBuf::new();
        for dir in cwd.ancestors() {
            if fs::metadata(dir).is_ok_and(|meta| meta.dev() != device) {
                break;
            }
            let path = dir.join(STORE);
            let is_taken = |meta: &fs::Metadata| dir == cwd || meta.uid() == geteuid().as_raw();
            if fs::symlink_metadata(&path).is_ok_and(|meta| is_taken(&meta)) {
                shown.push(STORE);
                return open_dir(rustix::fs::CWD, &path, &shown)
                    .and_then(owned)
                    .map(|fd| Some(store_in(fd, shown, dir.to_path_buf())));
            }
            if Some(dir) == home || Some(dir) == worktree {
                break;
            }
            shown.push("..");
        }
        Ok(None)
    }

    /// Finds the store that the git worktree `linked`, which contains `cwd`, shares with the `main` one: in the
    /// folder of the same path there, or in a parent of it. Turns work in the linked tree. Paths are absolute and
    /// without links.
    pub fn of_main(cwd: &Path, linked: &Path, main: &Path) -> Result<Option<Store>> {
        let below = cwd.strip_prefix(linked).unwrap_or(Path::new(""));
        for below in below.ancestors() {
            let path = main.join(below).join(STORE);
            let is_own = |meta: &fs::Metadata| meta.uid() == geteuid().as_raw();
            if fs::symlink_metadata(&path).is_ok_and(|meta| is_own(&meta)) {
                let fd = open_dir(rustix::fs::CWD, &path, &path).and_then(owned)?;
                return Ok(Some(Store { is_linked: true, ..store_in(fd, path, linked.join(below)) }));
            }
        }
        Ok(None)
    }

    /// Opens the store `rel` below `cwd`, the argument of `--save-to`; `None` if it is missing.
    pub fn at(cwd: &Path, rel: &Path) -> Result<Option<Store>> {
        let Some(dir) = walk(cwd, rel, false)? else { return Ok(None) };
        let dir = owned((dir, rel.to_path_buf()))?;
        Ok(Some(store_in(dir, rel.to_path_buf(), cwd.to_path_buf())))
    }

    /// Opens the store at an absolute path, for commands that only read; `None` if it is missing.
    pub fn anywhere(path: &Path) -> Result<Option<Store>> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(None);
        }
        let dir = open_dir(rustix::fs::CWD, path, path).and_then(owned)?;
        let root = path.parent().unwrap_or(path).to_path_buf();
        Ok(Some(store_in(dir, path.to_path_buf(), root)))
    }

    /// Creates the store `rel` below `cwd`, or its missing parts. Existing files stay unchanged.
    pub fn make(cwd: &Path, rel: &Path, insts: &str) -> Result<(Store, InitOutcome)> {
        let was_there = walk(cwd, rel, false)?.is_some();
        let dir =
            walk(cwd, rel, true)?.ok_or_else(|| Error::store(format!("cannot create {}", rel.display())))?;
        let dir = owned((dir, rel.to_path_buf()))?;
        let store = store_in(dir, rel.to_path_buf(), cwd.to_path_buf());
        let completed = store.complete_meta(insts)?;
        let made = match (was_there, completed) {
            (false, _) => InitOutcome::New,
            (true, true) => InitOutcome::Completed,
            (true, false) => InitOutcome::Nothing,
        };
        Ok((store, made))
    }
}

fn open_dir(at: impl AsFd, path: &Path, display_path: &Path) -> Result<(OwnedFd, PathBuf)> {
    match rustix::fs::openat(at, path, DIRECTORY, Mode::empty()) {
        Ok(fd) => Ok((fd, display_path.to_path_buf())),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            Err(Error::store(format!("{} is not a directory", display_path.display()))
                .hint("a store must be a directory, not a link; move what is there away"))
        }
        Err(error) => Err(failure(format!("cannot open {}", display_path.display()), error.into())),
    }
}

/// Refuses a store of another user, which may contain misleading texts.
fn owned((fd, display_path): (OwnedFd, PathBuf)) -> Result<OwnedFd> {
    let stat = rustix::fs::fstat(&fd)
        .map_err(|e| failure(format!("cannot read {}", display_path.display()), e.into()))?;
    if stat.st_uid != geteuid().as_raw() {
        return Err(Error::store(format!("{} belongs to another user", display_path.display()))
            .hint("lepo only uses stores of its own user; chown it if it is yours"));
    }
    Ok(fd)
}

/// Opens `rel` below `cwd` component by component, so that neither `..` nor a link leads out.
fn walk(cwd: &Path, rel: &Path, make: bool) -> Result<Option<OwnedFd>> {
    check(rel)?;
    let mut dir: Option<OwnedFd> = None;
    let mut gone = PathBuf::new();
    let at_cwd =
        rustix::fs::openat(rustix::fs::CWD, cwd, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty())
            .map_err(|e| failure(format!("cannot open {}", cwd.display()), e.into()))?;
    for part in rel.components() {
        let Component::Normal(part) = part else { continue };
        gone.push(part);
        let at: BorrowedFd<'_> = dir.as_ref().unwrap_or(&at_cwd).as_fd();
        if make {
            match rustix::fs::mkdirat(at, part, DIR) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failure(format!("cannot create {}", gone.display()), error.into())),
            }
        }
        match rustix::fs::openat(at, part, DIRECTORY, Mode::empty()) {
            Ok(fd) => dir = Some(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) if is_link(at, part) => {
                return Err(Error::usage(format!("store {}: {} is a link", rel.display(), gone.display()))
                    .hint("a store is not reached through links"));
            }
            Err(Errno::NOTDIR) => {
                return Err(Error::store(format!("{} is not a directory", gone.display()))
                    .hint("a store is a directory; move what is there away"));
            }
            Err(error) => return Err(failure(format!("cannot open {}", gone.display()), error.into())),
        }
    }
    Ok(dir)
}

fn is_link(at: BorrowedFd<'_>, name: &std::ffi::OsStr) -> bool {
    rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink)
}

/// Checks the argument of `--save-to` and of `--store`.
fn check(rel: &Path) -> Result<()> {
    let refuse = |why: &str| {
        Err(Error::usage(format!("store {:?} {why}", rel.display().to_string()))
            .hint("give a directory below the working directory, like .lepo/foo"))
    };
    let text = rel.as_os_str().as_encoded_bytes();
    if text.is_empty() {
        return refuse("is empty");
    }
    if rel.is_absolute() {
        return refuse("is absolute, which only commands that read accept");
    }
    if text.iter().any(|byte| byte.is_ascii_control()) {
        return refuse("has control characters");
    }
    let mut named = false;
    for part in rel.components() {
        match part {
            Component::ParentDir => return refuse("has `..`, which may lead out of the working directory"),
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => return refuse("belongs to git"),
            Component::Normal(_) => named = true,
            _ => {}
        }
    }
    if named { Ok(()) } else { refuse("is the working directory itself") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn save_to_takes_what_is_below_and_nothing_else() {
        for (path, good) in [
            ("foo", true),
            (".lepo/foo", true),
            ("./foo/./bar", true),
            ("한글", true),
            ("", false),
            ("/tmp/x", false),
            ("../x", false),
            ("a/../../x", false),
            ("a/..", false),
            (".", false),
            (".git", false),
            (".git/lepo", false),
            ("sub/.GIT/x", false),
            ("a\nb", false),
            ("a\u{1b}b", false),
        ] {
            assert_eq!(check(Path::new(path)).is_ok(), good, "{path:?}");
        }
    }
}
