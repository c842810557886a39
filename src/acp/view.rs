//! The view of a turn for an editor: streams text and thinking, and reports tool calls from request to result.

use serde_json::{Value, json};

use super::consent;
use super::peer::EditorConnection;
use super::session::AcpSession;
use super::tool_calls::{request_call, result_call};
use crate::term::one_line;
use crate::ui::notice_lines;
use lepo_acp::TEXT;
use lepo_acp::update::{AcpToolCall, ChunkKind, SessionUpdate, ToolCallStatus};
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_model::{AgentQuestion, PermissionReply};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_tool::{ConsentReply, Proposal};
use lepo_turn::{Person, PersonAnswer, StartQuestion, TurnEvent, View};

pub struct AcpView<'f> {
    pub peer: &'f EditorConnection,
    pub session: &'f AcpSession,
    /// Whether the editor left a question unanswered, or withdrew it.
    pub has_withdrawn: bool,
    /// Whether the buffered text is answer or thinking.
    chunk_kind: ChunkKind,
    text: String,
    /// The tool call without a result.
    open: Option<BubbId>,
}

impl<'f> AcpView<'f> {
    pub fn new(peer: &'f EditorConnection, session: &'f AcpSession) -> AcpView<'f> {
        AcpView {
            peer,
            session,
            has_withdrawn: false,
            chunk_kind: ChunkKind::Agent,
            text: String::new(),
            open: None,
        }
    }

    /// Sends the buffered text.
    pub fn flush(&mut self) {
        if !self.text.is_empty() {
            self.peer.send_text(&self.session.id, self.chunk_kind, &self.text);
            self.text.clear();
        }
    }

    /// Resumes a tool call that the editor already knows.
    pub fn resume_call(&mut self, request: BubbId) {
        self.open = Some(request);
    }

    fn send_chunk(&mut self, chunk_kind: ChunkKind, text: &str) {
        if self.chunk_kind != chunk_kind || self.text.len() + text.len() > TEXT {
            self.flush();
            self.chunk_kind = chunk_kind;
        }
        self.text.push_str(text);
    }

    fn update(&mut self, update: &SessionUpdate) {
        self.flush();
        self.peer.update(&self.session.id, update);
    }

    /// Sends an update of the open tool call, if a call is open.
    fn update_open_call(&mut self, update: impl FnOnce(AcpToolCall) -> AcpToolCall) {
        if let Some(open) = self.open {
            let call = update(AcpToolCall { id: open.to_string(), ..AcpToolCall::default() });
            self.update(&SessionUpdate::ToolCallUpdate(call));
        }
    }

    /// Reports a written message: as a tool call, as its result, or as information about the session.
    fn on_written(&mut self, name: &BubbName, bytes: Option<&[u8]>) {
        if !name.hidden && matches!(name.role, Role::User | Role::Assistant) {
            self.session.record_last(name.id);
        }
        let meta = json!({ "lepo": { "message": message(name) } });
        let text = bytes.map(String::from_utf8_lossy).unwrap_or_default();
        let follows_open = self.open.is_some() && self.open == name.prev;
        if name.hidden
            && matches!(name.role, Role::System | Role::Assistant)
            && let Some(call) = request_call(name, &text)
        {
            self.open = Some(name.id);
            return self.update(&SessionUpdate::ToolCall(AcpToolCall { meta: Some(meta), ..call }));
        }
        if name.hidden && follows_open {
            let call = result_call(&text);
            self.update_open_call(|open| AcpToolCall { id: open.id, meta: Some(meta), ..call });
            self.open = None;
            return;
        }
        let updated_at = Some(lepo_base::time::iso_utc(name.id.time()));
        self.update(&SessionUpdate::SessionInfoUpdate { title: None, updated_at, meta: Some(meta) });
    }
}

/// Returns a bubb's name as JSON.
pub fn message(name: &BubbName) -> Value {
    json!({
        "id": name.id.to_string(),
        "kind": name.role.as_str(),
        "hidden": name.hidden,
        "prev": name.prev.map(|prev| prev.to_string()),
    })
}

impl View for AcpView<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        match event {
            TurnEvent::Text(text) => self.send_chunk(ChunkKind::Agent, text),
            TurnEvent::Thinking(text) => self.send_chunk(ChunkKind::Thought, text),
            TurnEvent::Pause | TurnEvent::NotFinal | TurnEvent::Done => self.flush(),
            TurnEvent::Notice(notice) => {
                self.flush();
                for line in notice_lines(notice, HintTarget::Session) {
                    self.peer.send_text(&self.session.id, ChunkKind::Thought, &format!("{line}\n"));
                }
            }
            TurnEvent::Announce(_)
            | TurnEvent::Approved(_)
            | TurnEvent::CommandStarted(_)
            | TurnEvent::ToolStarted(_) => {
                self.update_open_call(|call| AcpToolCall {
                    status: Some(ToolCallStatus::InProgress),
                    ..call
                });
            }
            TurnEvent::WebCall(call) => {
                self.flush();
                self.peer.send_text(
                    &self.session.id,
                    ChunkKind::Thought,
                    &format!("{}: {}\n", call.tool, call.about),
                );
            }
            TurnEvent::Citation(page) => {
                let (title, url) = (one_line(&page.title), one_line(&page.url));
                self.send_chunk(ChunkKind::Agent, &format!("\n\n{title}: {url}"));
            }
            TurnEvent::Progress(text) => {
                let text: String = text.chars().take(1000).collect();
                self.update_open_call(|call| AcpToolCall { texts: Some(vec![text]), ..call });
            }
            TurnEvent::Bubb(name, bytes) => self.on_written(name, bytes),
            // The result contains the output.
            TurnEvent::Waiting | TurnEvent::ServersStarting(_) | TurnEvent::CommandOutput(..) => {}
            TurnEvent::Consent(_) | TurnEvent::Permit(..) | TurnEvent::Start(_) => self.flush(),
            TurnEvent::Form(_) => {}
        }
    }

    fn shows_partial_text(&self) -> bool {
        true
    }

    fn person(&mut self) -> Option<&mut dyn Person> {
        Some(self)
    }
}

impl Person for AcpView<'_> {
    fn consent<'f>(&'f mut self, proposal: &'f Proposal) -> PersonAnswer<'f, ConsentReply> {
        Box::pin(async move {
            let answer = consent::ask((self.peer, self.session), self.open, proposal).await?;
            self.has_withdrawn |= answer.has_withdrawn;
            Ok(answer.reply)
        })
    }

    fn permit<'f>(
        &'f mut self,
        agent: &'f str,
        question: &'f AgentQuestion,
    ) -> PersonAnswer<'f, PermissionReply> {
        Box::pin(consent::permit((self.peer, self.session), agent, question))
    }

    fn agree_to_start<'f>(&'f mut self, question: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(async move { Ok(consent::agree_to_start((self.peer, self.session), question).await) })
    }
}

/// A view without output, for a summary during another turn.
pub struct SilentView;

impl View for SilentView {
    fn on_event(&mut self, _: TurnEvent<'_>) {}

    fn shows_partial_text(&self) -> bool {
        false
    }
}
