//! How a sandboxed command sees each path.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a sandboxed command sees a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mount {
    /// An empty directory of its own.
    Hidden,
    /// An empty file or directory; that the path exists is not secret.
    Secret,
    /// Readable but not writable.
    ReadOnly,
    /// Readable and writable.
    ReadWrite,
    /// The path does not exist and must not be created: an empty directory in which nothing can be created.
    Absent,
}

/// Each path with its mount; a parent comes before its children.
pub type Mounts = BTreeMap<PathBuf, Mount>;

pub fn everything() -> Mounts {
    Mounts::from([(PathBuf::from("/"), Mount::ReadOnly)])
}
