//! Processes, from `/proc`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::process::DumpableBehavior;

/// Number of consecutive snapshots of the processes that must agree. A snapshot costs some hundredths of a
/// millisecond.
pub const SNAPSHOTS: usize = 20;

/// Hides this process's memory and environment from other processes of the user, but not from root.
pub fn hide_memory() {
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Makes this process the parent of orphaned descendants. Every kernel can, but an emulator of another processor may
/// refuse (QEMU does); under it such a process is not found, as on macOS.
pub fn adopt_orphans() -> io::Result<()> {
    match rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        Err(Errno::INVAL) => Ok(()),
        result => Ok(result?),
    }
}

/// Returns this process's own program, even if the file was replaced by a newer one.
pub fn own_program() -> Option<PathBuf> {
    Some("/proc/self/exe".into())
}

/// Returns the path of an open descriptor of this process.
pub fn descriptor_path(number: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(number)
}

/// Returns the signals that lepo's caller wants ignored: bit n - 1 for signal n.
pub fn ignored_signals() -> u64 {
    let Ok(status) = File::open("/proc/self/status") else { return 0 };
    let mut lines = BufReader::new(status).lines().map_while(Result::ok);
    let mask = lines.find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.unwrap_or_default()
}

/// A snapshot of child processes. On Linux each query reads the current state.
pub struct ChildProcesses;

impl ChildProcesses {
    /// Starts a snapshot.
    pub fn snapshot() -> ChildProcesses {
        ChildProcesses
    }

    /// Returns the children of all threads of a process.
    pub fn children_of(&self, parent: i32) -> Vec<i32> {
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
}

/// Searches all processes for those with this parent, on a kernel that lists no children; slower.
fn children_sought(parent: i32) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let child = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // pid (name, which may contain anything) state ppid …
        let (_, after) = stat.rsplit_once(')')?;
        let its_parent: i32 = after.split_ascii_whitespace().nth(1)?.parse().ok()?;
        (its_parent == parent).then_some(pid)
    };
    entries.flatten().filter_map(child).collect()
}
