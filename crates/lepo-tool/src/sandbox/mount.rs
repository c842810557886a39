//! The form in which a sandboxed command sees each path.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The form of a path, and of all below it, inside a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mount {
    /// As an empty directory of its own.
    Hidden,
    /// As something empty in its place; that it is there is no secret.
    Secret,
    /// As it is, but not to be changed.
    ReadOnly,
    /// As it is.
    ReadWrite,
    /// The path is not there, and is not to be made: an empty directory that nothing can be put in.
    Absent,
}

/// Each path with its mount; parents before what is below them.
pub type Mounts = BTreeMap<PathBuf, Mount>;

/// All there is, to be looked at.
pub fn everything() -> Mounts {
    Mounts::from([(PathBuf::from("/"), Mount::ReadOnly)])
}
