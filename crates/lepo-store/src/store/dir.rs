//! The open directory of a store: opens files and folders by name without following links and without blocking.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use lepo_base::error::{Error, Result};
use lepo_base::sys;

/// Mode of every file that lepo creates.
pub(super) const FILE: Mode = Mode::from_raw_mode(0o600);
/// Mode of every directory that lepo creates.
pub(super) const DIR: Mode = Mode::from_raw_mode(0o700);

/// The directory with the folders of past days.
pub const OLD: &str = "_old";

/// Flags to open a file without following a link and without blocking, for example on a fifo.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Flags to open a directory without following a link.
pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The largest file of settings, in bytes.
pub(super) const MOST_SETTINGS: u64 = 4 << 20;

/// For files of more bytes than this, memory for copies is checked before reading.
const LARGE: u64 = 16 << 20;

pub(super) struct Dir {
    pub(super) fd: OwnedFd,
    /// The path for messages, relative to the user's directory.
    pub(super) display_path: PathBuf,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Dir {
    /// Opens a regular file for reading; never blocks.
    pub(super) fn open_file(&self, name: impl rustix::path::Arg) -> io::Result<File> {
        Ok(regular(self.open_any(name)?)?.0)
    }

    /// Opens an entry of any type for reading, following no link and never blocking.
    pub(super) fn open_any(&self, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.fd, name, READ, Mode::empty())?)
    }

    /// Opens a subdirectory (`_tmp`, `_branches`, `_blobs`), creating it if it is missing.
    pub(super) fn subdir(&self, name: &str) -> io::Result<OwnedFd> {
        if let Some(dir) = self.subdir_if_there(name)? {
            return Ok(dir);
        }
        match rustix::fs::mkdirat(&self.fd, name, DIR) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.subdir_if_there(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens a subdirectory; `None` if it is missing.
    pub(super) fn subdir_if_there(&self, name: &str) -> io::Result<Option<OwnedFd>> {
        match rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            result => Ok(Some(result?)),
        }
    }

    /// Opens a directory by its relative path, following no link on the way.
    pub(super) fn open_below(&self, path: &Path) -> io::Result<Option<OwnedFd>> {
        let mut dir: Option<OwnedFd> = None;
        for part in path.components() {
            let at = dir.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            match dir_at(at, part)? {
                Some(opened) => dir = Some(opened),
                None => return Ok(None),
            }
        }
        Ok(dir)
    }

    /// Calls `entry` for every entry of a subdirectory, including `.` and `..`. A missing directory has no entries.
    pub(super) fn each_entry_of(&self, dir: &str, entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        // Reading a directory moves the position of its descriptor, so a new one is opened.
        let Some(dir) = self.subdir_if_there(dir)? else { return Ok(()) };
        each_entry(&dir, entry)
    }

    /// Whether the entry is a regular file; `None` if it is missing.
    pub(super) fn kind_of(&self, file: &str) -> Result<Option<bool>> {
        match rustix::fs::statat(&self.fd, file, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.error("cannot read", file, error.into())),
        }
    }

    pub(super) fn has(&self, file: &str) -> Result<bool> {
        Ok(self.kind_of(file)?.is_some())
    }

    /// Reads a file that is not a bubb; `None` if it is missing.
    pub(super) fn read_file(&self, file: impl AsRef<OsStr>) -> Result<Option<Vec<u8>>> {
        self.read_file_within(file, u64::MAX)
    }

    /// Reads a file that is not a bubb; `None` if it is missing. Fails if it is larger than `most` bytes.
    pub(super) fn read_file_within(&self, file: impl AsRef<OsStr>, most: u64) -> Result<Option<Vec<u8>>> {
        let read = self.open_file(file.as_ref()).and_then(|open| {
            let len = open.metadata()?.len();
            if len > most {
                return Err(io::Error::other(format!("it is larger than {} MiB", most >> 20)));
            }
            let mut bytes = Vec::new();
            reserve(&mut bytes, len)?;
            open.take(most).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        match read {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error("cannot read", file, error)),
        }
    }

    pub(super) fn error(&self, failed: &str, what: impl AsRef<OsStr>, cause: io::Error) -> Error {
        failure(format!("{failed} {}", self.display_path.join(what.as_ref()).display()), cause)
    }
}

/// Calls `entry` for every entry of an open directory from its current position. If the file system does not report
/// an entry's type, it is read with `fstatat`.
pub(super) fn each_entry(dir: &OwnedFd, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
    sys::each_entry(dir, |name, kind| {
        let kind = match kind {
            FileType::Unknown => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        entry(name, kind);
    })
}

/// Opens a directory inside `at`; `None` if it is missing, a link or not a directory.
pub(super) fn dir_at(at: impl AsFd, name: impl AsRef<OsStr>) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::openat(at, name.as_ref().as_bytes(), DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Opens a directory inside `at`, creating it durably if it is missing.
pub(super) fn make_dir_at(at: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    if dir_at(at, name)?.is_none() {
        match rustix::fs::mkdirat(at, name, DIR) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Also synced if it exists: its creator may have ended before it was durable.
    sys::sync(at)?;
    dir_at(at, name)?.ok_or_else(|| io::Error::other(format!("{name} is not a directory")))
}

/// Returns the file with its length; fails unless it is regular.
pub(super) fn regular(opened: OwnedFd) -> io::Result<(File, u64)> {
    let stat = rustix::fs::fstat(&opened)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((File::from(opened), stat.st_size as u64))
}

/// Reserves memory for a file; fails if memory is short, which would abort the process later.
pub(super) fn reserve(bytes: &mut Vec<u8>, len: u64) -> io::Result<()> {
    let short = |_| io::Error::new(io::ErrorKind::OutOfMemory, "not enough memory");
    if len > LARGE {
        // Memory for the decoded text and a cleaned copy.
        Vec::<u8>::new().try_reserve_exact(len.saturating_mul(3) as usize).map_err(short)?;
    }
    bytes.try_reserve_exact(len as usize).map_err(short)
}

const IN_PLACE: &str = "it is a link or a special file; lepo follows no links in a store: move it away";

/// Creates a store error with its cause and, for a known cause, a hint.
pub(super) fn failure(message: String, cause: io::Error) -> Error {
    use io::ErrorKind as K;
    let hint = match cause.kind() {
        K::StorageFull => Some("free some space on the disk (or inodes: df -i), then try again"),
        K::QuotaExceeded => Some("the disk quota is used up"),
        K::ReadOnlyFilesystem => Some("the filesystem is read-only; `lepo ls` and `show` still work"),
        K::PermissionDenied => Some("check the owner and mode of the directory"),
        K::FileTooLarge => Some("a file size limit stopped it (ulimit -f)"),
        K::NotADirectory => Some(IN_PLACE),
        _ if cause.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Some(IN_PLACE),
        _ => None,
    };
    let error = Error::store(message).because(cause);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Returns milliseconds since 1970; 0 if the clock is before that.
pub fn now() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
