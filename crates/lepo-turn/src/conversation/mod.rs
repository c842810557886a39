//! A conversation from turn to turn, for a process of `do`, a session and an editor: where the next turn starts, room in
//! the window before it, and the position after it. A frontend takes the steps in its order, and [`Rules`]
//! has what differs between frontends.

mod compact;
mod position;
mod window_fill;

use super::between_turns::store_unanswered;
use super::decision::{Decision, Verdict};
use super::outcome::Outcome;
use super::question::Question;
use super::start::{StartOptions, TurnStart, start};
use super::{Masking, TurnEnv, View};
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{AddressTarget, Forest, ReadScope};
use lepo_store::store::{Claim, Store};

use compact::make_room;
pub use compact::{Compaction, compact};
pub use position::{Branch, BranchMove, Position};
pub use window_fill::fill_in_time;

/// Why a conversation does not continue: its last message was removed, by `rm` in another terminal or by hand.
pub const GONE: &str = "the last message of this conversation no longer exists";

/// Whether a question is stored although its turn did not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreQuestion {
    Never,
    /// Not if making room for it failed.
    UnlessRoomFailed,
    Always,
}

/// The message that the next question follows if the last one has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterUnanswered {
    /// Follows what the unanswered one follows.
    FollowsItsPrev,
    /// Follows the unanswered one.
    FollowsIt,
}

/// The position once a summary has made room for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRoom {
    /// The branch moves to the answer, from where it was.
    KeepsBranch,
    /// The branch stays, and the position moves with the answer.
    LeavesBranch,
    /// The position moves to the summary, on no branch.
    Moves,
}

/// The next question if the message that it follows was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRemoval {
    Fails,
    StartsConversation,
}

/// The differences between frontends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A question whose turn did not begin.
    pub store_question: StoreQuestion,
    /// The next question after an unanswered one.
    pub after_unanswered: AfterUnanswered,
    /// The position after a summary before a question.
    pub after_room: AfterRoom,
    /// The next question after a removed message.
    pub after_removal: AfterRemoval,
}

impl Rules {
    /// A process of `do`, which runs one turn.
    pub const DO: Rules = Rules {
        store_question: StoreQuestion::Never,
        after_unanswered: AfterUnanswered::FollowsItsPrev,
        after_room: AfterRoom::KeepsBranch,
        after_removal: AfterRemoval::Fails,
    };
    /// A session in a terminal.
    pub const SESSION: Rules = Rules {
        store_question: StoreQuestion::UnlessRoomFailed,
        after_unanswered: AfterUnanswered::FollowsItsPrev,
        after_room: AfterRoom::Moves,
        after_removal: AfterRemoval::StartsConversation,
    };
    /// A session of an editor.
    pub const EDITOR: Rules = Rules {
        store_question: StoreQuestion::Always,
        after_unanswered: AfterUnanswered::FollowsIt,
        after_room: AfterRoom::LeavesBranch,
        after_removal: AfterRemoval::Fails,
    };
}

/// The step before a turn that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedStep {
    /// Before the turn: choosing the model, making room.
    Room,
    /// The turn itself, before anything was written.
    Begin,
}

/// The start of a turn, in its forest.
pub struct NextTurn {
    /// The forest as far as the turn needs it.
    pub forest: Forest,
    /// The bubb that the turn starts at.
    pub start: TurnStart,
}

impl NextTurn {
    /// Returns the end of the conversation before a question, if it may be summarised to make room.
    pub fn tail_to_summarise(&self, env: &TurnEnv) -> Option<BubbId> {
        match self.start {
            TurnStart::Under(tail) if env.compacts_by_itself() => Some(tail),
            _ => None,
        }
    }
}

/// A conversation that a frontend continues.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Where it continues.
    pub position: Position,
    rules: Rules,
}

impl Conversation {
    /// Creates a conversation that continues at `position`.
    pub fn new(position: Position, rules: Rules) -> Conversation {
        Conversation { position, rules }
    }

    /// Reads the forest as far as the next turn needs it.
    pub fn forest(&self, store: &Store) -> Result<Forest> {
        let Position { tip, unanswered, .. } = self.position;
        store.forest_for(&[ReadScope::Tip, ReadScope::Ids(tip.into_iter().chain(unanswered).collect())])
    }

    /// Whether the message that the next question follows was removed.
    pub fn is_gone(&self, forest: &Forest) -> bool {
        self.position.tip.is_some_and(|tip| forest.find(tip).is_none())
    }

    /// Returns the start of the next question, or of the last one if it is answered `again`.
    pub fn start(&self, store: &Store, forest: &Forest, again: bool) -> Result<TurnStart> {
        let Position { tip, unanswered, .. } = self.position;
        if let Some(id) = unanswered.filter(|_| again) {
            return Ok(TurnStart::Again(id));
        }
        let gone = tip.filter(|_| self.is_gone(forest));
        match (gone, tip.and_then(|id| forest.find(id))) {
            (Some(id), _) if self.rules.after_removal == AfterRemoval::Fails => {
                Err(Error::nothing(format!("message {id} is not in the store any more")))
            }
            (Some(_), _) if again => Err(Error::usage(GONE).hint("/tail continues another one")),
            (None, None) if again => Err(Error::usage("no question to answer again: nothing was asked yet")),
            (_, None) => Ok(TurnStart::New),
            (_, Some(ix)) => {
                let tail = Some(AddressTarget { ix, by_branch: false });
                start(store, forest, StartOptions { new: false, tail, retry: again })
            }
        }
    }

    /// Reads what the next question follows, or the last one if it is answered `again`.
    pub fn next_turn(&self, store: &Store, again: bool) -> Result<NextTurn> {
        let forest = self.forest(store)?;
        let start = self.start(store, &forest, again)?;
        Ok(NextTurn { forest, start })
    }

    /// Summarises the conversation if a question of `bytes` would not fit the model's window; the turn then starts at the
    /// end of the new one.
    pub async fn make_room(
        &mut self,
        env: &TurnEnv,
        config: &ModelConfig,
        next: &mut NextTurn,
        bytes: usize,
        view: &mut dyn View,
    ) -> Result<()> {
        let Some(tail) = next.tail_to_summarise(env) else { return Ok(()) };
        let Some(end) = make_room(env, config, &next.forest, tail, bytes, view).await? else {
            return Ok(());
        };
        match self.rules.after_room {
            AfterRoom::KeepsBranch => {}
            AfterRoom::LeavesBranch => self.position.branch = None,
            AfterRoom::Moves => self.position.move_to_summary(end),
        }
        next.forest = env.store.forest_for(&[ReadScope::Tip, ReadScope::Ids(vec![end])])?;
        next.start = TurnStart::Under(end);
        Ok(())
    }

    /// Continues at the end of a turn that started at `start`, and moves the branch to its answer: after an interruption
    /// or a failure the branch stays, and moves with the next answer.
    pub fn follow(&mut self, store: &Store, start: TurnStart, outcome: &Outcome) -> Result<BranchMove> {
        let position = &mut self.position;
        position.pending = outcome.pending;
        if self.rules.after_unanswered == AfterUnanswered::FollowsItsPrev {
            let got_nothing = outcome.end() == outcome.user && outcome.pending.is_none();
            let is_retry = matches!(start, TurnStart::Again(_));
            // The stopped or whole answer that the question had before is still the end.
            if is_retry && got_nothing && position.unanswered.is_none() {
                return Ok(BranchMove::None);
            }
            if outcome.is_unanswered {
                let at = outcome.conv.iter().position(|&id| Some(id) == outcome.user);
                position.tip = at.and_then(|at| outcome.conv.get(at.checked_sub(1)?)).copied();
                position.unanswered = outcome.user;
                return Ok(BranchMove::None);
            }
        }
        position.tip = outcome.end().or(position.tip);
        position.unanswered = None;
        match &outcome.answer {
            Some(answer) => position.move_branch(store, answer.name.id),
            None => Ok(BranchMove::None),
        }
    }

    /// Stores a question whose turn did not begin, if the rules want it, to be answered later.
    pub fn store_question(
        &mut self,
        env: &TurnEnv,
        question: Question,
        failed: FailedStep,
    ) -> Result<Option<BubbName>> {
        let is_kept = match self.rules.store_question {
            StoreQuestion::Never => false,
            StoreQuestion::UnlessRoomFailed => failed != FailedStep::Room,
            StoreQuestion::Always => true,
        };
        if !is_kept {
            return Ok(None);
        }
        let NextTurn { forest, start } = self.next_turn(&env.store, false)?;
        let kept = store_unanswered(env, &forest, start, question)?;
        let position = &mut self.position;
        match self.rules.after_unanswered {
            AfterUnanswered::FollowsItsPrev => {
                (position.tip, position.unanswered) = (kept.prev, Some(kept.id))
            }
            AfterUnanswered::FollowsIt => position.tip = Some(kept.id),
        }
        Ok(Some(kept))
    }
}

/// Claims a pending request, so that no other process decides on it while the claim lives, and checks it for this
/// verdict.
pub fn claim_request(
    (store, masking): (&Store, &Masking),
    id: BubbId,
    verdict: Verdict,
) -> Result<(Claim, NextTurn, Decision)> {
    let claim = store.claim(id)?;
    let forest = store.forest_for(&[ReadScope::Since { id, judged: true }])?;
    let decision = Decision::on((store, masking), &forest, id, verdict)?;
    Ok((claim, NextTurn { forest, start: TurnStart::Decided(id) }, decision))
}

#[cfg(test)]
mod tests;
