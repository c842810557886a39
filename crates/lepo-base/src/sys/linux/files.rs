//! Files and directories.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, MemfdFlags, RawDir};

/// Bytes of directory entries asked for at a time: a few hundred names a system call.
const BUFFER: usize = 64 << 10;

/// Filesystems whose status change times can be relied on, by the magic numbers of statfs(2): ext4, xfs, btrfs,
/// f2fs, zfs, tmpfs, overlayfs.
const KEEP_CTIME: [u32; 7] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0x0102_1994, 0x794C_7630];

/// Makes a file or a directory durable.
pub fn sync(file: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::fsync(file)
}

/// Makes all files of a directory durable: of the whole filesystem, in one call.
pub fn sync_files_of(dir: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(dir)?)
}

/// Tells the name and the type of every entry of an open directory, `.` and `..` too, from where its reading
/// stands.
pub fn each_entry(dir: &OwnedFd, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(dir, &mut buffer);
    while let Some(next) = entries.next() {
        let next = next?;
        entry(next.file_name().to_bytes(), next.file_type());
    }
    Ok(())
}

/// True if the filesystem of a directory keeps status change times that can be relied on.
pub fn keeps_change_times(dir: &OwnedFd) -> io::Result<bool> {
    let magic = rustix::fs::fstatfs(dir)?.f_type as u32;
    Ok(KEEP_CTIME.contains(&magic))
}

/// A file in memory, at its beginning.
pub fn memory_file(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
