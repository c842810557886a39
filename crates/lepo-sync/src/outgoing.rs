//! Committing: changes of the store become commits on this clone's ref, by a single `git fast-import`.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::ops::ControlFlow;

use super::cat_file::{LARGEST, proves};
use super::compare::StoreDiff;
use super::fast_import::{CommitResult, FastImport};
use super::git::Git;
use super::merge::MergeSide;
use super::paths::{REMOVED, TITLES, TreePath};
use super::remote::own_ref;
use super::secrets::PushSecrets;
use super::state::SyncState;
use super::titles::SyncTitles;
use super::tree::blobs_of;
use lepo_base::error::{Error, Result};
use lepo_base::read_ahead::in_order;
use lepo_store::bubb::{BubbId, BubbName, ContentHash, Day};
use lepo_store::store::{Store, blobs_in};

/// A part ends at the first change of month after this many bytes: hosts limit a push to 2 GB.
pub const PART_BYTES: u64 = 256 << 20;

/// The content of a commit.
#[derive(Debug, Default)]
pub struct CommitSummary {
    pub bubbs: usize,
    pub blobs: usize,
    /// Number of bubbs and blobs removed.
    pub removed: usize,
    /// Number of branches created, moved or deleted.
    pub branches: usize,
    /// The titles of conversations; `None` if they have not changed.
    pub titles: Option<SyncTitles>,
    /// Ids and hashes withheld, each with the reason.
    pub held_back: Vec<(String, String)>,
    /// The new commits; `None` if the store has not changed.
    pub commit: Option<CommitResult>,
}

impl CommitSummary {
    pub fn held_bubbs(&self) -> Vec<BubbId> {
        self.held_back.iter().filter_map(|(id, _)| BubbId::parse(id.as_bytes())).collect()
    }
}

pub struct CommitInput<'s> {
    pub git: &'s Git,
    pub store: &'s Store,
    /// Settings of the remote: this clone's name there, and the ids and hashes to send in spite of `secrets`.
    pub state: &'s SyncState,
    /// Finds secrets, in order to withhold messages.
    pub secrets: &'s PushSecrets,
    /// The user's git email, and the time in milliseconds since 1970.
    pub author: (&'s str, u64),
    /// The parent of the first new commit, this clone's last one; `None` before the first sync.
    pub tip: Option<&'s str>,
    /// Split commits at the first month boundary after this many bytes.
    pub part_bytes: u64,
}

enum CheckedBubb {
    Good { name: BubbName, bytes: Vec<u8>, blobs: Vec<ContentHash> },
    Withheld(BubbName, String),
}

/// Commits the differences between the store and this clone's last commit.
pub fn commit(sender: &CommitInput<'_>, compared: &StoreDiff) -> Result<CommitSummary> {
    let CommitInput { git, store, state, author, tip, .. } = *sender;
    let StoreDiff { here, pushed, .. } = compared;
    let import = FastImport::new(git, own_ref(&state.settings.name), &state.settings.name, author, tip);
    let mut writer = CommitWriter::new(sender, compared.blobs.as_ref(), import);
    let mut new: Vec<BubbName> =
        here.bubbs.values().filter(|name| !pushed.bubbs.contains_key(&name.id)).copied().collect();
    new.sort_unstable_by_key(|name| name.id);
    let mut written = Ok(());
    let check = |name| check(sender, name);
    in_order(new.into_iter(), check, |checked| {
        written = checked.and_then(|checked| writer.bubb(checked));
        if written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    written?;
    let waiting = state.settings.held_blobs.iter().chain(&state.settings.allowed);
    for hash in waiting.filter_map(|text| ContentHash::parse(text)) {
        writer.blob(&hash)?;
    }
    for name in pushed.bubbs.values().filter(|name| !here.bubbs.contains_key(&name.id)) {
        writer.summary.removed += 1;
        writer.import.delete(&TreePath::Bubb(*name).path())?;
    }
    if writer.summary.removed > 0 {
        let mut gone = Vec::new();
        for hash in writer.committed()? {
            if store.open_blob(hash)?.is_none() {
                gone.push(TreePath::Blob(*hash).path());
            }
        }
        writer.summary.removed += gone.len();
        gone.iter().try_for_each(|path| writer.import.delete(path))?;
    }
    let CommitWriter { mut import, mut summary, .. } = writer;
    summary.branches = branch_changes(here, pushed, &mut import)?;
    summary.titles = title_changes(sender, compared, &mut import, &mut summary.held_back)?;
    if here.removed != pushed.removed {
        import.file(REMOVED, here.removed.text().as_bytes())?;
    }
    if tip.is_none() {
        import.start_commit()?;
    }
    summary.commit = import.finish()?;
    Ok(summary)
}

/// Writes changes of branches since the last commit; returns their number.
fn branch_changes(here: &MergeSide, pushed: &MergeSide, import: &mut FastImport<'_>) -> Result<usize> {
    let (here, pushed): (&BTreeMap<String, BubbId>, _) = (&here.branches, &pushed.branches);
    let mut changed = 0;
    for (file, id) in here.iter().filter(|(file, id)| pushed.get(*file) != Some(id)) {
        import.file(&TreePath::Branch(file.clone()).path(), format!("{id}\n").as_bytes())?;
        changed += 1;
    }
    for file in pushed.keys().filter(|file| !here.contains_key(*file)) {
        import.delete(&TreePath::Branch(file.clone()).path())?;
        changed += 1;
    }
    Ok(changed)
}

/// Writes the titles, except those with secrets, if they differ from the last commit.
fn title_changes(
    sender: &CommitInput<'_>,
    compared: &StoreDiff,
    import: &mut FastImport<'_>,
    withheld: &mut Vec<(String, String)>,
) -> Result<Option<SyncTitles>> {
    let mut titles = compared.here.titles.clone();
    let allowed = &sender.state.settings.allowed;
    let roots = titles.withhold(|root, title| {
        !allowed.contains(&root.to_string()) && sender.secrets.find(title.as_bytes()).is_some()
    });
    withheld.extend(roots.into_iter().map(|root| (format!("the title of {root}"), SECRET_TITLE.to_string())));
    if titles == compared.pushed.titles {
        return Ok(None);
    }
    import.file(TITLES, titles.text().as_bytes())?;
    Ok(Some(titles))
}

const SECRET_TITLE: &str = "seems to contain a secret";

/// Reads a bubb and decides whether it may be sent.
fn check(sender: &CommitInput<'_>, name: BubbName) -> Result<CheckedBubb> {
    let withheld = |why: &str| Ok(CheckedBubb::Withheld(name, why.to_string()));
    let bytes = sender.store.read_bubb(&name)?;
    if bytes.len() as u64 > LARGEST {
        return withheld("is larger than 50 MiB");
    }
    if !proves(&name, &bytes) {
        return withheld("was edited: its content does not match its id");
    }
    if !sender.state.settings.allowed.contains(&name.id.to_string())
        && let Some(what) = sender.secrets.find(&bytes)
    {
        return withheld(&format!("seems to contain {what}"));
    }
    let blobs = blobs_in(&bytes, name.role);
    Ok(CheckedBubb::Good { name, bytes, blobs })
}

/// Writes bubbs, and each blob that they name once.
struct CommitWriter<'s> {
    sender: &'s CommitInput<'s>,
    /// The blobs of the last commit, if the comparison has listed them.
    known: Option<&'s HashSet<ContentHash>>,
    /// The blobs of the last commit, listed here when a blob is to be sent.
    listed: OnceCell<HashSet<ContentHash>>,
    import: FastImport<'s>,
    summary: CommitSummary,
    /// The hashes of blobs already written or withheld, or skipped as committed or missing.
    decided: BTreeSet<ContentHash>,
    month: String,
    /// Bytes of bubbs and blobs in this part so far.
    part: u64,
}

impl<'s> CommitWriter<'s> {
    fn new(
        sender: &'s CommitInput<'s>,
        known: Option<&'s HashSet<ContentHash>>,
        import: FastImport<'s>,
    ) -> CommitWriter<'s> {
        let (summary, decided, listed) = (CommitSummary::default(), BTreeSet::new(), OnceCell::new());
        CommitWriter { sender, known, listed, import, summary, decided, month: String::new(), part: 0 }
    }

    fn committed(&self) -> Result<&HashSet<ContentHash>> {
        if let Some(known) = self.known.or(self.listed.get()) {
            return Ok(known);
        }
        let listed = blobs_of(self.sender.git, self.sender.tip)?;
        Ok(self.listed.get_or_init(|| listed))
    }

    /// Writes a bubb with its blobs, or records that it is withheld.
    fn bubb(&mut self, checked: CheckedBubb) -> Result<()> {
        let (name, bytes, blobs) = match checked {
            CheckedBubb::Good { name, bytes, blobs } => (name, bytes, blobs),
            CheckedBubb::Withheld(name, why) => {
                self.summary.held_back.push((name.id.to_string(), why));
                return Ok(());
            }
        };
        let month = Day::from_id(name.id).month();
        if month != self.month && self.part >= self.sender.part_bytes {
            self.import.end_part();
            self.part = 0;
        }
        self.month = month;
        self.summary.bubbs += 1;
        self.part += bytes.len() as u64;
        self.import.file(&TreePath::Bubb(name).path(), &bytes)?;
        blobs.iter().try_for_each(|hash| self.blob(hash))
    }

    /// Writes a blob if it exists here, may be sent, and has not been committed.
    fn blob(&mut self, hash: &ContentHash) -> Result<()> {
        if !self.decided.insert(*hash) || self.committed()?.contains(hash) {
            return Ok(());
        }
        let Some((mut file, len)) = self.sender.store.open_blob(hash)? else { return Ok(()) };
        let mut bytes = Vec::new();
        if len <= LARGEST {
            io::Read::read_to_end(&mut file, &mut bytes)
                .map_err(|error| Error::store(format!("cannot read blob {hash}")).because(error))?;
        }
        let is_allowed = self.sender.state.settings.allowed.contains(&hash.to_string());
        let held = if len > LARGEST {
            Some("is larger than 50 MiB".to_string())
        } else if ContentHash::from_content(&bytes) != *hash {
            Some("does not match its name".into())
        } else {
            let secret = self.sender.secrets.find(&bytes).filter(|_| !is_allowed);
            secret.map(|what| format!("seems to contain {what}"))
        };
        if let Some(why) = held {
            self.summary.held_back.push((hash.to_string(), why));
            return Ok(());
        }
        self.summary.blobs += 1;
        self.part += len;
        self.import.file(&TreePath::Blob(*hash).path(), &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::push::push;
    use super::super::remote::RemoteRefs;
    use super::super::state::Identity;
    use super::super::tree::CloneTree;
    use super::*;
    use lepo_base::role::Role;
    use lepo_store::store::WriteBatch;

    #[test]
    fn a_first_push_goes_by_parts_that_end_with_a_month() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::make(dir.path(), std::path::Path::new(".lepo"), "").unwrap().0;
        let (mut batch, month) = (WriteBatch::new(&store, false).unwrap(), 31 * 24 * 60 * 60 * 1000u64);
        let mut compared = StoreDiff::default();
        for i in 0..6 {
            let text = format!("message {i}");
            let time = 1_700_000_000_000 + i / 2 * month;
            let name = batch.add(Role::User, false, None, time, text.as_bytes()).unwrap().name;
            compared.here.bubbs.insert(name.id, name);
        }
        batch.flush().unwrap();
        let mut state = SyncState::open(dir.path(), &Identity::read(&store.path()).unwrap()).unwrap();
        state.settings.name = "me".into();
        let remote = Git::at(&dir.path().join("remote.git"), false);
        remote.init().unwrap();
        state.settings.url = dir.path().join("remote.git").to_string_lossy().into_owned();
        let git = Git::at(&state.repository(), false);
        git.init().unwrap();
        let secrets = PushSecrets::new([]);
        let sender = CommitInput {
            git: &git,
            store: &store,
            state: &state,
            secrets: &secrets,
            author: ("me@x", 5000),
            tip: None,
            part_bytes: 1,
        };
        let summary = commit(&sender, &compared).unwrap();
        let made = summary.commit.unwrap();
        assert_eq!((summary.bubbs, made.commits, summary.held_back.len()), (6, 3, 0));
        // Each part arrives with a push of its own: the remote's ref is set three times.
        remote.run(["config", "core.logAllRefUpdates", "always"]).unwrap();
        let mut there = RemoteRefs::default();
        assert_eq!(push(&git, &mut state, &made.last, &mut there, false).unwrap(), None);
        assert_eq!(there.own, Some(made.last.clone()));
        let pushes = std::fs::read_to_string(dir.path().join("remote.git/logs/refs/lepo/me")).unwrap();
        assert_eq!(pushes.lines().count(), 3, "{pushes}");
        let tree = CloneTree::read(&remote, Some("refs/lepo/me")).unwrap();
        assert_eq!(tree.bubbs.len(), 6);
        assert_eq!(push(&git, &mut state, &made.last, &mut there, true).unwrap(), None);
    }
}
