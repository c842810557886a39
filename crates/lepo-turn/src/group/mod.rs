//! Group turns: several models are asked at once, or a model leads a debate of the others.
//!
//! A hidden bubb `SELECT: NAME` before an answer names its speaker. No other format exists, so the result is
//! an ordinary forest.

mod debate;
mod history;
mod judge;
mod panel;
mod parallel;
mod participant;
mod prompts;
mod protocol;
mod rules;

pub use debate::{DebateOutcome, Speech};
pub use history::{DebateModels, debate_models};
pub use panel::{GroupMode, GroupOutcome, Panel, PanelNames, execute_group_turn, judge_name};
pub use parallel::ParallelOutcome;
pub use participant::Participant;
pub use protocol::{Bid, judged_by, select_line, selected};

use super::outcome::{FinishedAnswer, ToolUse};
use super::{CommandRunner, TurnEnv, TurnEvent, TurnRequest, TurnStart};
use crate::attach::store_files;
use crate::config::Insts;
use crate::message::NewMessage;
use crate::opening::{prompt_message, question_message};
use crate::turn_path::TurnPath;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::role::Role;
use lepo_store::conv::Forest;

/// Events of a group turn, for its display.
#[derive(Debug)]
pub enum GroupEvent<'e> {
    /// An event outside of a reply: the question, a command of the user's own, a notice.
    Common(TurnEvent<'e>),
    /// An event in the reply of the participant with this name.
    In(&'e str, TurnEvent<'e>),
    /// A reply is complete and stored.
    Spoken(&'e str, &'e FinishedAnswer),
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
pub trait GroupView {
    /// Handles an event. `&self`, because concurrent replies share the observer.
    fn on_event(&self, moment: GroupEvent<'_>);
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
    pub view: &'t dyn GroupView,
}

impl GroupTurn<'_> {
    /// Adds a bubb that does not belong to a reply.
    pub(super) fn add(&self, path: &mut TurnPath, role: Role, hidden: bool, text: &str) -> Result<()> {
        let name = path.add(role, hidden, text.as_bytes())?;
        self.env.masking.note_unmasked(name.id, text);
        self.emit(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    /// Loads the conv, and adds the user's own commands and the question to it, all of it durably. Returns the path that all
    /// participants receive, and the commands.
    pub(super) async fn open(&self, ask: TurnRequest) -> Result<(TurnPath, Vec<ToolUse>)> {
        let masking = &self.env.masking;
        let mut path = TurnPath::at(&self.env.store, self.forest, ask.start, masking)?;
        path.sends_unmasked = ask.unmasked;
        if let Some(prompt) = ask.system_prompt.filter(|_| ask.start == TurnStart::New) {
            self.add_new(&mut path, &prompt_message(masking, prompt))?;
        }
        let (runner, mut ran, mut tools) = (CommandRunner::new(self.env), ask.ran.into_iter(), Vec::new());
        for command in &ask.runs {
            let mut on_event = |event: TurnEvent<'_>| self.emit(event);
            tools.push(match ran.next() {
                Some(carried) => runner.store_own(&mut path, command, &carried, &mut on_event)?,
                None => runner.run(&mut path, command, &mut on_event).await?,
            });
        }
        if let Some(question) = ask.question {
            let typed = question.typed_ranges.clone();
            let question = store_files(&self.env.store, question)?;
            self.add_new(&mut path, &question_message(masking, question, &typed))?;
            let asked = path.tip();
            if let Some(question) = asked {
                path.mark_answering(question);
            }
            let note = asked.and_then(|id| masking.typed_secret_notice(id));
            let notes = masking.prompt_secret_notice().into_iter().chain(note);
            notes.for_each(|note| self.emit(TurnEvent::Notice(&note)));
        }
        Ok((path, tools))
    }

    fn add_new(&self, path: &mut TurnPath, new: &NewMessage) -> Result<()> {
        let (name, text) = path.add_new(new)?;
        self.emit(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    pub(super) fn emit(&self, event: TurnEvent<'_>) {
        self.view.on_event(GroupEvent::Common(event));
    }
}

/// Whether an error ends the whole group turn, and not just a reply.
fn ends_all(error: &Error) -> bool {
    matches!(error.kind, ExitKind::Signal(_) | ExitKind::Store)
}
