//! git work trees: the one that a folder lies in, and whether git would take it. A repository of another user counts
//! only where `safe.directory` names it, since its files say what another user wants.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::env;
use crate::repository::repository_of;
use crate::search_path;

/// Variables that lead git to another repository, or let it look elsewhere.
const REMOVED: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// A git work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// The root, absolute and without links.
    pub root: PathBuf,
    /// The user owns it, or git's `safe.directory` names it.
    pub is_taken: bool,
}

impl WorkTree {
    /// The work tree that `dir` lies in: of the folders from there up, the first with a repository in it.
    pub fn of(dir: &Path) -> Option<WorkTree> {
        let dir = dir.canonicalize().ok()?;
        let (root, repository) = dir.ancestors().find_map(|dir| Some((dir, repository_of(dir)?)))?;
        let is_own = [root, &root.join(".git"), &repository].into_iter().all(is_own);
        Some(WorkTree { root: root.to_path_buf(), is_taken: is_own || git_takes(root) })
    }
}

/// True if the user owns what is at this path, a link itself.
fn is_own(path: &Path) -> bool {
    let mine = rustix::process::geteuid().as_raw();
    // Under sudo the files of the user who called it count, as they do for git.
    let caller = env::text("SUDO_UID").and_then(|uid| uid.parse().ok());
    path.symlink_metadata().is_ok_and(|found| is_of(&found, mine, caller))
}

fn is_of(found: &Metadata, mine: u32, caller: Option<u32>) -> bool {
    found.uid() == mine || mine == 0 && caller == Some(found.uid())
}

/// git's own word on a repository of another user. Without git there is none.
fn git_takes(root: &Path) -> bool {
    let mut git = search_path::command("git");
    for variable in REMOVED {
        git.env_remove(variable);
    }
    git.arg("-C").arg(root).args(["-c", "core.fsmonitor=false", "rev-parse", "--git-dir"]);
    let ran = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(at: &Path) {
        std::fs::create_dir_all(at.join("objects")).unwrap();
        std::fs::create_dir_all(at.join("refs")).unwrap();
        std::fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_work_tree_begins_where_git_says() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let deep = top.join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        let found = || WorkTree::of(&deep).filter(|tree| tree.root.starts_with(&top)).map(|tree| tree.root);
        std::fs::create_dir(top.join("a/b/.git")).unwrap();
        assert_eq!(found(), None, "an empty .git is no repository");
        repository(&top.join(".git"));
        assert_eq!(found(), Some(top.clone()));
        repository(&top.join("modules/a"));
        std::fs::write(top.join("a/.git"), "gitdir: ../modules/a\n").unwrap();
        assert_eq!(found(), Some(top.join("a")));
        std::fs::write(top.join("a/.git"), "gitdir: ../nowhere\n").unwrap();
        assert_eq!(found(), Some(top.clone()));
        assert_eq!(WorkTree::of(&top.join("none")), None);
        assert!(WorkTree::of(&deep).unwrap().is_taken);
    }

    #[test]
    fn the_owner_is_the_user_or_under_sudo_the_caller() {
        let dir = tempfile::tempdir().unwrap();
        let found = dir.path().metadata().unwrap();
        let own = found.uid();
        for (mine, caller, expected) in [
            (own, None, true),
            (own + 1, None, false),
            (own + 1, Some(own), false),
            (0, Some(own), true),
            (0, Some(own + 1), own == 0),
        ] {
            assert_eq!(is_of(&found, mine, caller), expected, "{mine} {caller:?}");
        }
    }
}
