//! The state of a session from turn to turn. Each step of a session is a function in its own file.

use std::io::{IsTerminal, stdin, stdout};
use std::sync::Arc;

use super::error_line::print_error;
use super::peer_news::News;
use super::reader::PromptReader;
use crate::term::{Out, Paint, StatusLine, is_dumb, print_status, stderr_is_terminal};
use crate::ui::{DisplayOptions, TurnView, ViewEvent, ViewState, notice_lines};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::HintTarget;
use lepo_model::ModelConfig;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Forest;
use lepo_store::store::Store;
use lepo_turn::attach::NewFile;
use lepo_turn::skills::Skill;
use lepo_turn::{Conversation, GONE, NextTurn, Position, ServerContent, TurnEnv, TurnStart};

/// The number of SIGINT, which ends an answer, or at the prompt the session; not a failure in either case.
pub(super) const SIGINT: u8 = 2;

pub struct SessionOptions {
    /// Whether to start a new conversation.
    pub new: bool,
    /// The address that the first question follows.
    pub tail: Option<String>,
    /// Whether the conversation so far is printed first.
    pub show_past: bool,
    pub display: DisplayOptions,
    /// Commands of the user's own, run before the first question.
    pub runs: Vec<String>,
    /// Whether questions and answers are stored.
    pub keeps: bool,
}

pub struct ReplSession<'o> {
    pub(super) env: &'o mut TurnEnv,
    pub(super) store: Arc<Store>,
    pub(super) display: DisplayOptions,
    pub(super) out: &'o mut Out,
    pub(super) paint: Paint,
    pub(super) reader: PromptReader,
    pub(super) conversation: Conversation,
    /// The model that answers, once chosen.
    pub(super) model: Option<ModelConfig>,
    /// The steps for `/undo`, the latest last.
    pub(super) undo_steps: Vec<UndoStep>,
    pub(super) offered_model: bool,
    /// The model that `/model` chose.
    pub(super) chosen: Option<String>,
    pub(super) tokens: SessionTokens,
    /// Files to attach to the next question.
    pub(super) files: Vec<NewFile>,
    /// Texts to attach to the next question, each with its path.
    pub(super) contexts: Vec<(String, Vec<u8>)>,
    /// Resources and prompts of MCP servers for the next turn.
    pub(super) served: ServerContent,
    pub(super) named_skill: Option<Skill>,
    /// Whether secrets in texts that come with the next question are sent.
    pub(super) unmasked: bool,
    /// The messages that `/ls` or `/grep` listed, by number.
    pub(super) numbered: Vec<BubbId>,
    pub(super) runs: Vec<String>,
    /// The printed messages of other users.
    pub(super) news: News,
    /// Whether the user was warned about the fill level of the window.
    pub(super) has_warned_full: bool,
}

impl ReplSession<'_> {
    pub(super) fn drop_waiting(&mut self) {
        if let Some(id) = self.conversation.position.pending.take() {
            print_status(&StatusLine::note(format!("request {id} was dropped: the conversation moved on")));
        }
    }

    /// Whether the user watches, also on a terminal without line editing.
    pub(super) fn is_on_terminal(&self) -> bool {
        let is_terminal = || stdin().is_terminal() && stdout().is_terminal() && stderr_is_terminal();
        self.reader.edits() || (is_dumb() && is_terminal())
    }

    /// Returns the model that answers; chooses it on the first call.
    pub(super) async fn model(&mut self) -> Result<ModelConfig> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let model = self.env.interrupt.or(self.env.configured.choose()).await?;
        if let Some(note) = self.env.settings().embedded_note(&model).filter(|_| !self.display.quiet) {
            notice_lines(&note, HintTarget::Session).iter().for_each(print_status);
        }
        self.model = Some(model.clone());
        Ok(model)
    }

    /// Runs work on the conversation with a view; input typed in the meantime goes to the next prompt.
    pub(super) async fn with_view<T>(
        &mut self,
        state: ViewState,
        work: impl AsyncFnOnce(&TurnEnv, &mut Conversation, &mut TurnView<'_>) -> T,
    ) -> T {
        let mut view = TurnView::new(self.out, self.paint, self.display, HintTarget::Session, state);
        self.reader.buffer_typed();
        let done = work(self.env, &mut self.conversation, &mut view).await;
        view.finish();
        done
    }

    /// Returns the bubb that the next question follows; `None` to start a conversation.
    pub(super) fn tip(&self) -> Option<BubbId> {
        self.conversation.position.tip
    }

    /// Reads the forest as far as the next turn needs it.
    pub(super) fn forest(&self) -> Result<Forest> {
        self.conversation.forest(&self.store)
    }

    /// Reads what the next question follows, or the last one if it is answered `again`.
    pub(super) fn next_turn(&self, again: bool) -> Result<NextTurn> {
        let next = self.conversation.next_turn(&self.store, again)?;
        if next.start == TurnStart::New && self.tip().is_some() && !self.display.quiet {
            print_status(&StatusLine::note(format!("{GONE}: a new one begins; /tail continues another")));
        }
        Ok(next)
    }
}

/// Usage of the session's answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionTokens {
    pub(super) answers: u32,
    pub(super) input: u64,
    pub(super) output: u64,
}

impl SessionTokens {
    pub fn add(&mut self, input: Option<u64>, output: Option<u64>) {
        self.answers += 1;
        self.input = self.input.saturating_add(input.unwrap_or_default());
        self.output = self.output.saturating_add(output.unwrap_or_default());
    }
}

/// Prints an error and returns to the prompt; a signal other than SIGINT is returned as the error.
pub(super) fn report_error(state: ViewState, error: &Error) -> Result<ViewState> {
    match error.kind {
        ExitKind::Signal(SIGINT) => print_status("stopped; /retry answers again"),
        ExitKind::Signal(number) => return Err(Error::new(ExitKind::Signal(number), "interrupted")),
        _ => print_error(error),
    }
    Ok(state.after(ViewEvent::Failed).after(ViewEvent::Reported))
}

/// A step that `/undo` reverts: a question, or a command that left the conversation for a new one.
pub(super) enum UndoStep {
    /// A question as typed, and the end of the conversation before it.
    Asked(Option<BubbId>, String),
    /// `/new` or `/system`, with the position before it.
    Left(SessionSnapshot),
}

/// The position of a session in the store, and its system prompt.
pub(super) struct SessionSnapshot {
    pub(super) position: Position,
    /// The system prompt that `/system` replaced, from the command line or `None`; absent after `/new`.
    pub(super) system_prompt: Option<Option<String>>,
}
