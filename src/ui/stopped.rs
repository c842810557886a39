//! The state that a stopped turn left: a request that waits, a part of an answer, or nothing.

use super::notes::read_request;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Act, Hint};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Ix, Wanted};
use lepo_store::store::Store;
use lepo_turn::Report;

/// The newest that a stopped turn left behind its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// A request that can still be decided on.
    Request(BubbId),
    /// A part of an answer, hidden.
    Partial,
    /// Nothing but the question.
    Question,
    /// Not even that.
    Nothing,
}

impl Stopped {
    /// Looks behind the question of a turn that was stopped.
    pub fn find(store: &Store, report: &Report) -> Result<Stopped> {
        let wanted = [Wanted::Tip, Wanted::Paths(report.user.into_iter().collect())];
        let forest = store.names().forest_for(&wanted)?;
        let Some(user) = report.user.and_then(|id| forest.find(id)) else { return Ok(Stopped::Nothing) };
        let of_this = |ix: &Ix| *ix != user && forest.up(*ix).any(|above| above == user);
        let left: Vec<Ix> = forest.all().rev().take_while(|ix| *ix > user).filter(of_this).collect();
        let pending = forest.pending(|ix| {
            let name = forest.name(ix);
            left.contains(&ix).then(|| read_request(store, &name)).flatten().map(|_| name.id)
        });
        Ok(match pending.first() {
            Some((_, id)) => Stopped::Request(*id),
            None if report.partial.is_some() => Stopped::Partial,
            None => Stopped::Question,
        })
    }

    /// The error of a turn that was stopped, with a hint at what it left.
    pub fn explain(self, error: Error) -> Error {
        match self {
            Stopped::Request(id) => error.hint(
                Hint::from("the request waits: ")
                    .command(Act::Approve(id.to_string()))
                    .words(" carries it out, ")
                    .command(Act::Deny(id.to_string()))
                    .words(" refuses it"),
            ),
            Stopped::Partial => error.hint(
                Hint::from("the partial answer is kept (`lepo show -a`); ")
                    .command(Act::Retry)
                    .words(" answers again"),
            ),
            Stopped::Question => {
                error.hint(Hint::from("the question is kept: ").command(Act::Retry).words(" answers it"))
            }
            Stopped::Nothing => error,
        }
    }
}
