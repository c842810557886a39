//! One round of syncing: fetch, merge, commit, push. Each step may be repeated: a crash does no harm.

use super::git::{self, Git};
use super::incoming::{Came, Mine, fetch, fetched, is_unchanged, side_of, take_others};
use super::merge::{Changes, Side, merge, note_own_removals};
use super::outgoing::{Sender, Sent, commit, own_ref, push};
use super::paths::encoded;
use super::secrets::Secrets;
use super::state::State;
use super::tree::{Objects, Tree};
use crate::error::{Error, Result};
use crate::store::{Store, now};

/// What one round did.
#[derive(Debug, Default)]
pub struct Round {
    /// What went.
    pub sent: Sent,
    /// What came, from the user's own clones and from others.
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
pub fn round(store: &Store, state: &mut State, secrets: &Secrets, may_ask: bool) -> Result<Round> {
    let git = Git::at(&state.repository(), may_ask);
    git.init()?;
    let mut round = Round::default();
    match fetch(&git, &state.settings) {
        Ok(bad) => round.bad = bad,
        Err(error) => round.failed = Some(error),
    }
    let email = git::email(store.root()).unwrap_or_default();
    let mut mine = Vec::new();
    for (clone, theirs) in fetched(&git, &state.settings.name)? {
        if state.settings.mine.contains(&clone) {
            mine.push(clone);
            continue;
        }
        if !email.is_empty() && theirs == email && !state.settings.others.contains(&clone) {
            round.unknown.push(clone.clone());
        }
        round.came.push((take_others(&git, store, &clone)?, false));
    }
    let tree = Tree::of(&git, &own_ref(&state.settings.name))?;
    let mut objects = Objects::of(&git)?;
    let pushed = side_of(&state.settings.name, &tree, &mut objects)?;
    let mut here = side_here(store, &state.settings.name)?;
    here.removed = pushed.removed.clone();
    note_own_removals(&mut here, &pushed);
    let mut news = false;
    for clone in &mine {
        news |= !is_unchanged(&git, clone)?;
    }
    if news || here.bubbs.len() != pushed.bubbs.len() || here.removed != pushed.removed {
        let sides = Mine::of(&git, &mine)?;
        round.changes = merge(&here, &sides.sides);
        let came = sides.apply(&git, store, &round.changes)?;
        round.came.extend(came.into_iter().map(|came| (came, true)));
        let removed = round.changes.removed.clone();
        here = side_here(store, &state.settings.name)?;
        here.removed = removed;
    }
    let author = if email.is_empty() { "lepo@localhost" } else { &email };
    let sender = Sender { git: &git, store, state, secrets, author: (author, now()) };
    round.sent = commit(&sender, &here, &tree, &pushed.removed)?;
    if round.failed.is_none() {
        match push(&git, state) {
            Ok(renamed) => round.renamed = renamed,
            Err(error) => round.failed = Some(error),
        }
    }
    if round.failed.is_none() {
        state.settings.synced = now();
        state.save()?;
    }
    Ok(round)
}

/// What the store has.
fn side_here(store: &Store, clone: &str) -> Result<Side> {
    Ok(Side {
        clone: clone.into(),
        bubbs: store.names()?.into_iter().map(|name| (name.id, name)).collect(),
        branches: store.branches()?.into_iter().map(|(name, id)| (encoded(&name), id)).collect(),
        ..Side::default()
    })
}
