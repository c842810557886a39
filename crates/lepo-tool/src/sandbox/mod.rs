//! Enforces the access of a command with the means of the kernel: bubblewrap if it works, or else Landlock and seccomp,
//! which can enforce only `read`. Never with a list of allowed commands.

mod autorun;
mod bubblewrap;
mod cleanup;
mod detect;
mod git_settings;
mod home_files;
mod homes;
mod landlock;
mod mount;
mod own_paths;
mod policy;
mod protected;
mod sandboxed_program;
mod survey;
mod toolchains;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Access;
use crate::dir_lock::DirLock;
use crate::touched::CommandMark;
pub use autorun::AutorunTrigger;
pub use cleanup::CleanupReport;
use cleanup::clean_up;
pub use detect::SandboxDetector;
pub use homes::covers_home;
pub use landlock::run_sandboxed;
use lepo_process::{Environment, Program};
use mount::Mount;
pub use policy::Policy;
pub use sandboxed_program::{SandboxHold, sandboxed_program};
use survey::{Survey, survey};

/// Most processes and threads of a sandboxed command.
const MOST_PROCESSES: u32 = 4096;

/// A kind of sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandbox {
    /// bubblewrap, at this path.
    Bubblewrap(PathBuf),
    /// Landlock and seccomp.
    Landlock,
    /// No sandbox: the question says so, and no command runs unasked.
    None,
}

impl Sandbox {
    /// Returns the sandbox that can enforce `access`.
    pub fn holding(&self, access: Access) -> Sandbox {
        match (self, access) {
            (Sandbox::Bubblewrap(_), Access::Read | Access::Write | Access::Net)
            | (Sandbox::Landlock, Access::Read) => self.clone(),
            _ => Sandbox::None,
        }
    }

    /// Returns the name for documents.
    pub fn as_str(&self) -> &'static str {
        match self {
            Sandbox::Bubblewrap(_) => "bubblewrap",
            Sandbox::Landlock => "landlock",
            Sandbox::None => "none",
        }
    }

    /// Returns the name for users.
    pub fn name(&self) -> &'static str {
        match self {
            Sandbox::Bubblewrap(_) => "bubblewrap",
            Sandbox::Landlock => "Landlock",
            Sandbox::None => "no sandbox",
        }
    }

    /// Describes the sandbox on a line, for `--version --verbose`.
    pub fn about(&self) -> String {
        match self {
            Sandbox::Bubblewrap(path) => format!("bubblewrap ({})", path.display()),
            Sandbox::Landlock => "Landlock and seccomp, for access `read` only".to_string(),
            Sandbox::None => "none: lepo asks before every command".to_string(),
        }
    }

    /// Locks the working directory of a sandboxed command; `None` while another command has the lock.
    pub(super) fn lock(&self, access: Access, dir: &Path) -> io::Result<Option<DirLock>> {
        match self {
            Sandbox::None => Ok(Some(DirLock::default())),
            _ => DirLock::acquire(&dir.canonicalize()?, access != Access::Read),
        }
    }

    /// Prepares a program with arguments to run with `access` and the environment `env`. Finishing or dropping the
    /// second value cleans up, which must happen after the program has exited.
    pub(super) fn prepare(
        &self,
        words: &[&str],
        access: Access,
        policy: &Policy<'_>,
        env: Environment,
        lock: DirLock,
    ) -> io::Result<(Program, CleanupGuard)> {
        let mut leftovers = CleanupGuard::default();
        let mut program = match self {
            Sandbox::None => {
                let [program, arguments @ ..] = words else { return Err(io::Error::other("no program")) };
                Program::new(program, env).args(arguments).dir(policy.start)
            }
            Sandbox::Landlock => landlock::program(&policy.mounts(access, None)?, policy.start, env, words)?
                .at_most(MOST_PROCESSES),
            Sandbox::Bubblewrap(bwrap) => {
                let dir = policy.dir.canonicalize()?;
                let survey = match access {
                    Access::Read => None,
                    _ => Some(survey(&dir, survey::MOST)?.with_settings(&dir)),
                };
                let mounts = policy.mounts(access, survey.as_ref())?;
                let mut program =
                    bubblewrap::program(bwrap, access, &mounts, &policy.start.canonicalize()?, &env, words)?;
                // bubblewrap creates mount points for paths that must not exist.
                let made = mounts.iter().filter(|(_, mount)| **mount == Mount::Absent);
                made.for_each(|(path, _)| program.remove_at_end(path));
                if let Some(survey) = survey {
                    let other_folders: Vec<PathBuf> =
                        policy.writable.iter().filter_map(|path| path.canonicalize().ok()).collect();
                    leftovers.mark = Some(policy.touched.start_command(&dir, &other_folders)?);
                    leftovers.before = Some((dir, survey));
                }
                program.at_most(MOST_PROCESSES)
            }
        };
        // The command may outlive lepo for a moment.
        lock.descriptors()?.into_iter().for_each(|descriptor| program.add_lock(descriptor));
        leftovers.lock = lock;
        Ok((program, leftovers))
    }
}

/// The cleanup after a command, with the working directory still locked.
#[derive(Debug, Default)]
pub(super) struct CleanupGuard {
    /// The earlier state of the working directory, if the command could write in it.
    before: Option<(PathBuf, Survey)>,
    /// The command in the record of changed files.
    mark: Option<CommandMark>,
    /// The result of the cleanup, even if the command was interrupted.
    pub report: Arc<Mutex<CleanupReport>>,
    lock: DirLock,
}

impl CleanupGuard {
    fn finish(&mut self) {
        if let Some((dir, survey)) = self.before.take() {
            *self.report.lock().unwrap_or_else(PoisonError::into_inner) = clean_up(&dir, &survey);
            // Where nothing can be written the mark stays, and the next start of a program looks.
            let _ = self.mark.take().map(|mark| mark.end(&survey.known));
        }
        self.lock = DirLock::default();
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        self.finish();
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holds = if *self == Sandbox::None { "" } else { "sandboxed by " };
        write!(f, "{holds}{}", self.name())
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
