//! The supervisor: starts a program, reports its end, and terminates all of its processes when lepo asks for it or has
//! exited.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, WaitOptions};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::program::{LENT, is_lepo};
use super::report::SupervisorReport;
use super::spec::{KEEPER, ProgramSpec};
use super::terminate;
use lepo_base::sys::{self, ProcessLimit};

/// Runs the supervisor, if these are its arguments, and returns the exit code.
pub fn run_as_keeper(args: &[OsString]) -> Option<u8> {
    is_lepo();
    (args.first()? == KEEPER).then(|| u8::from(supervise().is_err()))
}

fn supervise() -> io::Result<()> {
    // The program must not read the supervisor's memory or its socket.
    sys::hide_memory();
    sys::adopt_orphans()?;
    let lepo = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (children, stopping) = (signals(&[SIGCHLD])?, signals(&[SIGTERM, SIGINT, SIGHUP])?);
    let (spec, descriptors) = ProgramSpec::receive(&lepo)?;
    let removed = spec.removed.clone();
    let kept = match start(spec, descriptors) {
        Ok(started) => {
            report(&lepo, &SupervisorReport::Started(started.leader.as_raw_nonzero().get()));
            started
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            report(&lepo, &SupervisorReport::Failed(number, error.to_string()));
            return Ok(());
        }
    };
    watch(&lepo, &children, &stopping, kept.leader)?;
    let left = terminate::terminate(kept.leader);
    // Deepest first; a directory that is not empty is not the program's, and stays.
    removed.iter().rev().for_each(|dir| drop(std::fs::remove_dir(dir)));
    report(&lepo, &SupervisorReport::Swept(left));
    Ok(())
}

/// Returns a stream that becomes readable when one of the signals arrives.
fn signals(numbers: &[i32]) -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    for &number in numbers {
        signal_hook::low_level::pipe::register(number, write.try_clone()?)?;
    }
    Ok(read)
}

/// A running program, and the descriptors to keep open until it ends.
struct SupervisedProgram {
    leader: Pid,
    _group: Option<ProcessLimit>,
    _held: Vec<OwnedFd>,
}

fn start(spec: ProgramSpec, descriptors: Vec<OwnedFd>) -> io::Result<SupervisedProgram> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or_else(|| io::Error::other("a descriptor is missing"));
    let (stdout, stderr) = (next()?, next()?);
    let stdin = if spec.has_stdin { Some(next()?) } else { None };
    let mut lent = Vec::new();
    for number in LENT..LENT + spec.lent as i32 {
        let descriptor = rustix::io::fcntl_dupfd_cloexec(next()?, number)?;
        if std::os::fd::AsRawFd::as_raw_fd(&descriptor) != number {
            return Err(io::Error::other(format!("descriptor {number} is in use")));
        }
        rustix::io::fcntl_setfd(&descriptor, FdFlags::empty())?;
        lent.push(descriptor);
    }
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).env_clear().envs(spec.env).current_dir(&spec.dir).process_group(0);
    if !spec.arg0.is_empty() {
        command.arg0(&spec.arg0);
    }
    command.stdout(stdout).stderr(stderr).stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    let group = if spec.processes > 0 { sys::limit_processes(spec.processes) } else { None };
    let child = command.spawn();
    if let Some(group) = &group {
        group.leave();
    }
    let leader = Pid::from_child(&child?);
    Ok(SupervisedProgram { leader, _group: group, _held: descriptors.collect() })
}

/// Reports the leader's end, and returns when the tree is to be terminated.
fn watch(lepo: &UnixStream, children: &UnixStream, stopping: &UnixStream, leader: Pid) -> io::Result<()> {
    lepo.set_nonblocking(true)?;
    loop {
        let mut waits = [lepo, children, stopping].map(|stream| PollFd::new(stream, PollFlags::IN));
        match poll(&mut waits, None) {
            Err(Errno::INTR) => continue,
            result => result?,
        };
        let came = waits.map(|wait| !wait.revents().is_empty());
        // lepo asks for the end, or has exited.
        if came[0] || came[2] {
            return Ok(());
        }
        let mut buffer = [0; 64];
        while (&*children).read(&mut buffer).is_ok_and(|n| n > 0) {}
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == leader {
                report(lepo, &SupervisorReport::Exited(status.as_raw()));
            }
        }
    }
}

/// An error means that lepo has exited, so nobody reads the report.
fn report(mut lepo: &UnixStream, report: &SupervisorReport) {
    let _ = lepo.write_all(report.line().as_bytes());
}
