//! Parses and sorts the names of a large directory on a second thread while the directory is still being read.
//!
//! Reading a directory is the kernel's work on a single processor; parsing and sorting a million names costs another
//! third of that time.

use std::cmp::Ordering;
use std::io;
use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use rustix::fs::FileType;

use super::handle::Store;
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;

/// Number of file names sent at a time. A directory with fewer names is read on one thread.
const BATCH: usize = 1 << 15;
/// Maximum number of batches queued for the second thread, 2 MB each.
const AHEAD: usize = 4;
/// Length of the longest file name of a bubb, in bytes.
const LONGEST: usize = 2 * BubbId::LEN + "-u0-.md".len();

/// A file name of at most [`LONGEST`] bytes, and its length.
type RawName = ([u8; LONGEST], u8);

/// The sender of batches, and the thread that sorts them.
type SortThread<'scope> = (SyncSender<Vec<RawName>>, ScopedJoinHandle<'scope, Runs>);

/// Orders names by id; of equal ids, a root comes first.
pub fn by_id(a: &BubbName, b: &BubbName) -> Ordering {
    a.id.cmp(&b.id).then_with(|| (a.prev, a.role, a.hidden).cmp(&(b.prev, b.role, b.hidden)))
}

#[doc(hidden)]
impl Store {
    /// Returns the names of the bubbs in `.lepo/` itself, sorted by id. Only regular files count.
    pub fn recent_names(&self) -> Result<Vec<BubbName>> {
        names_in_batches(self, BATCH).map_err(|error| self.dir.error("cannot read", "", error))
    }
}

fn names_in_batches(store: &Store, most: usize) -> io::Result<Vec<BubbName>> {
    thread::scope(|scope| {
        let mut sorter = Sorter { store, scope, runs: Runs::default(), thread: None };
        let mut batch: Vec<RawName> = Vec::new();
        store.dir.each_entry_of(".", |file, kind| {
            if kind != FileType::RegularFile || file.len() > LONGEST {
                return;
            }
            let mut written = ([0; LONGEST], file.len() as u8);
            written.0[..file.len()].copy_from_slice(file);
            batch.push(written);
            if batch.len() == most {
                sorter.push(mem::replace(&mut batch, Vec::with_capacity(most)));
            }
        })?;
        Ok(sorter.finish(&batch))
    })
}

fn bubbs<'b>(store: &'b Store, batch: &'b [RawName]) -> impl Iterator<Item = BubbName> + 'b {
    let bubb =
        move |(file, length): &RawName| store.bubb_name(&file[..usize::from(*length)], FileType::RegularFile);
    batch.iter().filter_map(bubb)
}

/// Names in sorted runs. Runs of equal length are merged early, while the directory is still being read.
#[derive(Default)]
struct Runs {
    names: Vec<BubbName>,
    /// The index of the first name of each run.
    begins: Vec<usize>,
}

impl Runs {
    fn add(&mut self, names: impl Iterator<Item = BubbName>) {
        let begin = self.names.len();
        self.names.extend(names);
        self.names[begin..].sort_unstable_by(by_id);
        self.begins.push(begin);
        while let &[.., before, last] = self.begins.as_slice()
            && last - before <= self.names.len() - last
        {
            // The stable sort finds the runs and merges them.
            self.names[before..].sort_by(by_id);
            self.begins.pop();
        }
    }

    fn merged(mut self) -> Vec<BubbName> {
        self.names.sort_by(by_id);
        self.names
    }
}

/// Collects batches of file names; the first batch starts the second thread.
struct Sorter<'scope, 'env, 's> {
    store: &'s Store,
    scope: &'scope Scope<'scope, 'env>,
    /// Names sorted on this thread if no other can be spawned.
    runs: Runs,
    thread: Option<SortThread<'scope>>,
}

impl<'scope, 's: 'scope> Sorter<'scope, '_, 's> {
    fn push(&mut self, batch: Vec<RawName>) {
        if self.thread.is_none() && self.runs.begins.is_empty() {
            self.thread = self.start();
        }
        match &self.thread {
            // The receiver exists until the sender is dropped, so this cannot fail.
            Some((sender, _)) => _ = sender.send(batch),
            None => self.runs.add(bubbs(self.store, &batch)),
        }
    }

    fn start(&self) -> Option<SortThread<'scope>> {
        let (sender, batches) = sync_channel::<Vec<RawName>>(AHEAD);
        let store = self.store;
        let work = move || {
            let mut runs = Runs::default();
            batches.iter().for_each(|batch| runs.add(bubbs(store, &batch)));
            runs
        };
        Some((sender, thread::Builder::new().spawn_scoped(self.scope, work).ok()?))
    }

    /// Returns all names, including the last batch.
    fn finish(self, last: &[RawName]) -> Vec<BubbName> {
        let mut runs = match self.thread {
            Some((sender, thread)) => {
                drop(sender);
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            None => self.runs,
        };
        runs.add(bubbs(self.store, last));
        runs.merged()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::oracle::store;
    use super::*;

    #[test]
    fn batches_of_any_size_give_what_one_pass_gives() {
        let dir = TempDir::new().unwrap();
        let id = |number: u128| BubbId::from_bytes(number.to_be_bytes());
        let store = store(&dir);
        let lepo = dir.path().join(".lepo");
        let mut expected = Vec::new();
        for i in 0..50_u128 {
            // Ids in no particular order; every third one is a root.
            let own = id(i * 7919 % 50 + 1);
            let prev = if i % 3 == 0 { "head".to_string() } else { id(i % 5).to_string() };
            let file = format!("{own}-u0-{prev}.md");
            expected.push(BubbName::parse(file.as_bytes()).unwrap());
            fs::write(lepo.join(file), "").unwrap();
        }
        let twice = id(9);
        for file in [format!("{twice}-a1-head.md"), format!("{twice}-a0-{}.md", id(2))] {
            expected.push(BubbName::parse(file.as_bytes()).unwrap());
            fs::write(lepo.join(file), "").unwrap();
        }
        fs::create_dir(lepo.join(format!("{}-u0-head.md", id(200)))).unwrap();
        fs::write(lepo.join(format!("notes-{}.md", "x".repeat(80))), "").unwrap();
        expected.sort_by(by_id);
        for most in [1, 2, 5, 51, 52, 53, 1000] {
            assert_eq!(names_in_batches(&store, most).unwrap(), expected, "batches of {most}");
        }
        assert_eq!(store.recent_names().unwrap(), expected);
    }
}
