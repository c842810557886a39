//! Files and directories.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, MemfdFlags, RawDir};

/// Size in bytes of the buffer for directory entries: a few hundred names per system call.
const BUFFER: usize = 64 << 10;

/// File systems with reliable status change times, by the magic numbers of statfs(2): ext4, xfs, btrfs, f2fs, zfs,
/// tmpfs, overlayfs.
const KEEP_CTIME: [u32; 7] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0x0102_1994, 0x794C_7630];

/// Makes a file or a directory durable.
pub fn sync(file: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::fsync(file)
}

/// Makes all files of a directory durable with a single call, which syncs the whole file system.
pub fn sync_files_of(dir: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(dir)?)
}

/// Calls `entry` with name and type of every entry of an open directory, including `.` and `..`, from its current
/// position.
pub fn each_entry(dir: &OwnedFd, mut entry: impl FnMut(&[u8], FileType)) -> io::Result<()> {
    let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER);
    let mut entries = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(next) = entries.next() {
        let next = next?;
        entry(next.file_name().to_bytes(), next.file_type());
    }
    Ok(())
}

/// Whether the file system of a directory has reliable status change times.
pub fn keeps_change_times(dir: &OwnedFd) -> io::Result<bool> {
    let magic = rustix::fs::fstatfs(dir)?.f_type as u32;
    Ok(KEEP_CTIME.contains(&magic))
}

/// Creates a file in memory, positioned at its start.
pub fn memory_file(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
