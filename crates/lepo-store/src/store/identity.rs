//! The identity of a store on this machine: what was said about one directory counts for no copy of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use lepo_base::error::{Error, Result};
use lepo_base::hash::sha256_hex;

/// The identity of a store: its path and the identity of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Birth time in nanoseconds since 1970; 0 if the file system has none.
    birth: u128,
}

impl Identity {
    /// Reads the identity of the store at `path`.
    pub fn read(path: &Path) -> Result<Identity> {
        let read = || -> std::io::Result<Identity> {
            let (path, meta) = (path.canonicalize()?, fs::metadata(path)?);
            let birth = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
            Ok(Identity {
                path,
                device: meta.dev(),
                inode: meta.ino(),
                birth: birth.map_or(0, |since| since.as_nanos()),
            })
        };
        read().map_err(|error| Error::store(format!("cannot read {}", path.display())).because(error))
    }

    /// Returns 32 hexadecimal digits, unique to this store, that name its directory of state.
    pub fn key(&self) -> String {
        let text = format!("{}\0{}\0{}\0{}", self.path.display(), self.device, self.inode, self.birth);
        sha256_hex(text.as_bytes()).get(..32).unwrap_or_default().to_string()
    }
}
