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
    /// These MCP servers have been starting for a while; none of them when the wait is over.
    ServersStarting(&'e [String]),
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
    /// The user is asked for consent next.
    Consent(&'e Proposal),
    /// The user is asked about a request of this agent next.
    Permit(&'e str, &'e AgentQuestion),
    /// The user is asked next whether programs may start.
    Start(&'e StartQuestion),
    /// The user is asked to fill in a form of this server next.
    Form(&'e str),
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

/// The display of a turn.
pub trait View {
    /// Handles an event.
    fn on_event(&mut self, event: TurnEvent<'_>);

    /// Whether text is displayed as it arrives, before it is known to be the answer.
    fn shows_partial_text(&self) -> bool;

    /// Returns the user; `None` if the display has none to ask.
    fn person(&mut self) -> Option<&mut dyn Person> {
        None
    }
}

/// A user, who is asked. Dropping a future withdraws its question.
pub trait Person {
    /// Asks for consent.
    fn consent<'f>(&'f mut self, _: &'f Proposal) -> PersonAnswer<'f, ConsentReply> {
        Box::pin(async { Ok(ConsentReply::NoTerminal) })
    }

    /// Asks about a request of an agent.
    fn permit<'f>(&'f mut self, _agent: &'f str, _: &'f AgentQuestion) -> PersonAnswer<'f, PermissionReply> {
        Box::pin(async { Ok(PermissionReply::Nobody) })
    }

    /// Asks whether programs may start with their current files, in their folders; `None` if nobody can be asked.
    fn agree_to_start<'f>(&'f mut self, _: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(async { Ok(None) })
    }

    /// Answers a question of a server during a call.
    fn fill_form<'f>(
        &'f mut self,
        _server: &'f str,
        _: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + 'f>> {
        Box::pin(async { ElicitationResult::Declined })
    }

    /// Whether the user can sign in to a server again.
    fn signs_in(&self) -> bool {
        false
    }
}

/// Asks the user of this display for consent.
pub(crate) fn ask_consent<'f>(
    view: &'f mut dyn View,
    proposal: &'f Proposal,
) -> PersonAnswer<'f, ConsentReply> {
    match asked_after(view, TurnEvent::Consent(proposal)) {
        Some(person) => person.consent(proposal),
        None => Box::pin(async { Ok(ConsentReply::NoTerminal) }),
    }
}

/// Asks the user of this display about a request of an agent.
pub(crate) fn ask_permission<'f>(
    view: &'f mut dyn View,
    agent: &'f str,
    question: &'f AgentQuestion,
) -> PersonAnswer<'f, PermissionReply> {
    match asked_after(view, TurnEvent::Permit(agent, question)) {
        Some(person) => person.permit(agent, question),
        None => Box::pin(async { Ok(PermissionReply::Nobody) }),
    }
}

/// Asks the user of this display whether programs may start.
pub(crate) fn ask_to_start<'f>(
    view: &'f mut dyn View,
    question: &'f StartQuestion,
) -> PersonAnswer<'f, Option<bool>> {
    match asked_after(view, TurnEvent::Start(question)) {
        Some(person) => person.agree_to_start(question),
        None => Box::pin(async { Ok(None) }),
    }
}

/// Lets the user of this display fill in a form of a server.
pub(crate) fn ask_form<'f>(
    view: &'f mut dyn View,
    server: &'f str,
    question: ServerQuestion,
) -> Pin<Box<dyn Future<Output = ElicitationResult> + 'f>> {
    match asked_after(view, TurnEvent::Form(server)) {
        Some(person) => person.fill_form(server, question),
        None => Box::pin(async { ElicitationResult::Declined }),
    }
}

/// Returns the user of this display, who is asked after this event.
fn asked_after<'f>(view: &'f mut dyn View, event: TurnEvent<'_>) -> Option<&'f mut dyn Person> {
    view.person()?;
    view.on_event(event);
    view.person()
}
