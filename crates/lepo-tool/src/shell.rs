//! Runs a command: `sh -c` in the working directory, with a time limit, an environment without lepo's keys, an empty
//! stdin, and its whole process tree terminated at the end.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::SHELL;
use super::capture::CapturedStream;
use super::consent::GrantedCommand;
use super::env_filter::EnvFilter;
use super::sandbox::{CleanupGuard, CleanupReport, Policy};
use lepo_process::RunningProgram;

/// How commands run.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    /// The working directory, and the paths visible in a sandbox.
    pub policy: Policy<'a>,
    /// Filters the environment of a command.
    pub variables: EnvFilter<'a>,
    /// The time limit.
    pub timeout: Duration,
}

/// The stream to which a command printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Receives the output of a command as it arrives.
pub type OutputSink<'l> = dyn FnMut(OutputStream, &[u8]) + 'l;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandExit {
    /// The command exited with this code.
    Exit(i32),
    /// A signal with this number ended the command.
    Signal(i32),
    /// The command exceeded this time limit, and was terminated.
    TimedOut(Duration),
    /// The command printed more than this many bytes, and was terminated.
    Flooded(u64),
    /// The supervisor was killed, which only a command without a sandbox can do.
    KeeperEnded,
    /// The command could not be started, and why.
    NotStarted(String),
}

/// The result of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// How the command ended.
    pub ending: CommandExit,
    /// How long the command ran.
    pub took: Duration,
    /// Standard output.
    pub stdout: CapturedStream,
    /// Standard error.
    pub stderr: CapturedStream,
    /// Number of its processes that could not be terminated.
    pub processes_left: usize,
}

/// Most output of a command, in bytes: all of it is stored on disk.
const MOST_OUTPUT: u64 = 64 << 20;

impl Shell<'_> {
    /// Runs a granted command. Its streams go to the two files of `scratch`, and to `live` as they arrive; a survey of
    /// the files that it left goes to `found`, even if this future is dropped.
    pub async fn run(
        &self,
        granted: GrantedCommand,
        scratch: [File; 2],
        live: &mut OutputSink<'_>,
        found: &Arc<Mutex<CleanupReport>>,
    ) -> io::Result<CommandOutcome> {
        let start = Instant::now();
        let [mut stdout, mut stderr] = scratch;
        let (ending, processes_left) = match self.start(&granted, live, found).await {
            Err(error) => (CommandExit::NotStarted(error.to_string()), 0),
            Ok(mut held) => {
                let watched = watch(&mut held.running, &mut stdout, &mut stderr, live);
                let ending = match tokio::time::timeout(self.timeout, watched).await {
                    Ok(ending) => ending?,
                    Err(_) => CommandExit::TimedOut(self.timeout),
                };
                (ending, held.running.terminate())
            }
        };
        Ok(CommandOutcome {
            ending,
            took: start.elapsed(),
            stdout: CapturedStream::new(stdout)?,
            stderr: CapturedStream::new(stderr)?,
            processes_left,
        })
    }

    async fn start(
        &self,
        granted: &GrantedCommand,
        live: &mut OutputSink<'_>,
        found: &Arc<Mutex<CleanupReport>>,
    ) -> io::Result<RunningCommand> {
        let (request, sandbox) = (granted.request(), granted.sandbox());
        let start = Instant::now();
        let mut has_told_user = false;
        let lock = loop {
            if let Some(lock) = sandbox.lock(request.access, self.policy.dir)? {
                break lock;
            }
            if start.elapsed() > self.timeout {
                let what = format!("another command is running in {}", self.policy.dir.display());
                return Err(io::Error::other(what));
            }
            if !has_told_user && start.elapsed() > PATIENCE {
                live(OutputStream::Stderr, b"waiting for another command in this directory\n");
                has_told_user = true;
            }
            tokio::time::sleep(RETRY).await;
        };
        let env = self.variables.of_command(request.access);
        let (program, mut leftovers) =
            sandbox.prepare(&[SHELL, "-c", &request.command], request.access, &self.policy, env, lock)?;
        leftovers.report = Arc::clone(found);
        Ok(RunningCommand { running: program.spawn()?, _leftovers: leftovers })
    }
}

/// How long to wait for the working directory before a note says so.
const PATIENCE: Duration = Duration::from_secs(1);

const RETRY: Duration = Duration::from_millis(20);

/// A running command. The order of the fields matters: the command ends before its leftovers are examined.
struct RunningCommand {
    running: RunningProgram,
    _leftovers: CleanupGuard,
}

/// Reads both streams until the command ends; its background processes are then terminated with its tree.
async fn watch(
    running: &mut RunningProgram,
    stdout: &mut File,
    stderr: &mut File,
    live: &mut OutputSink<'_>,
) -> io::Result<CommandExit> {
    let (mut out, mut err) = (running.stdout.take(), running.stderr.take());
    let mut ended = None;
    let mut printed = 0;
    let (mut from_out, mut from_err) = (vec![0; 32 << 10], vec![0; 32 << 10]);
    loop {
        tokio::select! {
            n = read(&mut out, &mut from_out), if out.is_some() => match n? {
                0 => out = None,
                n => {
                    printed += n as u64;
                    live(OutputStream::Stdout, &from_out[..n]);
                    stdout.write_all(&from_out[..n])?;
                }
            },
            n = read(&mut err, &mut from_err), if err.is_some() => match n? {
                0 => err = None,
                n => {
                    printed += n as u64;
                    live(OutputStream::Stderr, &from_err[..n]);
                    stderr.write_all(&from_err[..n])?;
                }
            },
            status = running.wait(), if ended.is_none() => match status {
                Ok(status) => ended = Some(status),
                Err(_) => return Ok(CommandExit::KeeperEnded),
            },
            // The command has exited, but a background process still has its pipes open: reads the available output and
            // waits for no more.
            () = tokio::time::sleep(LINGER), if ended.is_some() => break,
        }
        if printed > MOST_OUTPUT {
            return Ok(CommandExit::Flooded(MOST_OUTPUT));
        }
        if out.is_none() && err.is_none() && ended.is_some() {
            break;
        }
    }
    ended.map(ending).ok_or_else(|| io::Error::other("the command did not end"))
}

/// How long pipes may be silent after a command has exited before they are closed.
const LINGER: Duration = Duration::from_millis(50);

async fn read(from: &mut Option<impl AsyncRead + Unpin>, into: &mut [u8]) -> io::Result<usize> {
    match from {
        Some(from) => from.read(into).await,
        None => std::future::pending().await,
    }
}

fn ending(status: ExitStatus) -> CommandExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandExit::Exit(code),
        (None, signal) => CommandExit::Signal(signal.unwrap_or_default()),
    }
}
