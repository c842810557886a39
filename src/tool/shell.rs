//! Running one command: `sh -c` in the working directory, with a time limit, an environment without
//! lepo's keys, nothing on stdin, and its whole process tree ended with it.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::capture::Captured;
use super::consent::GrantedCommand;
use super::sandbox::{Leftovers, Policy};
use crate::process::Running;

/// Where and how commands run.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    /// The working directory, and what is around it.
    pub ground: Policy<'a>,
    /// Variables a command does not see: those that hold lepo's keys.
    pub hidden_env: &'a [String],
    /// How long it may take.
    pub timeout: Duration,
}

/// Where a command printed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Its output.
    Stdout,
    /// Its complaints.
    Stderr,
}

/// Is told what a command prints, as it comes.
pub type Live<'l> = dyn FnMut(Stream, &[u8]) + 'l;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exit(i32),
    /// By a signal, of this number.
    Signal(i32),
    /// It took too long, and was ended.
    TimedOut(Duration),
    /// It printed more than this many bytes, and was ended.
    Flooded(u64),
    /// It could not be started, and why.
    NotStarted(String),
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// How long it took.
    pub took: Duration,
    /// What it printed.
    pub stdout: Captured,
    /// What it complained of.
    pub stderr: Captured,
    /// Processes of it that could not be ended.
    pub left: usize,
}

/// The most that a command may print, in bytes: all of it is kept on the disk.
const MOST_OUTPUT: u64 = 64 << 20;

impl Shell<'_> {
    /// Runs what was granted. Its streams go to the two files of `scratch`, and to `live` as they come.
    pub async fn run(
        &self,
        granted: GrantedCommand,
        scratch: [File; 2],
        live: &mut Live<'_>,
    ) -> io::Result<Outcome> {
        let start = Instant::now();
        let [mut stdout, mut stderr] = scratch;
        let (ending, left) = match self.spawn(&granted) {
            Err(error) => (Ending::NotStarted(error.to_string()), 0),
            Ok((mut running, _leftovers)) => {
                let watched = watch(&mut running, &mut stdout, &mut stderr, live);
                let ending = match tokio::time::timeout(self.timeout, watched).await {
                    Ok(ending) => ending?,
                    Err(_) => Ending::TimedOut(self.timeout),
                };
                (ending, running.end())
            }
        };
        Ok(Outcome {
            ending,
            took: start.elapsed(),
            stdout: Captured::new(stdout)?,
            stderr: Captured::new(stderr)?,
            left,
        })
    }

    fn spawn(&self, granted: &GrantedCommand) -> io::Result<(Running, Leftovers)> {
        let request = granted.request();
        let prepared =
            granted.sandbox().prepare(&request.command, request.access, &self.ground, self.hidden_env);
        let (program, leftovers) = prepared?;
        Ok((program.spawn()?, leftovers))
    }
}

/// Reads both streams until the command ends; what it left in the background then goes with its tree.
async fn watch(
    running: &mut Running,
    stdout: &mut File,
    stderr: &mut File,
    live: &mut Live<'_>,
) -> io::Result<Ending> {
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
                    live(Stream::Stdout, &from_out[..n]);
                    stdout.write_all(&from_out[..n])?;
                }
            },
            n = read(&mut err, &mut from_err), if err.is_some() => match n? {
                0 => err = None,
                n => {
                    printed += n as u64;
                    live(Stream::Stderr, &from_err[..n]);
                    stderr.write_all(&from_err[..n])?;
                }
            },
            status = running.wait(), if ended.is_none() => ended = Some(status?),
            // Ended, but a process in the background still holds its pipes: what is there is read, no more waited for.
            () = tokio::time::sleep(LINGER), if ended.is_some() => break,
        }
        if printed > MOST_OUTPUT {
            return Ok(Ending::Flooded(MOST_OUTPUT));
        }
        if out.is_none() && err.is_none() && ended.is_some() {
            break;
        }
    }
    ended.map(ending).ok_or_else(|| io::Error::other("the command did not end"))
}

/// How long pipes stay quiet after a command's end before they are given up.
const LINGER: Duration = Duration::from_millis(50);

async fn read(from: &mut Option<impl AsyncRead + Unpin>, into: &mut [u8]) -> io::Result<usize> {
    match from {
        Some(from) => from.read(into).await,
        None => std::future::pending().await,
    }
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Mutex;

    use super::*;

    /// One at a time: a command's tree is told from others by what lepo's children were before it.
    static TURN: Mutex<()> = Mutex::new(());

    fn run(command: &str, timeout: Duration) -> (Ending, String, String) {
        let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let hidden = ["LEPO_TEST_KEY".to_string()];
        let ground = Policy { dir: dir.path(), store: &dir.path().join(".lepo"), own: &[], read_only: &[] };
        let shell = Shell { ground, hidden_env: &hidden, timeout };
        let scratch = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
        let granted = GrantedCommand::by_user(command);
        let mut seen = [Vec::new(), Vec::new()];
        let mut live = |stream: Stream, bytes: &[u8]| match stream {
            Stream::Stdout => seen[0].extend_from_slice(bytes),
            Stream::Stderr => seen[1].extend_from_slice(bytes),
        };
        let mut outcome = runtime.block_on(shell.run(granted, scratch, &mut live)).unwrap();
        let text = |captured: &mut Captured| {
            let mut text = String::new();
            captured.whole().unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let (out, err) = (text(&mut outcome.stdout), text(&mut outcome.stderr));
        assert_eq!(seen.map(|seen| String::from_utf8(seen).unwrap()), [out.clone(), err.clone()]);
        (outcome.ending, out, err)
    }

    #[test]
    fn every_ending_is_told() {
        let long = Duration::from_secs(60);
        assert_eq!(
            run("echo hi; echo no >&2; exit 3", long),
            (Ending::Exit(3), "hi\n".into(), "no\n".into())
        );
        assert_eq!(run("kill -9 $$", long).0, Ending::Signal(9));
        assert_eq!(run("nosuchprogram 2>/dev/null", long).0, Ending::Exit(127));
        let short = Duration::from_millis(200);
        assert_eq!(
            run("echo begun; sleep 60", short),
            (Ending::TimedOut(short), "begun\n".into(), String::new())
        );
    }

    #[test]
    fn a_flood_is_ended() {
        let (ending, out, _) = run("yes", Duration::from_secs(60));
        assert_eq!(ending, Ending::Flooded(MOST_OUTPUT));
        assert!((out.len() as u64) < MOST_OUTPUT + (1 << 20), "{}", out.len());
    }

    #[test]
    fn who_forks_to_get_away_is_caught() {
        let dir = tempfile::tempdir().unwrap();
        let (script, pids) = (dir.path().join("chain.py"), dir.path().join("pids"));
        std::fs::write(&script, CHAIN).unwrap();
        let line = format!("python3 {} {}; exit 0", script.display(), pids.display());
        assert_eq!(run(&line, Duration::from_secs(60)).0, Ending::Exit(0));
        // Longer than they fork on: whoever got away has written down its number by then.
        std::thread::sleep(Duration::from_secs(4));
        assert_eq!(std::fs::read_to_string(pids).unwrap(), "");
    }

    /// Three that are deaf, and a new process in a new session all the time, for three seconds.
    const CHAIN: &str = "import os, signal, sys, time\n\
        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
        out, end = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND), time.time() + 3\n\
        if all(os.fork() for _ in range(3)): os._exit(0)\n\
        while time.time() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()\n\
        os.write(out, b'%d ' % os.getpid())\ntime.sleep(60)\n";

    #[test]
    fn nothing_is_read_from_the_terminal() {
        assert_eq!(run("cat", Duration::from_secs(60)), (Ending::Exit(0), String::new(), String::new()));
    }

    #[test]
    fn what_is_left_in_the_background_ends_too() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let script = format!("setsid sh -c 'echo $$ > {}; exec sleep 60' & sleep 0.2", pid_file.display());
        let (ending, ..) = run(&script, Duration::from_secs(60));
        assert_eq!(ending, Ending::Exit(0));
        let pid = std::fs::read_to_string(pid_file).unwrap();
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "still there: {state}");
    }
}
