//! One round of syncing: fetch, merge, commit, push. Each step may be repeated: a crash does no harm, since what
//! was taken in is noted only after all of it was carried out.

use std::cell::LazyCell;
use std::collections::HashSet;

use super::compare::{Compared, Glance};
use super::git::{self, Git};
use super::incoming::{Came, Merged, Mine, take_others};
use super::merge::{Changes, Side, merge};
use super::outgoing::{PART_BYTES, Sender, Sent, commit};
use super::record::{Record, decided};
use super::remote::{Refs, Remote, ask, fetch};
use super::secrets::Secrets;
use super::send::push;
use super::state::State;
use super::tree::{Oid, Tree};
use lepo_base::error::{Error, Kind, Result};
use lepo_store::bubb::{BubbId, is_hash};
use lepo_store::store::{Store, now};

/// So many messages that are gone at once, and half of all, are taken for a store that is not whole.
const MANY_GONE: usize = 50;

/// The options of a round.
pub struct Options<'o> {
    /// Messages that are held back.
    pub secrets: &'o Secrets,
    /// git may ask for a password on the terminal.
    pub may_ask: bool,
    /// That most messages are gone from the store was said to be meant.
    pub may_remove_most: bool,
}

/// The result of one round.
#[derive(Debug, Default)]
pub struct Round {
    /// The commit that was made to be sent.
    pub sent: Sent,
    /// The remote has taken commits of this clone, new ones or those that had waited.
    pub is_pushed: bool,
    /// The content that came, from the user's own clones and from others.
    pub came: Vec<(Came, bool)>,
    /// The changes of the store by the merge of the user's own clones.
    pub changes: Changes,
    /// Clones with the user's git email that nothing was decided about.
    pub unknown: Vec<String>,
    /// Clones whose ref could not be fetched.
    pub bad: Vec<(String, Error)>,
    /// The new name of this clone, if it had to take one.
    pub renamed: Option<String>,
    /// The remote could not be reached, or refused.
    pub failed: Option<Error>,
}

/// Syncs a store once. What was found to send is committed even if the remote cannot be reached. The refs of the
/// remote are asked for, unless they were `told` just now.
pub fn round(store: &Store, state: &mut State, options: &Options<'_>, told: Option<Remote>) -> Result<Round> {
    let git = Git::at(&state.repository(), options.may_ask);
    let (is_made, namespace) = (git.init()?, state.settings.namespace());
    git.unlock()?;
    let asked = told.is_none().then(|| ask(&git, &state.settings.url, namespace)).transpose()?;
    // The store is looked at while the remote answers.
    let mut record = Record::read(&git, &state.settings.name);
    let glance = record.as_ref().map(|record| Glance::of(store, record)).transpose()?.flatten();
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
        Some(asked) => Remote::told(asked, namespace, &state.settings.name),
        None => Ok(told.unwrap_or_default()),
    };
    let settled = decided(&state.settings);
    let is_nothing_new = |record: &Record| {
        is_same
            && record.settled.as_ref() == Some(&settled)
            && remote.as_ref().is_ok_and(|remote| record.remote == *remote)
    };
    if let Some(record) = record.take_if(|record| is_nothing_new(record)) {
        if let Some(glance) = glance.filter(Glance::tells_more) {
            record.described_anew(&git, glance, &state.settings.name)?;
        }
        state.note_synced()?;
        return Ok(Round::default());
    }
    Record::remove(&git)?;
    let mut round = Round::default();
    let mut remote = receive(&git, state, remote, &mut refs, &mut round);
    let work = Work { git: &git, store, options, email: &email, seen: glance.zip(record) };
    let before = refs.own.clone();
    let (compared, since) = work.merge_and_commit(state, &mut refs, &mut round)?;
    send(&git, state, &refs, remote.as_mut(), before.as_ref(), &mut round)?;
    let mut record = compared.recorded(&round.sent.held_bubbs(), &since);
    record.settled = round.is_done().then(|| decided(&state.settings));
    (record.refs, record.remote) = (refs, remote.unwrap_or_default());
    record.keep(&git, &state.settings.name)?;
    if round.sent.made.is_some() || !round.came.is_empty() {
        git.tidy()?;
    }
    Ok(round)
}

/// Pushes the commits of this clone, unless the remote was not reached, and notes how far that came. Before the round
/// the last one was `before`.
fn send(
    git: &Git,
    state: &mut State,
    refs: &Refs,
    remote: Option<&mut Remote>,
    before: Option<&Oid>,
    round: &mut Round,
) -> Result<()> {
    let Some(own) = &refs.own else { return Ok(()) };
    if let Some(remote) = remote {
        // The remote has the commit before the one that was made.
        let is_next =
            remote.own.as_ref() == before && round.sent.made.as_ref().is_some_and(|made| made.commits == 1);
        let is_there = remote.own.as_ref() == Some(own);
        match push(git, state, own, remote, is_next) {
            Ok(renamed) => (round.renamed, round.is_pushed) = (renamed, !is_there),
            Err(error) => round.failed = Some(error),
        }
    }
    if round.failed.is_none() {
        state.note_pushed(own)?;
        state.note_synced()?;
    }
    Ok(())
}

/// Fetches what changed on the remote. What fails is noted; nothing then came.
fn receive(
    git: &Git,
    state: &State,
    remote: Result<Remote>,
    refs: &mut Refs,
    round: &mut Round,
) -> Option<Remote> {
    let fetched = remote.and_then(|remote| {
        if refs.theirs != remote.theirs {
            round.bad = fetch(git, &state.settings, &remote, refs)?;
            *refs = Refs::read(git, &state.settings.name)?;
        }
        Ok(remote)
    });
    let no_commit = |clone: &String| (clone.clone(), Error::remote("its ref is not a commit"));
    round.bad.extend(refs.no_commits.keys().map(no_commit));
    fetched.map_err(|error| round.failed = Some(error)).ok()
}

impl Round {
    /// True if nothing is left to be done or told by the next round, if nothing changes.
    fn is_done(&self) -> bool {
        self.failed.is_none()
            && self.bad.is_empty()
            && self.unknown.is_empty()
            && self.renamed.is_none()
            && self.sent.held.is_empty()
            && self.came.iter().all(|(came, _)| came.waiting == 0)
    }
}

/// The inputs of an exchange.
struct Work<'w> {
    git: &'w Git,
    store: &'w Store,
    options: &'w Options<'w>,
    email: &'w str,
    /// The store beside the record of the last sync.
    seen: Option<(Glance, Record)>,
}

impl Work<'_> {
    /// Takes in what came, and commits what is new here. Gives what the commit was made of, and the bubbs that
    /// came to the store after it was listed.
    fn merge_and_commit(
        self,
        state: &mut State,
        refs: &mut Refs,
        round: &mut Round,
    ) -> Result<(Compared, HashSet<BubbId>)> {
        let Work { git, store, options, email, seen } = self;
        let mut mine = Vec::new();
        for clone in refs.theirs.keys().filter(|clone| **clone != state.settings.name) {
            if state.settings.mine.contains(clone) {
                mine.push(clone.clone());
                continue;
            }
            let is_same = refs.emails.get(clone).is_some_and(|theirs| *theirs == email);
            if !email.is_empty() && is_same && !state.settings.others.contains(clone) {
                round.unknown.push(clone.clone());
            }
            match take_others(git, store, clone, refs) {
                Ok(came) => round.came.push((came, false)),
                // A clone that cannot be read stops no other.
                Err(error) if error.kind == Kind::Remote => round.bad.push((clone.clone(), error)),
                Err(error) => return Err(error),
            }
        }
        let (clone, tip) = (state.settings.name.as_str(), refs.own.as_deref());
        let is_news = mine.iter().any(|clone| !refs.is_taken(clone));
        let parts = match seen.filter(|_| !is_news) {
            Some((glance, record)) => Compared::parts(git, clone, glance, &record)?,
            None => None,
        };
        let mut since = HashSet::new();
        let compared = match parts {
            Some(compared) => compared,
            None => {
                let mut compared = Compared::whole(git, store, clone, tip)?;
                if !options.may_remove_most {
                    check_removals(&compared)?;
                }
                if is_news || compared.is_to_merge() {
                    since = merge_mine(git, store, &mine, refs, &mut compared.here, round)?;
                }
                compared
            }
        };
        let author = if email.is_empty() { "lepo@localhost" } else { email };
        let sender = Sender {
            git,
            store,
            state,
            secrets: options.secrets,
            author: (author, now()),
            tip,
            part_bytes: PART_BYTES,
        };
        round.sent = commit(&sender, &compared)?;
        if let Some(made) = &round.sent.made {
            refs.own = Some(made.last.clone());
        }
        let held = round.sent.held.iter().map(|(id, _)| id.clone()).filter(|id| is_hash(id)).collect();
        if state.settings.held_blobs != held {
            state.settings.held_blobs = held;
            state.save()?;
        }
        note_taken(git, refs, round)?;
        Ok((compared, since))
    }
}

/// Merges the user's other clones into the store. The bubbs that came are given back.
fn merge_mine(
    git: &Git,
    store: &Store,
    mine: &[String],
    refs: &Refs,
    here: &mut Side,
    round: &mut Round,
) -> Result<HashSet<BubbId>> {
    let sides = Mine::of(git, mine, refs)?;
    round.changes = merge(here, &sides.sides);
    let Merged { came, added, removed } = sides.apply(git, store, &round.changes, here, refs)?;
    round.came.extend(came.into_iter().map(|came| (came, true)));
    note_merged(here, &round.changes);
    here.bubbs.extend(added.iter().map(|name| (name.id, *name)));
    for name in removed {
        here.bubbs.remove(&name.id);
    }
    Ok(added.into_iter().map(|name| name.id).collect())
}

/// Notes the commits of clones that were taken in. One with messages dated ahead is looked at again.
fn note_taken(git: &Git, refs: &mut Refs, round: &Round) -> Result<()> {
    let whole = round.came.iter().filter(|(came, _)| came.waiting == 0).map(|(came, _)| &came.clone);
    let taken = whole.filter(|clone| !refs.is_taken(clone));
    let taken = taken.filter_map(|clone| Some((clone.clone(), refs.theirs.get(clone)?.clone())));
    let taken: Vec<(String, String)> = taken.collect();
    git.update_refs(taken.iter().map(|(clone, tip)| (format!("refs/taken/{clone}"), Some(tip.clone()))))?;
    refs.taken.extend(taken);
    Ok(())
}

/// Refuses to send that most of a store is gone: it may be a disk that is not mounted.
fn check_removals(compared: &Compared) -> Result<()> {
    let (gone, all) = compared.gone();
    if gone < MANY_GONE || gone * 2 < all {
        return Ok(());
    }
    Err(Error::usage(format!("{gone} of {all} messages that were sent are gone from here"))
        .hint("if that is meant: `lepo sync --yes` removes them from your other clones too"))
}

/// Branches and removals as a merge left them.
fn note_merged(here: &mut Side, changes: &Changes) {
    here.removed = changes.removed.clone();
    for file in &changes.branches_removed {
        here.branches.remove(file);
    }
    here.branches.extend(changes.branches.iter().cloned());
}

/// The number of bubbs of a store that the remote did not have when it was last asked. It had this commit.
pub fn unsent(store: &Store, git: &Git, pushed: Option<Oid>) -> Result<usize> {
    git.init()?;
    let tree = Tree::of(git, pushed.as_deref())?;
    Ok(store.names()?.iter().filter(|name| !tree.bubbs.contains_key(&name.id)).count())
}
