//! The branch that moves to the answer of a turn, and its name in hints.

use super::DoArgs;
use crate::ui;
use lepo_base::env;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{AddressTarget, Forest, Ix};
use lepo_store::store::Store;

/// A branch, and the bubb that it names at the start of the turn.
#[derive(Debug)]
pub struct BranchMove {
    branch: String,
    from: BubbId,
}

impl BranchMove {
    /// Returns the branch of `--tail`, if it names a branch.
    pub fn for_tail(args: &DoArgs, forest: &Forest, tail: Option<AddressTarget>) -> Option<BranchMove> {
        let tail = tail.filter(|tail| tail.by_branch)?;
        Some(BranchMove { branch: args.tail.clone()?, from: forest.name(tail.ix).id })
    }

    /// Returns the branch on which the turn of a request was asked: from `--tail`, else from `LEPO_TAIL`, if
    /// it still names the bubb where the turn started.
    pub fn for_request(
        args: &DoArgs,
        store: &Store,
        forest: &Forest,
        request: Ix,
    ) -> Result<Option<BranchMove>> {
        let asked_on = |branch: &str| -> Result<Option<BranchMove>> {
            let from = store
                .branches()
                .get(branch)?
                .filter(|&from| forest.find(from).is_some_and(|place| forest.turn_began_at(request, place)));
            Ok(from.map(|from| BranchMove { branch: branch.to_string(), from }))
        };
        let Some(branch) = &args.tail else {
            return Ok(env::text("LEPO_TAIL").and_then(|branch| asked_on(&branch).ok().flatten()));
        };
        let moving = asked_on(branch)?.ok_or_else(|| {
            let id = forest.name(request).id;
            Error::usage(format!("the question of request {id} was not asked on branch {branch:?}"))
                .hint("leave out --tail, then no branch moves")
        });
        moving.map(Some)
    }

    /// Moves the branch to the answer, unless another process moved it in the meantime.
    pub fn to(&self, store: &Store, answer: BubbId, quiet: bool) -> Result<()> {
        ui::move_branch(store, &self.branch, self.from, answer, quiet).map(|_| ())
    }
}

/// Adds `--tail` to the commands of the hint, so that running them moves the branch. If `--tail` is not a
/// branch, they name the stored question instead, because the newest one may be another.
pub fn name_tail(error: Error, moving: Option<&BranchMove>, question: Option<BubbId>) -> Error {
    match (moving, question) {
        (Some(moving), _) => error.resuming(|resume| resume.name_branch(&moving.branch)),
        (None, Some(question)) => error.resuming(|resume| resume.name_question(&question.to_string())),
        (None, None) => error,
    }
}
