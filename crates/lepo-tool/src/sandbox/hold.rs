//! A program that the user configured, held as a command is, for as long as it runs.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Aftermath, Leftovers, Policy, Sandbox};
use crate::Access;
use lepo_process::{ConfiguredProgram, Program};

/// The interval at which the lock on the working directory is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// The hold on a program: the lock on its working directory, and the survey of it. To be dropped after the program has
/// ended.
#[derive(Debug)]
pub struct Held(Leftovers);

impl Held {
    /// Files that the program left, filled in when the hold is dropped.
    pub fn found(&self) -> Arc<Mutex<Aftermath>> {
        Arc::clone(&self.0.found)
    }
}

/// A configured program, to be started held to `access`. Waits at most `patience` while a command that
/// writes is at work in its directory. Where nothing can hold it, it is refused.
pub async fn hold(
    sandbox: &Sandbox,
    program: ConfiguredProgram<'_>,
    access: Access,
    policy: Policy<'_>,
    patience: Duration,
) -> io::Result<(Program, Held)> {
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
    Ok((program, Held(leftovers)))
}
