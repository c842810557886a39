//! Group turns: several models are asked at once, or one of them leads a debate of the others.
//!
//! A hidden bubb `SELECT: NAME` before an answer names its speaker. There is no other format,
//! so what comes of it is a forest like any other.

mod debate;
mod judge;
mod opening;
mod panel;
mod parallel;
mod participant;
mod past;
mod prompts;
mod protocol;
mod rules;

pub use debate::{Debated, Speech};
pub use panel::{GroupMode, GroupOutcome, Panel, take_group_turn};
pub use parallel::Polled;
pub use participant::Participant;
pub use past::{DebateModels, debate_models};
pub use protocol::{Bid, judged_by, select_line, selected};

use super::report::Answered;
use super::{Event, TurnEnv};
use crate::config::Insts;
use crate::transcript::Transcript;
use lepo_base::error::{Error, Kind, Result};
use lepo_secrets::Kept;
use lepo_store::bubb::Kind as Speaker;
use lepo_store::conv::Forest;

/// Events of a group turn, for its view.
#[derive(Debug)]
pub enum Moment<'e> {
    /// An event of no reply: the question, a command of the user's own, a note.
    Common(Event<'e>),
    /// An event in the reply of the participant of this name.
    In(&'e str, Event<'e>),
    /// A reply is whole, and kept.
    Spoken(&'e str, &'e Answered),
    /// A reply failed; the others go on.
    Failed(&'e str, &'e Error),
    /// A round of a debate, counted from 1, begins: these are asked for the floor.
    Floor(u32, &'e [&'e str]),
    /// A participant answers whether it wants the floor.
    Wants(&'e str, Bid),
    /// The orchestrator, of this name, is asked to decide.
    Judging(&'e str),
    /// The orchestrator's words to the reader.
    Narration(&'e str),
    /// The participant that has the floor.
    Chosen(&'e str),
    /// The conclusion of the debate.
    Concluded(&'e str),
}

/// The view of a group turn.
pub trait Watch {
    /// Something happened. Takes `&self`, as replies that are made side by side share one watcher.
    fn sees(&self, moment: Moment<'_>);
}

/// Everything that a group turn uses.
#[derive(Clone, Copy)]
pub struct GroupTurn<'t> {
    /// Environment, one for all turns.
    pub env: &'t TurnEnv,
    /// The forest as it was when the question was asked.
    pub forest: &'t Forest,
    /// The instructions in force.
    pub insts: &'t Insts,
    /// The view.
    pub watch: &'t dyn Watch,
}

impl GroupTurn<'_> {
    /// Adds a bubb that belongs to no reply.
    pub(super) fn add(
        &self,
        transcript: &mut Transcript,
        kind: Speaker,
        hidden: bool,
        text: &str,
    ) -> Result<()> {
        let name = transcript.add(kind, hidden, text.as_bytes())?;
        self.env.masking.note_given(name.id, text);
        self.tell(Event::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    /// Adds a bubb that is kept in another form than the models are told.
    pub(super) fn add_as(
        &self,
        transcript: &mut Transcript,
        kind: Speaker,
        hidden: bool,
        (text, kept): (&str, &Kept<'_>),
    ) -> Result<()> {
        let name = transcript.add_as(kind, hidden, text.as_bytes(), kept)?;
        self.tell(Event::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        self.watch.sees(Moment::Common(event));
    }
}

/// Not the failure of one reply: it ends all.
fn ends_all(error: &Error) -> bool {
    matches!(error.kind, Kind::Signal(_) | Kind::Store)
}
