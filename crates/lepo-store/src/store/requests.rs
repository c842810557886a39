//! `_wire/ID.json`: what a model's server needs to get back when a request that waits is decided on.
//!
//! Nothing depends on it: without it the model is told the same in words. A file that cannot be read is ignored.

use std::io::{self, Write};

use rustix::fs::AtFlags;

use super::handle::Store;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// The directory.
const WIRE: &str = "_wire";

/// The requests that wait for a decision.
#[derive(Clone, Copy)]
pub struct Requests<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// The requests that wait for a decision: claims on them, and the replays kept for them.
    pub fn requests(&self) -> Requests<'_> {
        Requests { store: self }
    }
}

impl<'s> Requests<'s> {
    /// Keeps this for the request that waits, in place of what was kept for it.
    pub fn keep_replay(&self, request: BubbId, bytes: &[u8]) -> Result<()> {
        let keep = || -> io::Result<()> {
            let dir = self.store.dir.subdir(WIRE)?;
            let mut tmp = self.store.dir.temporary("wire")?;
            tmp.file.write_all(bytes)?;
            tmp.file.sync_all()?;
            tmp.replace(&dir, &file(request))
        };
        keep().map_err(|error| self.store.dir.error("cannot write in", WIRE, error))
    }

    /// The state kept for a request.
    pub fn replay(&self, request: BubbId) -> Option<Vec<u8>> {
        self.store.dir.read_file(format!("{WIRE}/{}", file(request))).ok().flatten()
    }

    /// The requests for which something is kept.
    pub fn kept(&self) -> Vec<BubbId> {
        let mut kept = Vec::new();
        let id = |file: &[u8]| BubbId::parse(file.strip_suffix(b".json")?);
        let _ = self.store.dir.each_entry_of(WIRE, |file, _| kept.extend(id(file)));
        kept
    }

    /// Forgets what is kept for a request.
    pub fn forget_replay(&self, request: BubbId) {
        if let Ok(Some(dir)) = self.store.dir.subdir_if_there(WIRE) {
            let _ = rustix::fs::unlinkat(&dir, file(request), AtFlags::empty());
        }
    }
}

fn file(request: BubbId) -> String {
    format!("{request}.json")
}
