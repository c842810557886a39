//! A program that asks its models by the proxy: starts it with the variables, and passes signals on to it.

use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

use lepo_base::error::{Error, ExitKind, Result};

/// The exit code of shells for a program that is not found.
const NOT_FOUND: u8 = 127;

/// The exit code of shells for a program that cannot be started.
const NOT_STARTED: u8 = 126;

/// A running program.
pub struct ProxiedProgram {
    child: Child,
    interrupts: SignalStream,
    ends: SignalStream,
    hangups: SignalStream,
}

impl ProxiedProgram {
    /// Starts the user's own program, as a shell would.
    pub fn start(program: &str, args: &[String], variables: &[(String, String)]) -> Result<ProxiedProgram> {
        let listen =
            |kind| signal(kind).map_err(|error| Error::store("cannot listen for signals").because(error));
        let (interrupts, ends) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        let hangups = listen(SignalKind::hangup())?;
        let pairs = variables.iter().map(|(name, value)| (name, value));
        let started = Command::new(program).args(args).envs(pairs).spawn();
        let child = started.map_err(|error| {
            let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED };
            Error::new(ExitKind::Program(code), format!("cannot start {program}")).because(error)
        })?;
        Ok(ProxiedProgram { child, interrupts, ends, hangups })
    }

    /// Hands signals on until the program has ended; returns its exit code, as a shell has it.
    pub async fn wait(mut self) -> Result<u8> {
        // A terminal sends Ctrl+C to the program itself.
        let has_terminal = io::stdin().is_terminal();
        loop {
            let number = tokio::select! {
                status = self.child.wait() => {
                    let failed = |error| Error::store("cannot wait for the program").because(error);
                    return status.map(exit_code).map_err(failed);
                }
                Some(()) = self.interrupts.recv() => Some(Signal::INT).filter(|_| !has_terminal),
                Some(()) = self.ends.recv() => Some(Signal::TERM),
                Some(()) = self.hangups.recv() => Some(Signal::HUP),
            };
            let pid = self.child.id().and_then(|id| Pid::from_raw(id as i32));
            if let (Some(number), Some(pid)) = (number, pid) {
                // An error means that it has ended.
                let _ = rustix::process::kill_process(pid, number);
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let by_signal = || status.signal().map(|number| 128 + number);
    status.code().or_else(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
