//! The user at the terminal, who answers the questions of a turn.

use std::future::Future;
use std::pin::Pin;

use super::agent_permission::permit;
use super::consent;
use super::form::fill_in;
use super::start_question::agree_to_start;
use crate::term::tty;
use lepo_model::{AgentQuestion, PermissionReply};
use lepo_tool::mcp::{ElicitationResult, ServerQuestion};
use lepo_tool::{ConsentReply, Proposal};
use lepo_turn::{Person, PersonAnswer, StartQuestion};

/// The user, if there is a terminal. The display makes room for a question at the event before it.
pub struct TerminalPerson;

impl Person for TerminalPerson {
    fn consent<'f>(&'f mut self, proposal: &'f Proposal) -> PersonAnswer<'f, ConsentReply> {
        Box::pin(consent::ask(proposal.clone()))
    }

    fn permit<'f>(
        &'f mut self,
        agent: &'f str,
        question: &'f AgentQuestion,
    ) -> PersonAnswer<'f, PermissionReply> {
        Box::pin(permit(agent.to_string(), question.clone()))
    }

    fn agree_to_start<'f>(&'f mut self, question: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        if tty().is_none() {
            return Box::pin(async { Ok(None) });
        }
        Box::pin(agree_to_start(question.clone()))
    }

    fn fill_form<'f>(
        &'f mut self,
        server: &'f str,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + 'f>> {
        Box::pin(fill_in(server.to_string(), question))
    }

    fn signs_in(&self) -> bool {
        tty().is_some()
    }
}
