//! An open store: its directory and cached state. Its methods are in the files of their subjects.

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::cached_state::{LastReading, OpenDays, ProvenBlobs};
use super::dir::Dir;
use super::proof::{Prover, Statement};
use crate::bubb::BubbId;
use lepo_base::error::Result;
use lepo_base::work_folder::identity_of;

/// A store of conversations: a directory of plain files in the format of `docs/format.md`.
///
/// ```
/// use lepo_store::{AppendedMessage, Role, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Store::create(&dir.path().join(".lepo"))?;
/// let question = store.append(&AppendedMessage::root(Role::User, b"why?"))?;
/// let answer = store.append(&AppendedMessage::after(question, Role::Assistant, b"so"))?;
///
/// let tails = store.tails()?;
/// assert_eq!((tails[0].id, tails[0].height), (answer, 2));
/// for message in store.conversation(answer)?.messages {
///     println!("{}: {}", message.role.as_str(), String::from_utf8_lossy(&message.text));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Store {
    pub(super) dir: Dir,
    /// The working directory for the commands of a turn.
    pub(super) root: PathBuf,
    /// Whether this is the store of the main worktree, used from a linked one.
    pub(super) is_linked: bool,
    pub(super) last_reading: LastReading,
    pub(super) open_days: OpenDays,
    pub(super) proven: ProvenBlobs,
    /// The stores of other users, opened on first use.
    pub(super) peers: OnceLock<Vec<(String, Store)>>,
    /// Creates proofs with the user's key.
    pub(super) prover: Option<Arc<dyn Prover>>,
    /// The identity of the directory, read for the first proof; `None` if it cannot be read.
    pub(super) identity: OnceLock<Option<String>>,
    /// Finds `@` in a worktree that shares this store.
    pub(super) own_newest: Option<OwnNewest>,
    /// Its last result.
    pub(super) last_own: Mutex<Option<BubbId>>,
}

/// Finds the newest message of one worktree among several that share a store; `None` if `@` is the newest of the store.
pub type OwnNewest = fn(&Store) -> Result<Option<BubbId>>;

#[doc(hidden)]
impl Store {
    /// Returns the store's path as the user would type it: `.lepo`, `../.lepo`.
    pub fn display_path(&self) -> &Path {
        &self.dir.display_path
    }

    /// Returns the working directory of a turn: the directory of `.lepo`, or with `--save-to` the user's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this is the store of the main git worktree, used from a linked one.
    pub fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// Returns the absolute path of the store.
    pub fn path(&self) -> PathBuf {
        // The path for messages leads up from the user's directory, then down from the working directory.
        let down = self.display_path().components().filter(|part| *part != Component::ParentDir);
        self.root.join(down.collect::<PathBuf>())
    }

    /// Sets the key holder that creates proofs. Without it nothing is proven.
    pub fn with_prover(self, prover: Arc<dyn Prover>) -> Store {
        Store { prover: Some(prover), ..self }
    }

    /// Sets the rule by which `@` names the newest message of one worktree only.
    pub fn with_own_newest(self, find: OwnNewest) -> Store {
        Store { own_newest: Some(find), ..self }
    }

    /// Returns the message that `@` names in this worktree; `None` if it is the newest of the whole store.
    pub fn own_newest(&self) -> Result<Option<BubbId>> {
        self.own_newest.map_or(Ok(None), |find| find(self))
    }

    /// Returns the proof of a statement, valid in this store only; `None` without a key. A moved store is the same
    /// store, a copy is another.
    pub fn proof(&self, statement: Statement<'_>) -> Option<String> {
        let prover = self.prover.as_ref()?;
        let identity = self.identity.get_or_init(|| identity_of(&self.path()).ok()).as_ref()?;
        statement.proof(&**prover, identity)
    }

    pub fn is_proven(&self, statement: Statement<'_>, proof: &str) -> bool {
        self.proof(statement).is_some_and(|own| own == proof)
    }
}

/// Creates a store from an open directory, with empty caches.
pub(super) fn store_in(fd: OwnedFd, display_path: PathBuf, root: PathBuf) -> Store {
    Store {
        dir: Dir { fd, display_path },
        root,
        is_linked: false,
        last_reading: LastReading::default(),
        open_days: OpenDays::default(),
        proven: ProvenBlobs::default(),
        peers: OnceLock::new(),
        prover: None,
        identity: OnceLock::new(),
        own_newest: None,
        last_own: Mutex::default(),
    }
}
