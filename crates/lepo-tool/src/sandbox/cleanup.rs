//! Cleans up after a command that could write: moves aside the repositories that it made, because git would obey their
//! settings and hooks; removes set-user-id and set-group-id bits; and lists files that tools run automatically.

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::autorun::{AutorunTrigger, NAMED_BY_GIT};
use super::survey::{SET_IDS, Survey, stamp, survey_after};
use lepo_base::sys::descriptor_path;

/// Suffix of the name that moves a repository out of git's sight.
const ASIDE: &str = ".made-by-a-command";

/// The result of a cleanup; paths are relative to the working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CleanupReport {
    /// Repositories that the command made: the path, and the new name, which git ignores, or why it could not be moved.
    pub moved: Vec<(PathBuf, Result<PathBuf, String>)>,
    /// Files made or changed that had a set-user-id or set-group-id bit, which is now removed, or why it is not.
    pub set_ids: Vec<(PathBuf, Result<(), String>)>,
    /// Files made or changed that tools run automatically, and when.
    pub runs: Vec<(PathBuf, AutorunTrigger)>,
    /// Number of directories that could not be read.
    pub unread: usize,
}

/// Surveys `dir` after a command, moves aside the repositories that it made and removes set-id bits.
pub fn clean_up(dir: &Path, before: &Survey) -> CleanupReport {
    let Ok(mut now) = survey_after(dir, before) else { return CleanupReport::default() };
    let mut found = CleanupReport {
        unread: now.unread.len().saturating_sub(before.unread.len()),
        ..CleanupReport::default()
    };
    let short = |path: &Path| path.strip_prefix(dir).unwrap_or(path).to_path_buf();
    // A repository is recognised by its `.git`, and a bare one by its `HEAD`.
    let named = now.repositories.iter().filter(|path| !before.repositories.contains(path) && !is_empty(path));
    let bare = now.bare.iter().filter(|path| !before.bare.contains(path)).flat_map(|dir| heads(dir));
    for path in named.cloned().chain(bare) {
        let moved = move_aside(&path).map(|to| short(&to)).map_err(|error| error.to_string());
        found.moved.push((short(&path), moved));
    }
    // A survey skips repositories, but this one was an ordinary directory to the command.
    let aside = found
        .moved
        .iter()
        .filter_map(|(_, moved)| survey_after(&dir.join(moved.as_ref().ok()?), before).ok());
    let set_ids = std::mem::take(&mut now.set_ids).into_iter().chain(aside.flat_map(|aside| aside.set_ids));
    for (path, _) in set_ids.filter(|(path, stamp)| before.set_ids.get(path) != Some(stamp)) {
        let cleared = without_set_ids(&path).map_err(|error| error.to_string());
        found.set_ids.push((short(&path), cleared));
    }
    let changed = now.runs.iter().filter(|(path, stamp)| before.runs.get(*path) != Some(stamp));
    found.runs = changed.filter_map(|(path, _)| Some((short(path), now.runs_when(dir, path)?))).collect();
    let altered = before.named.iter().filter(|(path, was)| stamp(path).is_some_and(|now| Some(now) != **was));
    let listed: Vec<_> = found.runs.iter().map(|(path, _)| path.clone()).collect();
    let named = altered.map(|(path, _)| short(path)).filter(|path| !listed.contains(path));
    found.runs.extend(named.map(|path| (path, NAMED_BY_GIT)));
    found
}

fn without_set_ids(path: &Path) -> io::Result<()> {
    // Works for an unreadable file too, and does not follow a link that replaced it.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let mode = rustix::fs::fstat(&file)?.st_mode & 0o7777 & !SET_IDS;
    let by_descriptor = descriptor_path(OsStr::new(&file.as_raw_fd().to_string()));
    std::fs::set_permissions(by_descriptor, std::fs::Permissions::from_mode(mode))
}

/// Whether this is an empty directory: a sandbox makes one as a mount point if the path is missing.
fn is_empty(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Returns the entries of a repository that git may use as `HEAD`: all names that differ only in case.
fn heads(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("HEAD"))).collect()
}

fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..1000 {
        // A command can occupy every predictable name.
        let number = match number {
            1 => String::new(),
            2..10 => format!("-{number}"),
            _ => format!("-{:016x}", RandomState::new().hash_one(number)),
        };
        let to = path.with_file_name(format!("{}{ASIDE}{number}", name.trim_start_matches('.')));
        match renamed(path, &to) {
            Ok(()) => return Ok(to),
            Err(Errno::EXIST) => {}
            Err(Errno::INVAL) if to.symlink_metadata().is_err() => {
                return std::fs::rename(path, &to).map(|()| to);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("no name is free"))
}

/// Renames within a directory, even if the command has made it read-only.
fn renamed(path: &Path, to: &Path) -> rustix::io::Result<()> {
    let rename = || rustix::fs::renameat_with(CWD, path, CWD, to, RenameFlags::NOREPLACE);
    let refused = match rename() {
        Err(refused @ (Errno::ACCESS | Errno::PERM)) => refused,
        done => return done,
    };
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let parent = path.parent().ok_or(refused)?;
    let parent = rustix::fs::open(parent, flags | OFlags::RDONLY, Mode::empty()).map_err(|_| refused)?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&parent)?.st_mode);
    rustix::fs::fchmod(&parent, mode | Mode::WUSR | Mode::XUSR).map_err(|_| refused)?;
    let done = rename();
    let _ = rustix::fs::fchmod(&parent, mode);
    done
}

#[cfg(test)]
mod tests {
    use super::super::survey::survey;
    use super::*;

    #[test]
    fn what_runs_as_its_owner_does_so_no_longer_unless_it_did_before() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        let make = |path: &str, mode: u32| {
            std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.join(path), "x").unwrap();
            std::fs::set_permissions(dir.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let mode = |path: &str| dir.join(path).metadata().unwrap().permissions().mode() & 0o7777;
        make("kept", 0o4755);
        make("changed", 0o4755);
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o2755)).unwrap();
        let before = survey(dir, 100).unwrap();
        make("changed", 0o4755);
        make("new", 0o6711);
        make("sub/hidden", 0o2111);
        make("sub/.git/HEAD", 0o4755);
        std::os::unix::fs::symlink("kept", dir.join("link")).unwrap();
        let mut found = clean_up(dir, &before).set_ids;
        found.sort();
        let cleared = |path: &str| (PathBuf::from(path), Ok(()));
        let head = "sub/git.made-by-a-command/HEAD";
        assert_eq!(found, ["changed", "new", head, "sub/hidden"].map(cleared));
        for (path, expected) in [
            ("kept", 0o4755),
            ("changed", 0o755),
            ("new", 0o711),
            ("sub/hidden", 0o111),
            (head, 0o755),
            ("", 0o2755),
        ] {
            assert_eq!(mode(path), expected, "{path}");
        }
    }

    #[test]
    fn a_read_only_directory_keeps_no_repository() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        let before = survey(dir, 100).unwrap();
        std::fs::create_dir_all(dir.join("src/.git")).unwrap();
        std::fs::write(dir.join("src/.git/config"), "x").unwrap();
        std::fs::set_permissions(dir.join("src"), std::fs::Permissions::from_mode(0o555)).unwrap();
        let found = clean_up(dir, &before);
        assert_eq!(found.moved, [("src/.git".into(), Ok("src/git.made-by-a-command".into()))]);
        assert_eq!(dir.join("src").metadata().unwrap().permissions().mode() & 0o777, 0o555);
    }

    #[test]
    fn what_git_would_obey_is_moved_aside_and_what_was_there_stays() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path();
        let write = |path: &str| {
            std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.join(path), "x").unwrap();
        };
        ["old/.git/HEAD", "kept.git/HEAD", "kept.git/objects/x", "kept.git/refs/x", "Makefile", ".envrc"]
            .iter()
            .for_each(|path| write(path));
        write("linked");
        std::os::unix::fs::symlink("linked", dir.join("justfile")).unwrap();
        let before = survey(dir, 100).unwrap();
        assert_eq!(clean_up(dir, &before), CleanupReport::default());
        [
            "src/.git/config",
            "file/.git",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "sub/Makefile",
            ".envrc",
        ]
        .iter()
        .for_each(|path| write(path));
        std::fs::write(dir.join("linked"), "changed").unwrap();
        std::fs::create_dir_all(dir.join("mount/.git")).unwrap();
        std::os::unix::fs::symlink("../old/.git", dir.join("src/link")).unwrap();
        std::fs::rename(dir.join("src/link"), dir.join("mount/link")).unwrap();
        let mut found = clean_up(dir, &before);
        found.moved.sort();
        let moved = |from: &str, to: &str| (PathBuf::from(from), Ok(PathBuf::from(to)));
        assert_eq!(
            found.moved,
            [
                moved("bare/HEAD", "bare/HEAD.made-by-a-command"),
                moved("file/.git", "file/git.made-by-a-command"),
                moved("src/.git", "src/git.made-by-a-command"),
            ]
        );
        let runs: Vec<_> = found.runs.iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(runs, [".envrc", "justfile", "sub/Makefile"]);
        let again = clean_up(dir, &before);
        assert_eq!(again.moved, []);
        write("src/.git/config");
        assert_eq!(clean_up(dir, &before).moved, [moved("src/.git", "src/git.made-by-a-command-2")]);
        // Only some file systems treat these names as equal.
        ["two/HEAD", "two/head", "two/Head", "two/heAd", "two/HEad", "two/objects/x", "two/refs/x"]
            .iter()
            .for_each(|path| write(path));
        assert!(clean_up(dir, &before).moved.iter().all(|(_, moved)| moved.is_ok()));
        assert!(!dir.join("two/HEAD").exists());
        // Every predictable name is taken.
        write("src/.git/config");
        (3..1000).for_each(|number| write(&format!("src/git.made-by-a-command-{number}")));
        let found = clean_up(dir, &before).moved;
        assert!(found.len() == 1 && found[0].1.is_ok() && !dir.join("src/.git").exists(), "{found:?}");
        assert!(dir.join("old/.git/HEAD").exists() && dir.join("kept.git/HEAD").exists());
    }
}
