//! Differences between the supported systems. Both files export the same names; no other code checks which system
//! this is.
//!
//! | | Linux | macOS |
//! |---|---|---|
//! | durable | `fsync`, `syncfs` | `F_FULLFSYNC` |
//! | entries of a directory | `getdents64` with a large buffer | `readdir` |
//! | descendants | subreaper, `/proc/PID/task/*/children` | the table of `ps` |
//! | lepo's own program | `/proc/self/exe` | its path |
//! | limit of processes | control group, `RLIMIT_NPROC` | none |
//! | sandbox | bubblewrap, Landlock and seccomp | none |
//! | watching | inotify, which reports when a file is closed | kqueue, which does not |
//! | terminal for questions | `/dev/tty` | the device by its name, for which `poll` can wait |

#[cfg(any(target_os = "macos", test))]
mod children;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

pub use system::{
    ChildProcesses, DISPLAYS, HAS_LAUNCHD, HAS_SANDBOX, OPENERS, ProcessLimit, RECEIVE, SNAPSHOTS,
    WATCH_LIMITS, WATCH_TELLS_CLOSING, adopt_orphans, descriptor_path, each_entry, hide_memory,
    keeps_change_times, limit_processes, memory_file, namespace_filter, open_without_links, own_program,
    restrict_self, sync, sync_files_of, target, terminal,
};

/// Filters out signals that lepo's caller ignores, which must stay ignored: `nohup` ignores some, and a shell does
/// for background jobs.
pub fn heeded(signals: impl IntoIterator<Item = i32>) -> impl Iterator<Item = i32> {
    let ignored = system::ignored_signals();
    signals.into_iter().filter(move |number| ignored & (1 << (number - 1)) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_entries_of_a_directory_are_told_with_their_types() {
        let temp_dir = tempfile::tempdir().unwrap();
        std::fs::write(temp_dir.path().join("file"), "x").unwrap();
        std::fs::create_dir(temp_dir.path().join("dir")).unwrap();
        let dir = std::fs::File::open(temp_dir.path()).unwrap().into();
        let mut found = Vec::new();
        each_entry(&dir, |name, kind| {
            found.push((String::from_utf8_lossy(name).into_owned(), kind.is_dir()))
        })
        .unwrap();
        found.sort();
        let entries = [(".", true), ("..", true), ("dir", true), ("file", false)];
        assert_eq!(found, entries.map(|(name, is_dir)| (name.to_string(), is_dir)));
        sync(&dir).unwrap();
        sync_files_of(&dir).unwrap();
    }
}
