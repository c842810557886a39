//! How paths look to a held command: what both sandboxes are built from.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a path and all below it looks from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mount {
    /// As an empty directory of its own.
    Hidden,
    /// As it is, but not to be changed.
    ReadOnly,
    /// As it is.
    ReadWrite,
    /// It is not there, and is not to be made: an empty directory that nothing can be put in.
    Absent,
}

/// Each path with its view; parents before what is below them.
pub type Views = BTreeMap<PathBuf, Mount>;

/// All there is, to be looked at.
pub fn everything() -> Views {
    Views::from([(PathBuf::from("/"), Mount::ReadOnly)])
}
