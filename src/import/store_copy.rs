//! Copies bubbs from another store of lepo, unchanged and under the same ids, with the blobs that they name.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_import::{SkipCounts, files_in, folders_in};
use lepo_store::bubb::{BubbId, BubbName, ContentHash};
use lepo_store::store::{JournalRecord, STORE, Store};
use lepo_turn::config::Paths;
use lepo_turn::is_request_text;
use lepo_turn::user_prover;

/// The content of another store that can be copied.
pub struct StoreCopy {
    pub store: Store,
    /// Its bubbs, parents first.
    pub bubbs: Vec<BubbName>,
    pub branches: Vec<(String, BubbId)>,
    /// Its pending requests, which are not copied.
    pub waiting: Vec<BubbId>,
    pub roots: u64,
    pub facts: HashMap<BubbId, JournalRecord>,
}

impl StoreCopy {
    /// Reads a bubb; `None` if its bytes do not match its id.
    pub fn proven(&self, name: &BubbName) -> Result<Option<Vec<u8>>> {
        let bytes = self.store.read_bubb(name)?;
        let content = ContentHash::from_content(&bytes);
        let id = BubbId::new(name.id.time(), name.role, name.hidden, name.prev, &content);
        Ok((id == name.id).then_some(bytes))
    }
}

/// Whether a bubb is a tool request: only hidden ones can be.
pub fn is_request(name: &BubbName, bytes: &[u8]) -> bool {
    let may = name.hidden && matches!(name.role, Role::System | Role::Assistant);
    may && std::str::from_utf8(bytes).is_ok_and(is_request_text)
}

/// Finds the store at `path` or in it: a folder with a bubb's file in it, or in one of its days.
pub fn store_in(path: &Path) -> Option<PathBuf> {
    let has_bubbs = |folder: &Path| {
        let mut names = files_in(folder).into_iter().filter_map(|path| path.file_name().map(OsStr::to_owned));
        names.any(|name| BubbName::parse(name.as_encoded_bytes()).is_some())
    };
    let is_store = |path: &PathBuf| {
        let months = folders_in(&path.join("_old"));
        let mut days = months.iter().flat_map(|month| folders_in(month));
        path.join("_insts.toml").is_file() || has_bubbs(path) || days.any(|day| has_bubbs(&day))
    };
    [path.to_path_buf(), path.join(STORE)].into_iter().find(is_store)
}

/// Opens another store and selects the bubbs connected to a root, without pending requests.
pub fn copy(path: &Path, tally: &mut SkipCounts) -> Result<StoreCopy> {
    let (parent, name) = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => (parent, name),
        _ => return Err(Error::usage(format!("{} is not a store", path.display()))),
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let store = Store::at(parent, Path::new(name))?
        .ok_or_else(|| Error::usage(format!("{} is not a store", path.display())))?;
    // Messages that this user wrote in the other store count as the user's here too.
    let store = store.with_prover(user_prover(&Paths::from_env(&Env::from_process())?));
    let forest = store.forest()?;
    let is_request = |name: &BubbName| store.read_bubb(name).is_ok_and(|bytes| is_request(name, &bytes));
    let waiting: HashSet<BubbId> = forest
        .pending(|ix| is_request(&forest.name(ix)).then_some(()))
        .into_iter()
        .map(|(ix, ())| forest.name(ix).id)
        .collect();
    let mut whole: HashMap<BubbId, bool> = HashMap::new();
    let (mut bubbs, mut roots, mut cut) = (Vec::new(), 0, 0);
    for ix in forest.all() {
        let name = forest.name(ix);
        // Ids increase along a conversation, except for hand-made names.
        let hangs = match name.prev {
            None => true,
            Some(prev) => whole.get(&prev).copied().unwrap_or(false),
        };
        let takes = hangs && !waiting.contains(&name.id);
        whole.insert(name.id, takes);
        roots += u64::from(takes && name.prev.is_none());
        cut += u64::from(!hangs);
        if takes {
            bubbs.push(name);
        }
    }
    tally.skip("message of an incomplete conversation", cut);
    let mut branches = store.branches()?;
    branches.retain(|(_, id)| whole.get(id).copied().unwrap_or(false));
    let mut waiting: Vec<BubbId> = waiting.into_iter().collect();
    waiting.sort();
    let facts = store.journal().facts();
    Ok(StoreCopy { store, bubbs, branches, waiting, roots, facts })
}
