//! Group turns: several models are asked at once, or a model leads a debate of the others.
//!
//! A hidden bubb `SELECT: NAME` before an answer names its speaker. No other format exists, so the result is
//! an ordinary forest.

mod debate;
mod history;
mod judge;
mod opening;
mod panel;
mod parallel;
mod participant;
mod prompts;
mod protocol;
mod rules;

pub use debate::{DebateOutcome, Speech};
pub use history::{DebateModels, debate_models};
pub use panel::{GroupMode, GroupOutcome, Panel, execute_group_turn};
pub use parallel::ParallelOutcome;
pub use participant::Participant;
pub use protocol::{Bid, judged_by, select_line, selected};

use super::report::Answered;
use super::{TurnEnv, TurnEvent};
use crate::config::Insts;
use crate::transcript::Transcript;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_secrets::ScreenedBytes;
use lepo_store::bubb::Kind as Speaker;
use lepo_store::conv::Forest;

/// Events of a group turn, for its display.
#[derive(Debug)]
pub enum Moment<'e> {
    /// An event outside of a reply: the question, a command of the user's own, a notice.
    Common(TurnEvent<'e>),
    /// An event in the reply of the participant with this name.
    In(&'e str, TurnEvent<'e>),
    /// A reply is complete and stored.
    Spoken(&'e str, &'e Answered),
    /// A reply failed; the others continue.
    Failed(&'e str, &'e Error),
    /// A round of a debate, counted from 1, starts: these participants are asked whether they want to speak.
    Floor(u32, &'e [&'e str]),
    /// A participant answers whether it wants to speak.
    Wants(&'e str, Bid),
    /// The orchestrator with this name is asked to decide.
    Judging(&'e str),
    /// Text of the orchestrator for the reader.
    Narration(&'e str),
    /// The participant that speaks next.
    Chosen(&'e str),
    /// The conclusion of the debate.
    Concluded(&'e str),
}

/// The display of a group turn.
pub trait Watch {
    /// Handles an event. `&self`, because concurrent replies share the observer.
    fn on_event(&self, moment: Moment<'_>);
}

/// Everything that a group turn uses.
#[derive(Clone, Copy)]
pub struct GroupTurn<'t> {
    /// The environment of all turns.
    pub env: &'t TurnEnv,
    /// The forest at the time of the question.
    pub forest: &'t Forest,
    /// The instructions in effect.
    pub insts: &'t Insts,
    /// The display.
    pub watch: &'t dyn Watch,
}

impl GroupTurn<'_> {
    /// Adds a bubb that does not belong to a reply.
    pub(super) fn add(
        &self,
        transcript: &mut Transcript,
        kind: Speaker,
        hidden: bool,
        text: &str,
    ) -> Result<()> {
        let name = transcript.add(kind, hidden, text.as_bytes())?;
        self.env.masking.note_given(name.id, text);
        self.emit(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    /// Adds a bubb whose stored text differs from the text that the models receive.
    pub(super) fn add_as(
        &self,
        transcript: &mut Transcript,
        kind: Speaker,
        hidden: bool,
        (text, kept): (&str, &ScreenedBytes<'_>),
    ) -> Result<()> {
        let name = transcript.add_as(kind, hidden, text.as_bytes(), kept)?;
        self.emit(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    pub(super) fn emit(&self, event: TurnEvent<'_>) {
        self.watch.on_event(Moment::Common(event));
    }
}

/// Whether an error ends the whole group turn, and not just a reply.
fn ends_all(error: &Error) -> bool {
    matches!(error.kind, ExitKind::Signal(_) | ExitKind::Store)
}
