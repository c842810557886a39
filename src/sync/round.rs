//! One round of syncing: fetch, merge, commit, push. Each step may be repeated: a crash does no harm, since what
//! was taken in is noted only after all of it was carried out.

use super::git::{self, Git};
use super::incoming::{Came, Merged, Mine, side_of, take_others};
use super::merge::{Changes, Side, merge, note_own_removals};
use super::outgoing::{PART_BYTES, Sender, Sent, commit};
use super::paths::encoded;
use super::remote::{Refs, Tips, fetch, remote_tips};
use super::secrets::Secrets;
use super::send::push;
use super::settled::{store_state, whole_state};
use super::state::State;
use super::tree::{Objects, Tree};
use crate::bubb::is_hash;
use crate::error::{Error, Result};
use crate::store::{Store, now};

/// So many messages that are gone at once, and half of all, are taken for a store that is not whole.
const MANY_GONE: usize = 50;

/// How a round is done.
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
    /// The commit that was sent.
    pub sent: Sent,
    /// The content that came, from the user's own clones and from others.
    pub came: Vec<(Came, bool)>,
    /// How the store changed by the merge of the user's own clones.
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

/// Syncs a store once. What was found to send is committed even if the remote cannot be reached.
pub fn round(store: &Store, state: &mut State, options: &Options<'_>) -> Result<Round> {
    let git = Git::at(&state.repository(), options.may_ask);
    git.init()?;
    git.unlock()?;
    let mut round = Round::default();
    let (mut refs, remote) = look(&git, state, &mut round)?;
    let no_commit = |clone: &String| (clone.clone(), Error::remote("its ref is not a commit"));
    round.bad.extend(refs.no_commits.keys().map(no_commit));
    // The store is looked at before anything is done: what is written meanwhile is for the next round.
    let before = store_state(store);
    if let (Some(before), Some(remote), Some(settled)) = (&before, &remote, &state.settings.settled)
        && *settled == whole_state(before, &state.settings, &refs, remote)
    {
        state.note_synced()?;
        return Ok(round);
    }
    exchange(&git, store, state, options, &mut refs, &mut round)?;
    if round.failed.is_none() {
        match push(&git, state) {
            Ok(renamed) => round.renamed = renamed,
            Err(error) => round.failed = Some(error),
        }
    }
    if round.failed.is_none() {
        state.note_synced()?;
        settle(&git, state, &round, before, remote)?;
    }
    if round.sent.is_new || !round.came.is_empty() {
        git.tidy()?;
    }
    Ok(round)
}

/// Lists what the remote has and fetches what changed there. What fails is noted; nothing then came.
fn look(git: &Git, state: &State, round: &mut Round) -> Result<(Refs, Option<Tips>)> {
    let settings = &state.settings;
    let refs = Refs::read(git, &settings.name)?;
    let listed = remote_tips(git, &settings.url, settings.namespace(), &settings.name);
    let fetched = listed.and_then(|tips| {
        let is_new = refs.theirs != tips;
        round.bad = if is_new { fetch(git, settings, &tips, &refs)? } else { Vec::new() };
        Ok((tips, is_new))
    });
    match fetched {
        Ok((tips, is_new)) => Ok((if is_new { Refs::read(git, &settings.name)? } else { refs }, Some(tips))),
        Err(error) => {
            round.failed = Some(error);
            Ok((refs, None))
        }
    }
}

/// Takes in what came, and commits what is new here.
fn exchange(
    git: &Git,
    store: &Store,
    state: &mut State,
    options: &Options<'_>,
    refs: &mut Refs,
    round: &mut Round,
) -> Result<()> {
    let email = git::email(store.root()).unwrap_or_default();
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
        round.came.push((take_others(git, store, clone, refs)?, false));
    }
    let tree = Tree::of(git, refs.own.as_deref())?;
    let pushed = side_of(&state.settings.name, &tree, &mut Objects::of(git)?)?;
    let mut here = side_here(store, &state.settings.name)?;
    here.removed = pushed.removed.clone();
    if !options.may_remove_most {
        check_removals(&here, &pushed)?;
    }
    note_own_removals(&mut here, &pushed);
    let is_news = mine.iter().any(|clone| !refs.is_taken(clone));
    if is_news || here.bubbs.len() != pushed.bubbs.len() || here.removed != pushed.removed {
        let sides = Mine::of(git, &mine, refs)?;
        round.changes = merge(&here, &sides.sides);
        let Merged { came, added, removed } = sides.apply(git, store, &round.changes, &here, refs)?;
        round.came.extend(came.into_iter().map(|came| (came, true)));
        note_merged(&mut here, &round.changes);
        here.bubbs.extend(added.into_iter().map(|name| (name.id, name)));
        for name in removed {
            here.bubbs.remove(&name.id);
        }
    }
    let author = if email.is_empty() { "lepo@localhost" } else { &email };
    let tip = refs.own.as_deref();
    let author = (author, now());
    let sender = Sender { git, store, state, secrets: options.secrets, author, tip, part_bytes: PART_BYTES };
    round.sent = commit(&sender, &here, &tree, &pushed)?;
    let held = round.sent.held.iter().map(|(id, _)| id.clone()).filter(|id| is_hash(id)).collect();
    if state.settings.held_blobs != held {
        state.settings.held_blobs = held;
        state.save()?;
    }
    // A clone with messages dated ahead is looked at again.
    let whole = round.came.iter().filter(|(came, _)| came.waiting == 0).map(|(came, _)| &came.clone);
    let taken = whole.filter(|clone| !refs.is_taken(clone));
    let taken = taken.filter_map(|clone| Some((clone.clone(), refs.theirs.get(clone)?.clone())));
    let taken: Vec<(String, String)> = taken.collect();
    git.update_refs(taken.iter().map(|(clone, tip)| (format!("refs/taken/{clone}"), Some(tip.clone()))))?;
    refs.taken.extend(taken);
    Ok(())
}

/// Refuses to send that most of a store is gone: it may be a disk that is not mounted.
fn check_removals(here: &Side, pushed: &Side) -> Result<()> {
    let gone = pushed.bubbs.keys().filter(|id| !here.bubbs.contains_key(id)).count();
    if gone < MANY_GONE || gone * 2 < pushed.bubbs.len() {
        return Ok(());
    }
    Err(Error::usage(format!("{gone} of {} messages that were sent are gone from here", pushed.bubbs.len()))
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

/// Records the state in which nothing is left to do, if this is one.
fn settle(
    git: &Git,
    state: &mut State,
    round: &Round,
    before: Option<String>,
    remote: Option<Tips>,
) -> Result<()> {
    let is_done = round.bad.is_empty()
        && round.unknown.is_empty()
        && round.renamed.is_none()
        && round.sent.held.is_empty()
        && round.changes.add.is_empty()
        && round.changes.remove.is_empty()
        && round.changes.branches.is_empty()
        && round.changes.branches_removed.is_empty()
        && round.came.iter().all(|(came, _)| came.waiting == 0);
    let settled = match (before.filter(|_| is_done), remote) {
        (Some(before), Some(mut remote)) => {
            let refs = Refs::read(git, &state.settings.name)?;
            remote.extend(refs.own.clone().map(|own| (state.settings.name.clone(), own)));
            Some(whole_state(&before, &state.settings, &refs, &remote))
        }
        _ => None,
    };
    if state.settings.settled != settled {
        state.settings.settled = settled;
        state.save()?;
    }
    Ok(())
}

/// How many bubbs of a store the remote did not have when it was last asked.
pub fn unsent(store: &Store, git: &Git, clone: &str) -> Result<usize> {
    git.init()?;
    let refs = Refs::read(git, clone)?;
    let tree = Tree::of(git, refs.theirs.get(clone).map(String::as_str))?;
    Ok(store.names()?.iter().filter(|name| !tree.bubbs.contains_key(&name.id)).count())
}

/// The content of the store.
fn side_here(store: &Store, clone: &str) -> Result<Side> {
    Ok(Side {
        clone: clone.into(),
        bubbs: store.names()?.into_iter().map(|name| (name.id, name)).collect(),
        branches: store.branches()?.into_iter().map(|(name, id)| (encoded(&name), id)).collect(),
        ..Side::default()
    })
}
