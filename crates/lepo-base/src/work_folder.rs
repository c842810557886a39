//! The folder for which the user allowed programs to run, recognised by its identity rather than its path: a clone
//! that replaces a deleted trusted one is another folder.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::hash::hash_of;
use crate::repository::{own_repository, repository_of, root_around};

/// Longest time between the files that git makes for a new worktree, on a slow machine.
const WORKTREE_ADDED: Duration = Duration::from_secs(60);

/// A git worktree, or else a folder with a store, or else a single folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFolder {
    /// The folder, absolute and without links.
    pub root: PathBuf,
    /// The hash of the identity of its repository, which linked worktrees share, or else of the folder itself.
    pub identity: String,
    /// The hash of the identity of `root`, which it also had before it became a repository.
    pub root_identity: String,
}

impl WorkFolder {
    /// Reads the folder that `dir` belongs to.
    ///
    /// # Errors
    /// If the metadata of `dir` or of its repository cannot be read.
    pub fn read(dir: &Path) -> io::Result<WorkFolder> {
        let dir = dir.canonicalize()?;
        let root = root_around(&dir).unwrap_or(dir);
        let known_by =
            own_repository(&root).filter(|_| is_made_by_git(&root)).unwrap_or_else(|| root.clone());
        Ok(WorkFolder { identity: identity_of(&known_by)?, root_identity: identity_of(&root)?, root })
    }
}

/// Whether the `.git` file of a linked worktree is as old as the repository's record of that worktree. At the path of a
/// deleted worktree, another folder may have a `.git` file with the same text.
fn is_made_by_git(root: &Path) -> bool {
    let git = root.join(".git");
    let born = |path: &Path| path.symlink_metadata().and_then(|meta| meta.created()).ok();
    git.is_dir()
        || repository_of(root).is_some_and(|record| match (born(&git), born(&record)) {
            (Some(file), Some(record)) => are_made_together(file, record),
            _ => false,
        })
}

/// `git worktree add` makes the record and the file before it writes the tree.
fn are_made_together(one: SystemTime, other: SystemTime) -> bool {
    let apart = one.duration_since(other).unwrap_or_else(|before| before.duration());
    apart <= WORKTREE_ADDED
}

/// Returns the identity of a folder, a hash that is equal under another path and different for another folder of the
/// same path. Computed from inode and birth time, because an inode number is reused after its folder was deleted, but
/// without the device, whose number changes between mounts on some file systems. If the birth time is unknown, the
/// path replaces it.
pub fn identity_of(folder: &Path) -> io::Result<String> {
    let meta = folder.metadata()?;
    let inode = meta.ino().to_string();
    let born = meta.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    Ok(match born {
        Some(born) => hash_of(&[b"born", inode.as_bytes(), born.as_nanos().to_string().as_bytes()]),
        None => hash_of(&[b"path", inode.as_bytes(), folder.as_os_str().as_bytes()]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(at: &Path) {
        std::fs::create_dir_all(at.join("objects")).unwrap();
        std::fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    /// Creates a linked worktree of the repository `main/.git` at `at`, in git's layout.
    fn linked(main: &Path, at: &Path, name: &str) {
        let own = main.join(".git/worktrees").join(name);
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(at).unwrap();
        std::fs::write(at.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        std::fs::write(own.join("HEAD"), "ref: refs/heads/b\n").unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::write(own.join("gitdir"), format!("{}\n", at.join(".git").display())).unwrap();
    }

    #[test]
    fn a_folder_is_known_by_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let read = |path: &str| WorkFolder::read(&top.join(path)).unwrap();
        repository(&top.join("app/.git"));
        std::fs::create_dir_all(top.join("app/sub/deep")).unwrap();
        std::fs::create_dir_all(top.join("plain/sub")).unwrap();
        std::fs::create_dir_all(top.join("notes/.lepo")).unwrap();
        std::fs::create_dir_all(top.join("notes/sub")).unwrap();
        let app = read("app");
        assert_eq!(app.root, top.join("app"));
        assert_eq!(read("app/sub/deep"), app);
        assert_eq!(read("notes/sub"), read("notes"));
        assert_ne!(read("plain/sub"), read("plain"), "without git and store each is its own");
        linked(&top.join("app"), &top.join("tree"), "tree");
        assert_eq!(read("tree").identity, app.identity, "a linked worktree");
        assert_eq!(read("tree").root, top.join("tree"));
        std::fs::rename(top.join("app"), top.join("moved")).unwrap();
        assert_eq!(read("moved").identity, app.identity, "another name");
        repository(&top.join("app/.git"));
        assert_ne!(read("app").identity, app.identity, "another clone of that name");
    }

    #[test]
    fn a_git_file_of_another_time_is_not_that_of_the_worktree() {
        let made = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        for (seconds, together) in [(0, true), (59, true), (61, false), (86_400, false)] {
            let later = made + Duration::from_secs(seconds);
            assert_eq!(are_made_together(made, later), together, "{seconds} s");
            assert_eq!(are_made_together(later, made), together, "{seconds} s before");
        }
    }

    #[test]
    fn no_folder_passes_for_another_by_naming_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        repository(&top.join("app/.git"));
        let app = WorkFolder::read(&top.join("app")).unwrap();
        linked(&top.join("app"), &top.join("tree"), "tree");
        let evil = |name: &str| {
            std::fs::create_dir_all(top.join(name)).unwrap();
            top.join(name).join(".git")
        };
        let git = top.join("app/.git");
        std::fs::write(evil("file"), format!("gitdir: {}\n", git.display())).unwrap();
        std::fs::write(evil("worktree"), format!("gitdir: {}\n", git.join("worktrees/tree").display()))
            .unwrap();
        std::os::unix::fs::symlink(&git, evil("link")).unwrap();
        repository(&evil("common"));
        std::fs::write(top.join("common/.git/commondir"), git.as_os_str().as_bytes()).unwrap();
        // A private folder of a worktree that names the trusted repository.
        let own = top.join("forged/.own");
        repository(&own);
        std::fs::write(own.join("commondir"), git.as_os_str().as_bytes()).unwrap();
        std::fs::write(own.join("gitdir"), top.join("forged/.git").as_os_str().as_bytes()).unwrap();
        std::fs::write(top.join("forged/.git"), "gitdir: .own\n").unwrap();
        for name in ["file", "worktree", "link", "common", "forged"] {
            assert_ne!(WorkFolder::read(&top.join(name)).unwrap().identity, app.identity, "{name}");
        }
    }
}
