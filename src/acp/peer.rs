//! The connection to the editor: sends lines, and receives the editor's answers to lepo's requests.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::term::MessageWriter;
use lepo_acp::content::ContentBlock;
use lepo_acp::request::ClientNotification;
use lepo_acp::rpc::{self, RpcError};
use lepo_acp::update::{ChunkKind, SessionUpdate};

pub struct EditorConnection {
    out: MessageWriter,
    /// Requests that wait for the editor's answer.
    waiting: RefCell<HashMap<u64, Sender<Result<Value, RpcError>>>>,
    next_id: Cell<u64>,
    is_closed: Cell<bool>,
}

/// A request that waits for an answer. Dropping it withdraws the request.
pub struct OutstandingRequest<'p> {
    peer: &'p EditorConnection,
    id: u64,
    answer: Receiver<Result<Value, RpcError>>,
}

impl EditorConnection {
    /// Creates the connection over `out`.
    pub fn new(out: MessageWriter) -> EditorConnection {
        EditorConnection {
            out,
            waiting: RefCell::default(),
            next_id: Cell::new(0),
            is_closed: Cell::new(false),
        }
    }

    pub fn answer(&self, id: &Value, result: Result<Value, RpcError>) {
        self.out.line(rpc::answer_line(id, result));
    }

    pub fn update(&self, session: &str, update: &SessionUpdate) {
        self.out.line(update.line(session));
    }

    /// Sends a text, in as many updates as it needs.
    pub fn send_text(&self, session: &str, voice: ChunkKind, text: &str) {
        self.send_message_text(session, voice, text, None);
    }

    /// Like [`EditorConnection::say`], for a message with an id.
    pub fn send_message_text(&self, session: &str, voice: ChunkKind, text: &str, message: Option<&str>) {
        for piece in lepo_acp::pieces(text) {
            let message = message.map(str::to_string);
            self.update(session, &SessionUpdate::chunk(voice, ContentBlock::text(piece), message));
        }
    }

    /// Sends a request to the editor.
    pub fn ask(&self, method: &str, params: &Value) -> OutstandingRequest<'_> {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        let (sender, answer) = channel();
        if !self.is_closed.get() {
            self.waiting.borrow_mut().insert(id, sender);
            self.out.line(rpc::request(id, method, params));
        }
        OutstandingRequest { peer: self, id, answer }
    }

    /// Passes an answer to the waiting request. An answer to an unknown request is ignored.
    pub fn complete_request(&self, id: &Value, result: Result<Value, RpcError>) {
        let sender = id.as_u64().and_then(|id| self.waiting.borrow_mut().remove(&id));
        if let Some(sender) = sender {
            let _ = sender.send(result);
        }
    }

    /// Closes the connection: no further request is answered.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.waiting.borrow_mut().clear();
    }

    /// Whether the output queue has room for more lines.
    pub fn takes_more(&self) -> bool {
        self.is_closed.get() || self.out.has_few_waiting(1000)
    }

    /// Returns the output, which the caller writes to its end.
    pub fn into_messages(self) -> MessageWriter {
        self.out
    }
}

impl OutstandingRequest<'_> {
    /// Waits for the answer; `None` if the editor is gone.
    pub async fn answer(mut self) -> Option<Result<Value, RpcError>> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for OutstandingRequest<'_> {
    fn drop(&mut self) {
        if self.peer.waiting.borrow_mut().remove(&self.id).is_some() && !self.peer.is_closed.get() {
            let cancel = ClientNotification::CancelRequest { request_id: self.id.into() };
            self.peer.out.line(rpc::notification_line(&cancel));
        }
    }
}
