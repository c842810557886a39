//! A program that the user configured, sandboxed like a command for as long as it runs.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{CleanupGuard, CleanupReport, Policy, Sandbox};
use crate::Access;
use lepo_process::{ConfiguredProgram, Program};

/// Interval at which the lock on the working directory is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// Resources of a sandboxed program: the lock on its working directory, and the survey of it. Drop this after the
/// program has exited.
#[derive(Debug)]
pub struct SandboxHold(CleanupGuard);

impl SandboxHold {
    /// Returns the files that the program left, filled in when this value is dropped.
    pub fn report(&self) -> Arc<Mutex<CleanupReport>> {
        Arc::clone(&self.0.report)
    }
}

/// Prepares a configured program to run in a sandbox with `access`. Waits at most `patience` for a command that uses
/// its directory. Fails if no sandbox can enforce `access`.
pub async fn sandboxed_program(
    sandbox: &Sandbox,
    program: ConfiguredProgram<'_>,
    access: Access,
    policy: Policy<'_>,
    patience: Duration,
) -> io::Result<(Program, SandboxHold)> {
    let sandbox = sandbox.holding(access);
    if sandbox == Sandbox::None {
        return Err(io::Error::other(format!("no sandbox here can enforce `{access}`")));
    }
    if sandbox == Sandbox::Landlock && !policy.writable.is_empty() {
        return Err(io::Error::other("lepo's sandbox with Landlock allows no writing"));
    }
    let start = Instant::now();
    let lock = loop {
        match sandbox.lock(access, policy.dir)? {
            Some(lock) => break lock,
            None if start.elapsed() > patience => {
                let what = format!("a command is running in {}", policy.dir.display());
                return Err(io::Error::other(what));
            }
            None => tokio::time::sleep(RETRY).await,
        }
    };
    let (words, env, start) = program.parts()?;
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    let policy = Policy { start: &start, ..policy };
    let (program, leftovers) = sandbox.prepare(&words, access, &policy, env, lock)?;
    Ok((program, SandboxHold(leftovers)))
}
