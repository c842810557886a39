//! macOS. Compiled and linked, but never run, by lepo's authors.
//!
//! The system has no sandbox, so a command never runs without consent; and it has no reaper of orphans, so a process
//! that left the process group of its program, and whose parent has ended, cannot be found.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::net::RecvFlags;

/// Whether commands can be sandboxed on this system.
pub const HAS_SANDBOX: bool = false;

/// Whether the service manager is launchd.
pub const HAS_LAUNCHD: bool = true;

/// Received descriptors are not closed automatically.
pub const RECEIVE: RecvFlags = RecvFlags::empty();

/// Programs that open a file in a browser, tried in order.
pub const OPENERS: &[&str] = &["open"];

/// No variable indicates a display, because there always is one.
pub const DISPLAYS: &[&str] = &[];

/// kqueue reports that a file changed, but not that it was closed.
pub const WATCH_TELLS_CLOSING: bool = false;

/// Names the settings that limit watches.
pub const WATCH_LIMITS: &str = "a watch opens each file: `ulimit -n` is the limit";

/// Number of consecutive snapshots of the processes that must agree. A snapshot starts a program.
pub const SNAPSHOTS: usize = 2;

/// Returns the device of the controlling terminal by its own name, because `poll` cannot wait for `/dev/tty`.
pub fn terminal() -> Option<PathBuf> {
    let name = |fd| rustix::termios::ttyname(fd, Vec::new()).ok();
    let named = name(rustix::stdio::stdin())
        .or_else(|| name(rustix::stdio::stderr()))
        .or_else(|| name(rustix::stdio::stdout()));
    Some(named.map_or_else(|| "/dev/tty".into(), |name| OsString::from_vec(name.into_bytes()).into()))
}

/// Returns the compilation target, as compilers name it.
pub fn target() -> String {
    format!("{}-apple-darwin", std::env::consts::ARCH)
}

/// Makes a file or a directory durable: `fsync` alone leaves it in the drive's cache.
pub fn sync(file: impl AsFd) -> rustix::io::Result<()> {
    // Some network file systems support only `fsync`.
    rustix::fs::fcntl_fullfsync(&file).or_else(|_| rustix::fs::fsync(file))
}

/// Makes all files of a directory durable: each is written to the drive, which then flushes its cache once.
pub fn sync_files_of(dir: &OwnedFd) -> io::Result<()> {
    let mut names = Vec::new();
    each_entry(dir, |name, kind| {
        if kind == FileType::RegularFile {
            names.push(name.to_vec());
        }
    })?;
    for name in names {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::fsync(rustix::fs::openat(dir, name, flags, Mode::empty())?)?;
    }
    Ok(sync(dir)?)
}

/// Calls `entry` with name and type of every entry of a directory, including `.` and `..`.
pub fn each_entry(dir: &OwnedFd, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
    for next in Dir::read_from(dir)? {
        let next = next?;
        entry(next.file_name().to_bytes(), next.file_type());
    }
    Ok(())
}

/// Whether the file system of a directory has reliable status change times, as APFS does.
pub fn keeps_change_times(dir: &OwnedFd) -> io::Result<bool> {
    let kind = rustix::fs::fstatfs(dir)?.f_fstypename.map(|c| c as u8);
    Ok(CStr::from_bytes_until_nul(&kind).is_ok_and(|kind| kind == c"apfs"))
}

/// Does nothing: the system itself hides the memory of a process.
pub fn hide_memory() {}

/// Does nothing: macOS has no subreaper.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Returns `None`: no path stays right when the file is replaced.
pub fn own_program() -> Option<PathBuf> {
    None
}

/// Returns the path of an open descriptor of this process.
pub fn descriptor_path(number: &OsStr) -> PathBuf {
    Path::new("/dev/fd").join(number)
}

/// Returns no signals: the system does not report which ones the caller ignores.
pub fn ignored_signals() -> u64 {
    0
}

/// A limit on processes, which does not exist on macOS.
#[derive(Debug)]
pub struct ProcessLimit;

impl ProcessLimit {
    /// Does nothing.
    pub fn leave(&self) {}
}

/// Sets no limit: only sandboxed commands are limited.
pub fn limit_processes(_: u32) -> Option<ProcessLimit> {
    None
}

/// A snapshot of the processes of the machine.
pub struct ChildProcesses(HashMap<i32, Vec<i32>>);

impl ChildProcesses {
    /// Runs `ps`. The system call for it, `proc_listchildpids`, would need `unsafe` here, or a crate (libproc) whose
    /// build needs libclang.
    pub fn snapshot() -> ChildProcesses {
        let mut ps = Command::new("/bin/ps");
        ps.args(["-A", "-o", "pid=,ppid="]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let table = ps.spawn().and_then(|ps| {
            let own = ps.id() as i32;
            Ok((own, ps.wait_with_output()?.stdout))
        });
        let (own, table) = table.unwrap_or_default();
        ChildProcesses(super::children::children_in(&String::from_utf8_lossy(&table), own))
    }

    /// Returns the children of a process in the snapshot.
    pub fn children_of(&self, parent: i32) -> Vec<i32> {
        self.0.get(&parent).cloned().unwrap_or_default()
    }
}

/// Fails: only a sandbox needs it.
pub fn open_without_links(_: &Path) -> io::Result<OwnedFd> {
    Err(not_supported())
}

/// Creates a file without a name, positioned at its start.
pub fn memory_file(_: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    let mut file: File = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Fails: macOS has no such filter.
pub fn namespace_filter() -> io::Result<Vec<u8>> {
    Err(not_supported())
}

/// Fails: macOS has no such sandbox.
pub fn restrict_self(_: &[PathBuf], _: &[PathBuf], _: &[&str]) -> io::Result<()> {
    Err(not_supported())
}

fn not_supported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "there is no sandbox on macOS")
}
