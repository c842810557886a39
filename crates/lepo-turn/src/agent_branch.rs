//! Events of an agent on the way to its answer: its tool calls, stored as a side branch when they start, and
//! its questions for permission.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::json;

use super::answer_context::AnswerContext;
use super::event::ask_permission;
use super::masking_cut::cut;
use super::turn::Turn;
use super::turn_path::write_bubb;
use super::{Interrupt, Masking, Notice, ToolUse, TurnEvent, View};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_model::{AgentCall, AgentQuestion, AnswerStream, PermissionReply, spec};
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;

/// Maximum bytes to store of a result.
const LONGEST: usize = 1 << 20;

/// The result of a call that was still running when the answer was interrupted.
const STOPPED: &str = "no result came: the answer was cut short";

/// Maximum number of an agent's questions in a turn without a user to answer them: an agent that repeats its
/// question would never end.
const MOST_UNANSWERED: usize = 16;

/// The side branch of an answer.
pub(super) struct AgentBranch<'s> {
    store: &'s Arc<Store>,
    masking: &'s Masking,
    model: &'s str,
    can_ask: bool,
    /// Number of questions of this answer that nobody could answer.
    unanswered: usize,
    /// The bubb that the next one follows.
    pub tip: Option<BubbId>,
    /// The session of the agent that answers.
    pub session: Option<String>,
    /// The running calls, ordered by start.
    running_calls: Vec<AgentCall>,
    /// The running call whose bubb is written: its id, and the index of its row in `used`.
    written_call: Option<(String, usize)>,
    /// Calls that ended while the written call was running: a result must directly follow its request.
    ended_calls: Vec<AgentCall>,
    used: &'s RefCell<Vec<ToolUse>>,
}

impl<'s> AgentBranch<'s> {
    /// Creates an empty side branch for an answer at this position.
    pub fn new(context: &AnswerContext<'s>) -> AgentBranch<'s> {
        let (store, masking, model) = (context.store, context.masking, context.model);
        AgentBranch {
            store,
            masking,
            model,
            can_ask: context.can_ask,
            unanswered: 0,
            tip: context.tip,
            session: None,
            running_calls: Vec::new(),
            written_call: None,
            ended_calls: Vec::new(),
            used: context.agent_calls,
        }
    }

    /// Handles an event of an agent, and ignores other events.
    pub async fn on_event(
        &mut self,
        event: lepo_model::ChatEvent,
        answer: &mut AnswerStream<'_>,
        view: &mut dyn View,
        interrupt: &Interrupt,
    ) -> Result<()> {
        match event {
            lepo_model::ChatEvent::AgentSession(session) => self.session = Some(session),
            lepo_model::ChatEvent::Working(title) => {
                view.on_event(TurnEvent::Progress(&format!("{}: {title}", self.model)));
            }
            lepo_model::ChatEvent::AgentCallOpen(call) => self.begins(call, view)?,
            lepo_model::ChatEvent::AgentCall(call) => self.end_call(call, view)?,
            lepo_model::ChatEvent::AgentAsks(question) => {
                let reply = self.permit(&question, view, interrupt).await?;
                answer.permit(question.number, reply);
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks the user. Refuses if tools are off.
    async fn permit(
        &mut self,
        question: &AgentQuestion,
        view: &mut dyn View,
        interrupt: &Interrupt,
    ) -> Result<PermissionReply> {
        if !self.can_ask {
            return Ok(PermissionReply::No);
        }
        let reply = interrupt.or(ask_permission(view, self.model, question)).await?;
        if reply == PermissionReply::Nobody {
            self.unanswered += 1;
            if self.unanswered >= MOST_UNANSWERED {
                return Err(Error::remote(format!(
                    "{} asked {MOST_UNANSWERED} times for permission, and nobody can answer",
                    self.model
                ))
                .hint(
                    "ask it in a terminal, or configure a `sandbox` and what the agent may do without asking",
                ));
            }
            view.on_event(TurnEvent::Notice(&Notice::AgentRefused(self.model.to_string())));
        }
        Ok(reply)
    }

    /// Records a running call. The call is written once its input is known, unless another running call is
    /// written.
    fn begins(&mut self, call: AgentCall, view: &mut dyn View) -> Result<()> {
        match self.running_calls.iter_mut().find(|known| known.id == call.id) {
            Some(known) => *known = call,
            None => self.running_calls.push(call),
        }
        self.write_next(view)
    }

    /// Records a finished call.
    fn end_call(&mut self, call: AgentCall, view: &mut dyn View) -> Result<()> {
        self.running_calls.retain(|known| known.id != call.id);
        match &self.written_call {
            Some((id, row)) if *id == call.id => {
                let row = *row;
                self.written_call = None;
                self.write_result(row, &call.result, view)?;
                for call in std::mem::take(&mut self.ended_calls) {
                    self.write_whole(&call, view)?;
                }
            }
            Some(_) => self.ended_calls.push(call),
            None => self.write_whole(&call, view)?,
        }
        self.write_next(view)
    }

    /// Writes the known data of running calls after the answer was interrupted.
    pub fn stop(&mut self, view: &mut dyn View) -> Result<()> {
        if let Some((id, row)) = self.written_call.take() {
            self.running_calls.retain(|known| known.id != id);
            self.write_result(row, STOPPED, view)?;
        }
        for call in std::mem::take(&mut self.ended_calls) {
            self.write_whole(&call, view)?;
        }
        for call in std::mem::take(&mut self.running_calls) {
            self.write_whole(&AgentCall { result: STOPPED.to_string(), ..call }, view)?;
        }
        Ok(())
    }

    /// Writes the first running call, if its input is known and no other running call is written.
    fn write_next(&mut self, view: &mut dyn View) -> Result<()> {
        let is_known = |call: &&AgentCall| call.input.as_object().is_none_or(|input| !input.is_empty());
        if self.written_call.is_some() {
            return Ok(());
        }
        let Some(call) = self.running_calls.iter().find(is_known).cloned() else { return Ok(()) };
        let row = self.write_request(&call, view)?;
        self.written_call = Some((call.id, row));
        Ok(())
    }

    fn write_whole(&mut self, call: &AgentCall, view: &mut dyn View) -> Result<()> {
        let row = self.write_request(call, view)?;
        self.write_result(row, &call.result, view)
    }

    /// Writes a call and returns the index of its row. The call does not have the format of lepo's requests,
    /// so it can never be approved.
    fn write_request(&mut self, call: &AgentCall, view: &mut dyn View) -> Result<usize> {
        let request = json!({ "arguments": call.input, "name": call.title });
        let bubb = self.write(Role::Assistant, &request.to_string(), view)?;
        let mut used = self.used.borrow_mut();
        used.push(ToolUse { bubb, kind: "agent", request, result: None, exit: None });
        Ok(used.len() - 1)
    }

    fn write_result(&mut self, row: usize, result: &str, view: &mut dyn View) -> Result<()> {
        let (result, rest) = cut(self.masking, result, LONGEST);
        let result = match rest.len() {
            0 => result.to_string(),
            more => format!("{result}\n[… {more} bytes left out …]"),
        };
        let bubb = self.write(Role::Tool, &result, view)?;
        if let Some(used) = self.used.borrow_mut().get_mut(row) {
            used.result = Some(bubb);
        }
        Ok(())
    }

    fn write(&mut self, role: Role, text: &str, view: &mut dyn View) -> Result<BubbId> {
        let screened = self.masking.screen(text.as_bytes(), "what an agent did");
        let name = write_bubb(self.store, (role, true), self.tip, 0, &screened)?;
        self.tip = Some(name.id);
        view.on_event(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        Ok(name.id)
    }
}

/// Returns the agent's session that ends at the last answer of the conversation.
pub(super) fn agent_session(turn: &Turn<'_>) -> Option<String> {
    if !spec(turn.config).own_tools {
        return None;
    }
    let path = &turn.path;
    let last = path.messages.iter().rfind(|message| message.is_answer())?.id?;
    turn.env.store.journal().agent_session(last, &turn.config.name)
}
