//! The editor as the agent sees it: lines to it, and its answers to what it was asked.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::term::Messages;
use lepo_acp::rpc::{self, RpcError};
use lepo_acp::update::{Update, Voice};

/// The editor.
pub struct Peer {
    out: Messages,
    /// Requests that wait for the editor's answer.
    waiting: RefCell<HashMap<u64, Sender<Result<Value, RpcError>>>>,
    asked: Cell<u64>,
    closed: Cell<bool>,
}

/// A request that waits for an answer. Dropped before that, it is withdrawn.
pub struct Asked<'p> {
    peer: &'p Peer,
    id: u64,
    answer: Receiver<Result<Value, RpcError>>,
}

impl Peer {
    /// The editor behind these messages.
    pub fn new(out: Messages) -> Peer {
        Peer { out, waiting: RefCell::default(), asked: Cell::new(0), closed: Cell::new(false) }
    }

    /// Answers a request of the editor.
    pub fn answer(&self, id: &Value, result: Result<Value, RpcError>) {
        self.out.line(rpc::answer_line(id, result));
    }

    /// Tells of an update.
    pub fn update(&self, session: &str, update: &Update) {
        self.out.line(update.line(session));
    }

    /// Tells of a text, in as many updates as it needs.
    pub fn say(&self, session: &str, voice: Voice, text: &str) {
        self.say_as(session, voice, text, None);
    }

    /// The same, of a message that has an id.
    pub fn say_as(&self, session: &str, voice: Voice, text: &str, message: Option<&str>) {
        for piece in lepo_acp::pieces(text) {
            self.update(session, &Update::text(voice, piece, message.map(str::to_string)));
        }
    }

    /// Asks the editor something.
    pub fn ask(&self, method: &str, params: &Value) -> Asked<'_> {
        let id = self.asked.get();
        self.asked.set(id + 1);
        let (sender, answer) = channel();
        if !self.closed.get() {
            self.waiting.borrow_mut().insert(id, sender);
            self.out.line(rpc::request(id, method, params));
        }
        Asked { peer: self, id, answer }
    }

    /// Hands an answer on to what asked. An answer to nothing is passed over.
    pub fn answered(&self, id: &Value, result: Result<Value, RpcError>) {
        let sender = id.as_u64().and_then(|id| self.waiting.borrow_mut().remove(&id));
        if let Some(sender) = sender {
            let _ = sender.send(result);
        }
    }

    /// The editor is gone: nothing that was asked is answered any more.
    pub fn close(&self) {
        self.closed.set(true);
        self.waiting.borrow_mut().clear();
    }

    /// True once so few lines wait to be written that more may come.
    pub fn takes_more(&self) -> bool {
        self.closed.get() || self.out.has_few_waiting(1000)
    }

    /// The messages, to be written to their end.
    pub fn into_messages(self) -> Messages {
        self.out
    }
}

impl Asked<'_> {
    /// The answer; none if the editor is gone.
    pub async fn answer(mut self) -> Option<Result<Value, RpcError>> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.peer.waiting.borrow_mut().remove(&self.id).is_some() && !self.peer.closed.get() {
            self.peer.out.line(rpc::cancel_request(self.id));
        }
    }
}
