//! Where a conversation continues: the message that the next question follows, and the branch that moves to each answer.

use super::super::start::{StartOptions, TurnStart, start};
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// A branch, and the bubb that it named when it was last read or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// Its bubb.
    pub at: BubbId,
}

/// The branch after a turn or a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchMove {
    /// No branch was to be moved.
    None,
    /// The branch moved.
    Moved,
    /// Another process moved this branch in the meantime, so it was left there.
    Left(String),
}

/// The position of a frontend in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The bubb that the next question follows; `None` to start a conversation.
    pub tip: Option<BubbId>,
    /// The branch that moves to each answer.
    pub branch: Option<Branch>,
    /// The pending request at the end of the conversation.
    pub pending: Option<BubbId>,
    /// The last question if it has no answer: a retry answers it.
    pub unanswered: Option<BubbId>,
}

impl Branch {
    /// Returns this branch if it still names a bubb where the turn of a request started.
    pub fn for_request(store: &Store, forest: &Forest, name: &str, request: Ix) -> Result<Option<Branch>> {
        let began_at = |id: &BubbId| forest.find(*id).is_some_and(|at| forest.turn_began_at(request, at));
        let at = store.branch(name)?.filter(began_at);
        Ok(at.map(|at| Branch { name: name.to_string(), at }))
    }
}

impl Position {
    /// Creates a position on no branch.
    pub fn at(tip: Option<BubbId>) -> Position {
        Position { tip, ..Position::default() }
    }

    /// Returns where the options of a process lead, and the start of its turn; `address` is the one of `--tail`.
    pub fn find(
        store: &Store,
        forest: &Forest,
        options: StartOptions,
        address: Option<&str>,
    ) -> Result<(Position, TurnStart)> {
        let start = start(store, forest, options)?;
        let named = address.zip(options.tail.filter(|tail| tail.by_branch));
        let branch = named.map(|(name, tail)| Branch { name: name.to_string(), at: forest.name(tail.ix).id });
        Ok((Position { branch, ..Position::at(start.id()) }, start))
    }

    /// Continues at the end of a summary. The branch stays at the conversation before it.
    pub fn move_to_summary(&mut self, end: BubbId) {
        (self.tip, self.branch) = (Some(end), None);
    }

    /// Moves the branch to `end`. If another process moved it in the meantime, the position leaves it.
    pub fn move_branch(&mut self, store: &Store, end: BubbId) -> Result<BranchMove> {
        let Some(branch) = self.branch.take() else { return Ok(BranchMove::None) };
        if !store.advance_branch(&branch.name, branch.at, end)? {
            return Ok(BranchMove::Left(branch.name));
        }
        self.branch = Some(Branch { at: end, ..branch });
        Ok(BranchMove::Moved)
    }
}
