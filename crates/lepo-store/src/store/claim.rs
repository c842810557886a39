//! Claims a request, so that only one of two processes runs it, and a question, so that another process sees that it
//! is being answered.
//!
//! A claim is a lock on a file in `_tmp/`, not the file itself: it ends with its process, however that ends. A crash
//! leaves an unlocked file and a request without a result, which is pending again and needs consent again.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::dir::FILE;
use super::handle::Store;
use crate::bubb::BubbId;
use lepo_base::error::{Error, Result};

/// The right to run a request; dropping it releases the claim.
#[derive(Debug)]
pub struct Claim {
    tmp: OwnedFd,
    name: String,
    _locked: File,
}

#[doc(hidden)]
impl Store {
    /// Claims a request. The caller must then check that it is still pending: the process that had the claim may just
    /// have finished. Exit code 2 if another process has it.
    pub fn claim(&self, request: BubbId) -> Result<Claim> {
        try_to_claim(self, request)?.ok_or_else(|| {
            Error::usage(format!(
                "request {request} is not pending: another process is working on it right now"
            ))
            .hint("it runs, or is asked about, in another terminal or editor: answer there, or close that")
        })
    }

    /// Marks a question as being answered until the mark is dropped. `None` if another process answers it, or if the
    /// mark cannot be set, which is harmless: it only informs other processes.
    pub fn mark_answering(&self, question: BubbId) -> Option<Claim> {
        try_to_claim(self, question).ok().flatten()
    }

    /// Returns the messages on which running processes work: claimed questions and requests, and the bubbs that a
    /// growing answer follows.
    pub fn ids_at_work(&self) -> HashSet<BubbId> {
        let Ok(Some(tmp)) = self.dir.subdir_if_there("_tmp") else { return HashSet::new() };
        let Ok(entries) = Dir::read_from(&tmp) else { return HashSet::new() };
        let names = entries.flatten().filter_map(|entry| Some(entry.file_name().to_str().ok()?.to_string()));
        let at = names.filter_map(|name| {
            let id = match name.strip_prefix("claim-") {
                Some(id) => id,
                None => name.strip_prefix("a0-").or(name.strip_prefix("a1-"))?.split('-').next()?,
            };
            Some((BubbId::parse(id.as_bytes())?, name))
        });
        at.filter(|(_, name)| is_locked(&tmp, name)).map(|(id, _)| id).collect()
    }
}

fn is_locked(tmp: &OwnedFd, name: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(tmp, name, flags, Mode::empty()) else { return false };
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

fn try_to_claim(store: &Store, request: BubbId) -> Result<Option<Claim>> {
    let failed = |error: std::io::Error| store.dir.error("cannot write in", "_tmp", error);
    let tmp = store.dir.subdir("_tmp").map_err(failed)?;
    let name = format!("claim-{request}");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&tmp, name.as_str(), flags, FILE).map_err(|e| failed(e.into()))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // The claim was released just now: the next process creates another file, which this lock would not protect.
        Ok(()) if rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink == 0) => Ok(None),
        Ok(()) => Ok(Some(Claim { tmp, name, _locked: File::from(file) })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(failed(error.into())),
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The result is written by now, so a process that creates the file again will find it.
        let _ = rustix::fs::unlinkat(&self.tmp, self.name.as_str(), AtFlags::empty());
    }
}
