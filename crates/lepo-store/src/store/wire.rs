//! `_wire/ID.json`: what a model's server needs to get back when a request that waits is decided on.
//!
//! Nothing depends on it: without it the model is told the same in words. A file that cannot be read is ignored.

use std::io::{self, Write};

use rustix::fs::AtFlags;

use super::Store;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// The directory.
const WIRE: &str = "_wire";

impl Store {
    /// Keeps this for the request that waits, in place of what was kept for it.
    pub fn keep_wire(&self, request: BubbId, bytes: &[u8]) -> Result<()> {
        let keep = || -> io::Result<()> {
            let dir = self.subdir(WIRE)?;
            let mut tmp = self.temporary("wire")?;
            tmp.file.write_all(bytes)?;
            tmp.file.sync_all()?;
            tmp.replace(&dir, &file(request))
        };
        keep().map_err(|error| self.error("cannot write in", WIRE, error))
    }

    /// The state kept for a request.
    pub fn wire(&self, request: BubbId) -> Option<Vec<u8>> {
        self.furniture(format!("{WIRE}/{}", file(request))).ok().flatten()
    }

    /// Forgets what is kept for a request.
    pub fn drop_wire(&self, request: BubbId) {
        if let Ok(Some(dir)) = self.subdir_if_there(WIRE) {
            let _ = rustix::fs::unlinkat(&dir, file(request), AtFlags::empty());
        }
    }
}

fn file(request: BubbId) -> String {
    format!("{request}.json")
}
