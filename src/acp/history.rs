//! Sends a conversation as updates: messages with their ids, and the tool calls that lead to each answer.

use std::collections::HashSet;

use super::peer::EditorConnection;
use super::tool_calls::{request_call, result_call};
use lepo_acp::content::ContentBlock;
use lepo_acp::update::{AcpToolCall, ChunkKind, SessionUpdate};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, BubbId, BubbName, split_attachments};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;
use lepo_turn::StoppedAnswers;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The size limit of an image in bytes; a larger one is replaced by its label.
const IMAGE: u64 = 512 << 10;

pub struct HistorySender<'r> {
    pub peer: &'r EditorConnection,
    pub session: &'r str,
    pub store: &'r Store,
    pub forest: &'r Forest,
}

impl HistorySender<'_> {
    /// Sends all messages up to `at`, then the pending request after it.
    pub async fn send(&self, at: Option<BubbId>, pending: Option<BubbId>) -> Result<()> {
        let path =
            at.and_then(|at| self.forest.find(at)).map(|ix| self.forest.conv(ix).path).unwrap_or_default();
        let on_path: HashSet<Ix> = path.iter().copied().collect();
        let stopped = StoppedAnswers::new(self.store, self.forest);
        for pair in path.iter().map(Some).chain([None]).collect::<Vec<_>>().windows(2) {
            let (Some(&ix), next) = (pair[0], pair[1].copied()) else { continue };
            self.message(ix, stopped.contains(self.forest.name(ix).id))?;
            self.side(ix, next, &on_path, pending)?;
            while !self.peer.takes_more() {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        }
        Ok(())
    }

    fn message(&self, ix: Ix, is_stopped: bool) -> Result<()> {
        let name = self.forest.name(ix);
        if name.hidden && !is_stopped {
            return self.hidden(&name);
        }
        let (id, mut text) = (name.id.to_string(), self.store.text(&name)?);
        if is_stopped {
            text = format!("{}\n\n(stopped)\n\n", text.trim_end());
        }
        let say = |voice, text: &str| self.peer.send_message_text(self.session, voice, text, Some(&id));
        match name.role {
            Role::User => {
                let (words, files) = split_attachments(&text);
                say(ChunkKind::User, words);
                files.iter().for_each(|file| self.file(file, &id));
            }
            Role::System => say(ChunkKind::User, &text),
            Role::Assistant | Role::Tool => match self.store.speaker(self.forest, &name) {
                Some(speaker) => {
                    say(ChunkKind::Agent, &format!("**{}**\n\n{text}\n\n", crate::term::one_line(&speaker)));
                }
                None => say(ChunkKind::Agent, &text),
            },
        }
        Ok(())
    }

    fn file(&self, file: &Attachment, message: &str) {
        let is_shown = file.media.is_image() && file.len <= IMAGE;
        let bytes = is_shown.then(|| self.store.blob_bytes(&file.hash)).flatten();
        let content = match bytes {
            Some(bytes) => {
                ContentBlock::Image { mime: file.media.mime().to_string(), data: STANDARD.encode(bytes) }
            }
            None => ContentBlock::text(format!("\n\n{}", file.label())),
        };
        let message = Some(message.to_string());
        self.peer.update(self.session, &SessionUpdate::chunk(ChunkKind::User, content, message));
    }

    /// Sends the hidden bubbs after `from` that are not on the path: the calls and results that lead to `next`.
    fn side(&self, from: Ix, next: Option<Ix>, on_path: &HashSet<Ix>, pending: Option<BubbId>) -> Result<()> {
        let from_id = self.forest.name(from).id;
        let is_answered = next.is_some_and(|next| self.forest.name(next).role == Role::Assistant);
        // After the last message there are only a pending request and the rest of an interrupted turn.
        if !is_answered && next.is_some() {
            return Ok(());
        }
        let newest = || self.forest.all().next_back();
        let Some(end) = next.or_else(|| pending.and_then(|id| self.forest.find(id))).or_else(newest) else {
            return Ok(());
        };
        let (mut follows, mut side_branch) = (HashSet::from([from]), Vec::new());
        for ix in self.forest.between(from_id, self.forest.name(end).id) {
            let name = self.forest.name(ix);
            if ix == from || !self.forest.prev(ix).is_some_and(|prev| follows.contains(&prev)) {
                continue;
            }
            if name.hidden && !on_path.contains(&ix) {
                follows.insert(ix);
                side_branch.push(name);
            } else if !name.hidden && Some(ix) != next {
                // Another answer to the same question: the collected bubbs lead to that one.
                side_branch.clear();
            }
        }
        side_branch.iter().try_for_each(|name| self.hidden(name))
    }

    /// Sends a call, its result, or text around them; a system prompt is skipped.
    fn hidden(&self, name: &BubbName) -> Result<()> {
        let text = self.store.text(name)?;
        if matches!(name.role, Role::System | Role::Assistant)
            && let Some(call) = request_call(name, &text)
        {
            self.peer.update(self.session, &SessionUpdate::ToolCall(call));
            return Ok(());
        }
        let before = name.prev.and_then(|prev| self.forest.find(prev)).map(|ix| self.forest.name(ix));
        let call = before.filter(|before| before.hidden);
        let call =
            call.filter(|call| self.store.text(call).is_ok_and(|text| request_call(call, &text).is_some()));
        match (call, name.role) {
            (Some(call), _) => {
                let ended = AcpToolCall { id: call.id.to_string(), ..result_call(&text) };
                self.peer.update(self.session, &SessionUpdate::ToolCallUpdate(ended));
            }
            (None, Role::Assistant) => {
                self.peer.send_message_text(
                    self.session,
                    ChunkKind::Agent,
                    &text,
                    Some(&name.id.to_string()),
                );
            }
            (None, _) => {}
        }
        Ok(())
    }
}
