//! A prompt to an agent, until its end.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{AgentProcess, pool};
use crate::agent_types::{AgentCall, AgentQuestion, PermissionReply};
use crate::event::{ChatEvent, EventQueue, FinishReason, TextKind};
use lepo_acp::client;
use lepo_acp::permission::{self, PermissionOptionKind, PermissionRequest};
use lepo_acp::rpc::{RpcError, RpcMessage};
use lepo_acp::update::{self, AcpToolCall, SessionUpdate, ToolCallStatus};
use lepo_base::error::Result;

/// Most open tool calls; further ones are not reported.
const OPEN: usize = 1000;

/// A prompt in progress. Dropping it before its end cancels the turn and terminates the agent.
pub struct AgentAnswer {
    /// `None` once the agent was returned to the pool.
    agent: Option<AgentProcess>,
    session: String,
    prompt: u64,
    /// Events before the first one of the agent.
    first: EventQueue,
    /// Open calls, in order.
    open: Vec<AcpToolCall>,
    /// Open questions, by number.
    questions: HashMap<u64, (Value, PermissionRequest)>,
    next_id: u64,
    /// Whether a tool call followed the last text.
    apart: bool,
    /// Whether the answer is empty or ends with white space.
    begins: bool,
}

impl AgentAnswer {
    pub(super) fn new(agent: AgentProcess, session: String, prompt: u64, first: EventQueue) -> AgentAnswer {
        AgentAnswer {
            agent: Some(agent),
            session,
            prompt,
            first,
            open: Vec::new(),
            questions: HashMap::new(),
            next_id: 0,
            apart: false,
            begins: true,
        }
    }

    /// Waits for the next events.
    pub async fn read_more(&mut self, events: &mut EventQueue) -> Result<()> {
        if !self.first.is_empty() {
            events.append(&mut self.first);
            return Ok(());
        }
        loop {
            let Some(agent) = &mut self.agent else { return Ok(()) };
            let message = agent.next().await?;
            self.hear(message, events)?;
            let has_more = self.agent.as_ref().is_some_and(AgentProcess::has_more);
            let is_over = matches!(events.back(), Some(ChatEvent::Done(_) | ChatEvent::AgentAsks(_)));
            if is_over || !events.is_empty() && !has_more {
                return Ok(());
            }
        }
    }

    /// Answers a question of the agent.
    pub fn permit(&mut self, number: u64, permit: PermissionReply) {
        let (Some((id, question)), Some(agent)) = (self.questions.remove(&number), &mut self.agent) else {
            return;
        };
        let wanted: &[PermissionOptionKind] = match permit {
            PermissionReply::Once => &[PermissionOptionKind::AllowOnce],
            PermissionReply::Always => &[PermissionOptionKind::AllowAlways, PermissionOptionKind::AllowOnce],
            PermissionReply::No | PermissionReply::Nobody => {
                &[PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]
            }
        };
        agent.answer(&id, Ok(question.answer(wanted)));
        let refused = match permit {
            PermissionReply::Once | PermissionReply::Always => return,
            PermissionReply::No => "refused: the user said no",
            PermissionReply::Nobody => "refused: nobody could be asked",
        };
        // The agent may send nothing more about this call.
        let call = self.merge_call(&question.call);
        call.output = Some(Value::String(refused.to_owned()));
        call.status = Some(ToolCallStatus::Failed);
        call.texts = None;
    }

    fn hear(&mut self, message: RpcMessage, events: &mut EventQueue) -> Result<()> {
        match message {
            RpcMessage::Notification { method, params } if method == update::METHOD => {
                // Messages for another session, or from an old turn, are ignored.
                if let Some((session, update)) = update::read(params)
                    && session == self.session
                {
                    self.on_update(update, events);
                }
            }
            RpcMessage::Request { id, method, params } if method == permission::METHOD => {
                let question =
                    PermissionRequest::read(params).filter(|question| question.session == self.session);
                match (question, &mut self.agent) {
                    (Some(question), _) => self.ask(id, question, events),
                    (None, Some(agent)) => agent.answer(&id, Ok(permission::cancelled())),
                    (None, None) => {}
                }
            }
            RpcMessage::Answer { id, result } if id == json!(self.prompt) => return self.end(result, events),
            other => {
                if let Some(agent) = &mut self.agent {
                    agent.pass_over(other);
                }
            }
        }
        Ok(())
    }

    fn on_update(&mut self, update: SessionUpdate, events: &mut EventQueue) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let Some(text) = chunk.content.into_text() else { return };
                if std::mem::take(&mut self.apart) && !self.begins && !text.starts_with(char::is_whitespace) {
                    TextKind::Text.push_event("\n\n", events);
                }
                self.begins = text.chars().next_back().map_or(self.begins, char::is_whitespace);
                TextKind::Text.push_event(&text, events);
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                let Some(text) = chunk.content.into_text() else { return };
                TextKind::Thinking.push_event(&text, events);
            }
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => {
                self.apart = true;
                self.tool(&call, events);
            }
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AvailableCommandsUpdate { .. }
            | SessionUpdate::CurrentModeUpdate { .. }
            | SessionUpdate::ConfigOptionUpdate { .. }
            | SessionUpdate::SessionInfoUpdate { .. }
            | SessionUpdate::UsageUpdate { .. }
            | SessionUpdate::Other => {}
        }
    }

    fn tool(&mut self, call: &AcpToolCall, events: &mut EventQueue) {
        let is_new = self.open.iter().all(|known| known.id != call.id);
        if is_new && (self.open.len() >= OPEN || call.title.is_none() && call.input.is_none()) {
            return;
        }
        let known = self.merge_call(call);
        if is_new {
            events.push_back(ChatEvent::Working(title(known)));
        }
        let is_over = matches!(known.status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed));
        if !is_over && (is_new || call.title.is_some() || call.input.is_some()) {
            events.push_back(ChatEvent::AgentCallOpen(recorded(known)));
        }
        if matches!(known.status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed)) {
            let id = known.id.clone();
            if let Some(at) = self.open.iter().position(|known| known.id == id) {
                events.push_back(ChatEvent::AgentCall(recorded(&self.open.remove(at))));
            }
        }
    }

    /// Merges an update into the known call, and returns that.
    fn merge_call(&mut self, call: &AcpToolCall) -> &mut AcpToolCall {
        let at = match self.open.iter().position(|known| known.id == call.id) {
            Some(at) => at,
            None => {
                self.open.push(AcpToolCall { id: call.id.clone(), ..AcpToolCall::default() });
                self.open.len() - 1
            }
        };
        let known = &mut self.open[at];
        let AcpToolCall { title, kind, status, texts, input, output, .. } = call.clone();
        // A refusal remains, whatever the agent reports afterwards.
        let is_refused = known.status == Some(ToolCallStatus::Failed) && known.output.is_some();
        known.title = title.or(known.title.take());
        known.kind = kind.or(known.kind);
        known.input = input.filter(|input| !is_empty(input)).or(known.input.take());
        if !is_refused {
            known.status = status.or(known.status);
            known.texts = texts.filter(|texts| !texts.is_empty()).or(known.texts.take());
            known.output = output.or(known.output.take());
        }
        known
    }

    fn ask(&mut self, id: Value, question: PermissionRequest, events: &mut EventQueue) {
        let number = self.next_id;
        let held = self.agent.as_ref().and_then(AgentProcess::sandbox_label).map(str::to_owned);
        let known = self.merge_call(&question.call);
        let asked = AgentQuestion {
            number,
            title: title(known),
            details: details(known),
            offers_always: question.offers(PermissionOptionKind::AllowAlways),
            sandbox: held,
        };
        let open = recorded(known);
        self.questions.insert(number, (id, question));
        events.push_back(ChatEvent::AgentCallOpen(open));
        self.next_id += 1;
        events.push_back(ChatEvent::AgentAsks(asked));
    }

    fn end(&mut self, result: std::result::Result<Value, RpcError>, events: &mut EventQueue) -> Result<()> {
        for call in std::mem::take(&mut self.open) {
            events.push_back(ChatEvent::AgentCall(recorded(&call)));
        }
        let Some(agent) = self.agent.take() else { return Ok(()) };
        match result {
            Ok(reply) => {
                pool::give_back(agent);
                let word = client::stop_reason(&reply);
                events.push_back(ChatEvent::Done(FinishReason::from_word(&word)));
                Ok(())
            }
            // The session may be broken too, so the agent is terminated.
            Err(error) => Err(agent.failure(&error)),
        }
    }
}

impl Drop for AgentAnswer {
    fn drop(&mut self) {
        if let Some(agent) = &mut self.agent {
            agent.cancel(&self.session);
        }
    }
}

fn is_empty(input: &Value) -> bool {
    input.as_object().is_some_and(serde_json::Map::is_empty) || input.is_null()
}

fn title(call: &AcpToolCall) -> String {
    call.title.clone().unwrap_or_else(|| call.id.clone())
}

fn details(call: &AcpToolCall) -> String {
    let input = call.input.as_ref().map(|input| serde_json::to_string_pretty(input).unwrap_or_default());
    let texts = call.texts.iter().flatten().cloned();
    input.into_iter().chain(texts).collect::<Vec<_>>().join("\n")
}

/// Returns a call with its result as text: its displayed texts, or else its output.
fn recorded(call: &AcpToolCall) -> AgentCall {
    let shown = call.texts.as_ref().map(|texts| texts.join("\n")).filter(|text| !text.trim().is_empty());
    let put_out = call.output.as_ref().map(|output| match output.as_str() {
        Some(text) => text.to_owned(),
        None => output.to_string(),
    });
    let result = shown.or(put_out).unwrap_or_else(|| match call.status {
        Some(ToolCallStatus::Completed) => "done".to_owned(),
        Some(ToolCallStatus::Failed) => "error: it failed".to_owned(),
        _ => "no result came".to_owned(),
    });
    AgentCall {
        id: call.id.clone(),
        title: title(call),
        input: call.input.clone().unwrap_or_else(|| json!({})),
        result,
    }
}
