//! What holds a command to its access: the kernel, by bubblewrap where that works, else by Landlock
//! and seccomp, which can hold `read` only. Never a list of allowed words.

mod bubblewrap;
mod detect;
mod filter;
mod ground;
mod landlock;
mod toolchains;

use std::fmt;
use std::io;
use std::path::PathBuf;

use tokio::process::{Child, Command};

use super::Access;
pub use detect::Detected;
pub use ground::Ground;
use ground::View;

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
        ground: &Ground<'_>,
        hidden_env: &[String],
        prepare: impl Fn(&mut Command),
    ) -> io::Result<(Child, Leftovers)> {
        let shell = || {
            let mut command = Command::new("sh");
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
                let (views, dir) = (ground.views(access)?, ground.dir.canonicalize()?);
                let mut held = bubblewrap::Held::new(program, access, &views, &dir, hidden_env)?;
                held.command.args(["sh", "-c", line]);
                prepare(&mut held.command);
                let made = views.into_iter().filter(|(_, view)| *view == View::Absent);
                let leftovers = Leftovers(made.map(|(path, _)| path).collect());
                Ok((held.command.spawn()?, leftovers))
            }
        }
    }
}

/// Empty directories that a sandbox made to mount on, where nothing was to be made.
#[derive(Debug, Default)]
pub(super) struct Leftovers(Vec<PathBuf>);

impl Drop for Leftovers {
    fn drop(&mut self) {
        // One with something in it is somebody else's, and stays.
        self.0.iter().for_each(|path| drop(std::fs::remove_dir(path)));
    }
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
