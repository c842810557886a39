//! The open directory of a store: files and folders in it by name, following no link and waiting for none.

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

/// Mode of every file lepo makes.
pub(super) const FILE: Mode = Mode::from_raw_mode(0o600);
/// Mode of every directory lepo makes.
pub(super) const DIR: Mode = Mode::from_raw_mode(0o700);

/// The directory of all days that are over.
pub const OLD: &str = "_old";

/// The flags to open a file that may be a bubb's: no link is followed, and nothing is waited for.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The flags to open a directory: no link to one is followed.
pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The longest file of settings, in bytes.
pub(super) const MOST_SETTINGS: u64 = 4 << 20;

/// From this length on, reading a file checks that there is memory for copies of it too.
const LARGE: u64 = 16 << 20;

/// The open directory.
pub(super) struct Dir {
    pub(super) fd: OwnedFd,
    /// As it is shown, relative to where the user stands.
    pub(super) shown: PathBuf,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Dir {
    /// Opens a file for reading; only a regular file, and never by waiting for one.
    pub(super) fn open_file(&self, name: impl rustix::path::Arg) -> io::Result<File> {
        Ok(regular(self.open_any(name)?)?.0)
    }

    /// Opens what is there for reading, following no link and never blocking.
    pub(super) fn open_any(&self, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.fd, name, READ, Mode::empty())?)
    }

    /// Opens a directory in it (`_tmp`, `_branches`, `_blobs`), making it if it is missing.
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

    /// Opens a directory in it, if there is one.
    pub(super) fn subdir_if_there(&self, name: &str) -> io::Result<Option<OwnedFd>> {
        match rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            result => Ok(Some(result?)),
        }
    }

    /// Opens a directory by its path from here, following no link on the way.
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

    /// Tells every entry of a directory in it, `.` and `..` too. One that is missing has none.
    pub(super) fn each_entry_of(&self, dir: &str, entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
        // A descriptor of its own, because reading a directory moves a position in it.
        let Some(dir) = self.subdir_if_there(dir)? else { return Ok(()) };
        each_entry(&dir, entry)
    }

    /// True for a regular file, false for anything else under its name.
    pub(super) fn kind_of(&self, file: &str) -> Result<Option<bool>> {
        match rustix::fs::statat(&self.fd, file, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.error("cannot read", file, error.into())),
        }
    }

    /// True if there is anything of this name.
    pub(super) fn has(&self, file: &str) -> Result<bool> {
        Ok(self.kind_of(file)?.is_some())
    }

    /// The bytes of a file that is no bubb, if it is there.
    pub(super) fn read_file(&self, file: impl AsRef<OsStr>) -> Result<Option<Vec<u8>>> {
        self.read_file_within(file, u64::MAX)
    }

    /// The bytes of a file that is no bubb, if it is there; an error where it is larger than `most`.
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

    /// An error about something in it.
    pub(super) fn error(&self, failed: &str, what: impl AsRef<OsStr>, cause: io::Error) -> Error {
        failure(format!("{failed} {}", self.shown.join(what.as_ref()).display()), cause)
    }
}

/// Tells every entry of an open directory from where its reading stands. Where the filesystem does not tell an entry's
/// type it is looked up.
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

/// Opens a directory in another, if there is one; a link to one is none.
pub(super) fn dir_at(at: impl AsFd, name: impl AsRef<OsStr>) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::openat(at, name.as_ref().as_bytes(), DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Opens a directory in another, made durably if it is missing.
pub(super) fn make_dir_at(at: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    if dir_at(at, name)?.is_none() {
        match rustix::fs::mkdirat(at, name, DIR) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Also where it was there: its maker may have ended before it was durable.
    sys::sync(at)?;
    dir_at(at, name)?.ok_or_else(|| io::Error::other(format!("{name} is not a directory")))
}

/// A file's length, where it is a regular one; anything else is an error.
pub(super) fn regular(opened: OwnedFd) -> io::Result<(File, u64)> {
    let stat = rustix::fs::fstat(&opened)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((File::from(opened), stat.st_size as u64))
}

/// Makes room for the bytes of a file; an error where memory is short, which would end the process later.
pub(super) fn reserve(bytes: &mut Vec<u8>, len: u64) -> io::Result<()> {
    let short = |_| io::Error::new(io::ErrorKind::OutOfMemory, "not enough memory");
    if len > LARGE {
        // As text, and cleaned.
        Vec::<u8>::new().try_reserve_exact(len.saturating_mul(3) as usize).map_err(short)?;
    }
    bytes.try_reserve_exact(len as usize).map_err(short)
}

/// The hint where something else is in the place of a file or directory of the store.
const IN_PLACE: &str = "it is a link or a special file; lepo follows no links in a store: move it away";

/// A store error with its cause, and what to do where the cause tells.
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

/// Milliseconds since 1970 by the clock; 0 before.
pub fn now() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
