//! A server that is a program: started without lepo's keys in its own process group, its stderr drained for good and
//! the end of it stored, and its whole process tree terminated with it.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinHandle;

use super::starting_names::StartingNames;
use crate::mcp::ServerFolders;
use crate::{NamedProgram, StartCheck};
use lepo_base::secret::Secret;
use lepo_net::runtime::blocking;
use lepo_process::{ConfiguredProgram, RunningProgram, StartFolder, environment};

/// Bytes to store of the end of stderr.
const TAIL: usize = 8 << 10;

/// How long a server may take to exit once its stdin is closed.
const GRACE: Duration = Duration::from_secs(2);

/// How long to wait for the end of stderr, which a child of the server may keep open.
const DRAINED: Duration = Duration::from_millis(200);

/// Start folders of servers' programs, checks before a start, and records.
#[derive(Debug, Clone, Default)]
pub struct ProcessSetup {
    /// Folders in which servers start.
    pub folders: ServerFolders,
    /// Compares the files of a program right before it starts.
    pub check: StartCheck,
    /// Variables that contain lepo's keys; programs do not inherit them.
    pub hidden_env: Vec<String>,
    /// Directory of sign-ins; if it is empty, sign-ins are not used.
    pub sign_ins: std::path::PathBuf,
    /// Record of the transports that servers turned out to speak.
    pub transports: Option<std::path::PathBuf>,
    /// The servers that are starting.
    pub starting: StartingNames,
}

/// A running server. Dropping it terminates its process tree at once.
pub struct ServerProcess {
    running: RunningProgram,
    tail: Arc<Mutex<VecDeque<u8>>>,
    drain: Option<JoinHandle<()>>,
}

impl ServerProcess {
    /// Starts the program of a server, and returns its stdout and stdin.
    pub fn start(
        command: &str,
        args: &[String],
        env: &[(String, Secret)],
        start: &StartFolder,
        setup: &ProcessSetup,
    ) -> io::Result<(ServerProcess, Receiver, Sender)> {
        if start.path().is_some_and(|dir| !dir.is_dir()) {
            return Err(io::Error::other("its `cwd` is not a directory here"));
        }
        let mut variables = environment(|name| setup.hidden_env.iter().any(|hidden| name == hidden.as_str()));
        variables.retain(|(name, _)| !env.iter().any(|(own, _)| name == own.as_str()));
        variables.extend(env.iter().map(|(name, value)| (name.into(), value.reveal().into())));
        let program = ConfiguredProgram::new(command.as_ref(), &setup.folders.work_dir, start);
        let check = |dir: &Path| {
            let program = NamedProgram { env: env.to_vec(), ..NamedProgram::new(command, args, dir) };
            setup.check.compare(&program)
        };
        let prepared = program.args(args).env(variables).prepare(check);
        let prepared = prepared.map_err(|error| with_args_hint(error, command, args))?;
        let mut running =
            prepared.with_stdin().spawn().map_err(|error| with_args_hint(error, command, args))?;
        let tail = Arc::default();
        let drain = running.stderr.take().map(|stderr| tokio::spawn(drain(stderr, Arc::clone(&tail))));
        let pipes = running.stdout.take().zip(running.stdin.take());
        let (stdout, stdin) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((ServerProcess { running, tail, drain }, stdout, stdin))
    }

    /// Returns the exit status, if the process exits within `limit`.
    pub async fn wait_exit(&mut self, limit: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(limit, self.running.wait()).await.ok()?.ok()
    }

    /// Returns the end of stderr, complete once all writers have closed it.
    pub async fn stderr_end(&mut self) -> String {
        if let Some(drain) = &mut self.drain
            && tokio::time::timeout(DRAINED, drain).await.is_ok()
        {
            self.drain = None;
        }
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: &[u8] = tail.make_contiguous();
        String::from_utf8_lossy(bytes).trim().to_string()
    }

    /// Terminates the process tree. Stdin is closed by now, so most servers exit on their own first.
    pub async fn terminate(mut self) {
        self.wait_exit(GRACE).await;
        // Terminating a tree may block for a second.
        let _ = blocking(move || drop(self.running)).await;
    }
}

/// Explains the error for a missing program whose name contains arguments.
fn with_args_hint(error: io::Error, command: &str, args: &[String]) -> io::Error {
    let mut words = command.split_ascii_whitespace();
    let (Some(program), Some(_)) = (words.next(), words.next()) else { return error };
    let is_gone = error.kind() == io::ErrorKind::NotFound;
    let all = command.split_ascii_whitespace().skip(1).chain(args.iter().map(String::as_str));
    let all: Vec<String> = all.map(|word| format!("{word:?}")).collect();
    match is_gone {
        true => io::Error::other(format!(
            "there is no program {command:?}; arguments belong in `args`: \"command\": {program:?}, \"args\": [{}]",
            all.join(", ")
        )),
        false => error,
    }
}

/// Reads to the end, and stores the last `TAIL` bytes.
async fn drain(mut from: impl AsyncRead + Unpin, tail: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(buffer.iter().take(n));
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_its_arguments_behind_it_is_told_where_they_belong() {
        for (command, args, kind, expected) in [
            (
                "/opt/x --flag",
                &["y"][..],
                io::ErrorKind::NotFound,
                "there is no program \"/opt/x --flag\"; arguments belong in `args`: \"command\": \"/opt/x\", \
                 \"args\": [\"--flag\", \"y\"]",
            ),
            ("x", &[], io::ErrorKind::NotFound, "entity not found"),
            ("/opt/my x", &[], io::ErrorKind::PermissionDenied, "permission denied"),
        ] {
            let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
            assert_eq!(with_args_hint(kind.into(), command, &args).to_string(), expected);
        }
    }
}
