//! Changes on random histories: taken back, everything has the same names and bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::super::Blob;
use super::super::STORE;
use super::super::oracle::Dice;
use super::super::proof::Prover;
use super::*;
use crate::bubb::{BubbId, ContentHash};
use crate::conv::Pruner;
use lepo_base::role::Role;

/// Joins the parts under a readable key instead of hashing them.
struct PlainKey(&'static str);

impl Prover for PlainKey {
    fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String> {
        let parts = parts.iter().map(|part| String::from_utf8_lossy(part).into_owned());
        let text = format!("{}:{}", self.0, parts.collect::<Vec<_>>().join("|"));
        Some(ContentHash::from_content(text.as_bytes()).to_string())
    }
}

fn proving(dir: &TempDir) -> Store {
    Store::make(dir.path(), Path::new(STORE), "").unwrap().0.with_prover(Arc::new(PlainKey("mine")))
}

fn list_of(store: &Store) -> ChangeList<'_> {
    store.change_list()
}

fn lock(store: &Store) -> ChangeLock<'_> {
    list_of(store).lock().unwrap().unwrap()
}

/// The messages, blobs and branches by path, and the titles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Snapshot {
    files: BTreeMap<String, Vec<u8>>,
    titles: BTreeMap<BubbId, String>,
}

impl Snapshot {
    fn read(store: &Store) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let titles = store.titles_with_times().unwrap().into_iter();
        snapshot.titles =
            titles.map(|(root, (_, title))| (root, title)).filter(|(_, title)| !title.is_empty()).collect();
        let mut folders = vec![store.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(store.path()).unwrap().to_str().unwrap().to_string();
                let is_read =
                    !["_removed", "_tmp", "_cache", "_undo.ndjson", "_titles"].contains(&name.as_str());
                if path.is_dir() && is_read {
                    folders.push(path);
                } else if is_read {
                    snapshot.files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        snapshot
    }
}

/// A store in which every kind of change can be made.
struct History {
    _dir: TempDir,
    store: Store,
    count: u64,
}

const START: u64 = 1_700_000_000_000;

impl History {
    fn new(dice: &mut Dice) -> History {
        let dir = TempDir::new().unwrap();
        let mut history = History { store: proving(&dir), _dir: dir, count: 0 };
        for _ in 0..3 + dice.roll(12) {
            history.add(dice);
        }
        // Some days are over, and their messages in folders.
        if dice.roll(2) == 0 {
            let plan = history.store.plan_tidy(dice.roll(6)).unwrap();
            history.store.tidy_by_plan(&plan, &mut |_| ()).unwrap();
        }
        history
    }

    fn names(&self) -> Vec<BubbName> {
        self.store.names().unwrap()
    }

    /// Adds a message to a random one, some with a blob.
    fn add(&mut self, dice: &mut Dice) -> BubbName {
        let names = self.names();
        let prev = (!names.is_empty() && dice.roll(4) > 0).then(|| names[dice.roll(names.len())].id);
        self.count += 1;
        let mut text = format!("message {}", self.count);
        if dice.roll(4) == 0 {
            let Blob { hash, len } =
                self.store.write_blob(&mut format!("blob {}", dice.roll(5)).as_bytes()).unwrap();
            text = format!("{text}\n{}", Blob { hash, len }.line());
        }
        let time = START + self.count * 6 * 3_600_000;
        self.store
            .create_bubb(Role::ALL[dice.roll(4)], dice.roll(4) == 0, prev, time, text.as_bytes())
            .unwrap()
    }

    /// Makes a random change by a covered command; `false` if there was none to make.
    fn change(&mut self, dice: &mut Dice) -> bool {
        let mut lock = lock(&self.store);
        let names = self.store.names().unwrap();
        if names.is_empty() {
            return false;
        }
        let some = names[dice.roll(names.len())];
        match dice.roll(6) {
            0 | 1 => {
                let forest = self.store.forest().unwrap();
                let tails: Vec<_> = forest.newest_first(false).collect();
                let tail = tails[dice.roll(tails.len())];
                let Ok(going) = Pruner::new(&forest).removable_with(tail) else { return false };
                let bubbs: Vec<BubbName> = going.into_iter().map(|ix| forest.name(ix)).collect();
                let named: BTreeSet<BubbId> =
                    self.store.branches().unwrap().into_iter().map(|(_, id)| id).collect();
                if bubbs.is_empty() || bubbs.iter().any(|name| named.contains(&name.id)) {
                    return false;
                }
                let mut change = lock.new_change(ChangingCommand::Rm);
                let blobs = self.store.blobs_only_of(&bubbs, &names).unwrap();
                change.removed = ChangedFiles { bubbs, blobs };
                lock.make(change).unwrap();
            }
            2 | 3 => {
                let name = ["main", "try/2", "b"][dice.roll(3)];
                let before = self.store.branch_ids(name).unwrap();
                let after = if dice.roll(3) == 0 { None } else { Some(vec![some.id]) };
                if before == after {
                    return false;
                }
                let mut change = lock.new_change(ChangingCommand::Branch);
                let name = BranchName::try_from(name.to_string()).unwrap();
                change.branches.push(BranchChange { name, before, after });
                lock.make(change).unwrap();
            }
            4 => {
                let titles = self.store.titles_with_times().unwrap();
                let before = titles.get(&some.id).map(|(_, title)| title.clone()).unwrap_or_default();
                let after = ["", "one", "둘"][dice.roll(3)].to_string();
                if before == after {
                    return false;
                }
                let mut change = lock.new_change(ChangingCommand::Title);
                change.titles.push(TitleChange { root: some.id, before, after });
                lock.make(change).unwrap();
            }
            _ => {
                let mut change = lock.new_change(ChangingCommand::Import);
                let mut prev = None;
                let mut written = Vec::new();
                for part in 0..1 + dice.roll(4) {
                    let text = format!("imported {} {part}", self.count);
                    let time = START + self.count * 1_000 + part as u64;
                    let name = super::super::WriteBatch::name(Role::User, false, prev, time, text.as_bytes())
                        .unwrap();
                    prev = Some(name.id);
                    written.push((name, text));
                }
                self.count += 1;
                change.added.bubbs = written.iter().rev().map(|(name, _)| *name).collect();
                let open = lock.write_begun(change).unwrap();
                let mut batch = super::super::WriteBatch::new(&self.store, false).unwrap();
                for (name, text) in &written {
                    batch.put(*name, text.as_bytes()).unwrap();
                }
                batch.flush().unwrap();
                lock.end(open).unwrap();
            }
        }
        true
    }

    fn undo(&self) {
        let mut lock = lock(&self.store);
        let plan = lock.plan_undo(None, false).unwrap();
        lock.make(plan.change).unwrap();
    }

    fn redo(&self) {
        let mut lock = lock(&self.store);
        let plan = lock.plan_redo(None, false).unwrap();
        lock.make(plan.change).unwrap();
    }
}

#[test]
fn a_change_that_is_taken_back_leaves_the_same_names_and_bytes_on_200_histories() {
    let (mut dice, mut made) = (Dice(59), 0);
    while made < 200 {
        let mut history = History::new(&mut dice);
        let before = Snapshot::read(&history.store);
        if !history.change(&mut dice) {
            continue;
        }
        made += 1;
        let changed = Snapshot::read(&history.store);
        assert_ne!(changed, before, "{made}");
        // Meanwhile others write a conversation of their own.
        let other = (dice.roll(2) == 0)
            .then(|| history.store.create_bubb(Role::User, false, None, 0, b"of another process").unwrap());
        history.undo();
        let mut after = Snapshot::read(&history.store);
        if let Some(name) = other {
            assert!(after.files.remove(&name.to_string()).is_some());
        }
        assert_eq!(after, before, "{made}");
        history.redo();
        let mut again = Snapshot::read(&history.store);
        again.files.retain(|name, _| other.is_none_or(|other| *name != other.to_string()));
        assert_eq!(again, changed, "{made}");
    }
}

#[test]
fn ten_changes_are_taken_back_one_by_one_and_made_again() {
    let mut dice = Dice(7);
    for _ in 0..20 {
        let mut history = History::new(&mut dice);
        let mut states = vec![Snapshot::read(&history.store)];
        while states.len() <= 10 {
            if history.change(&mut dice) {
                states.push(Snapshot::read(&history.store));
            } else if history.names().len() < 4 {
                // Others write when hardly anything is left.
                history.add(&mut dice);
                states = vec![Snapshot::read(&history.store)];
            }
        }
        for state in states.iter().rev().skip(1) {
            history.undo();
            assert_eq!(&Snapshot::read(&history.store), state);
        }
        for state in states.iter().skip(1) {
            history.redo();
            assert_eq!(&Snapshot::read(&history.store), state);
        }
    }
}

#[test]
fn a_change_whose_line_is_written_is_completed_by_the_next_one() {
    let mut dice = Dice(3);
    let history = History::new(&mut dice);
    let store = &history.store;
    let name = history.names()[0];
    let mut change = lock(store).new_change(ChangingCommand::Branch);
    let branch = BranchName::try_from("main".to_string()).unwrap();
    change.branches.push(BranchChange { name: branch, before: None, after: Some(vec![name.id]) });
    // Killed after the line.
    let _ = lock(store).write_begun(change.clone()).unwrap();
    assert_eq!(store.branch("main").unwrap(), None);
    assert_eq!(lock(store).completed.len(), 1);
    assert_eq!(store.branch("main").unwrap(), Some(name.id));
    assert_eq!(lock(store).completed.len(), 0, "once");
    // Killed after the effect as well: completing it twice does no harm.
    change.n += 1;
    (change.branches[0].before, change.branches[0].after) = (Some(vec![name.id]), None);
    let _ = lock(store).write_begun(change.clone()).unwrap();
    store.delete_branch("main").unwrap();
    assert_eq!(lock(store).completed.len(), 1);
    assert_eq!(store.branch("main").unwrap(), None);
}

#[test]
fn what_bears_no_proof_of_this_machine_for_this_store_is_left_alone() {
    let mut dice = Dice(11);
    let mut history = History::new(&mut dice);
    while lock(&history.store).log().folders().is_empty() {
        history.change(&mut dice);
    }
    let path = history.store.path();
    let folder = *lock(&history.store).log().folders().first().unwrap();
    let text = fs::read_to_string(path.join("_undo.ndjson")).unwrap();
    let count = text.lines().count();
    let copy = TempDir::new().unwrap();
    let copied = std::process::Command::new("cp").arg("-r").arg(&path).arg(copy.path()).status();
    assert!(copied.unwrap().success());
    for (path, key) in [(&path, "other"), (&copy.path().join(STORE), "mine")] {
        let store = Store::anywhere(path).unwrap().unwrap().with_prover(Arc::new(PlainKey(key)));
        let list = store.change_list();
        let mut lock = list.lock().unwrap().unwrap();
        assert_eq!((lock.log().unproven, lock.log().changes().len()), (count, 0));
        assert!(lock.plan_undo(None, true).is_err() && lock.plan_undo(Some(1), true).is_err());
        assert!(lock.empty(&folder).is_err());
        assert!(list.foreign_folders(lock.log()).unwrap().contains(&folder.to_string()));
        assert!(list.folders_before(lock.log(), u64::MAX).unwrap().is_empty());
        assert!(lock.completed.is_empty());
        lock.forget_titles(&history.names().iter().map(|name| name.id).collect()).unwrap();
    }
    assert_eq!(fs::read_to_string(path.join("_undo.ndjson")).unwrap(), text);
    // A changed line is not proven either.
    fs::write(path.join("_undo.ndjson"), text.replacen("\"n\":1,", "\"n\":9,", 1)).unwrap();
    assert_eq!(lock(&history.store).log().unproven, 1);
}

#[test]
fn without_a_key_there_is_nothing_to_lock() {
    let dir = TempDir::new().unwrap();
    let (store, _) = Store::make(dir.path(), Path::new(STORE), "").unwrap();
    assert!(list_of(&store).lock().unwrap().is_none());
    assert!(!store.path().join("_removed").exists());
}

#[test]
fn the_list_has_the_last_thousand_lines_and_those_whose_folder_is_not_emptied() {
    let dir = TempDir::new().unwrap();
    let store = proving(&dir);
    let name = store.create_bubb(Role::User, false, None, 0, b"gone").unwrap();
    let mut lock = lock(&store);
    let mut change = lock.new_change(ChangingCommand::Rm);
    change.removed.bubbs.push(name);
    lock.make(change).unwrap();
    let root = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
    let file = store.path().join("_undo.ndjson");
    let mut text = fs::read(&file).unwrap();
    let mut change = lock.new_change(ChangingCommand::Title);
    for number in 2..=1_100 {
        change.n = number;
        change.titles = vec![TitleChange { root, before: String::new(), after: number.to_string() }];
        let line = change_log::begun_line(&store, &change).unwrap();
        text.extend(String::from_utf8(line).unwrap().replacen("begun", "ended", 1).into_bytes());
    }
    fs::write(&file, text).unwrap();
    drop(lock);
    let mut lock = super::tests::lock(&store);
    let add_one = |lock: &mut ChangeLock<'_>| {
        let mut change = lock.new_change(ChangingCommand::Title);
        let titles = store.titles_with_times().unwrap();
        let before = titles.get(&root).map(|(_, title)| title.clone()).unwrap_or_default();
        change.titles.push(TitleChange { root, before, after: change.n.to_string() });
        lock.make(change).unwrap();
    };
    add_one(&mut lock);
    let lines = || fs::read_to_string(&file).unwrap().lines().count();
    assert_eq!(lines(), 1_001);
    let (first, last) = (lock.log().changes().last().unwrap().first.n, lock.log().changes()[0].first.n);
    assert_eq!((first, last), (1, 1_101));
    let plan = lock.plan_undo(Some(1), false).unwrap();
    lock.make(plan.change).unwrap();
    assert_eq!(store.read_bubb(&name).unwrap(), b"gone");
    assert_eq!(lock.new_change(ChangingCommand::Title).n, 1_102);
    add_one(&mut lock);
    assert_eq!(lines(), 1_000);
}

#[test]
fn a_list_is_parsed_only_as_far_as_a_command_needs_it() {
    let dir = TempDir::new().unwrap();
    let store = proving(&dir);
    let names: Vec<BubbName> =
        (0..20).map(|number| store.create_bubb(Role::User, false, None, number, b"x").unwrap()).collect();
    {
        let mut lock = lock(&store);
        let mut change = lock.new_change(ChangingCommand::Rm);
        change.removed.bubbs = names;
        lock.make(change).unwrap();
    }
    let locked = lock(&store);
    assert_eq!(locked.new_change(ChangingCommand::Title).n, 2);
    assert_eq!(locked.log().folders().len(), 1);
    assert!(locked.log().lines.iter().all(|line| !line.is_parsed()));
    assert_eq!(locked.log().changes()[0].first.removed.bubbs.len(), 20);
}
