//! Runs the program git, so that nothing of a repository it works in or talks to can run a command.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::{Error, Result};

/// Settings of every call: no hooks, no fsmonitor, no `ext::` transport, all received objects checked.
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
];

/// Variables that would lead git to another repository or configuration than the one named.
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

/// Bytes of git's own output that are kept.
const MOST: u64 = 256 << 20;

/// git with one bare repository.
#[derive(Debug, Clone)]
pub struct Git {
    dir: PathBuf,
    /// git may ask for a password on the terminal.
    may_ask: bool,
}

impl Git {
    /// git with the bare repository `dir`, which need not be there yet.
    pub fn at(dir: &Path, may_ask: bool) -> Git {
        Git { dir: dir.to_path_buf(), may_ask }
    }

    /// Makes the bare repository, if it is not there.
    pub fn init(&self) -> Result<()> {
        if self.dir.join("HEAD").exists() {
            return Ok(());
        }
        let mut command = self.bare();
        command
            .args(["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--"])
            .arg(&self.dir);
        output(command).map(|_| ())
    }

    /// Removes lock files of a git that was killed. The caller holds the lock of the state, so that only a git
    /// which outlived its lepo can still own one: it is given two seconds to end.
    pub fn unlock(&self) -> Result<()> {
        let found = || -> Vec<PathBuf> {
            let dirs = ["", "refs", "refs/lepo", "refs/theirs", "refs/taken"].map(|dir| self.dir.join(dir));
            let listed = dirs.iter().flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
            let paths = listed.map(|entry| entry.path());
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

    /// Packs the repository where many loose objects or packs have come together, as git does by itself.
    pub fn tidy(&self) -> Result<()> {
        self.run(["-c", "gc.auto=3000", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"]).map(|_| ())
    }

    /// Sets refs to objects, or deletes those without one, all at once.
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

    /// A call without a repository: for `init`.
    fn bare(&self) -> Command {
        let mut command = Command::new("git");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        for variable in REMOVED {
            command.env_remove(variable);
        }
        command.env("LC_ALL", "C").stdin(Stdio::null());
        if !self.may_ask {
            command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "true").env("SSH_ASKPASS", "true");
            if crate::env::var("GIT_SSH_COMMAND").is_none() {
                command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
            }
        }
        command
    }

    /// A call in the repository, to be started by the caller.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.bare();
        command.arg("--git-dir").arg(&self.dir).args(args).current_dir(&self.dir);
        command
    }

    /// Runs a call and gives what it printed.
    ///
    /// # Errors
    /// [`Kind::Remote`](crate::error::Kind::Remote) with git's last words; a git that cannot be started is
    /// [`Kind::Usage`](crate::error::Kind::Usage).
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Vec<u8>> {
        output(self.command(args))
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

/// The user's git email: of the repository that `dir` lies in, or of all.
pub fn email(dir: &Path) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false", "config", "--get", "user.email"]);
    printed(command)
}

/// The URL of a remote of the repository that `dir` lies in.
pub fn remote_url(dir: &Path, name: &str) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false", "config", "--get"]);
    command.arg(format!("remote.{name}.url"));
    printed(command)
}

fn printed(mut command: Command) -> Option<String> {
    let out = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_string();
    (out.status.success() && !text.is_empty()).then_some(text)
}

fn cannot_start(error: io::Error) -> Error {
    Error::usage("cannot run git").because(error).hint("`lepo sync` needs the program git in PATH")
}

/// Runs a command to its end and gives its stdout.
fn output(mut command: Command) -> Result<Vec<u8>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot_start)?;
    let errors = child.stderr.take().map(last_words);
    let mut printed = Vec::new();
    let read = child.stdout.take().map_or(Ok(0), |out| out.take(MOST).read_to_end(&mut printed));
    let status = child.wait();
    let words = errors.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
    match (read, status) {
        (Ok(_), Ok(status)) if status.success() => Ok(printed),
        (Err(error), _) | (_, Err(error)) => Err(Error::remote("git could not be read").because(error)),
        _ => Err(failed(&words)),
    }
}

/// Collects the end of git's stderr in a thread, so that a flood of it holds nothing up.
pub fn last_words(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    const KEPT: usize = 4 << 10;
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            kept.extend(&buffer[..n]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// The error of a git call that ended badly.
pub fn failed(words: &str) -> Error {
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let told: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| {
            line.starts_with("fatal:")
                || line.starts_with("error:")
                || line.starts_with(" !")
                || line.contains("rejected")
        })
        .collect();
    let shown = if told.is_empty() { lines.last().map(|line| vec![*line]).unwrap_or_default() } else { told };
    let shown = shown.into_iter().take(3).collect::<Vec<_>>().join("; ");
    Error::remote(format!("git failed: {}", without_password(&shown)))
}

/// A text with the user part of every URL in it masked.
fn without_password(text: &str) -> String {
    let mut masked = String::new();
    for word in text.split_inclusive([' ', '\'', '"']) {
        match (word.find("://"), word.find('@')) {
            (Some(scheme), Some(at)) if scheme + 3 < at => {
                masked.push_str(word.get(..scheme + 3).unwrap_or_default());
                masked.push_str("***");
                masked.push_str(word.get(at..).unwrap_or_default());
            }
            _ => masked.push_str(word),
        }
    }
    masked
}

/// Feeds a child's stdin and waits for it; its stdout is dropped.
pub fn feed(mut child: Child, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let errors = child.stderr.take().map(last_words);
    let out = child.stdout.take().map(last_words);
    let written = match child.stdin.take() {
        Some(stdin) => {
            let mut stdin = io::BufWriter::with_capacity(256 << 10, stdin);
            write(&mut stdin).and_then(|()| stdin.flush())
        }
        None => Ok(()),
    };
    let status = child.wait().map_err(|error| Error::remote("git could not be waited for").because(error))?;
    let words = errors.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
    drop(out.map(std::thread::JoinHandle::join));
    if !status.success() {
        return Err(failed(&words));
    }
    written.map_err(|error| Error::remote("cannot write to git").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_tell_the_line_that_matters_and_no_password() {
        for (words, told) in [
            (
                "hint: x\nfatal: repository 'https://me:secret@host/x' not found\n",
                "git failed: fatal: repository 'https://***@host/x' not found",
            ),
            ("just this", "git failed: just this"),
            ("", "git failed: "),
        ] {
            assert_eq!(failed(words).message, told);
        }
    }
}
