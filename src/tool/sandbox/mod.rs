//! What holds a command to its access: the kernel, by bubblewrap where that works, else by Landlock
//! and seccomp, which can hold `read` only. Never a list of allowed words.

mod bubblewrap;
mod detect;
mod filter;
mod landlock;
mod mount;
mod opened;
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

use super::{Access, SHELL};
use crate::process::{Program, environment};
pub use detect::Detected;
pub use landlock::run_as_held;
use mount::Mount;
pub use policy::Policy;

/// The most processes and threads of a held command.
const MOST_PROCESSES: u32 = 4096;

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

    /// `sh -c line`, ready to be started, held to `access`. Its environment is lepo's without `hidden_env`.
    /// What is left over goes when it is dropped, which must be after the command has ended.
    pub(super) fn prepare(
        &self,
        line: &str,
        access: Access,
        ground: &Policy<'_>,
        hidden_env: &[String],
    ) -> io::Result<(Program, Leftovers)> {
        let env = environment(|name| hidden_env.iter().any(|hidden| name == hidden.as_str()));
        let words = [SHELL, "-c", line];
        match self {
            Sandbox::None => {
                let program = Program::new(SHELL, env).args(["-c", line]).dir(ground.dir);
                Ok((program, Leftovers::default()))
            }
            Sandbox::Landlock => {
                let program = landlock::program(&ground.views(access)?, ground.dir, env, &words)?;
                Ok((program.at_most(MOST_PROCESSES), Leftovers::default()))
            }
            Sandbox::Bubblewrap(bwrap) => {
                let dir = ground.dir.canonicalize()?;
                // Before it is looked what is there: what another command's sandbox made would go otherwise.
                let lock = if access == Access::Read { None } else { shared(&dir)? };
                let views = ground.views(access)?;
                let program = bubblewrap::program(bwrap, access, &views, &dir, &env, &words)?;
                let made = views.into_iter().filter(|(_, view)| *view == Mount::Absent);
                let leftovers = Leftovers { made: made.map(|(path, _)| path).collect(), lock };
                Ok((program.at_most(MOST_PROCESSES), leftovers))
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
