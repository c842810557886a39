//! The bubb that an interrupted turn leaves last: a pending request, a partial answer, or only the question.

use super::notes::read_request;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Ix, ReadScope};
use lepo_store::store::Store;
use lepo_turn::Outcome;

/// The newest bubb that an interrupted turn leaves after its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopPoint {
    Request(BubbId),
    /// A partial answer, which the next question follows.
    Partial,
    /// A hidden part that no question follows.
    Thinking,
    /// Only the question.
    Question,
    /// Not even the question.
    Nothing,
}

impl StopPoint {
    /// Finds the newest bubb after the question of an interrupted turn.
    pub fn find(store: &Store, outcome: &Outcome) -> Result<StopPoint> {
        let scopes = [ReadScope::Tip, ReadScope::Ids(outcome.user.into_iter().collect())];
        let forest = store.forest_for(&scopes)?;
        let Some(user) = outcome.user.and_then(|id| forest.find(id)) else { return Ok(StopPoint::Nothing) };
        let of_this = |ix: &Ix| *ix != user && forest.up(*ix).any(|above| above == user);
        let leftovers: Vec<Ix> = forest.all().rev().take_while(|ix| *ix > user).filter(of_this).collect();
        let pending = forest.pending(|ix| {
            let name = forest.name(ix);
            leftovers.contains(&ix).then(|| read_request(store, &name)).flatten().map(|_| name.id)
        });
        Ok(match pending.first() {
            Some((_, id)) => StopPoint::Request(*id),
            None if outcome.is_continued => StopPoint::Partial,
            None if outcome.partial.is_some() => StopPoint::Thinking,
            None => StopPoint::Question,
        })
    }

    /// Adds a hint about the remaining bubb to the error of an interrupted turn.
    pub fn explain(self, error: Error) -> Error {
        match self {
            StopPoint::Request(id) => error.hint(
                Hint::from("the request waits: ")
                    .command(ResumeAction::Approve(id.to_string()))
                    .text(" carries it out, ")
                    .command(ResumeAction::Deny(id.to_string()))
                    .text(" refuses it"),
            ),
            StopPoint::Partial => error.hint(
                Hint::from("stopped; the next question continues from here; ")
                    .either("`lepo do --continue` asks for the rest; ", "")
                    .command(ResumeAction::Retry)
                    .text(" answers again"),
            ),
            StopPoint::Thinking => error.hint(
                Hint::from("the thinking is kept (`lepo show -a`); ")
                    .command(ResumeAction::Retry)
                    .text(" answers again"),
            ),
            StopPoint::Question => error
                .hint(Hint::from("the question is kept: ").command(ResumeAction::Retry).text(" answers it")),
            StopPoint::Nothing => error,
        }
    }
}
