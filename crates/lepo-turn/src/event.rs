//! Events of a turn, for its view.

use std::future::Future;
use std::pin::Pin;

use super::{Notice, StartQuestion};
use lepo_base::error::Result;
use lepo_model::{AgentQuestion, Citation, Permit, WebCall};
use lepo_store::bubb::Name;
use lepo_tool::mcp::{Asked, CallRequest, FormAnswer};
use lepo_tool::{Proposal, Reply, Stream};

/// Something that happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// A bubb was written; with its bytes, except for an answer, whose text came in pieces before.
    Bubb(&'e Name, Option<&'e [u8]>),
    /// A request left; nothing has come yet.
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
    /// No more text is at hand: buffered output is to be shown.
    Pause,
    /// A note or warning for the user.
    Notice(&'e Notice),
    /// A request is carried out without a question.
    Announce(&'e Proposal),
    /// A pending request is carried out now, after `--approve`.
    Approved(&'e Proposal),
    /// A command begins that was not announced.
    CommandStarted(&'e str),
    /// Output of the running command.
    CommandOutput(RunBy, Stream, &'e [u8]),
    /// A call of an MCP tool begins.
    ToolStarted(&'e CallRequest),
    /// Progress of the call, in the server's words.
    Progress(&'e str),
}

/// The origin of a command, which decides how its output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunBy {
    /// The user, at the prompt of a session: its stdout is the output.
    Session,
    /// The user, with `--run`: its stdout is for the model, and is shown to be watched.
    RunOption,
    /// The model: all of its output is shown to be watched.
    Model,
}

/// The answer of a person, once it is there.
pub type PersonAnswer<'f, T> = Pin<Box<dyn Future<Output = Result<T>> + 'f>>;

/// The view of a turn, which can be asked for consent.
pub trait Front {
    /// Something happened.
    fn happens(&mut self, event: Event<'_>);

    /// True if text is shown as it comes, before it is known to be the answer.
    fn shows_at_once(&self) -> bool;

    /// Asks the person for consent. Dropped, the question is withdrawn.
    fn ask<'f>(&'f mut self, proposal: &'f Proposal) -> Pin<Box<dyn Future<Output = Result<Reply>> + 'f>>;

    /// Asks the person about what an agent wants to do by itself. Dropped, the question is withdrawn.
    fn permit<'f>(
        &'f mut self,
        _agent: &'f str,
        _question: &'f AgentQuestion,
    ) -> Pin<Box<dyn Future<Output = Result<Permit>> + 'f>> {
        Box::pin(async { Ok(Permit::Nobody) })
    }

    /// Asks the person whether programs may start as they are, where they are; `None` if nobody can be asked. Dropped, the
    /// question is withdrawn.
    fn agree_to_start<'f>(&'f mut self, _: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(async { Ok(None) })
    }

    /// True if a person could be asked something.
    fn has_person(&self) -> bool {
        false
    }

    /// Answers a question that a server has while it works. Dropped, the question is withdrawn.
    fn fill_in<'f>(&'f mut self, _: &'f str, _: Asked) -> Pin<Box<dyn Future<Output = FormAnswer> + 'f>> {
        Box::pin(async { FormAnswer::Declined })
    }
}
