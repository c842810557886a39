//! Programs that a configuration names: MCP servers, `cli` models, agents, commands that print a key. Nothing else starts
//! them.
//!
//! They have the user's rights, and what they do depends on where they start: `npx` loads `node_modules` and `.npmrc`
//! from there, `python -m` any module, and many read settings. So they start in an empty folder unless the worktree
//! is trusted, and are searched where a repository cannot put a program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::empty_folder::EmptyFolder;
use super::program::Program;
use super::{Environment, environment};
use lepo_base::repository::root_around;
use lepo_base::search_path::SearchPath;

/// The folder in which a configured program starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFolder(StartKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum StartKind {
    /// A new empty folder in this state folder.
    Empty(PathBuf),
    Trusted(PathBuf),
    Absolute(PathBuf),
}

impl StartFolder {
    /// An empty folder, created in lepo's state folder for each start.
    pub fn empty(state: &Path) -> StartFolder {
        StartFolder(StartKind::Empty(state.to_path_buf()))
    }

    /// A folder of a worktree that the user trusts. Only the trust record calls this.
    pub fn trusted(dir: &Path) -> StartFolder {
        StartFolder(StartKind::Trusted(dir.to_path_buf()))
    }

    /// The folder that the user configured for the program by an absolute path; `None` if the path is relative.
    pub fn absolute(dir: &Path) -> Option<StartFolder> {
        dir.is_absolute().then(|| StartFolder(StartKind::Absolute(dir.to_path_buf())))
    }

    /// Returns a subfolder; `None` if the folder is empty.
    pub fn join(&self, path: &Path) -> Option<StartFolder> {
        match &self.0 {
            StartKind::Empty(_) => None,
            StartKind::Trusted(dir) => Some(StartFolder(StartKind::Trusted(dir.join(path)))),
            StartKind::Absolute(dir) => Some(StartFolder(StartKind::Absolute(dir.join(path)))),
        }
    }

    /// Whether the program starts in an empty folder.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, StartKind::Empty(_))
    }

    /// Returns the folder; `None` for an empty folder, which has no name before it is created.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            StartKind::Empty(_) => None,
            StartKind::Trusted(dir) | StartKind::Absolute(dir) => Some(dir),
        }
    }
}

/// A program that a configuration names, with its arguments.
#[derive(Debug, Clone)]
pub struct ConfiguredProgram<'a> {
    program: &'a OsStr,
    args: Vec<OsString>,
    env: Environment,
    /// The folder that it works for. Programs in its worktree are never used.
    work_dir: &'a Path,
    start: &'a StartFolder,
}

impl<'a> ConfiguredProgram<'a> {
    /// Creates a program that works for `work_dir`, with lepo's environment.
    pub fn new(program: &'a OsStr, work_dir: &'a Path, start: &'a StartFolder) -> ConfiguredProgram<'a> {
        ConfiguredProgram { program, args: Vec::new(), env: environment(|_| false), work_dir, start }
    }

    /// Appends arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> ConfiguredProgram<'a> {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    /// Replaces lepo's environment.
    pub fn env(self, env: Environment) -> ConfiguredProgram<'a> {
        ConfiguredProgram { env, ..self }
    }

    /// Prepares the program to be started with supervision of all its descendants. `check` receives the start folder
    /// and compares the program's files with those that the user agreed to; its error is the reason not to start. The
    /// value that it returns, a lock, is dropped once the program has started.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is not in the search path; others name the reason.
    pub fn prepare(
        self,
        check: impl FnOnce(&Path) -> Result<Option<OwnedFd>, String>,
    ) -> io::Result<Program> {
        let (dir, lock) = self.start_dir()?;
        let lock_of_files = check(&dir).map_err(|what| io::Error::other(FilesChanged(what)))?;
        let program = self.resolve(&dir)?;
        let mut prepared = Program::new(program, self.env_in(&dir)).args(&self.args).dir(&dir);
        prepared.hold_until_started(lock_of_files);
        if let Some(lock) = lock {
            prepared.add_lock(lock.into());
            prepared.remove_at_end(&dir);
        }
        Ok(prepared)
    }

    /// Returns the program as a plain command of the system, for a program that may ask on the terminal. The folder
    /// is in use until the guard is dropped.
    ///
    /// # Errors
    /// Like [`ConfiguredProgram::prepare`].
    pub fn command(self) -> io::Result<(Command, StartGuard)> {
        let (dir, lock) = self.start_dir()?;
        let mut command = Command::new(self.resolve(&dir)?);
        command.args(&self.args).env_clear().envs(self.env_in(&dir)).current_dir(&dir);
        Ok((command, StartGuard { dir: lock.is_some().then_some(dir), _lock: lock }))
    }

    /// Returns the program with its arguments, its environment and its start folder, for a sandbox. An empty folder
    /// is replaced by the root of the file system. A name is resolved inside the sandbox, where other folders may be
    /// hidden.
    ///
    /// # Errors
    /// Like [`ConfiguredProgram::prepare`].
    pub fn parts(self) -> io::Result<(Vec<OsString>, Environment, PathBuf)> {
        let dir = self.start.path().unwrap_or(Path::new("/")).to_path_buf();
        let env = self.env_in(&dir);
        let program = match self.resolve(&dir) {
            Ok(path) if self.has_path() => path.into_os_string(),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => self.program.to_os_string(),
        };
        let words = [program].into_iter().chain(self.args).collect();
        Ok((words, env, dir))
    }

    /// Returns the folder to start in, and the lock of that folder if this start created it.
    fn start_dir(&self) -> io::Result<(PathBuf, Option<std::fs::File>)> {
        match &self.start.0 {
            StartKind::Trusted(dir) | StartKind::Absolute(dir) if dir.is_dir() => Ok((dir.clone(), None)),
            StartKind::Trusted(dir) | StartKind::Absolute(dir) => {
                Err(io::Error::other(format!("{} is not a directory here", dir.display())))
            }
            StartKind::Empty(state) if self.has_in_worktree(state) => Ok((PathBuf::from("/"), None)),
            StartKind::Empty(state) => {
                let EmptyFolder { path, lock } = EmptyFolder::new(state).map_err(|error| {
                    io::Error::other(format!("cannot create an empty folder in {}: {error}", state.display()))
                })?;
                Ok((path, Some(lock)))
            }
        }
    }

    /// Whether the worktree contains this folder. Many programs search all parent folders for files, so an empty
    /// folder in the worktree would not be isolated from the repository.
    fn has_in_worktree(&self, state: &Path) -> bool {
        let root = root_around(self.work_dir).or_else(|| self.work_dir.canonicalize().ok());
        // The root of the file system would be the worktree itself.
        let root = root.filter(|root| root.parent().is_some());
        let state = state.ancestors().find_map(|dir| dir.canonicalize().ok());
        root.zip(state).is_some_and(|(root, state)| state.starts_with(root))
    }

    /// Whether the program is given as a path.
    fn has_path(&self) -> bool {
        self.program.as_encoded_bytes().contains(&b'/')
    }

    /// Resolves the program: a name in the search path, a relative path in the start folder.
    fn resolve(&self, dir: &Path) -> io::Result<PathBuf> {
        if self.has_path() {
            return Ok(dir.join(self.program));
        }
        let path = self.search_path();
        path.find(self.program).ok_or_else(|| match path.find_left_out(self.program) {
            None => io::ErrorKind::NotFound.into(),
            Some(found) => io::Error::other(format!(
                "it is only in {}, a folder of `PATH` that a repository can fill; \
                 to use it, write its absolute path",
                found.parent().unwrap_or(&found).display()
            )),
        })
    }

    fn search_path(&self) -> SearchPath {
        let path = self.env.iter().rev().find(|(name, _)| name == "PATH");
        SearchPath::for_folders(
            path.map(|(_, value)| value.as_os_str()).unwrap_or_default(),
            &[self.work_dir],
        )
    }

    /// Returns its environment in `dir`, without variables that name another working directory.
    fn env_in(&self, dir: &Path) -> Environment {
        let path = self.search_path().to_value();
        let others = self.env.iter().filter(|(name, _)| name != "PATH" && name != "PWD" && name != "OLDPWD");
        let own = [("PATH".into(), path), ("PWD".into(), dir.as_os_str().to_os_string())];
        others.cloned().chain(own).collect()
    }
}

/// The reason not to start a program: its files differ from those that the user agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesChanged(String);

impl std::fmt::Display for FilesChanged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilesChanged {}

impl FilesChanged {
    /// Returns the reason if changed files prevented a start.
    pub fn from_error(error: &io::Error) -> Option<&FilesChanged> {
        error.get_ref()?.downcast_ref()
    }
}

/// Removes the empty folder of a command when dropped.
#[derive(Debug)]
pub struct StartGuard {
    dir: Option<PathBuf>,
    _lock: Option<std::fs::File>,
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        if let Some(dir) = &self.dir {
            // If the folder is not empty, the next start removes it.
            let _ = std::fs::remove_dir(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worktree with a program of the repository's, and a state folder beside it.
    fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let app = top.join("app");
        std::fs::create_dir_all(app.join(".git/objects")).unwrap();
        std::fs::write(app.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir_all(app.join("bin")).unwrap();
        for (path, text) in [("bin/sh", "#!/bin/sh\necho theirs\n"), ("bin/tool", "#!/bin/sh\necho tool\n")] {
            std::fs::write(app.join(path), text).unwrap();
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(app.join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        (dir, app, top.join("state"))
    }

    fn printed(program: &str, args: &[&str], app: &Path, start: &StartFolder) -> io::Result<String> {
        let path = std::env::join_paths([app.join("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        let env = vec![("PATH".into(), path), ("OLDPWD".into(), app.into()), ("KEPT".into(), "kept".into())];
        let program = ConfiguredProgram::new(program.as_ref(), app, start).args(args).env(env);
        let (mut command, _guard) = program.command()?;
        Ok(String::from_utf8(command.output()?.stdout).unwrap())
    }

    const TELL: &[&str] =
        &["-c", "pwd; ls -A | wc -l; echo $PATH; echo $PWD; echo ${OLDPWD-none} $KEPT; command -v sh"];

    #[test]
    fn a_program_starts_in_an_empty_folder_and_finds_nothing_of_the_repository() {
        let (_dir, app, state) = places();
        let output = printed("sh", TELL, &app, &StartFolder::empty(&state)).unwrap();
        let lines: Vec<&str> = output.lines().collect();
        let empty = state.join("empty");
        assert!(Path::new(lines[0]).parent() == Some(&empty), "{output}");
        assert_eq!(lines[1].trim(), "0");
        assert_eq!(lines[2], "/usr/bin:/bin");
        assert_eq!(lines[3], lines[0]);
        assert_eq!(lines[4], "none kept");
        assert!(!lines[5].starts_with(app.to_str().unwrap()), "{output}");
        assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0, "it is gone afterwards");
    }

    #[test]
    fn trust_and_an_absolute_folder_change_the_folder_and_not_the_search_path() {
        let (dir, app, state) = places();
        let other = dir.path().canonicalize().unwrap();
        for (start, expected) in
            [(StartFolder::trusted(&app), &app), (StartFolder::absolute(&other).unwrap(), &other)]
        {
            let output = printed("sh", TELL, &app, &start).unwrap();
            assert!(output.starts_with(&format!("{}\n", expected.display())), "{output}");
            assert!(output.contains("\n/usr/bin:/bin\n"), "{output}");
        }
        assert_eq!(StartFolder::absolute("sub".as_ref()), None);
        let gone = StartFolder::absolute(&app.join("gone")).unwrap();
        assert!(
            printed("sh", TELL, &app, &gone)
                .unwrap_err()
                .to_string()
                .ends_with("gone is not a directory here")
        );
        // A path is the folder's that it starts in.
        assert_eq!(printed("bin/tool", &[], &app, &StartFolder::trusted(&app)).unwrap(), "tool\n");
        let empty = printed("bin/tool", &[], &app, &StartFolder::empty(&state));
        assert_eq!(empty.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_program_of_the_repository_alone_is_named_with_the_reason() {
        let (_dir, app, state) = places();
        let start = StartFolder::empty(&state);
        let error = printed("tool", &[], &app, &start).unwrap_err();
        let bin = app.join("bin");
        assert!(error.to_string().starts_with(&format!("it is only in {}, ", bin.display())), "{error}");
        assert_eq!(
            printed("no-such-program", &[], &app, &start).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn where_the_worktree_holds_the_state_folder_a_program_starts_at_the_root() {
        let (_dir, app, _) = places();
        let output = printed("sh", TELL, &app, &StartFolder::empty(&app.join("home/.local/state"))).unwrap();
        assert!(output.starts_with("/\n"), "{output}");
    }
}
