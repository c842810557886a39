//! Ending whole process trees, also what a command put in the background or into a session of its own.
//!
//! lepo makes itself the reaper of its descendants (`PR_SET_CHILD_SUBREAPER`): whoever loses their
//! parent becomes lepo's child and can be found. Linux keeps the tree in `/proc`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Time that a process is given between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// A command's process and all that comes of it. Dropped, it ends them: also when a turn is cancelled.
pub struct Tree {
    before: HashSet<i32>,
    leader: Option<Pid>,
}

impl Tree {
    /// Takes note of the children lepo has; whoever is new afterwards is of the command.
    pub fn before_start() -> Tree {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Tree { before: children_of(own(), &processes()).into_iter().collect(), leader: None }
    }

    /// The command's process, which leads a group of its own.
    pub fn grown_from(&mut self, leader: Option<u32>) {
        self.leader = leader.and_then(|pid| Pid::from_raw(pid as i32));
    }

    /// Ends the group and everything else that is left. Most die at once and are not waited for; a
    /// process that ignores SIGTERM is killed, one that forks on is outrun. Blocks for a second at most.
    fn end(&self) {
        let Some(leader) = self.leader else { return };
        let start = Instant::now();
        loop {
            let signal = if start.elapsed() < GRACE { Signal::TERM } else { Signal::KILL };
            let group_is_gone = kill_process_group(leader, signal).is_err();
            let left = self.left();
            if (left.is_empty() && group_is_gone) || start.elapsed() > 2 * GRACE {
                return;
            }
            for pid in left {
                let _ = kill_process(pid, signal);
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Descendants of lepo that were not there before.
    fn left(&self) -> Vec<Pid> {
        let all = processes();
        let mut found: Vec<i32> =
            children_of(own(), &all).into_iter().filter(|pid| !self.before.contains(pid)).collect();
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            found.extend(children_of(pid, &all));
            next += 1;
        }
        found.into_iter().filter_map(Pid::from_raw).collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

fn own() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn children_of(parent: i32, all: &[(i32, i32)]) -> Vec<i32> {
    all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid).collect()
}

/// Every process with its parent; those that ended but were not waited for are left out.
fn processes() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // pid (name, which may hold anything) state ppid …
            let (_, after) = stat.rsplit_once(')')?;
            let mut words = after.split_ascii_whitespace();
            let state = words.next()?;
            let parent = words.next()?.parse().ok()?;
            (state != "Z").then_some((pid, parent))
        })
        .collect()
}
