//! Events of a turn, for its display.

use std::future::Future;
use std::pin::Pin;

use super::{Notice, StartQuestion};
use lepo_base::error::Result;
use lepo_model::{AgentQuestion, Citation, PermissionReply, WebCall};
use lepo_store::bubb::BubbName;
use lepo_tool::mcp::{CallRequest, ElicitationResult, ServerQuestion};
use lepo_tool::{ConsentReply, OutputStream, Proposal};

/// An event of a turn.
#[derive(Debug)]
pub enum TurnEvent<'e> {
    /// A bubb was written; with its bytes, except for an answer, whose text was reported in pieces before.
    Bubb(&'e BubbName, Option<&'e [u8]>),
    /// A request was sent; no data has arrived yet.
    Waiting,
    /// Text of the model's thinking.
    Thinking(&'e str),
    /// Text of the answer.
    Text(&'e str),
    /// The provider's server searched the web or fetched a page for the model.
    WebCall(&'e WebCall),
    /// The page that the text just before is taken from.
    Citation(&'e Citation),
    /// The message is not the final answer: a tool call or a retry follows.
    NotFinal,
    /// The model's message has ended.
    Done,
    /// No more text is available for now: flush buffered output.
    Pause,
    /// A notice or warning for the user.
    Notice(&'e Notice),
    /// A request runs without asking the user.
    Announce(&'e Proposal),
    /// A pending request runs now, after `--approve`.
    Approved(&'e Proposal),
    /// A command starts that was not announced.
    CommandStarted(&'e str),
    /// Output of the running command.
    CommandOutput(CommandOrigin, OutputStream, &'e [u8]),
    /// A call of an MCP tool starts.
    ToolStarted(&'e CallRequest),
    /// Progress of the call, as text of the server.
    Progress(&'e str),
}

/// The origin of a command, which decides how its output is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOrigin {
    /// The user, at the prompt of a session: its stdout is the output.
    Session,
    /// The user, with `--run`: its stdout is for the model, and is displayed to be watched.
    RunOption,
    /// The model: all of its output is displayed to be watched.
    Model,
}

/// The future answer of a user.
pub type PersonAnswer<'f, T> = Pin<Box<dyn Future<Output = Result<T>> + 'f>>;

/// The display of a turn, which can ask the user for consent.
pub trait Front {
    /// Handles an event.
    fn on_event(&mut self, event: TurnEvent<'_>);

    /// Whether text is displayed as it arrives, before it is known to be the answer.
    fn shows_partial_text(&self) -> bool;

    /// Asks the user for consent. Dropping the future withdraws the question.
    fn ask<'f>(
        &'f mut self,
        proposal: &'f Proposal,
    ) -> Pin<Box<dyn Future<Output = Result<ConsentReply>> + 'f>>;

    /// Asks the user about a request of an agent. Dropping the future withdraws the question.
    fn ask_permission<'f>(
        &'f mut self,
        _agent: &'f str,
        _question: &'f AgentQuestion,
    ) -> Pin<Box<dyn Future<Output = Result<PermissionReply>> + 'f>> {
        Box::pin(async { Ok(PermissionReply::Nobody) })
    }

    /// Asks the user whether programs may start with their current files, in their folders; `None` if nobody
    /// can be asked. Dropping the future withdraws the question.
    fn agree_to_start<'f>(&'f mut self, _: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(async { Ok(None) })
    }

    /// Whether a user can be asked.
    fn is_interactive(&self) -> bool {
        false
    }

    /// Answers a question of a server during a call. Dropping the future withdraws the question.
    fn fill_form<'f>(
        &'f mut self,
        _: &'f str,
        _: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + 'f>> {
        Box::pin(async { ElicitationResult::Declined })
    }
}
