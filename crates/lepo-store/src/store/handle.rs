//! An open store: its directory, and what is remembered of it. What can be done with it is in parts beside it, each of
//! which adds the method that leads to it: [`Store::bubbs`], [`Store::blobs`], [`Store::journal`].

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::dir::Dir;
use super::memory::{LastReading, OpenDays, Proven};
use super::proof::{Prover, Statement};

/// An open store.
pub struct Store {
    pub(super) dir: Dir,
    /// The directory in which commands of a turn run.
    pub(super) root: PathBuf,
    /// It is that of the main work tree, used from one that is linked to it.
    pub(super) is_linked: bool,
    pub(super) last_reading: LastReading,
    pub(super) open_days: OpenDays,
    pub(super) proven: Proven,
    /// The stores of other people, read when they are first asked for.
    pub(super) others: OnceLock<Vec<(String, Store)>>,
    /// Makes proofs with the user's key.
    pub(super) prover: Option<Arc<dyn Prover>>,
}

impl Store {
    /// The store's path as the user would type it: `.lepo`, `../.lepo`.
    pub fn shown(&self) -> &Path {
        &self.dir.shown
    }

    /// The working directory of a turn: where `.lepo` was found; with `--save-to`, where the user stands.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True if it is the store of the main git work tree, used from one that is linked to it.
    pub fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// The path of the store, from the root of the filesystem.
    pub fn path(&self) -> PathBuf {
        // The shown path leads up from the user's directory, then down from the working directory.
        let down = self.shown().components().filter(|part| *part != Component::ParentDir);
        self.root.join(down.collect::<PathBuf>())
    }

    /// The store with a maker of proofs. Without one nothing is proven.
    pub fn with_prover(self, prover: Arc<dyn Prover>) -> Store {
        Store { prover: Some(prover), ..self }
    }

    /// The proof of a statement; `None` without a key.
    pub fn proof(&self, statement: Statement<'_>) -> Option<String> {
        statement.proof(&**self.prover.as_ref()?)
    }

    /// Whether this is the proof of the statement.
    pub fn is_proven(&self, statement: Statement<'_>, proof: &str) -> bool {
        self.proof(statement).is_some_and(|own| own == proof)
    }
}

/// A store whose directory was opened: nothing is known of its folders yet.
pub(super) fn opened(fd: OwnedFd, shown: PathBuf, root: PathBuf) -> Store {
    Store {
        dir: Dir { fd, shown },
        root,
        is_linked: false,
        last_reading: LastReading::default(),
        open_days: OpenDays::default(),
        proven: Proven::default(),
        others: OnceLock::new(),
        prover: None,
    }
}
