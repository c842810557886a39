//! git worktrees: finds the worktree that contains a folder, and whether git would use it. A repository of another
//! user counts only if `safe.directory` names it, since that user controls its files.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::env;
use crate::repository::{has_repository, own_repository, repository_of};
use crate::search_path;

/// Variables that lead git to another repository, or let it search elsewhere.
pub(crate) const REMOVED: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// A git worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The root, absolute and without links.
    pub root: PathBuf,
    /// Whether the user owns it, or git's `safe.directory` names it.
    pub is_taken: bool,
}

impl Worktree {
    /// Returns the root of the main worktree to which `git worktree add` linked this one; `None` for any other
    /// folder. Both must name each other, and the user must own every file involved: otherwise a folder from an
    /// archive could lead to another project. Also `None` if the main repository is bare, as it has no worktree.
    pub fn main(&self) -> Option<PathBuf> {
        let git = self.root.join(".git");
        let repository = own_repository(&self.root).filter(|own| git.is_file() && own.ends_with(".git"))?;
        let main = repository.parent().filter(|main| has_repository(main) && !is_bare(&repository))?;
        let own = repository_of(&self.root)?;
        let says = ["gitdir", "commondir"].map(|name| own.join(name));
        let all =
            [&self.root, &git, &own, &repository, main].into_iter().chain(says.iter().map(PathBuf::as_path));
        all.into_iter().all(is_own).then(|| main.to_path_buf())
    }

    /// Whether git tracks the file at this path in the worktree.
    pub fn tracks(&self, file: &Path) -> bool {
        let args = ["ls-files", "--error-unmatch", "--"].map(OsStr::new);
        self.is_taken && git_agrees(&self.root, &[&args[..], &[file.as_os_str()]].concat())
    }

    /// Finds the worktree that contains `dir`: the nearest folder, upwards from there, with a repository.
    pub fn containing(dir: &Path) -> Option<Worktree> {
        let dir = dir.canonicalize().ok()?;
        let (root, repository) = dir.ancestors().find_map(|dir| Some((dir, repository_of(dir)?)))?;
        let is_own = [root, &root.join(".git"), &repository].into_iter().all(is_own);
        Some(Worktree { root: root.to_path_buf(), is_taken: is_own || git_takes(root) })
    }
}

/// Whether the repository of a worktree has a commit. Nothing is fetched.
pub fn has_commit(root: &Path, commit: &str) -> bool {
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let object = format!("{commit}^{{commit}}");
    is_hash && git_agrees(root, &["cat-file".as_ref(), "-e".as_ref(), object.as_ref()])
}

/// Whether a repository has no worktree next to it: it is bare, or configures another folder.
fn is_bare(repository: &Path) -> bool {
    let says = |file: &str| {
        let text = std::fs::read_to_string(repository.join(file)).unwrap_or_default().to_ascii_lowercase();
        let mut is_core = false;
        text.lines().map(str::trim).any(|line| {
            if line.starts_with('[') {
                is_core = line.starts_with("[core]");
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let is_bare = key.trim() == "bare" && !["false", "no", "off", "0"].contains(&value.trim());
            is_core && (is_bare || key.trim() == "worktree")
        })
    };
    says("config") || says("config.worktree")
}

/// Whether the user owns the entry at this path; a link itself counts, not its target.
fn is_own(path: &Path) -> bool {
    let mine = rustix::process::geteuid().as_raw();
    // Under sudo, files of the calling user count as owned, as for git.
    let caller = env::text("SUDO_UID").and_then(|uid| uid.parse().ok());
    path.symlink_metadata().is_ok_and(|found| is_of(&found, mine, caller))
}

fn is_of(found: &Metadata, mine: u32, caller: Option<u32>) -> bool {
    found.uid() == mine || mine == 0 && caller == Some(found.uid())
}

/// Whether git uses a repository of another user. Without git, it does not count.
fn git_takes(root: &Path) -> bool {
    git_agrees(root, &["rev-parse".as_ref(), "--git-dir".as_ref()])
}

/// Whether a git command succeeds. Programs configured in the repository are not started.
fn git_agrees(root: &Path, args: &[&OsStr]) -> bool {
    let mut git = search_path::command("git");
    for variable in REMOVED {
        git.env_remove(variable);
    }
    git.env("GIT_NO_LAZY_FETCH", "1");
    git.arg("-C").arg(root).args(["-c", "core.fsmonitor=false"]).args(args);
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
    fn a_worktree_begins_where_git_says() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let deep = top.join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        let found =
            || Worktree::containing(&deep).filter(|tree| tree.root.starts_with(&top)).map(|tree| tree.root);
        std::fs::create_dir(top.join("a/b/.git")).unwrap();
        assert_eq!(found(), None, "an empty .git is no repository");
        repository(&top.join(".git"));
        assert_eq!(found(), Some(top.clone()));
        repository(&top.join("modules/a"));
        std::fs::write(top.join("a/.git"), "gitdir: ../modules/a\n").unwrap();
        assert_eq!(found(), Some(top.join("a")));
        std::fs::write(top.join("a/.git"), "gitdir: ../nowhere\n").unwrap();
        assert_eq!(found(), Some(top.clone()));
        assert_eq!(Worktree::containing(&top.join("none")), None);
        assert!(Worktree::containing(&deep).unwrap().is_taken);
    }

    /// Creates a main worktree `app` and a linked one in git's layout, with changed text in some files.
    fn linked(top: &Path, changed: &[(&str, &str)]) -> Worktree {
        let _ = std::fs::remove_dir_all(top);
        repository(&top.join("app/.git"));
        for (path, text) in [
            ("linked/.git", format!("gitdir: {}\n", top.join("app/.git/worktrees/linked").display())),
            ("app/.git/worktrees/linked/gitdir", format!("{}\n", top.join("linked/.git").display())),
            ("app/.git/worktrees/linked/commondir", "../..\n".to_string()),
            ("app/.git/worktrees/linked/HEAD", "ref: refs/heads/topic\n".to_string()),
            ("app/.git/config", "[core]\n\tbare = false\n[remote \"bare\"]\n\tbare = true\n".to_string()),
        ] {
            let text = changed
                .iter()
                .find(|(changed, _)| *changed == path)
                .map_or(text, |(_, text)| text.to_string());
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), text).unwrap();
        }
        Worktree { root: top.join("linked"), is_taken: true }
    }

    #[test]
    fn a_linked_worktree_and_its_main_one_name_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let top = &dir.path().canonicalize().unwrap().join("top");
        let (back, git) = ("app/.git/worktrees/linked/gitdir", "linked/.git");
        let (common, config) = ("app/.git/worktrees/linked/commondir", "app/.git/config");
        for (changed, is_linked) in [
            (vec![], true),
            // relative, as git writes them with worktree.useRelativePaths
            (
                vec![(git, "gitdir: ../app/.git/worktrees/linked\n"), (back, "../../../../linked/.git\n")],
                true,
            ),
            // an archive that leads to another project, which does not name it back
            (vec![(back, "/elsewhere/.git\n")], false),
            (vec![(back, "")], false),
            (vec![(common, "../../..\n")], false),
            (vec![(common, "/elsewhere\n")], false),
            // a submodule, whose repository is below `modules`
            (vec![(git, "gitdir: ../app/.git\n")], false),
            (vec![(git, "gitdir: ../nowhere\n")], false),
            (vec![(git, "words\n")], false),
            (vec![(config, "[core]\n\tbare = true\n")], false),
            (vec![(config, "[CORE]\n  Bare\n")], false),
            (vec![(config, "[core]\n\tworktree = ../../other\n")], false),
        ] {
            let tree = linked(top, &changed);
            assert_eq!(tree.main(), is_linked.then(|| top.join("app")), "{changed:?}");
        }
        let tree = linked(top, &[]);
        assert_eq!(Worktree::containing(&top.join("linked")), Some(tree.clone()));
        assert_eq!(Worktree::containing(&top.join("app")).unwrap().main(), None);
        // a bare repository of another name
        std::fs::rename(top.join("app/.git"), top.join("app/bare.git")).unwrap();
        let named = format!("gitdir: {}\n", top.join("app/bare.git/worktrees/linked").display());
        std::fs::write(top.join(git), named).unwrap();
        assert_eq!(tree.main(), None);
        // `.git` as a link is not git's
        let tree = linked(top, &[]);
        std::fs::rename(top.join(git), top.join("git")).unwrap();
        std::os::unix::fs::symlink("../git", top.join(git)).unwrap();
        assert_eq!(tree.main(), None);
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
