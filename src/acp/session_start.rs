//! Finds the position where a session continues, by an id in the journal, a branch, or the id of a message.

use std::collections::{HashMap, HashSet};

use super::session::SessionStart;
use crate::ui::{read_request, waiting_at};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{SessionEnd, Store};
use lepo_turn::{Branch, Position};

/// The conversations of a store, and the sessions that end in them.
pub struct SessionTails {
    pub forest: Forest,
    /// The ends of the sessions, by session id.
    pub sessions: HashMap<String, SessionEnd>,
    /// The tails, newest first.
    pub tails: Vec<Ix>,
    /// The newest tail of each bubb at which sessions end.
    newest: HashMap<Ix, Ix>,
}

impl SessionTails {
    pub fn read(store: &Store) -> Result<SessionTails> {
        let forest = store.forest()?;
        let sessions = store.journal().sessions();
        let tails: Vec<Ix> = forest.newest_first(false).filter(|&ix| forest.store_of(ix).is_none()).collect();
        let written = sessions.values().filter_map(|end| match end {
            SessionEnd::Written(id) => forest.find(*id),
            SessionEnd::Empty | SessionEnd::Fork(_) => None,
        });
        let ends: HashSet<Ix> = written.collect();
        let newest = newest(&forest, &tails, &ends);
        Ok(SessionTails { forest, sessions, tails, newest })
    }

    /// Returns the tail at which a session that ends at this bubb continues.
    pub fn tail_of(&self, end: Ix) -> Ix {
        self.newest.get(&end).copied().unwrap_or(end)
    }

    /// Returns the newest tail below a bubb, of any session.
    fn below(&self, ix: Ix) -> Ix {
        self.forest.tails_through(&self.tails, &[ix]).first().copied().unwrap_or(ix)
    }

    /// Returns the position of a session; `None` if the id is unknown.
    pub fn find(&self, store: &Store, id: &str) -> Result<Option<SessionStart>> {
        let gone = || Error::nothing(format!("the messages of session {id} are not in this store"));
        if let Some(end) = self.sessions.get(id) {
            let start = match end {
                SessionEnd::Empty => SessionStart::default(),
                SessionEnd::Fork(at) => {
                    SessionStart { position: Position::at(Some(*at)), ..SessionStart::default() }
                }
                SessionEnd::Written(end) => {
                    let end = self.forest.find(*end).ok_or_else(gone)?;
                    SessionStart {
                        position: self.position(store, self.tail_of(end))?,
                        ..SessionStart::default()
                    }
                }
            };
            return Ok(Some(SessionStart { is_journaled: true, ..start }));
        }
        if let Some(named) = branch(store, id)? {
            let Some(ix) = self.forest.find(named) else { return Ok(None) };
            let branch = Some(Branch { name: id.to_string(), at: named });
            let position = Position { branch, ..self.position(store, self.below(ix))? };
            return Ok(Some(SessionStart { position, is_journaled: false }));
        }
        let message = BubbId::parse(id.as_bytes()).and_then(|id| self.forest.find(id));
        match message.filter(|&ix| self.forest.store_of(ix).is_none()) {
            Some(ix) => {
                let position = self.position(store, self.below(ix))?;
                Ok(Some(SessionStart { position, is_journaled: false }))
            }
            None => Ok(None),
        }
    }

    /// Returns the position at a tail, without what an unfinished turn left after its question.
    fn position(&self, store: &Store, tail: Ix) -> Result<Position> {
        let pending = waiting_at(store, &self.forest.name(tail))?.map(|_| self.forest.name(tail).id);
        let is_left = |name: &BubbName| {
            name.hidden
                && match name.role {
                    Role::Assistant | Role::Tool => true,
                    Role::System => read_request(store, name).is_some(),
                    Role::User => false,
                }
        };
        let mut up = self.forest.up(tail).map(|ix| self.forest.name(ix));
        let tip = up.find(|name| !is_left(name)).map(|name| name.id);
        Ok(Position { pending, ..Position::at(tip) })
    }
}

/// Returns the bubb of a branch; `None` if the name is not valid.
fn branch(store: &Store, name: &str) -> Result<Option<BubbId>> {
    match lepo_store::store::check_branch_name(name) {
        Ok(()) => store.branch(name),
        Err(_) => Ok(None),
    }
}

/// Returns for each of `ends` the newest tail whose conversation reaches it before any other of them, so that an
/// origin does not continue with the messages of its fork.
fn newest(forest: &Forest, tails: &[Ix], ends: &HashSet<Ix>) -> HashMap<Ix, Ix> {
    let (mut newest, mut passed) = (HashMap::new(), HashSet::new());
    for &tail in tails {
        for ix in forest.up(tail) {
            if !passed.insert(ix) {
                break;
            }
            if ends.contains(&ix) {
                newest.entry(ix).or_insert(tail);
                break;
            }
        }
    }
    newest
}
