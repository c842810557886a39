//! A single sync: fetch, merge, commit, push. Each step may be repeated after a crash without harm, because a commit
//! is recorded as imported only after all of it was applied.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::time::Duration;

use super::cat_file::Oid;
use super::compare::{StoreDiff, StoreSnapshot};
use super::git::{self, Git};
use super::incoming::{CloneResult, MergeResult, OwnClones, import_peer};
use super::merge::{Changes, MergeSide, merge};
use super::outgoing::{CommitInput, CommitSummary, PART_BYTES, commit};
use super::push::{push, remove_elsewhere};
use super::remote::{RefFilter, Refs, RemoteRefs, ask, fetch};
use super::removal_consent::{RemovalConsent, check_own_removals, check_their_removals, own_clones};
use super::secrets::PushSecrets;
use super::settings::SyncSettings;
use super::state::SyncState;
use super::sweep::sweep;
use super::sync_record::{SyncRecord, decided};
use super::tree::{CloneTree, Deadline};
use super::verdicts::CloneVerdicts;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_store::bubb::{BubbId, ContentHash};
use lepo_store::store::{Store, now};

/// Time limit for reading a clone in a sync.
const LIMIT: Duration = Duration::from_secs(300);

/// Options of a single sync.
pub struct SyncOptions<'o> {
    /// Finds messages to withhold.
    pub secrets: &'o PushSecrets,
    /// Whether git may ask for a password on the terminal.
    pub may_ask: bool,
    /// The consent that most messages are removed, here or by another clone of the user.
    pub removals: RemovalConsent<'o>,
    /// Whether messages that another clone removed can be brought back here.
    pub keeps_removed: bool,
}

/// The outcome of a single sync.
#[derive(Debug, Default)]
pub struct SyncRound {
    /// The commit to send.
    pub summary: CommitSummary,
    /// Whether the remote received commits of this clone, new or earlier ones.
    pub is_pushed: bool,
    /// The content received from each clone, and whether the clone is the user's own.
    pub clones: Vec<(CloneResult, bool)>,
    /// The changes to the store by merging the user's own clones.
    pub changes: Changes,
    /// Clones with the user's git email that the user has not decided about.
    pub unknown: Vec<String>,
    /// Confirmed clones whose ref does not descend from the last merged commit.
    pub replaced: Vec<String>,
    /// Clones that use the other namespace of the remote.
    pub elsewhere: Vec<String>,
    /// Number of ignored clones on the remote.
    pub more: usize,
    /// Clones whose ref could not be fetched or read.
    pub bad: Vec<(String, Error)>,
    /// The old and the new name of this clone, if it had to be renamed.
    pub renamed: Option<(String, String)>,
    /// Other users whose clone no longer exists on the remote, and whose messages were deleted here.
    pub swept: Vec<String>,
    /// Why the remote could not be reached, or refused.
    pub error: Option<Error>,
}

/// Syncs a store once. New content is committed even if the remote cannot be reached. The remote is asked for its
/// refs unless `told` has them already.
pub fn round(
    store: &Store,
    state: &mut SyncState,
    options: &SyncOptions<'_>,
    remote_refs: Option<RemoteRefs>,
) -> Result<SyncRound> {
    let git = Git::at(&state.repository(), options.may_ask);
    let is_made = git.init()?;
    git.unlock()?;
    let asked = remote_refs.is_none().then(|| ask(&git, &state.settings.url)).transpose()?;
    // Compare the store while the remote answers.
    let mut record = SyncRecord::read(&git, &state.settings.name);
    let glance = record.as_ref().map(|record| StoreSnapshot::read(store, record)).transpose()?.flatten();
    let is_same = glance.as_ref().is_some_and(|glance| glance.is_same);
    let email = LazyCell::new(|| git::email(store.root()).unwrap_or_default());
    if !is_same {
        LazyCell::force(&email);
        options.secrets.prepare();
    }
    let mut refs = match &record {
        Some(record) => record.refs.clone(),
        None if is_made => Refs::default(),
        None => Refs::read(&git, &state.settings.name)?,
    };
    let remote = match asked {
        Some(asked) => {
            let rank = rank(&state.settings, &refs);
            RemoteRefs::parse_refs(asked, RefFilter::by(&state.settings, &rank))
        }
        None => Ok(remote_refs.unwrap_or_default()),
    };
    let settled = decided(&state.settings);
    let is_nothing_new = |record: &SyncRecord| {
        is_same
            && record.settled.as_ref() == Some(&settled)
            && remote.as_ref().is_ok_and(|remote| record.remote == *remote)
    };
    if let Some(record) = record.take_if(|record| is_nothing_new(record)) {
        if let Some(glance) = glance.filter(StoreSnapshot::reveals_more) {
            record.described_anew(&git, glance, &state.settings.name)?;
        }
        state.note_synced()?;
        return Ok(SyncRound::default());
    }
    SyncRecord::remove(&git)?;
    let mut round = SyncRound::default();
    let mut verdicts = CloneVerdicts::read(&git);
    let verdicts_before = verdicts.clone();
    let mut remote = receive(&git, state, remote, &mut refs, &mut verdicts, &mut round);
    let work =
        ExchangeContext { git: &git, store, options, email: &email, last_exchange: glance.zip(record) };
    if let Some(remote) = remote.as_ref().filter(|_| round.error.is_none()) {
        round.swept = sweep(&git, store, remote, &mut refs)?;
    }
    let before = refs.own.clone();
    let merged = work.merge_and_commit(state, &mut refs, &mut verdicts, &mut round);
    if verdicts != verdicts_before {
        verdicts.save(&git)?;
    }
    let (compared, since) = merged?;
    send(&git, state, &refs, remote.as_mut(), before.as_ref(), &mut round)?;
    let mut record = compared.recorded(&round.summary.held_bubbs(), &since);
    if let Some(titles) = &round.summary.titles {
        record.titles = titles.clone();
    }
    record.settled = round.is_done().then(|| decided(&state.settings));
    (record.refs, record.remote) = (refs, remote.unwrap_or_default());
    record.save(&git, &state.settings.name)?;
    if round.summary.commit.is_some() || !round.clones.is_empty() {
        git.tidy()?;
    }
    Ok(round)
}

/// Pushes the commits of this clone, if the remote was reached, and records the progress. `before` is the last commit
/// before this sync.
fn send(
    git: &Git,
    state: &mut SyncState,
    refs: &Refs,
    remote: Option<&mut RemoteRefs>,
    before: Option<&Oid>,
    round: &mut SyncRound,
) -> Result<()> {
    let Some(own) = &refs.own else { return Ok(()) };
    if let Some(remote) = remote {
        // The remote has the parent of the only new commit.
        let is_next = remote.own.as_ref() == before
            && round.summary.commit.as_ref().is_some_and(|made| made.commits == 1);
        let is_there = remote.own.as_ref() == Some(own);
        match push(git, state, own, remote, is_next) {
            Ok(renamed) => {
                (round.renamed, round.is_pushed) = (renamed, !is_there);
                remove_elsewhere(git, &state.settings, own, remote);
            }
            Err(error) => round.error = Some(error),
        }
    }
    if round.error.is_none() {
        state.note_pushed(own)?;
        state.note_synced()?;
    }
    Ok(())
}

/// Fetches the changed refs of the remote. Records failures; `None` if the remote was not reached.
fn receive(
    git: &Git,
    state: &SyncState,
    remote: Result<RemoteRefs>,
    refs: &mut Refs,
    verdicts: &mut CloneVerdicts,
    round: &mut SyncRound,
) -> Option<RemoteRefs> {
    let fetched = remote.and_then(|remote| {
        if refs.theirs != remote.theirs {
            let fetched = fetch(git, &state.settings, &remote, refs, verdicts, LIMIT)?;
            (round.bad, round.error) = (fetched.bad, fetched.error);
            *refs = Refs::read(git, &state.settings.name)?;
        }
        (round.elsewhere, round.more) = (remote.elsewhere.iter().cloned().collect(), remote.more);
        Ok(remote)
    });
    let no_commit = |clone: &String| (clone.clone(), Error::remote("its ref is not a commit"));
    round.bad.extend(refs.no_commits.keys().map(no_commit));
    fetched.map_err(|error| round.error = Some(error)).ok()
}

/// Ranks clones: the user's own first, then those seen before.
fn rank<'r>(settings: &'r SyncSettings, refs: &'r Refs) -> impl Fn(&str) -> u8 + use<'r> {
    |clone| match settings.mine.contains(clone) {
        true => 0,
        false if refs.theirs.contains_key(clone) || refs.taken.contains_key(clone) => 1,
        false => 2,
    }
}

impl SyncRound {
    /// Whether the next sync, without further changes, has no work and no messages for the user.
    fn is_done(&self) -> bool {
        self.error.is_none()
            && self.bad.is_empty()
            && self.unknown.is_empty()
            && self.replaced.is_empty()
            && self.elsewhere.is_empty()
            && self.more == 0
            && self.renamed.is_none()
            && self.summary.held_back.is_empty()
            && self.clones.iter().all(|(result, _)| result.is_whole())
    }
}

struct ExchangeContext<'w> {
    git: &'w Git,
    store: &'w Store,
    options: &'w SyncOptions<'w>,
    email: &'w str,
    /// The comparison of the store with the record of the last sync.
    last_exchange: Option<(StoreSnapshot, SyncRecord)>,
}

impl ExchangeContext<'_> {
    /// Imports received content, and commits the changes of the store. Returns the comparison with the last commit,
    /// and the bubbs added to the store after it was listed.
    fn merge_and_commit(
        self,
        state: &mut SyncState,
        refs: &mut Refs,
        verdicts: &mut CloneVerdicts,
        round: &mut SyncRound,
    ) -> Result<(StoreDiff, HashSet<BubbId>)> {
        let (mine, replaced) = own_clones(self.git, &state.settings, refs);
        round.replaced = replaced;
        self.import_peers(&state.settings, refs, verdicts, round)?;
        let ExchangeContext { git, store, options, email, last_exchange } = self;
        let (clone, tip) = (&state.settings.name.clone(), refs.own.as_deref());
        let is_news = mine.iter().any(|clone| !refs.is_taken(clone));
        let parts = match last_exchange.filter(|_| !is_news) {
            Some((glance, record)) => StoreDiff::read_changed(git, clone, glance, &record)?,
            None => None,
        };
        let mut since = HashSet::new();
        let compared = match parts {
            Some(compared) => compared,
            None => {
                let mut compared = StoreDiff::read_all(git, store, clone, tip)?;
                check_own_removals(compared.count_missing(), options.removals)?;
                if is_news || compared.is_to_merge() {
                    let (consent, keeps_removed) = (options.removals, options.keeps_removed);
                    let work = MergeContext { git, store, mine: &mine, refs, consent, keeps_removed };
                    since = work.merge(&mut state.settings, verdicts, &mut compared.here, round)?;
                }
                compared
            }
        };
        let author = if email.is_empty() { "lepo@localhost" } else { email };
        let sender = CommitInput {
            git,
            store,
            state,
            secrets: options.secrets,
            author: (author, now()),
            tip,
            part_bytes: PART_BYTES,
        };
        round.summary = commit(&sender, &compared)?;
        if let Some(made) = &round.summary.commit {
            refs.own = Some(made.last.clone());
        }
        let held = round
            .summary
            .held_back
            .iter()
            .map(|(id, _)| id.clone())
            .filter(|id| ContentHash::parse(id).is_some())
            .collect();
        state.settings.held_blobs = held;
        state.save()?;
        note_taken(git, refs, round)?;
        Ok((compared, since))
    }
}

impl ExchangeContext<'_> {
    /// Imports content of clones that are not, or no longer, the user's own.
    fn import_peers(
        &self,
        settings: &SyncSettings,
        refs: &Refs,
        verdicts: &mut CloneVerdicts,
        round: &mut SyncRound,
    ) -> Result<()> {
        for clone in refs.theirs.keys() {
            if *clone == settings.name || settings.mine.contains(clone) {
                continue;
            }
            let is_same = refs.emails.get(clone).is_some_and(|theirs| theirs == self.email);
            if !self.email.is_empty() && is_same && !settings.others.contains(clone) {
                round.unknown.push(clone.clone());
            }
            match import_peer(self.git, self.store, clone, refs, verdicts, Deadline::after(LIMIT)) {
                Ok(result) => round.clones.push((result, false)),
                // An unreadable clone does not affect the others.
                Err(error) if error.kind == ExitKind::Remote => round.bad.push((clone.clone(), error)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

struct MergeContext<'m> {
    git: &'m Git,
    store: &'m Store,
    mine: &'m [String],
    refs: &'m Refs,
    consent: RemovalConsent<'m>,
    keeps_removed: bool,
}

impl MergeContext<'_> {
    /// Merges the clones into the store; returns the added bubbs.
    fn merge(
        &self,
        settings: &mut SyncSettings,
        verdicts: &mut CloneVerdicts,
        here: &mut MergeSide,
        round: &mut SyncRound,
    ) -> Result<HashSet<BubbId>> {
        let MergeContext { git, store, mine, refs, consent, keeps_removed } = *self;
        let (sides, bad) = OwnClones::read(git, mine, refs, verdicts, LIMIT)?;
        round.bad.extend(bad);
        round.changes = merge(here, &sides.sides);
        check_their_removals(&round.changes, &sides, here, settings, now(), consent)?;
        let read: Vec<String> = sides.sides.iter().map(|side| side.clone.clone()).collect();
        let merged = sides.apply(store, &round.changes, here, verdicts, keeps_removed)?;
        let MergeResult { clones, added, removed } = merged;
        round.clones.extend(clones.into_iter().map(|result| (result, true)));
        note_merged(here, &round.changes);
        here.bubbs.extend(added.iter().map(|name| (name.id, *name)));
        for name in removed {
            here.bubbs.remove(&name.id);
        }
        let tips = read.into_iter().filter_map(|clone| Some((refs.theirs.get(&clone)?.clone(), clone)));
        settings.seen.extend(tips.map(|(tip, clone)| (clone, tip)));
        Ok(added.into_iter().map(|name| name.id).collect())
    }
}

/// Records the imported commits. A clone with postponed content, such as messages dated ahead, is read again.
fn note_taken(git: &Git, refs: &mut Refs, round: &SyncRound) -> Result<()> {
    let whole = round.clones.iter().filter(|(result, _)| result.is_whole()).map(|(result, _)| &result.clone);
    let taken = whole.filter(|clone| !refs.is_taken(clone));
    let taken = taken.filter_map(|clone| Some((clone.clone(), refs.theirs.get(clone)?.clone())));
    let taken: Vec<(String, String)> = taken.collect();
    git.update_refs(taken.iter().map(|(clone, tip)| (format!("refs/taken/{clone}"), Some(tip.clone()))))?;
    refs.taken.extend(taken);
    Ok(())
}

/// Updates branches, titles and removals to the result of a merge.
fn note_merged(here: &mut MergeSide, changes: &Changes) {
    here.removed = changes.removed.clone();
    for file in &changes.branches_removed {
        here.branches.remove(file);
    }
    here.branches.extend(changes.branches.iter().cloned());
    here.titles = changes.titles.clone();
}

/// Counts the bubbs of a store that are not in `pushed`, the last commit known to be on the remote.
pub fn unsent(store: &Store, git: &Git, pushed: Option<Oid>) -> Result<usize> {
    git.init()?;
    let tree = CloneTree::read(git, pushed.as_deref())?;
    Ok(store.names()?.iter().filter(|name| !tree.bubbs.contains_key(&name.id)).count())
}
