//! The process of a model's program: its pipes, all served concurrently.
//!
//! The program leads its own process group, so that lepo decides what a terminal's Ctrl+C does.

use std::io::ErrorKind;
use std::process::ExitStatus;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::Instant;

use super::error_text::excerpt;
use lepo_base::error::{Error, Result};
use lepo_process::{FilesChanged, Program, RunningProgram};

/// The size limit, in bytes, for the end of stderr in an error.
const TAIL: usize = 2 << 10;

/// The most bytes of one read.
const READ: usize = 16 << 10;

/// The time to wait for output after the program has exited, because a child may still have the pipe open.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// A running program. Dropping it ends the program with all its descendants.
pub(super) struct ModelProcess {
    name: String,
    stdin: Option<Sender>,
    input: Bytes,
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
    buffer: BytesMut,
    tail: BytesMut,
    status: Option<ExitStatus>,
    keep_stdin: bool,
    running: RunningProgram,
}

impl ModelProcess {
    /// Starts a prepared program; `name` is for messages.
    pub fn start(name: &str, prepared: Program) -> Result<Self> {
        let name = name.to_owned();
        let mut running = prepared.spawn().map_err(|error| not_started(&name, &error))?;
        Ok(ModelProcess {
            name,
            stdin: running.stdin.take(),
            input: Bytes::new(),
            stdout: running.stdout.take(),
            stderr: running.stderr.take(),
            buffer: BytesMut::new(),
            tail: BytesMut::new(),
            status: None,
            keep_stdin: false,
            running,
        })
    }

    /// Writes `input` to stdin while output is read; then closes stdin, unless `more` may follow.
    pub fn send(&mut self, input: Bytes, more: bool) {
        self.input = input;
        self.keep_stdin = more;
    }

    /// Appends input to the unwritten rest; stdin stays open.
    pub fn send_more(&mut self, input: Bytes) {
        self.keep_stdin = true;
        self.input = match self.input.is_empty() {
            true => input,
            false => [self.input.as_ref(), input.as_ref()].concat().into(),
        };
    }

    /// Writes a line immediately if no input is queued and the write does not block.
    pub fn send_now(&self, line: &str) {
        if let Some(stdin) = self.stdin.as_ref().filter(|_| self.input.is_empty()) {
            let _ = stdin.try_write(line.as_bytes());
        }
    }

    pub fn is_alive(&mut self) -> bool {
        self.status.is_none() && self.running.is_alive()
    }

    /// Returns the next bytes of stdout; `None` at its end. Silence on both outputs for longer than `idle` is a
    /// failure.
    pub async fn read(&mut self, idle: Duration) -> Result<Option<Bytes>> {
        let mut patience = None;
        loop {
            let now = Instant::now();
            let until = match self.status {
                Some(_) => *patience.get_or_insert(now + LEFTOVERS),
                None => now + idle,
            };
            let ModelProcess { running, stdin, input, stdout, stderr, buffer, tail, status, .. } = self;
            if stdout.is_none() && stderr.is_none() && status.is_some() {
                return Ok(None);
            }
            if input.is_empty() && !self.keep_stdin {
                *stdin = None;
            }
            tokio::select! {
                biased;
                read = read(stdout, buffer), if stdout.is_some() => match read {
                    Ok(0) | Err(_) => *stdout = None,
                    Ok(_) => return Ok(Some(buffer.split().freeze())),
                },
                written = write(stdin, input), if stdin.is_some() && !input.is_empty() => match written {
                    Ok(length) => drop(input.split_to(length)),
                    // The program may ignore the rest of the question.
                    Err(_) => (*stdin, *input) = (None, Bytes::new()),
                },
                ended = running.wait(), if status.is_none() => {
                    *status = Some(ended.map_err(|e| Error::remote(format!("{} was lost", self.name)).because(e))?);
                }
                () = tokio::time::sleep_until(until) => {
                    if self.status.is_some() {
                        return Ok(None);
                    }
                    return Err(Error::remote(format!("no output from {} for {} \
                        s", self.name, idle.as_secs_f32()))
                        .hint("for a slow program raise http.idle_timeout"));
                }
                // Polled last, because it may always be ready.
                read = read(stderr, tail), if stderr.is_some() => match read {
                    Ok(0) | Err(_) => *stderr = None,
                    Ok(_) => tail.advance(tail.len().saturating_sub(TAIL)),
                },
            }
        }
    }

    /// After the end: returns an error if the program failed, with the end of its stderr.
    pub fn ended_well(&self) -> Result<()> {
        match self.status {
            Some(status) if status.success() => Ok(()),
            _ => Err(self.exit_error()),
        }
    }

    /// Returns the error for a program that has exited.
    pub fn exit_error(&self) -> Error {
        use std::os::unix::process::ExitStatusExt;
        let how = match self.status.map(|status| (status.code(), status.signal())) {
            Some((Some(0), _)) => "ended".to_owned(),
            Some((Some(code), _)) => format!("failed with exit code {code}"),
            Some((None, Some(signal))) => format!("was terminated by signal {signal}"),
            _ => "ended".to_owned(),
        };
        let tail = String::from_utf8_lossy(&self.tail);
        let lines: Vec<String> = tail.trim().lines().map(str::to_string).collect();
        match lines.as_slice() {
            [] => Error::remote(format!("{} {how}", self.name)),
            [line] => Error::remote(format!("{} {how}: {line}", self.name)),
            _ => Error::remote(format!("{} {how}:", self.name)).rows(lines),
        }
    }
}

/// Reads from a pipe; pending forever without one, like a disabled branch of a select.
async fn read<P: AsyncRead + Unpin>(pipe: &mut Option<P>, buffer: &mut BytesMut) -> std::io::Result<usize> {
    match pipe {
        Some(pipe) => {
            buffer.reserve(READ);
            pipe.read_buf(buffer).await
        }
        None => std::future::pending().await,
    }
}

/// Writes to a pipe; pending forever without one.
async fn write(pipe: &mut Option<Sender>, bytes: &[u8]) -> std::io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.write(bytes).await,
        None => std::future::pending().await,
    }
}

/// Returns the error for a program that cannot be started.
pub(super) fn not_started(name: &str, error: &std::io::Error) -> Error {
    if let Some(changed) = FilesChanged::from_error(error) {
        return Error::usage(format!("program {name} is not started: {changed}"))
            .hint("`lepo trust` shows what changed, and asks");
    }
    match error.kind() {
        ErrorKind::NotFound => Error::remote(format!("program {name} is not installed or not in PATH"))
            .hint("install it, or correct `command` in the configuration"),
        ErrorKind::ArgumentListTooLong => {
            Error::remote(format!("the conversation is too long for the command line of {name}"))
                .hint("leave `{prompt}` out of `command`: the question then goes to stdin")
        }
        _ => Error::remote(format!("cannot run program {name}: {}", excerpt(error.to_string().as_bytes()))),
    }
}
