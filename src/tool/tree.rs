//! Ending whole process trees, also what a command put in the background or into a session of its own.
//!
//! lepo makes itself the reaper of its descendants (`PR_SET_CHILD_SUBREAPER`): whoever loses their
//! parent becomes lepo's child and can be found. Linux keeps the tree in `/proc`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpgid, waitpid};

/// Time that a process is given to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// Time to stop all that forks on, and then as long again to see it end.
const CHASE: Duration = Duration::from_secs(2);

/// Looks at the processes that have to agree. One takes some hundredths of a millisecond.
const LOOKS: usize = 20;

/// A process and all that comes of it. Dropped, it ends them: also when a turn is cancelled.
pub struct Tree {
    whose: Whose,
    leader: Option<Pid>,
    ended: bool,
}

/// Which processes are of a tree, besides its leader's group.
enum Whose {
    /// Descendants of lepo that were not there before, but for servers; these children were there.
    New(HashSet<i32>),
    /// Descendants of the leader.
    Leader,
    /// Servers, and what is left of them.
    Servers,
}

/// The variable that tells a server's processes from a command's, whoever their parent is by now:
/// they inherit it. Its value is lepo's process id, for one lepo may run in another.
const MARK: &str = "LEPO_SERVER_OF";

impl Tree {
    /// Takes note of the children lepo has; whoever is new afterwards and no server is of the tree.
    pub fn before_start() -> Tree {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Tree::of(Whose::New(children_of(own()).into_iter().collect()))
    }

    fn of(whose: Whose) -> Tree {
        Tree { whose, leader: None, ended: false }
    }

    /// One server among others. What loses its parent is of none of them, but of [`Tree::of_servers`].
    pub fn of_server() -> Tree {
        Tree::of(Whose::Leader)
    }

    /// All that has [`Tree::mark`], to be ended after each server's own.
    pub fn of_servers() -> Tree {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Tree::of(Whose::Servers)
    }

    /// The variable of a server's environment that makes it one.
    pub fn mark() -> (&'static str, String) {
        (MARK, own().to_string())
    }

    /// The process that was started, which leads a group of its own.
    pub fn grown_from(&mut self, leader: Option<u32>) {
        self.leader = leader.and_then(|pid| Pid::from_raw(pid as i32));
    }

    /// Ends the group and everything else that is left, and tells how many processes are left all the
    /// same. Most die at once and are not waited for. Whoever ignores SIGTERM, or forks on to get
    /// away, is stopped first and killed when nobody runs any more. Blocks for 5 seconds at most.
    pub fn end(&mut self) -> usize {
        if std::mem::replace(&mut self.ended, true) {
            return 0;
        }
        let start = Instant::now();
        while start.elapsed() < GRACE {
            let group_is_gone = self.group_is_gone(Signal::TERM);
            if self.signal(Signal::TERM).is_empty() && group_is_gone {
                return 0;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.freeze(Instant::now() + CHASE);
        let deadline = Instant::now() + CHASE;
        loop {
            let group_is_gone = self.group_is_gone(Signal::KILL);
            let left = self.signal(Signal::KILL).len();
            if (left == 0 && group_is_gone) || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops everybody, without a pause: a process that forks and ends lives for a tenth of a millisecond.
    /// It is done when many looks agree, for who was stopped at the first has forked no more.
    fn freeze(&self, until: Instant) {
        let (mut seen, mut agreed) = (Vec::new(), 0);
        while agreed < LOOKS && Instant::now() < until {
            let now = self.signal_to(Signal::STOP, children_of);
            agreed = if now == seen { agreed + 1 } else { 0 };
            seen = now;
        }
    }

    /// Sends a signal to the leader's group, after those in it that have ended were waited for: they would
    /// stay in it. Whether there is none any more.
    fn group_is_gone(&self, signal: Signal) -> bool {
        self.leader.is_none_or(|leader| {
            while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
            kill_process_group(leader, signal).is_err()
        })
    }

    /// Sends a signal to each process of the tree as soon as it is found; those that have ended are
    /// waited for. All that were found.
    fn signal(&self, signal: Signal) -> Vec<i32> {
        // Who forks and ends all the time can be missed by a look, but not by so many.
        let looks = (0..LOOKS).map(|_| self.signal_to(signal, children_of));
        looks.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn signal_to(&self, signal: Signal, children_of: fn(i32) -> Vec<i32>) -> Vec<i32> {
        let root = match (&self.whose, self.leader) {
            (Whose::Leader, None) => return Vec::new(),
            (Whose::Leader, Some(leader)) => leader.as_raw_nonzero().get(),
            (Whose::New(_) | Whose::Servers, _) => own(),
        };
        let of_it = |child: i32| match &self.whose {
            Whose::New(before) => !before.contains(&child) && !is_server(child),
            Whose::Servers => is_server(child),
            Whose::Leader => true,
        };
        let mut found: Vec<i32> = Vec::new();
        let mut next = None;
        loop {
            let parent = next.map_or(root, |i: usize| found[i]);
            for child in children_of(parent) {
                if found.contains(&child) || (next.is_none() && !of_it(child)) {
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
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

fn own() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn is_server(pid: i32) -> bool {
    let (name, value) = Tree::mark();
    let mark = format!("{name}={value}").into_bytes();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == mark)
}

/// The children of all threads of a process.
fn children_of(parent: i32) -> Vec<i32> {
    static LISTED: LazyLock<bool> = LazyLock::new(|| Path::new("/proc/thread-self/children").exists());
    if !*LISTED {
        return children_sought(parent);
    }
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
    let mut children = Vec::new();
    for task in tasks.into_iter().flatten().flatten() {
        let listed = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(listed.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    children
}

/// The same from every process's word on its parent, for a kernel that lists no children; slower.
fn children_sought(parent: i32) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let child = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // pid (name, which may hold anything) state ppid …
        let (_, after) = stat.rsplit_once(')')?;
        let of: i32 = after.split_ascii_whitespace().nth(1)?.parse().ok()?;
        (of == parent).then_some(pid)
    };
    entries.flatten().filter_map(child).collect()
}
