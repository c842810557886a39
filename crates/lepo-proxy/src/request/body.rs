//! The body of a request in one form for all wires.

use super::message::{ProxyMessage, ProxyRole, ProxyTool};
use super::options::ProxyOptions;

/// The body of a request, without its model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestBody {
    /// The messages, the system prompt first where the wire has it apart.
    pub messages: Vec<ProxyMessage>,
    /// The offered tools.
    pub tools: Vec<ProxyTool>,
    /// Options and schema.
    pub options: ProxyOptions,
    /// The answer is wanted in pieces.
    pub is_streamed: bool,
    /// The number of answers wanted.
    pub answers: u64,
    /// The id of the response that the request continues.
    pub previous: Option<String>,
}

impl RequestBody {
    /// Whether there is anything to answer.
    pub fn has_messages(&self) -> bool {
        let has_parts = |message: &ProxyMessage| !message.parts.is_empty();
        self.previous.is_some() || self.messages.iter().any(has_parts)
    }

    /// Removes a last message of the assistant, which the answer is to continue, and returns its text.
    pub fn take_prefill(&mut self) -> Option<String> {
        let is_prefill = |last: &ProxyMessage| last.role == ProxyRole::Assistant && last.is_text();
        if self.messages.len() < 2 || !self.messages.last().is_some_and(is_prefill) {
            return None;
        }
        self.messages.pop().map(|last| last.joined_text())
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{MessageItem, ProxyCall};
    use super::*;

    #[test]
    fn only_a_last_text_of_the_assistant_is_a_prefill() {
        let [user, answer] =
            [ProxyRole::User, ProxyRole::Assistant].map(|role| ProxyMessage::text(role, "a"));
        let call = ProxyMessage {
            role: ProxyRole::Assistant,
            parts: vec![MessageItem::Text("a".into()), MessageItem::Call(ProxyCall::default())],
        };
        for (messages, prefill, left) in [
            (vec![user.clone(), answer.clone()], Some("a"), 1),
            (vec![user.clone(), answer.clone(), user.clone()], None, 3),
            (vec![user.clone(), call], None, 2),
            (vec![answer], None, 1),
            (vec![], None, 0),
        ] {
            let mut body = RequestBody { messages, ..RequestBody::default() };
            assert_eq!(body.take_prefill().as_deref(), prefill);
            assert_eq!(body.messages.len(), left);
        }
        assert!(!RequestBody::default().has_messages());
        assert!(RequestBody { previous: Some("r".into()), ..RequestBody::default() }.has_messages());
    }
}
