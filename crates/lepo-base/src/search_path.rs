//! Where programs are found: the directories of `PATH` that no repository can fill.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env;
use crate::repository::{has_repository, repositories_around, root_around, worktrees};

/// A folder with this subfolder is a folder of conversations, even without git.
const STORE: &str = ".lepo";

/// The value of `PATH` if no entry remains: an empty one would mean the working directory, and an unset one the
/// default of each shell, which in some includes it too.
const NOWHERE: &str = "/nonexistent";

/// `PATH` without its relative entries and without those inside a worktree of the current repository.
///
/// If the worktree is the home directory or contains it, only entries inside another repository or a store are
/// excluded: a home directory under git contains the user's own programs. A hidden folder of the home directory
/// (`~/.nvm`, `~/.pyenv`) does not count as such a repository: version managers are installed as clones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath {
    dirs: Vec<PathBuf>,
    /// Excluded entries, made absolute.
    left_out: Vec<PathBuf>,
}

impl SearchPath {
    /// Returns the search path of this process, for programs that work in the current folder.
    pub fn current() -> SearchPath {
        SearchPath::for_folders(&env::var("PATH").unwrap_or_default(), &[])
    }

    /// Parses a value of `PATH`, for programs that work in these folders and in the current one.
    pub fn for_folders(path: &OsStr, folders: &[&Path]) -> SearchPath {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let home = env::var("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in folders.iter().copied().chain([cwd.as_path()]).filter_map(root_around) {
            // Trust in a folder covers all worktrees of its repository, so each may fill an entry.
            let others = worktrees(&root).into_iter().filter(|tree| *tree != root);
            for tree in std::iter::once(root.clone()).chain(others) {
                // An inner repository, such as a submodule, does not make the outer one foreign.
                let outer = repositories_around(&tree).into_iter();
                let outer = outer.filter(|outer| !contains_home(outer, home.as_deref()));
                for root in std::iter::once(tree.clone()).chain(outer) {
                    if !roots.contains(&root) {
                        roots.push(root);
                    }
                }
            }
        }
        SearchPath::new(path, &cwd, &roots, home.as_deref())
    }

    /// Splits the entries of `path` into used and excluded ones. No entry may be inside the worktrees `roots`.
    pub fn new(path: &OsStr, cwd: &Path, roots: &[PathBuf], home: Option<&Path>) -> SearchPath {
        let home = home.and_then(|home| home.canonicalize().ok());
        let roots: Vec<WorktreeRoot> =
            roots.iter().filter_map(|root| WorktreeRoot::read(root, home.as_deref())).collect();
        let mut sorted = SearchPath { dirs: Vec::new(), left_out: Vec::new() };
        for dir in std::env::split_paths(path) {
            if !dir.is_absolute() {
                sorted.left_out.push(cwd.join(dir));
            } else if roots.iter().any(|root| root.excludes(&dir)) {
                sorted.left_out.push(dir);
            } else {
                sorted.dirs.push(dir);
            }
        }
        sorted
    }

    /// Returns the used entries, in order.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Finds the program of this name; `None` for a name with a slash.
    pub fn find(&self, program: &OsStr) -> Option<PathBuf> {
        find_in(&self.dirs, program)
    }

    /// Finds the program of this name in an excluded entry, if no used entry has it.
    pub fn find_left_out(&self, program: &OsStr) -> Option<PathBuf> {
        if self.find(program).is_some() { None } else { find_in(&self.left_out, program) }
    }

    /// Returns the value of `PATH` for a child process.
    pub fn to_value(&self) -> OsString {
        // Each was an entry of a list, so it cannot contain the separator.
        std::env::join_paths(&self.dirs)
            .ok()
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| NOWHERE.into())
    }
}

/// Creates a command for a system program that lepo itself needs, found in the search path of the current folder. The
/// program gets the same search path.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let (program, path) = (program.as_ref(), SearchPath::current());
    let found = path.find(program);
    let mut command = Command::new(found.as_deref().map_or(program, Path::as_os_str));
    command.env("PATH", path.to_value());
    command
}

/// Whether a program can exist: a name in the search path of the current folder, which is read only for a name, or an
/// absolute path. A relative path may be anywhere.
pub fn may_exist(program: &str) -> bool {
    match program.contains('/') {
        true => Path::new(program).is_relative() || Path::new(program).is_file(),
        false => SearchPath::current().find(OsStr::new(program)).is_some(),
    }
}

/// Finds another program of lepo's by name: next to the running one, or else in the search path.
pub fn own_program(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|me| Some(me.parent()?.join(name)));
    beside.filter(|program| program.is_file()).or_else(|| SearchPath::current().find(name.as_ref()))
}

/// Whether `folder` is or contains the home directory.
fn contains_home(folder: &Path, home: Option<&Path>) -> bool {
    home.and_then(|home| home.canonicalize().ok()).is_some_and(|home| home.starts_with(folder))
}

fn find_in(dirs: &[PathBuf], program: &OsStr) -> Option<PathBuf> {
    if program.is_empty() || program.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    dirs.iter().map(|dir| dir.join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A worktree, by the identity of its folder: another path to it, through a link or with another case, leads to the
/// same folder.
struct WorktreeRoot {
    identity: (u64, u64),
    /// The home directory, if it is this folder or inside it.
    home: Option<(u64, u64)>,
}

impl WorktreeRoot {
    fn read(root: &Path, home: Option<&Path>) -> Option<WorktreeRoot> {
        let identity = identity(&root.metadata().ok()?);
        let holds = |home: &Path| {
            home.ancestors().any(|dir| dir.metadata().is_ok_and(|meta| self::identity(&meta) == identity))
        };
        let home = home.filter(|home| holds(home)).and_then(|home| home.metadata().ok());
        Some(WorktreeRoot { identity, home: home.map(|home| self::identity(&home)) })
    }

    /// Whether programs of `dir` may be the repository's. Both the path itself and its target count: a link in the
    /// worktree lets the repository decide where programs are found.
    fn excludes(&self, dir: &Path) -> bool {
        let real = dir.canonicalize().ok().filter(|real| real != dir);
        [Some(dir), real.as_deref()].into_iter().flatten().any(|dir| self.has(dir))
    }

    fn has(&self, dir: &Path) -> bool {
        let mut is_in_another = false;
        for above in dir.ancestors() {
            if above.metadata().is_ok_and(|meta| identity(&meta) == self.identity) {
                return self.home.is_none() || is_in_another;
            }
            is_in_another |= self.home.is_some() && is_foreign(above) && !self.is_hidden_in_home(above);
        }
        false
    }

    /// Whether `dir` is a folder of the home directory whose name starts with a dot, other than its store.
    fn is_hidden_in_home(&self, dir: &Path) -> bool {
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".") && name != STORE;
        let parent = dir.parent().and_then(|parent| parent.metadata().ok()).map(|parent| identity(&parent));
        dir.file_name().is_some_and(is_hidden) && parent.is_some() && parent == self.home
    }
}

/// Whether `dir` contains a repository or a store, or is a store.
fn is_foreign(dir: &Path) -> bool {
    has_repository(dir) || dir.join(STORE).is_dir() || dir.file_name().is_some_and(|name| name == STORE)
}

fn identity(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(at: &Path) {
        std::fs::create_dir_all(at.join(".git/objects")).unwrap();
        std::fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn no_entry_is_one_that_a_repository_can_fill() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (home, app) = (top.join("home"), top.join("home/app"));
        for made in
            ["home/bin", "home/app/node_modules/.bin", "home/app/sub", "home/notes/.lepo/x", "usr/bin"]
        {
            std::fs::create_dir_all(top.join(made)).unwrap();
        }
        repository(&app);
        repository(&home.join(".nvm"));
        repository(&app.join(".hidden"));
        std::os::unix::fs::symlink(app.join("sub"), home.join("link-in")).unwrap();
        std::os::unix::fs::symlink(top.join("usr/bin"), app.join("link-out")).unwrap();
        std::os::unix::fs::symlink(&home, top.join("other-name")).unwrap();
        let entries = [
            "usr/bin",
            "home/bin",
            "home/app/node_modules/.bin",
            "home/app",
            "home/app/not-there",
            "home/link-in",
            "home/app/link-out",
            "usr/bin/../../home/app/sub",
            "other-name/app/sub",
            "home/notes/bin",
            "home/notes/.lepo/x",
            "not-there/bin",
            "home/.nvm/bin",
            "home/app/.hidden/bin",
            "home/.lepo/bin",
        ];
        let path = entries.iter().map(|entry| top.join(entry).into_os_string());
        let path: Vec<OsString> = path.chain(["".into(), ".".into(), "node_modules/.bin".into()]).collect();
        let path = path.join(OsStr::new(":"));
        let kept = |roots: &[&Path], home: Option<&Path>| {
            let roots: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
            let found = SearchPath::new(&path, &app, &roots, home);
            let kept = found.dirs().iter().map(|dir| dir.strip_prefix(&top).unwrap().display().to_string());
            kept.collect::<Vec<_>>().join(" ")
        };
        let all = entries.join(" ");
        assert_eq!(kept(&[], Some(&home)), all, "relative ones never count");
        let outside =
            "usr/bin home/bin home/notes/bin home/notes/.lepo/x not-there/bin home/.nvm/bin home/.lepo/bin";
        assert_eq!(kept(&[&app], Some(&home)), outside);
        assert_eq!(kept(&[&app], None), outside);
        assert_eq!(kept(&[&top.join("other-name/app")], Some(&home)), outside, "by another name");
        // The home directory in git, and a folder that contains it.
        let own = "usr/bin home/bin not-there/bin home/.nvm/bin";
        assert_eq!(kept(&[&home], Some(&home)), own);
        assert_eq!(kept(&[&top], Some(&home)), own);
        assert_eq!(kept(&[&home], Some(&top.join("usr"))), "usr/bin not-there/bin");
    }

    #[test]
    fn a_repository_in_a_repository_shields_no_entry_of_the_outer_one() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (app, sub) = (top.join("app"), top.join("app/vendor/sub"));
        for folder in [app.join("bin"), sub.join("bin"), top.join("bin")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        repository(&app);
        repository(&sub);
        let path = std::env::join_paths([app.join("bin"), sub.join("bin"), top.join("bin")]).unwrap();
        assert_eq!(SearchPath::for_folders(&path, &[&sub.join("bin")]).dirs(), [top.join("bin")]);
        // A home directory under git contains the user's own programs.
        assert!(
            contains_home(&app, Some(&sub))
                && contains_home(&app, Some(&app))
                && !contains_home(&app, Some(&top))
                && !contains_home(&app, None)
        );
    }

    #[test]
    fn a_program_that_is_left_out_is_found_to_be_named() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for (path, mode) in
            [("bin/both", 0o755), ("bin/data", 0o644), ("app/both", 0o755), ("app/mine", 0o755)]
        {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), "").unwrap();
            std::fs::set_permissions(top.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([top.join("app"), top.join("bin")]).unwrap();
        let found = SearchPath::new(&path, &top, &[top.join("app")], None);
        let find = |name: &str| (found.find(name.as_ref()), found.find_left_out(name.as_ref()));
        assert_eq!(find("both"), (Some(top.join("bin/both")), None));
        assert_eq!(find("mine"), (None, Some(top.join("app/mine"))));
        for none in ["data", "gone", "", "../app/mine", "./mine"] {
            assert_eq!(find(none), (None, None), "{none}");
        }
        let relative = SearchPath::new("app:".as_ref(), &top, &[], None);
        assert_eq!(relative.find_left_out("mine".as_ref()), Some(top.join("app/mine")));
        assert_eq!(relative.to_value(), NOWHERE);
        assert_eq!(found.to_value(), top.join("bin"));
    }
}
