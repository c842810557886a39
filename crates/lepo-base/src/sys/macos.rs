//! macOS. Built and linked, never run, by lepo's authors.
//!
//! There is no sandbox, so nothing runs unasked here; and no reaper of orphans, so a process that left the group
//! of its program, and whose parent has ended, is not found any more.

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

/// No command can be held to its access here.
pub const HAS_SANDBOX: bool = false;

/// Descriptors that arrive are not closed by themselves.
pub const RECEIVE: RecvFlags = RecvFlags::empty();

/// Programs that open a file in a browser, tried in turn.
pub const OPENERS: &[&str] = &["open"];

/// No variable tells of a display: there always is one.
pub const DISPLAYS: &[&str] = &[];

/// kqueue tells that something changed, not that a file was closed.
pub const WATCH_TELLS_CLOSING: bool = false;

/// The settings that limit watches.
pub const WATCH_LIMITS: &str = "a watch opens each file: `ulimit -n` is the limit";

/// Looks at the processes that have to agree. One starts a program.
pub const LOOKS: usize = 2;

/// The device of the controlling terminal, by its own name: `poll` cannot wait for `/dev/tty`.
pub fn terminal() -> Option<PathBuf> {
    let name = |fd| rustix::termios::ttyname(fd, Vec::new()).ok();
    let named = name(rustix::stdio::stdin())
        .or_else(|| name(rustix::stdio::stderr()))
        .or_else(|| name(rustix::stdio::stdout()));
    Some(named.map_or_else(|| "/dev/tty".into(), |name| OsString::from_vec(name.into_bytes()).into()))
}

/// The target that this was compiled for, as compilers name it.
pub fn target() -> String {
    format!("{}-apple-darwin", std::env::consts::ARCH)
}

/// Makes a file or a directory durable: `fsync` alone leaves it in the drive's memory.
pub fn sync(file: impl AsFd) -> rustix::io::Result<()> {
    // Some filesystems of the network have only the other.
    rustix::fs::fcntl_fullfsync(&file).or_else(|_| rustix::fs::fsync(file))
}

/// Makes all files of a directory durable: each is handed to the drive, which then empties its memory once.
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

/// Tells the name and the type of every entry of a directory, `.` and `..` too.
pub fn each_entry(dir: &OwnedFd, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
    for next in Dir::read_from(dir)? {
        let next = next?;
        entry(next.file_name().to_bytes(), next.file_type());
    }
    Ok(())
}

/// True if the filesystem of a directory keeps status change times that can be relied on: APFS does.
pub fn keeps_change_times(dir: &OwnedFd) -> io::Result<bool> {
    let kind = rustix::fs::fstatfs(dir)?.f_fstypename.map(|c| c as u8);
    Ok(CStr::from_bytes_until_nul(&kind).is_ok_and(|kind| kind == c"apfs"))
}

/// Keeps this process's memory from other processes: the system does that by itself.
pub fn hide_memory() {}

/// There is no such thing here.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// None by a name that stays right when the file is replaced.
pub fn own_program() -> Option<PathBuf> {
    None
}

/// The path of an open descriptor of this process.
pub fn descriptor_path(number: &OsStr) -> PathBuf {
    Path::new("/dev/fd").join(number)
}

/// The signals that lepo's caller wants ignored: the system does not tell.
pub fn ignored_signals() -> u64 {
    0
}

/// A limit on processes, of which there is none here.
#[derive(Debug)]
pub struct ProcessLimit;

impl ProcessLimit {
    /// Does nothing.
    pub fn leave(&self) {}
}

/// Only held commands are limited.
pub fn limit_processes(_: u32) -> Option<ProcessLimit> {
    None
}

/// One look at the processes of the machine.
pub struct Children(HashMap<i32, Vec<i32>>);

impl Children {
    /// Takes the table of `ps`. The call for it, `proc_listchildpids`, needs `unsafe` here, or a crate (libproc) that
    /// is built with libclang.
    pub fn look() -> Children {
        let mut ps = Command::new("/bin/ps");
        ps.args(["-A", "-o", "pid=,ppid="]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let table = ps.spawn().and_then(|ps| {
            let own = ps.id() as i32;
            Ok((own, ps.wait_with_output()?.stdout))
        });
        let (own, table) = table.unwrap_or_default();
        Children(super::children::children_in(&String::from_utf8_lossy(&table), own))
    }

    /// The children of a process at that look.
    pub fn of(&self, parent: i32) -> Vec<i32> {
        self.0.get(&parent).cloned().unwrap_or_default()
    }
}

/// Opens nothing: it is for a sandbox.
pub fn open_without_links(_: &Path) -> io::Result<OwnedFd> {
    Err(none())
}

/// A file without a name, at its beginning.
pub fn memory_file(_: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    let mut file: File = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// There is none.
pub fn namespace_filter() -> io::Result<Vec<u8>> {
    Err(none())
}

/// Holds nothing.
pub fn hold(_: &[PathBuf], _: &[PathBuf], _: &[&str]) -> io::Result<()> {
    Err(none())
}

fn none() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "there is no sandbox on macOS")
}
