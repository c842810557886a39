//! Ending all descendants of this process, also those in a session of their own.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpgid, waitpid};

use lepo_base::sys::{Children, LOOKS};

/// Time that a process is given to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// Time to stop all that forks on, and then as long again to see it end.
const CHASE: Duration = Duration::from_secs(2);

/// Ends the process group of `leader` and every descendant of this process; gives the number of those that are
/// left. Most end at once and are not waited for. What ignores SIGTERM, or forks on to get away, is
/// stopped first and killed when nothing runs any more. Blocks for 5 seconds at most.
pub fn end(leader: Pid) -> usize {
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

/// Stops every descendant, without a pause: a process that forks and ends lives for a tenth of a millisecond.
/// Done when many scans in a row find no new process, as a stopped one cannot fork.
fn freeze(until: Instant) {
    let (mut seen, mut agreed) = (Vec::new(), 0);
    while agreed < LOOKS && Instant::now() < until {
        let now = signal_once(Signal::STOP);
        agreed = if now == seen { agreed + 1 } else { 0 };
        seen = now;
    }
}

/// Sends a signal to the leader's group, after those in it that have ended were waited for: they would
/// stay in it. True if the group does not exist any more.
fn signal_group(leader: Pid, signal: Signal) -> bool {
    while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
    kill_process_group(leader, signal).is_err()
}

/// Sends a signal to each descendant as soon as it is found; those that have ended are waited for. Gives all
/// that were found.
fn signal(signal: Signal) -> Vec<i32> {
    // A process that forks and ends all the time can be missed by one look, but not by so many.
    let looks = (0..LOOKS).map(|_| signal_once(signal));
    looks.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn signal_once(signal: Signal) -> Vec<i32> {
    let root = rustix::process::getpid().as_raw_nonzero().get();
    let mut found: Vec<i32> = Vec::new();
    let (children, mut next) = (Children::look(), None);
    loop {
        let parent = next.map_or(root, |i: usize| found[i]);
        for child in children.of(parent) {
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
