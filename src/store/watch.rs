//! Bubbs as they are written, by any process: told by the kernel, never looked for.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Store;
use crate::bubb::Name;
use crate::error::{Error, Result};
use crate::sys;

/// A watch on a store.
pub struct Watch<'s> {
    store: &'s Store,
    told: Receiver<Told>,
    known: HashSet<Name>,
    ready: VecDeque<Name>,
    /// Ends the watch when it is dropped.
    _watcher: RecommendedWatcher,
}

/// What became of a name, as far as it matters here.
enum Told {
    /// There is a file of that name; it may be empty still.
    Made(Name),
    /// Whoever wrote it has closed it, or put it there whole.
    Whole(Name),
    Gone(Name),
    /// Something was missed.
    Missed,
}

impl Store {
    /// Begins to watch: what is written from now on is told.
    pub fn watch(&self) -> Result<Watch<'_>> {
        let (teller, told) = channel();
        let failed = |error: notify::Error| {
            let limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
            let error = Error::store(format!("cannot watch {}", self.shown.display())).because(error);
            match limit {
                true => error.hint(sys::WATCH_LIMITS),
                false => error,
            }
        };
        let mut watcher = notify::recommended_watcher(move |event| {
            for told in understand(event) {
                let _ = teller.send(told); // nobody listens any more: it is over
            }
        })
        .map_err(failed)?;
        let known = self.recent_names()?.into_iter().collect();
        watcher.watch(&self.shown, RecursiveMode::NonRecursive).map_err(failed)?;
        let mut watch = Watch { store: self, told, known, ready: VecDeque::new(), _watcher: watcher };
        // What was written between the two.
        watch.take(Told::Missed)?;
        Ok(watch)
    }
}

impl Watch<'_> {
    /// The next bubb; `None` if there was none for `patience`. Fails once the store is not there any more.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Name>> {
        loop {
            if let Some(name) = self.ready.pop_front() {
                return Ok(Some(name));
            }
            match self.told.recv_timeout(patience) {
                Ok(told) => self.take(told)?,
                Err(RecvTimeoutError::Timeout) => return self.store.still_there().map(|()| None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::store(format!("cannot watch {}", self.store.shown.display())));
                }
            }
        }
    }

    fn take(&mut self, told: Told) -> Result<()> {
        match told {
            // Written by hand, it appears empty first; told when it is closed.
            Told::Made(name) if self.store.len_of(&name) == Some(0) => {}
            Told::Made(name) | Told::Whole(name) => self.put(name),
            Told::Gone(name) => {
                self.known.remove(&name);
            }
            Told::Missed => {
                let names: BTreeSet<Name> = self.store.recent_names()?.into_iter().collect();
                self.known.retain(|name| names.contains(name));
                for name in names {
                    // Where closing is not told, an empty file is looked at again when it is written to.
                    if sys::WATCH_TELLS_CLOSING || self.store.len_of(&name) != Some(0) {
                        self.put(name);
                    }
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, name: Name) {
        if self.store.len_of(&name).is_some() && self.known.insert(name) {
            self.ready.push_back(name);
        }
    }
}

impl Store {
    /// The length of a bubb; `None` if there is no such regular file.
    fn len_of(&self, name: &Name) -> Option<u64> {
        Some(self.open(name).ok()?.metadata().ok()?.len())
    }

    /// A directory that is open is never told of as deleted: so it is looked for under its name.
    fn still_there(&self) -> Result<()> {
        let open = rustix::fs::fstat(&self.dir);
        let named = rustix::fs::lstat(&self.shown);
        match (open, named) {
            (Ok(open), Ok(named)) if (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino) => Ok(()),
            _ => Err(Error::store(format!("{} is gone", self.shown.display()))),
        }
    }
}

fn understand(event: notify::Result<notify::Event>) -> Vec<Told> {
    let Ok(event) = event else { return vec![Told::Missed] };
    if event.need_rescan() || !sys::WATCH_TELLS_CLOSING {
        return vec![Told::Missed];
    }
    let tell: fn(Name) -> Told = match event.kind {
        EventKind::Create(CreateKind::File) => Told::Made,
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Told::Whole,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Told::Whole,
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) | EventKind::Remove(_) => Told::Gone,
        _ => return Vec::new(),
    };
    let name = |path: &Path| Name::parse(path.file_name()?.as_bytes());
    event.paths.iter().filter_map(|path| name(path)).map(tell).collect()
}
