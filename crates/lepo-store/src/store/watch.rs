//! Reports bubbs when any process writes them, by events of the kernel and without polling.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::handle::Store;
use crate::bubb::BubbName;
use lepo_base::error::{Error, Result};
use lepo_base::sys;

/// A watch on a store, and on the stores of other users in it, which ends when this is dropped.
///
/// ```
/// use std::time::Duration;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = lepo_store::Store::create(&dir.path().join(".lepo")).unwrap();
/// let mut watch = store.watch().unwrap();
/// assert!(watch.next_message(Duration::ZERO).unwrap().is_none(), "nobody writes");
/// ```
pub struct StoreWatch<'s> {
    /// The store itself, then other users' stores.
    stores: Vec<(Option<&'s str>, &'s Store)>,
    changes: Receiver<(usize, NameChange)>,
    known: Vec<HashSet<BubbName>>,
    ready: VecDeque<WatchedBubb<'s>>,
    /// Ends the watch when dropped.
    _watcher: RecommendedWatcher,
}

/// The bubbs seen before, by the name of the other user's store; `None` for the user's own.
pub type KnownNames = HashMap<Option<String>, HashSet<BubbName>>;

#[derive(Clone, Copy)]
pub struct WatchedBubb<'s> {
    pub name: BubbName,
    pub store: &'s Store,
    /// The other user who wrote the message; `None` for the user's own store.
    pub from: Option<&'s str>,
}

enum NameChange {
    /// The file was created; it may still be empty.
    Created(BubbName),
    /// The bubb is complete: its writer has closed it, or renamed it here.
    Complete(BubbName),
    Deleted(BubbName),
    /// Events were lost.
    Missed,
}

#[doc(hidden)]
impl<'s> StoreWatch<'s> {
    /// Starts watching. Yields new bubbs, and existing ones that are not in `known`.
    pub fn start(store: &'s Store, known: Option<KnownNames>) -> Result<StoreWatch<'s>> {
        let peers = store.peers().iter().map(|(name, store)| (Some(name.as_str()), store));
        let stores: Vec<(Option<&str>, &Store)> = std::iter::once((None, store)).chain(peers).collect();
        let (sender, changes) = channel();
        let failed = |error: notify::Error| {
            let limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
            let error =
                Error::store(format!("cannot watch {}", store.display_path().display())).because(error);
            match limit {
                true => error.hint(sys::WATCH_LIMITS),
                false => error,
            }
        };
        let dirs: Vec<PathBuf> = stores.iter().map(|(_, store)| store.display_path().to_path_buf()).collect();
        let mut watcher = notify::recommended_watcher(move |event| {
            for change in parse_event(event, &dirs) {
                let _ = sender.send(change); // fails once the watch has been dropped
            }
        })
        .map_err(failed)?;
        let is_first = known.is_none();
        let mut known = known.unwrap_or_default();
        let mut all = Vec::with_capacity(stores.len());
        for (name, store) in &stores {
            let before = known.remove(&name.map(str::to_string)).unwrap_or_default();
            all.push(if is_first { store.recent_names()?.into_iter().collect() } else { before });
        }
        for (_, store) in &stores {
            watcher.watch(store.display_path(), RecursiveMode::NonRecursive).map_err(failed)?;
        }
        let mut watch = StoreWatch { stores, changes, known: all, ready: VecDeque::new(), _watcher: watcher };
        // Bubbs may have been written between the listing and the start of the watch.
        for number in 0..watch.stores.len() {
            watch.apply(number, NameChange::Missed)?;
        }
        Ok(watch)
    }

    /// Returns the next bubb; `None` if no bubb is written within `patience`. Fails once the store is gone.
    pub fn next(&mut self, patience: Duration) -> Result<Option<WatchedBubb<'s>>> {
        loop {
            if let Some(seen) = self.ready.pop_front() {
                return Ok(Some(seen));
            }
            match self.changes.recv_timeout(patience) {
                Ok((number, change)) => self.apply(number, change)?,
                Err(RecvTimeoutError::Timeout) => return still_there(self.stores[0].1).map(|()| None),
                Err(RecvTimeoutError::Disconnected) => {
                    let shown = self.stores[0].1.display_path().display();
                    return Err(Error::store(format!("cannot watch {shown}")));
                }
            }
        }
    }

    /// Whether stores of other users have been added or removed since the start.
    pub fn is_outdated(&self) -> bool {
        let names = self.stores[0].1.peer_names();
        !names.iter().map(String::as_str).eq(self.stores.iter().filter_map(|(name, _)| *name))
    }

    /// Returns the names seen, for a watch that continues from here.
    pub fn into_known(self) -> KnownNames {
        let names = self.stores.iter().map(|(name, _)| name.map(str::to_string));
        names.zip(self.known).collect()
    }

    fn apply(&mut self, number: usize, change: NameChange) -> Result<()> {
        let store = self.stores[number].1;
        match change {
            // A file written by hand is empty at first; it is reported when it is closed.
            NameChange::Created(name) if len_of(store, &name) == Some(0) => {}
            NameChange::Created(name) | NameChange::Complete(name) => self.put(number, name),
            NameChange::Deleted(name) => {
                self.known[number].remove(&name);
            }
            NameChange::Missed => {
                let names: BTreeSet<BubbName> = match store.recent_names() {
                    Ok(names) => names.into_iter().collect(),
                    // Another user's store may be removed at any time.
                    Err(_) if number > 0 => BTreeSet::new(),
                    Err(error) => return still_there(store).and(Err(error)),
                };
                self.known[number].retain(|name| names.contains(name));
                for name in names {
                    // If the kernel does not report closing, an empty file is checked again when it is written to.
                    if sys::WATCH_TELLS_CLOSING || len_of(store, &name) != Some(0) {
                        self.put(number, name);
                    }
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, number: usize, name: BubbName) {
        let (from, store) = self.stores[number];
        if len_of(store, &name).is_some() && self.known[number].insert(name) {
            self.ready.push_back(WatchedBubb { name, store, from });
        }
    }
}

fn len_of(store: &Store, name: &BubbName) -> Option<u64> {
    Some(store.open_bubb(name).ok()?.metadata().ok()?.len())
}

/// Fails once a store is gone. The kernel reports no deletion of an open directory, so its path is checked.
fn still_there(store: &Store) -> Result<()> {
    let open = rustix::fs::fstat(&store.dir);
    let named = rustix::fs::lstat(store.display_path());
    match (open, named) {
        (Ok(open), Ok(named)) if (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino) => Ok(()),
        _ => Err(Error::store(format!("{} is gone", store.display_path().display()))),
    }
}

/// Parses an event; returns changes, each with the index of its directory.
fn parse_event(event: notify::Result<notify::Event>, dirs: &[PathBuf]) -> Vec<(usize, NameChange)> {
    let missed = || (0..dirs.len()).map(|number| (number, NameChange::Missed)).collect();
    let Ok(event) = event else { return missed() };
    if event.need_rescan() || !sys::WATCH_TELLS_CLOSING {
        return missed();
    }
    let name_change: fn(BubbName) -> NameChange = match event.kind {
        EventKind::Create(CreateKind::File) => NameChange::Created,
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => NameChange::Complete,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => NameChange::Complete,
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) | EventKind::Remove(_) => NameChange::Deleted,
        _ => return Vec::new(),
    };
    let change_of = |path: &PathBuf| {
        let name = BubbName::parse(path.file_name()?.as_bytes())?;
        let number = dirs.iter().position(|dir| path.parent().is_some_and(|parent| parent.ends_with(dir)))?;
        Some((number, name_change(name)))
    };
    event.paths.iter().filter_map(change_of).collect()
}
