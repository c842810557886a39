//! Runs the program git such that no repository, local or remote, can execute a command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Dir, Mode, OFlags};

use super::git_process::{GitProcess, cannot_start, feed};
use lepo_base::error::{Error, Result};
use lepo_base::search_path;

/// Settings for every call: no hooks, no fsmonitor, no `ext::` transport, all received objects checked.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "transfer.advertisePushOptions=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "core.logAllRefUpdates=false",
    // A remote that sends nothing for this many seconds counts as unreachable.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=120",
];

/// Variables that would lead git to another repository or configuration.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_EXTERNAL_DIFF",
    "GIT_TRACE",
];

/// Numbers of loose objects and of packs above which the repository is packed.
const LOOSE: usize = 3000;
const PACKS: usize = 50;

/// Runs git in a bare repository.
#[derive(Debug, Clone)]
pub struct Git {
    dir: PathBuf,
    /// Whether git may ask for a password on the terminal.
    may_ask: bool,
}

impl Git {
    /// Runs git in the bare repository `dir`, which may not exist yet.
    pub fn at(dir: &Path, may_ask: bool) -> Git {
        Git { dir: dir.to_path_buf(), may_ask }
    }

    /// Returns the path of a file of lepo's own in the bare repository, so that it is deleted with it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Creates the bare repository; `false` if it exists.
    pub fn init(&self) -> Result<bool> {
        if self.dir.join("HEAD").exists() {
            return Ok(false);
        }
        let mut command = self.bare();
        command
            .args(["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--"])
            .arg(&self.dir);
        GitProcess::start(command)?.printed().map(|_| true)
    }

    /// Removes lock files of a killed git. The caller has locked the state, so only a git that outlived its lepo can
    /// still own one: it has two seconds to end.
    pub fn unlock(&self) -> Result<()> {
        let found = || -> Vec<PathBuf> {
            let dirs = ["", "refs", "refs/lepo", "refs/theirs", "refs/taken"].map(|dir| self.dir.join(dir));
            let paths = dirs.iter().flat_map(|dir| names_in(dir).into_iter().map(|name| dir.join(name)));
            paths.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect()
        };
        for _ in 0..20 {
            if found().is_empty() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        for path in found() {
            std::fs::remove_file(&path)
                .map_err(|error| Error::store(format!("cannot remove {}", path.display())).because(error))?;
        }
        Ok(())
    }

    /// Packs the repository if it has many loose objects or packs, as git does automatically. Like git, estimates the
    /// number of loose objects from a single one of their 256 folders, but without starting a program.
    pub fn tidy(&self) -> Result<()> {
        let count = |folder: &str, end: &str| {
            let names = names_in(&self.dir.join("objects").join(folder));
            names.iter().filter(|name| name.ends_with(end)).count()
        };
        if count("17", "") <= LOOSE.div_ceil(256) && count("pack", ".pack") <= PACKS {
            return Ok(());
        }
        let loose = format!("gc.auto={LOOSE}");
        self.run(["-c", &loose, "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"]).map(|_| ())
    }

    /// Sets refs to objects, and deletes those without an object, in a single transaction.
    pub fn update_refs(&self, refs: impl IntoIterator<Item = (String, Option<String>)>) -> Result<()> {
        let mut refs = refs.into_iter().peekable();
        if refs.peek().is_none() {
            return Ok(());
        }
        feed(self.start(["update-ref", "--stdin"])?, |to| {
            refs.try_for_each(|(name, oid)| match oid {
                Some(oid) => writeln!(to, "update {name} {oid}"),
                None => writeln!(to, "delete {name}"),
            })
        })
    }

    /// Prepares a call without a repository, for `init`.
    fn bare(&self) -> Command {
        let mut command = search_path::command("git");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        for variable in REMOVED {
            command.env_remove(variable);
        }
        command.env("LC_ALL", "C").stdin(Stdio::null());
        if !self.may_ask {
            command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "true").env("SSH_ASKPASS", "true");
            if lepo_base::env::var("GIT_SSH_COMMAND").is_none() {
                command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
            }
        }
        command
    }

    /// Prepares a call in the repository.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.bare();
        let dir = if self.dir.is_dir() { self.dir.as_path() } else { Path::new("/") };
        command.arg("--git-dir").arg(&self.dir).args(args).current_dir(dir);
        command
    }

    /// Starts a call whose output is read later.
    pub fn spawn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<GitProcess> {
        GitProcess::start(self.command(args))
    }

    /// Runs a call and returns its output.
    ///
    /// # Errors
    /// [`ExitKind::Remote`](lepo_base::error::ExitKind::Remote) with the end of git's error output; a git that cannot be
    /// started is [`ExitKind::Usage`](lepo_base::error::ExitKind::Usage).
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Vec<u8>> {
        self.spawn(args)?.printed()
    }

    /// Starts a call whose stdin and stdout are pipes.
    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Child> {
        self.command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot_start)
    }
}

/// Lists the readable names in a directory. `std::fs::read_dir` panics if closing the directory fails.
fn names_in(dir: &Path) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(entries) = rustix::fs::open(dir, flags, Mode::empty()).and_then(Dir::read_from) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "." && name != "..").collect()
}

/// Returns the user's git email, from the repository that contains `dir` or from the global configuration.
pub fn email(dir: &Path) -> Option<String> {
    let mut command = search_path::command("git");
    command.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false", "config", "--get", "user.email"]);
    printed(command)
}

/// Returns the URL of a remote of the repository that contains `dir`.
pub fn remote_url(dir: &Path, name: &str) -> Option<String> {
    let mut command = search_path::command("git");
    command.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false", "config", "--get"]);
    command.arg(format!("remote.{name}.url"));
    printed(command)
}

/// Whether a commit of the repository that contains `dir` has a file whose path contains one of `words`. Reads only
/// commits: starts no hook and no other program, and fetches nothing.
pub fn is_committed(dir: &Path, words: &[String]) -> bool {
    let mut command = search_path::command("git");
    for variable in REMOVED {
        command.env_remove(variable);
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C").arg("-C").arg(dir);
    command.args([
        "-c",
        "core.fsmonitor=false",
        "-c",
        "protocol.allow=never",
        "rev-list",
        "--all",
        "-1",
        "--",
    ]);
    command.args(words.iter().map(|word| format!("*{word}*")));
    printed(command).is_some()
}

fn printed(mut command: Command) -> Option<String> {
    command.stdin(Stdio::null());
    let out = GitProcess::start(command).and_then(GitProcess::printed).ok()?;
    let text = String::from_utf8_lossy(&out).trim().to_string();
    (!text.is_empty()).then_some(text)
}
