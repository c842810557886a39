//! Writes planned bubbs to the store, and facts about them to the journal.

mod store;
mod typed_secrets;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::stop::StopSignal;
use crate::import::{ImportPlan, Omissions, ToolDetail, VERSION};
use crate::term::{StatusLine, print_status};
use crate::ui::{branch_changes, lock_changes};
use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::ReadScope;
use lepo_store::store::{
    BranchIds, Change, ChangeLock, ChangingCommand, ImportIndex, ImportRecord, Redactions, Store, WriteBatch,
    check_branch_name, has_ended_batches,
};
pub use typed_secrets::{TypedSecrets, count_typed};

/// Maximum number of bubbs that wait to be published.
const FLUSH: usize = 20_000;

/// Maximum number of branches with one title.
const SAME_TITLE: usize = 1000;

/// Creates the store if it does not exist.
pub type StoreMaker<'s> = &'s dyn Fn() -> Result<&'s Store>;

/// Starts a batch. Reports that it removes the temporary files of an interrupted import, which takes a while.
fn batch(store: &Store) -> Result<Box<WriteBatch<'_>>> {
    if has_ended_batches(store)? {
        print_status(&StatusLine::note("removing the temporary files of an import that was ended"));
    }
    Ok(Box::new(WriteBatch::new(store, false)?))
}

enum WriteTarget<'s> {
    Batch(Box<WriteBatch<'s>>),
    /// A dry run: counts the bubbs that do not exist yet.
    Count(HashSet<BubbId>),
}

pub struct SourceFacts<'a> {
    pub format: &'a str,
    pub path: &'a Path,
    /// Its id in the other tool; empty if it has none.
    pub id: String,
    pub title: Option<String>,
    pub changed: Option<u64>,
    /// How much of tool traffic is imported.
    pub tools: ToolDetail,
    /// The source is in the tool's own folder.
    pub is_own: bool,
}

pub struct ImportWriter<'s> {
    store: Option<&'s Store>,
    target: WriteTarget<'s>,
    /// Creates a missing store when there is something to write.
    make: Option<StoreMaker<'s>>,
    stop: &'s StopSignal,
    imports: ImportIndex,
    /// Records of redacted messages, which must not be restored.
    redactions: Option<Redactions<'s>>,
    /// New ids of redacted bubbs and their descendants.
    ids: HashMap<BubbId, BubbId>,
    branches: Vec<(String, BubbId)>,
    /// Bubbs of the user's own, to be proven.
    own_ids: HashSet<BubbId>,
    /// New bubbs that wait to be published, oldest first.
    staged: Vec<BubbName>,
    /// The number of this import in the list of changes, once it has one.
    change: Option<u64>,
    pub omissions: Omissions,
    pub imported: u64,
    /// Bubbs that already existed.
    pub existing: u64,
    /// Existing bubbs with other bytes: edited by hand, or torn.
    pub edited: Vec<BubbId>,
}

impl<'s> ImportWriter<'s> {
    /// Writes to `store`, or to a new one from `make`; only counts if `dry`. `is_automatic`: for a hook or a watch.
    pub fn new(
        store: Option<&'s Store>,
        dry: bool,
        make: StoreMaker<'s>,
        stop: &'s StopSignal,
        is_automatic: bool,
    ) -> Result<ImportWriter<'s>> {
        let imports = store.map(|store| store.journal().imports()).unwrap_or_default();
        let target = match store {
            Some(store) if !dry => WriteTarget::Batch(batch(store)?),
            Some(store) => WriteTarget::Count(store.names()?.into_iter().map(|name| name.id).collect()),
            None => WriteTarget::Count(HashSet::new()),
        };
        let make = Some(make).filter(|_| store.is_none() && !dry);
        Ok(ImportWriter {
            store,
            target,
            make,
            stop,
            imports,
            redactions: store.map(|store| store.journal().redactions()),
            ids: HashMap::new(),
            branches: Vec::new(),
            own_ids: HashSet::new(),
            staged: Vec::new(),
            change: None,
            omissions: Omissions::read(store, is_automatic)?,
            imported: 0,
            existing: 0,
            edited: Vec::new(),
        })
    }

    /// Creates a missing store; called when there is something to write.
    fn ensure_store(&mut self) -> Result<()> {
        if let Some(make) = self.make.take() {
            let store = make()?;
            self.store = Some(store);
            self.target = WriteTarget::Batch(batch(store)?);
        }
        Ok(())
    }

    pub fn imported_record(&self, format: &str, id: &str) -> Option<ImportRecord> {
        self.imports.records_for(format, id).last().filter(|_| !id.is_empty()).cloned()
    }

    /// Whether no conversation was imported with complete tool traffic.
    pub fn is_brief(&self) -> bool {
        !self.imports.any(|known| ToolDetail::parse(&known.tools) == Some(ToolDetail::Full))
    }

    /// Whether a conversation was imported from another source.
    pub fn knows_better(&self, format: &str, id: &str, path: &Path) -> bool {
        self.imports.records_for(format, id).iter().any(|known| Path::new(&known.source) != path)
    }

    /// Whether a conversation of this format without an id was imported with another amount of tool traffic,
    /// or by an older lepo.
    pub fn knows_another_way(&self, format: &str, tools: ToolDetail) -> bool {
        let is_root = |known: &ImportRecord| known.root.is_some_and(|root| known.id == root.to_string());
        let is_other = |known: &ImportRecord| known.tools != tools.as_str() || known.version < VERSION;
        self.imports.any(|known| known.format == format && is_other(known) && is_root(known))
    }

    /// Adds a conversation; a signal ends it early, after a complete bubb.
    pub fn add(&mut self, about: SourceFacts<'_>, plan: ImportPlan, branches: bool) -> Result<()> {
        if !plan.bubbs.is_empty() {
            self.ensure_store()?;
        }
        // Facts are for the journal, which a dry run does not write.
        let is_written = match &mut self.target {
            WriteTarget::Batch(_) => true,
            WriteTarget::Count(known) => {
                known.reserve(plan.bubbs.len());
                false
            }
        };
        let (mut made, mut there) = (Vec::new(), Vec::new());
        let (mut roots, mut newest, mut stopped) = (Vec::new(), None, Ok(()));
        for bubb in plan.bubbs {
            stopped = self.stop.check();
            if stopped.is_err() {
                break;
            }
            let (name, is_redacted) = self.current_name(bubb.name, bubb.text.as_bytes())?;
            if let Some(store) = self.store
                && !self.has(name.id)?
                && self.omissions.leaves_out(store, &name)
            {
                continue;
            }
            if name.prev.is_none() && !roots.contains(&name.id) {
                roots.push(name.id);
            }
            if !name.hidden {
                newest = newest.max(Some(name.id));
            }
            match !is_redacted && self.put(name, bubb.text.as_bytes(), &bubb.blobs)? {
                true => made.push(name.id),
                false => there.push(name.id),
            }
            if about.is_own && name.is_proven_when_written() {
                self.own_ids.insert(name.id);
            }
            if is_written {
                self.imports.add_fact(name.id, bubb.model.as_deref(), bubb.input, bubb.output);
            }
            self.flush_if_many()?;
        }
        self.imported += made.len() as u64;
        if !there.is_empty() {
            // A bubb that occurs twice in the conversation counts once.
            let made: HashSet<BubbId> = made.into_iter().collect();
            let there: HashSet<BubbId> = there.into_iter().filter(|id| !made.contains(id)).collect();
            self.existing += there.len() as u64;
        }
        for root in &roots {
            self.imports.add(ImportRecord {
                root: Some(*root),
                version: VERSION,
                format: about.format.to_string(),
                source: about.path.to_string_lossy().into_owned(),
                id: if about.id.is_empty() { root.to_string() } else { about.id.clone() },
                title: about.title.clone(),
                tools: about.tools.as_str().to_string(),
                changed: about.changed.filter(|_| about.title.is_some()),
            });
        }
        if branches {
            let ids = &self.ids;
            self.branches
                .extend(plan.labels.into_iter().map(|(label, id)| (label, *ids.get(&id).unwrap_or(&id))));
            self.branches.extend(about.title.zip(newest));
        }
        stopped
    }

    /// Returns the name of a bubb in this store: for a redacted bubb the name of its copy, and true; for a
    /// descendant of one, its name after the copy.
    fn current_name(&mut self, name: BubbName, text: &[u8]) -> Result<(BubbName, bool)> {
        let prev = name.prev.map(|prev| self.ids.get(&prev).copied().unwrap_or(prev));
        if let Some(copy) = self.redactions.as_ref().and_then(|redactions| redactions.copy_of(name.id)) {
            self.ids.insert(name.id, copy);
            return Ok((BubbName { id: copy, prev, ..name }, true));
        }
        if prev == name.prev {
            return Ok((name, false));
        }
        let moved = WriteBatch::name(name.role, name.hidden, prev, name.id.time(), text)?;
        self.ids.insert(name.id, moved.id);
        Ok((moved, false))
    }

    fn has(&mut self, id: BubbId) -> Result<bool> {
        match &mut self.target {
            WriteTarget::Batch(batch) => batch.contains(id),
            WriteTarget::Count(known) => Ok(known.contains(&id)),
        }
    }

    /// Writes a bubb; returns whether it is new.
    fn put(&mut self, name: BubbName, text: &[u8], blobs: &[Vec<u8>]) -> Result<bool> {
        match &mut self.target {
            WriteTarget::Count(known) => Ok(known.insert(name.id)),
            WriteTarget::Batch(batch) => {
                if batch.contains(name.id)? {
                    // Compares lengths only, which needs no read; `lepo fsck` compares contents.
                    if batch.stored_len(&name).is_some_and(|len| len != text.len() as u64) {
                        self.edited.push(name.id);
                    }
                    return Ok(false);
                }
                for bytes in blobs {
                    batch.blob(&mut bytes.as_slice())?;
                }
                let is_new = batch.put(name, text)?;
                self.staged.extend(is_new.then_some(name));
                Ok(is_new)
            }
        }
    }

    fn flush_if_many(&mut self) -> Result<()> {
        match &self.target {
            WriteTarget::Batch(batch) if batch.staged() >= FLUSH => self.flush(),
            _ => Ok(()),
        }
    }

    /// Publishes all waiting bubbs, and only then records them in the journal.
    fn flush(&mut self) -> Result<()> {
        let WriteTarget::Batch(batch) = &mut self.target else { return Ok(()) };
        let Some(store) = self.store else { return batch.flush().map(|_| ()) };
        let mut bubbs = std::mem::take(&mut self.staged);
        bubbs.reverse();
        // Only an import by hand can be taken back.
        let is_listed = !bubbs.is_empty() && !self.omissions.is_automatic;
        let mut lock = if is_listed { lock_changes(store)? } else { None };
        let mut open = None;
        if let Some(lock) = &mut lock {
            let mut change = import_change(lock, &mut self.change);
            change.added.bubbs = bubbs;
            open = Some(lock.write_begun(change)?);
        }
        batch.flush()?;
        if let (Some(lock), Some(open)) = (&mut lock, open) {
            lock.end(open)?;
        }
        drop(lock);
        store.journal().add_imports(&mut self.imports)?;
        store.journal().prove_missing(std::mem::take(&mut self.own_ids));
        Ok(())
    }

    /// Publishes the rest and creates the branches.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        let (Some(store), WriteTarget::Batch(_)) = (self.store, &self.target) else { return Ok(()) };
        let wanted = std::mem::take(&mut self.branches);
        if wanted.is_empty() {
            return Ok(());
        }
        let (forest, mut taken) = (store.forest()?, store.branches()?.into_iter().collect::<HashMap<_, _>>());
        let follows = |later: BubbId, earlier: BubbId| {
            let from = forest.find(later).filter(|_| earlier <= later);
            from.is_some_and(|from| forest.up(from).any(|ix| forest.name(ix).id == earlier))
        };
        let mut moved: Vec<(String, BranchIds)> = Vec::new();
        for (title, id) in wanted {
            let Some(first) = branch_name(&title) else { continue };
            // Another conversation with the same title gets a numbered branch.
            for number in 1..=SAME_TITLE {
                let name = if number == 1 { first.clone() } else { format!("{first}-{number}") };
                match taken.get(&name).copied() {
                    None => {
                        moved.push((name.clone(), Some(vec![id])));
                        taken.insert(name, id);
                    }
                    Some(there) if follows(there, id) => {}
                    // The conversation was continued after the branch.
                    Some(there) if follows(id, there) => {
                        let ids = store.branch_ids(&name)?.unwrap_or_default();
                        moved.push((name.clone(), Some([&[id], ids.get(1..).unwrap_or_default()].concat())));
                        taken.insert(name, id);
                    }
                    Some(_) if number == SAME_TITLE => {
                        print_status(&StatusLine::note(format!(
                            "branch {first} already exists and was kept"
                        )));
                    }
                    Some(_) => continue,
                }
                break;
            }
        }
        if moved.is_empty() {
            return Ok(());
        }
        let lock = if self.omissions.is_automatic { None } else { lock_changes(store)? };
        let Some(mut lock) = lock else {
            return moved.iter().try_for_each(|(name, ids)| store.restore_branch(name, ids.as_deref()));
        };
        let mut change = import_change(&lock, &mut self.change);
        change.branches = branch_changes(store, moved)?;
        lock.make(change)
    }
}

/// Returns a change of this import, with the same number each time.
fn import_change(lock: &ChangeLock<'_>, number: &mut Option<u64>) -> Change {
    let mut change = lock.new_change(ChangingCommand::Import);
    change.n = *number.get_or_insert(change.n);
    change
}

fn branch_name(title: &str) -> Option<String> {
    let mut name = String::new();
    for c in title.chars().take(60) {
        let fits = !c.is_control() && !c.is_whitespace() && !"/\\~^:?*[@{.".contains(c);
        match fits {
            true => name.push(c),
            false if name.is_empty() || name.ends_with('-') => {}
            false => name.push('-'),
        }
    }
    let name = name.trim_matches('-').to_string();
    check_branch_name(&name).is_ok().then_some(name)
}

pub fn newest(store: &Store) -> Result<Option<BubbId>> {
    let forest = store.forest_for(&[ReadScope::Tip])?;
    Ok(forest.newest().map(|ix| forest.name(ix).id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_the_name_of_a_branch() {
        for (title, name) in [
            ("Read two files", Some("Read-two-files")),
            ("한글 제목: 둘", Some("한글-제목-둘")),
            ("../../etc", Some("etc")),
            ("-x", Some("x")),
            ("a..b", Some("a-b")),
            ("???", None),
            ("head", None),
        ] {
            assert_eq!(branch_name(title).as_deref(), name, "{title}");
        }
    }
}
