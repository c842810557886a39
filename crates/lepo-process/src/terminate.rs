//! Terminates all descendants of this process, including those in another session.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpgid, waitpid};

use lepo_base::sys::{ChildProcesses, SNAPSHOTS};

/// Grace period between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Time limit for stopping processes that fork repeatedly, and again for waiting until they are dead.
const CHASE: Duration = Duration::from_secs(2);

/// Terminates the process group of `leader` and every descendant of this process; returns the number of survivors. Most
/// processes exit at once. A process that ignores SIGTERM, or forks repeatedly to escape, is first stopped, then killed
/// when nothing runs any more. Blocks for 5 seconds at most.
pub fn terminate(leader: Pid) -> usize {
    let start = Instant::now();
    while start.elapsed() < GRACE {
        let group_is_gone = signal_group(leader, Signal::TERM);
        if signal(Signal::TERM).is_empty() && group_is_gone {
            return 0;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    freeze(Instant::now() + CHASE);
    let deadline = Instant::now() + CHASE;
    loop {
        let group_is_gone = signal_group(leader, Signal::KILL);
        let left = signal(Signal::KILL).len();
        if (left == 0 && group_is_gone) || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Stops every descendant, without pausing: a process that forks and exits lives for a tenth of a millisecond. Returns
/// when many consecutive scans find no new process, because a stopped process cannot fork.
fn freeze(until: Instant) {
    let (mut seen, mut agreed) = (Vec::new(), 0);
    while agreed < SNAPSHOTS && Instant::now() < until {
        let now = signal_once(Signal::STOP);
        agreed = if now == seen { agreed + 1 } else { 0 };
        seen = now;
    }
}

/// Sends a signal to the leader's group, after reaping its dead processes, which would otherwise remain members.
/// Returns whether the group no longer exists.
fn signal_group(leader: Pid, signal: Signal) -> bool {
    while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
    kill_process_group(leader, signal).is_err()
}

/// Sends a signal to each descendant immediately when found, reaping dead ones. Returns those found alive.
fn signal(signal: Signal) -> Vec<i32> {
    // A process that repeatedly forks and exits can escape a single scan, but not this many.
    let looks = (0..SNAPSHOTS).map(|_| signal_once(signal));
    looks.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn signal_once(signal: Signal) -> Vec<i32> {
    let root = rustix::process::getpid().as_raw_nonzero().get();
    let mut found: Vec<i32> = Vec::new();
    let (children, mut next) = (ChildProcesses::snapshot(), None);
    loop {
        let parent = next.map_or(root, |i: usize| found[i]);
        for child in children.children_of(parent) {
            if found.contains(&child) {
                continue;
            }
            let Some(pid) = Pid::from_raw(child) else { continue };
            let _ = kill_process(pid, signal);
            match waitpid(Some(pid), WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                _ => found.push(child),
            }
        }
        next = Some(next.map_or(0, |i| i + 1));
        if next.is_some_and(|i| i >= found.len()) {
            return found;
        }
    }
}
