//! What holds a command to its access: the kernel, by bubblewrap where that works, else by Landlock
//! and seccomp, which can hold `read` only. Never a list of allowed words.

mod bubblewrap;
mod detect;
mod filter;
mod landlock;
mod mount;
mod policy;
mod protected;
mod toolchains;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use tokio::process::{Child, Command};

use super::{Access, SHELL};
pub use detect::Detected;
use mount::Mount;
pub use policy::Policy;

/// What holds a command back while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandbox {
    /// The program bubblewrap, at this path.
    Bubblewrap(PathBuf),
    /// Landlock and seccomp.
    Landlock,
    /// Nothing: the question says so, and nothing runs unasked.
    None,
}

impl Sandbox {
    /// What of this can hold a command to `access`.
    pub fn holding(&self, access: Access) -> Sandbox {
        match (self, access) {
            (Sandbox::Bubblewrap(_), Access::Read | Access::Write | Access::Net)
            | (Sandbox::Landlock, Access::Read) => self.clone(),
            _ => Sandbox::None,
        }
    }

    /// Starts `sh -c line` held to `access`. Its environment is lepo's without `hidden_env`. What is
    /// left over goes when it is dropped, which must be after the command has ended.
    pub(super) fn spawn(
        &self,
        line: &str,
        access: Access,
        ground: &Policy<'_>,
        hidden_env: &[String],
        prepare: impl Fn(&mut Command),
    ) -> io::Result<(Child, Leftovers)> {
        let shell = || {
            let mut command = Command::new(SHELL);
            command.args(["-c", line]).current_dir(ground.dir);
            for name in hidden_env {
                command.env_remove(name);
            }
            prepare(&mut command);
            command
        };
        match self {
            Sandbox::None => Ok((shell().spawn()?, Leftovers::default())),
            Sandbox::Landlock => {
                Ok((landlock::spawn(shell(), &ground.views(access)?)?, Leftovers::default()))
            }
            Sandbox::Bubblewrap(program) => {
                let dir = ground.dir.canonicalize()?;
                // Before it is looked what is there: what another command's sandbox made would go otherwise.
                let lock = if access == Access::Read { None } else { shared(&dir)? };
                let views = ground.views(access)?;
                let mut held = bubblewrap::Held::new(program, access, &views, &dir, hidden_env)?;
                held.command.args([SHELL, "-c", line]);
                prepare(&mut held.command);
                let made = views.into_iter().filter(|(_, view)| *view == Mount::Absent);
                let leftovers = Leftovers { made: made.map(|(path, _)| path).collect(), lock };
                Ok((held.command.spawn()?, leftovers))
            }
        }
    }
}

/// Empty directories that a sandbox made to mount on, where nothing was to be made. Taken away while another
/// command runs they would take its mounts with them: so each holds a lock, and the last one clears up.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    made: Vec<PathBuf>,
    lock: Option<File>,
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else { return };
        if rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // One with something in it is somebody else's, and stays.
            self.made.iter().for_each(|path| drop(std::fs::remove_dir(path)));
        }
    }
}

/// A lock on the working directory that others may hold too; none where the filesystem has none.
fn shared(dir: &Path) -> io::Result<Option<File>> {
    let file = File::open(dir)?;
    for _ in 0..200 {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => return Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return Ok(None),
        }
    }
    Err(io::Error::other(format!("another program holds a lock on {}", dir.display())))
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sandbox::Bubblewrap(_) => "held by bubblewrap",
            Sandbox::Landlock => "held by Landlock",
            Sandbox::None => "no sandbox",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_hold_a_level_is_no_sandbox_for_it() {
        let bwrap = Sandbox::Bubblewrap("/usr/bin/bwrap".into());
        for (access, by_bwrap, by_landlock) in [
            (Access::Read, true, true),
            (Access::Write, true, false),
            (Access::Net, true, false),
            (Access::Full, false, false),
        ] {
            assert_eq!(bwrap.holding(access) != Sandbox::None, by_bwrap, "{access}");
            assert_eq!(Sandbox::Landlock.holding(access) != Sandbox::None, by_landlock, "{access}");
            assert_eq!(Sandbox::None.holding(access), Sandbox::None);
        }
    }
}
