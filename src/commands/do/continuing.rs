//! `--continue` without a question: asks for the rest of a stopped answer, or says why it cannot.

use super::DoArgs;
use super::setup::read_tail;
use crate::commands::Context;
use crate::term::print_status;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::role::Role;
use lepo_turn::{BLANK_QUESTION, StartOptions, StoppedAnswers, start, unanswered};

const WHOLE: &str = "the last answer was not stopped: it has no rest to ask for";
const UNANSWERED: &str = "the last question has no answer, so there is no rest of one";

/// The end of the conversation that `--continue` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationEnd {
    Stopped,
    Whole,
    Unanswered,
    /// No conversation, or one that ends otherwise.
    Other,
}

impl ConversationEnd {
    pub fn read(args: &DoArgs, context: &Context<'_>) -> Result<ConversationEnd> {
        let Some(store) = context.find_store()? else { return Ok(ConversationEnd::Other) };
        let (forest, tail) = read_tail(args, &store, false)?;
        let tip = tail.map(|tail| tail.ix).or_else(|| forest.newest());
        let start = start(&store, &forest, StartOptions { new: false, tail, retry: false })?;
        if start.id().is_some_and(|id| StoppedAnswers::new(&store, &forest).contains(id)) {
            return Ok(ConversationEnd::Stopped);
        }
        if tip.is_some_and(|tip| unanswered(&store, &forest, tip).is_some()) {
            return Ok(ConversationEnd::Unanswered);
        }
        let name = start.id().and_then(|id| forest.find(id)).map(|ix| forest.name(ix));
        let is_answer = name.is_some_and(|name| name.role == Role::Assistant && !name.hidden);
        Ok(if is_answer { ConversationEnd::Whole } else { ConversationEnd::Other })
    }

    /// Returns the error where neither a question nor the rest of an answer can be asked for.
    pub fn explain(self, error: Error) -> Error {
        match self.without_rest() {
            Some(why) if error.kind == ExitKind::Usage && error.message.starts_with(BLANK_QUESTION) => why,
            _ => error,
        }
    }

    /// Prints why a session begins, although the user may expect the rest of an answer.
    pub fn print_before_session(self) {
        match self {
            ConversationEnd::Whole => print_status(WHOLE),
            ConversationEnd::Unanswered => print_status(&format!("{UNANSWERED}; /retry answers it")),
            ConversationEnd::Stopped | ConversationEnd::Other => {}
        }
    }

    fn without_rest(self) -> Option<Error> {
        Some(match self {
            ConversationEnd::Whole => Error::usage(WHOLE).hint("ask on: lepo do -- QUESTION"),
            ConversationEnd::Unanswered => Error::usage(UNANSWERED).ask_again(),
            ConversationEnd::Stopped | ConversationEnd::Other => return None,
        })
    }
}
