//! lepo's side of a child process: the program to start, and the running program.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::SIGINT;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::Environment;
use super::report::{SupervisorReport, failure, status};
use super::spec::{KEEPER, ProgramSpec};
use lepo_base::sys;

/// The number of the first inherited descriptor. Lower ones may be in use.
pub(super) const LENT: i32 = 100;

/// The time limit for a supervisor to start its program.
const START: Duration = Duration::from_secs(30);

/// The time limit for a supervisor to terminate a tree: longer than its own.
const END: Duration = Duration::from_secs(8);

/// A program to start.
#[derive(Debug, Default)]
pub struct Program {
    spec: ProgramSpec,
    lent: Vec<OwnedFd>,
    locks: Vec<OwnedFd>,
    /// Closed once it has started.
    until_started: Option<OwnedFd>,
}

impl Program {
    /// Creates a program by its path, or by its name in the `PATH` of `env`.
    pub fn new(program: impl AsRef<OsStr>, env: Environment) -> Program {
        let program = program.as_ref().to_os_string();
        Program { spec: ProgramSpec { program, env, ..ProgramSpec::default() }, ..Program::default() }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Program {
        self.spec.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    /// Sets an `argv[0]` other than its path.
    pub fn arg0(mut self, name: &str) -> Program {
        self.spec.arg0 = name.into();
        self
    }

    /// Sets the working directory; lepo's by default.
    pub fn dir(mut self, dir: &Path) -> Program {
        self.spec.dir = dir.as_os_str().to_os_string();
        self
    }

    /// Makes stdin a pipe; the default is `/dev/null`.
    pub fn with_stdin(mut self) -> Program {
        self.spec.has_stdin = true;
        self
    }

    /// Limits the number of its processes and threads.
    pub fn at_most(mut self, processes: u32) -> Program {
        self.spec.processes = processes;
        self
    }

    /// Removes a directory after the last process has exited, if it is empty then, even if lepo exits first.
    pub fn remove_at_end(&mut self, dir: &Path) {
        self.spec.removed.push(dir.as_os_str().to_os_string());
    }

    /// Lets the program inherit a descriptor, and returns its number there.
    pub fn lend(&mut self, descriptor: OwnedFd) -> i32 {
        self.lent.push(descriptor);
        LENT + self.lent.len() as i32 - 1
    }

    /// Passes a lock's descriptor to the supervisor, which keeps it open until the last process exits.
    pub fn add_lock(&mut self, descriptor: OwnedFd) {
        self.locks.push(descriptor);
    }

    /// Keeps a descriptor open until the program has started or failed to.
    pub fn hold_until_started(&mut self, descriptor: Option<OwnedFd>) {
        self.until_started = descriptor;
    }

    /// Starts the program. Blocks until it runs or has failed to start.
    pub fn spawn(mut self) -> io::Result<RunningProgram> {
        self.spec.lent = self.lent.len() as u32;
        if self.spec.dir.is_empty() {
            self.spec.dir = std::env::current_dir()?.into();
        }
        let (out, stdout) = io::pipe()?;
        let (err, stderr) = io::pipe()?;
        let (stdin, input) = if self.spec.has_stdin { Some(io::pipe()?) } else { None }.unzip();
        let mut sent: Vec<BorrowedFd<'_>> = vec![stdout.as_fd(), stderr.as_fd()];
        sent.extend(stdin.as_ref().map(|stdin: &PipeReader| stdin.as_fd()));
        sent.extend(self.lent.iter().chain(&self.locks).map(AsFd::as_fd));
        let (keeper, lepo, (leader, buffer)) = match start_keeper(&self.spec, &sent)? {
            SupervisorStart::Started(started) => started,
            // lepo receives the same Ctrl+C and ends the program itself.
            SupervisorStart::Interrupted => match start_keeper(&self.spec, &sent)? {
                SupervisorStart::Started(started) => started,
                SupervisorStart::Interrupted => {
                    return Err(io::Error::other("its supervisor was interrupted"));
                }
            },
        };
        lepo.set_nonblocking(true)?;
        Ok(RunningProgram {
            stdin: input.map(|input: PipeWriter| pipe::Sender::from_owned_fd(input.into())).transpose()?,
            stdout: Some(pipe::Receiver::from_owned_fd(out.into())?),
            stderr: Some(pipe::Receiver::from_owned_fd(err.into())?),
            reports: ReportReader {
                lepo: UnixStream::from_std(lepo)?,
                buffer,
                status: None,
                survivors: None,
            },
            keeper,
            leader,
            has_ended: false,
        })
    }
}

/// The result of starting a supervisor.
enum SupervisorStart {
    /// The supervisor and the program run: also the program's process, and bytes received after that report.
    Started((Child, StdStream, (Option<Pid>, Vec<u8>))),
    /// Ctrl+C killed the supervisor before it had left lepo's process group.
    Interrupted,
}

/// Starts a supervisor, which starts the program.
fn start_keeper(spec: &ProgramSpec, descriptors: &[BorrowedFd<'_>]) -> io::Result<SupervisorStart> {
    let (lepo, other) = StdStream::pair()?;
    let mut keeper = Command::new(own_program()?)
        .arg0(KEEPER)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(OwnedFd::from(other))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    match start(spec, descriptors, &lepo) {
        Ok(begun) => Ok(SupervisorStart::Started((keeper, lepo, begun))),
        Err(error) => {
            // The supervisor exits when its socket is closed, after terminating any program that it started.
            drop(lepo);
            match keeper.wait()?.signal() {
                Some(SIGINT) => Ok(SupervisorStart::Interrupted),
                _ => Err(error),
            }
        }
    }
}

/// Sends the program to the supervisor, and waits for the report that it runs. Returns its process, and any bytes after
/// the report.
fn start(
    spec: &ProgramSpec,
    descriptors: &[BorrowedFd<'_>],
    mut lepo: &StdStream,
) -> io::Result<(Option<Pid>, Vec<u8>)> {
    lepo.set_read_timeout(Some(START))?;
    // A supervisor that failed early has closed its end, so an error here is reported only if no report follows.
    let sent = spec.send(lepo, descriptors);
    let mut buffer = Vec::new();
    loop {
        match SupervisorReport::parse_line(&mut buffer) {
            Some(SupervisorReport::Started(pid)) => return Ok((Pid::from_raw(pid), buffer)),
            Some(SupervisorReport::Failed(number, text)) => return Err(failure(number, &text)),
            Some(_) => {}
            None => {
                let mut bytes = [0; 512];
                match lepo.read(&mut bytes) {
                    // A read with a time limit is not restarted after a signal.
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                    Ok(0) => return sent.and(Err(io::Error::other("its supervisor ended early"))),
                    Ok(n) => buffer.extend(bytes.iter().take(n)),
                }
            }
        }
    }
}

/// A running program and its descendants. Dropping it terminates them.
#[derive(Debug)]
pub struct RunningProgram {
    /// The program's stdin, if it has one.
    pub stdin: Option<pipe::Sender>,
    /// The program's standard output.
    pub stdout: Option<pipe::Receiver>,
    /// The program's standard error.
    pub stderr: Option<pipe::Receiver>,
    reports: ReportReader,
    keeper: Child,
    /// The program's process, which leads its own process group.
    leader: Option<Pid>,
    has_ended: bool,
}

impl RunningProgram {
    /// Waits for the end of the program itself. Cancel-safe: may be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            self.reports.read();
            if let Some(status) = self.reports.status {
                return Ok(status);
            }
            self.reports.lepo.readable().await?;
            let mut bytes = [0; 512];
            match self.reports.lepo.try_read(&mut bytes) {
                Ok(0) => return Err(io::Error::other("the process that supervises it ended early")),
                Ok(n) => self.reports.buffer.extend(bytes.iter().take(n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the program itself is still running, as far as is known without waiting.
    pub fn is_alive(&mut self) -> bool {
        self.reports.fetch(Duration::ZERO) && self.reports.status.is_none()
    }

    /// Terminates the program and all its descendants, and returns the number that survived. Processes that ignore the
    /// request are killed. Blocks for some seconds at most.
    pub fn terminate(&mut self) -> usize {
        if std::mem::replace(&mut self.has_ended, true) {
            return 0;
        }
        let _ = rustix::io::write(&self.reports.lepo, b"end");
        let deadline = Instant::now() + END;
        while self.reports.survivors.is_none() {
            let survivors = deadline.saturating_duration_since(Instant::now());
            if survivors.is_zero() || !self.reports.fetch(survivors) {
                break;
            }
        }
        if self.reports.survivors.is_none() {
            let _ = self.keeper.kill();
            // A program outside a sandbox can kill its supervisor; then at least its process group is known.
            if let Some(leader) = self.leader {
                let _ = kill_process_group(leader, Signal::KILL);
            }
        }
        let _ = self.keeper.wait();
        self.reports.survivors.unwrap_or_default()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// The reports of a supervisor.
#[derive(Debug)]
struct ReportReader {
    lepo: UnixStream,
    buffer: Vec<u8>,
    /// The exit status of the program.
    status: Option<ExitStatus>,
    /// The number of processes that survived.
    survivors: Option<usize>,
}

impl ReportReader {
    /// Parses the reports received so far.
    fn read(&mut self) {
        while let Some(report) = SupervisorReport::parse_line(&mut self.buffer) {
            match report {
                SupervisorReport::Exited(raw) => self.status = Some(status(raw)),
                SupervisorReport::Swept(survivors) => self.survivors = Some(survivors),
                SupervisorReport::Started(_) | SupervisorReport::Failed(..) => {}
            }
        }
    }

    /// Waits for more bytes for at most `limit`, and parses them; false if the supervisor has exited.
    fn fetch(&mut self, limit: Duration) -> bool {
        let limit = Timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ };
        let mut wait = [PollFd::new(&self.lepo, PollFlags::IN)];
        if poll(&mut wait, Some(&limit)).is_ok_and(|ready| ready > 0) {
            let mut bytes = [0; 512];
            match rustix::io::read(&self.lepo, &mut bytes) {
                Ok(0) => return false,
                Ok(n) => self.buffer.extend(bytes.iter().take(n)),
                Err(_) => {}
            }
        }
        self.read();
        true
    }
}

/// Set if this process runs lepo's own program, which can also be the supervisor.
static IS_LEPO: OnceLock<()> = OnceLock::new();

/// Records that this process runs lepo's own program.
pub(super) fn is_lepo() {
    let _ = IS_LEPO.set(());
}

/// Returns the path of lepo's program, to start it under another name: this process's own, or the same build's if a
/// test or an example uses the library.
pub fn own_program() -> io::Result<PathBuf> {
    if IS_LEPO.get().is_some()
        && let Some(own) = sys::own_program()
    {
        return Ok(own);
    }
    let own = std::env::current_exe()?;
    if IS_LEPO.get().is_some() {
        return Ok(own);
    }
    let beside = own.ancestors().skip(1).take(2).map(|dir| dir.join("lepo"));
    beside
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| io::Error::other(format!("the program lepo is not next to {}", own.display())))
}
