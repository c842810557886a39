//! Parses a request into a single value, regardless of its wire.

mod body;
mod chat;
mod content;
mod message;
mod messages;
mod ollama;
mod options;
mod responses;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

use crate::wire::ProxyWire;
use body::RequestBody;

pub(crate) use chat::message as chat_message;
pub(crate) use content::{items_of, text_of};
pub(crate) use messages::block as messages_block;
pub(crate) use responses::{assistant_item as responses_item, called_name};

pub use message::{CallOutput, MessageItem, ProxyCall, ProxyFile, ProxyMessage, ProxyRole, ProxyTool};

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyRequest {
    wire: ProxyWire,
    model: String,
    message_count: usize,
    prefill: Option<String>,
    wants_usage: bool,
    body: RequestBody,
}

/// A request that is passed on and not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableRequest {
    /// The body is not a JSON object.
    NotJson,
    /// The body has no message.
    NoMessages,
}

impl fmt::Display for UnreadableRequest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            UnreadableRequest::NotJson => "its body is not a JSON object",
            UnreadableRequest::NoMessages => "its body has no messages",
        })
    }
}

impl std::error::Error for UnreadableRequest {}

impl ProxyRequest {
    /// Reads the body of a request that was posted to `path`.
    pub fn read(wire: ProxyWire, path: &str, body: &[u8]) -> Result<ProxyRequest, UnreadableRequest> {
        let fields: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| UnreadableRequest::NotJson)?;
        let mut body = match wire {
            ProxyWire::Chat => chat::read(&fields),
            ProxyWire::Responses => responses::read(&fields),
            ProxyWire::Messages => messages::read(&fields),
            ProxyWire::Ollama => ollama::read(&fields),
        };
        if !body.has_messages() {
            return Err(UnreadableRequest::NoMessages);
        }
        let named = fields.get("model").and_then(Value::as_str).filter(|model| !model.is_empty());
        let model = named.unwrap_or_else(|| deployment_in(path)).to_string();
        let message_count = body.messages.len();
        let prefill = body.take_prefill();
        let wants_usage = fields.get("stream_options").and_then(|options| options.get("include_usage"));
        let wants_usage = wants_usage.and_then(Value::as_bool).unwrap_or_default();
        Ok(ProxyRequest { wire, model, message_count, prefill, wants_usage, body })
    }

    /// Returns the wire that the request came by.
    pub fn wire(&self) -> ProxyWire {
        self.wire
    }

    /// Returns the model, as the client names it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether the answer is wanted in pieces.
    pub fn is_streamed(&self) -> bool {
        self.body.is_streamed
    }

    /// Whether a stream is to end with the tokens, in Chat Completions.
    pub fn wants_usage(&self) -> bool {
        self.wants_usage
    }

    /// Returns the number of messages, with the system prompt and a prefill.
    pub fn message_count(&self) -> usize {
        self.message_count
    }

    /// Returns the messages in order, the system prompt first, without a prefill.
    pub fn messages(&self) -> &[ProxyMessage] {
        &self.body.messages
    }

    /// Returns the text that the answer is to continue.
    pub fn prefill(&self) -> Option<&str> {
        self.prefill.as_deref()
    }

    /// Returns the tools that are offered, in order.
    pub fn tools(&self) -> &[ProxyTool] {
        &self.body.tools
    }

    /// Returns the namespace and the rest of the name of a tool that the request offers in one.
    pub fn namespace_of<'n>(&self, name: &'n str) -> Option<(&str, &'n str)> {
        let tool = self.tools().iter().find(|tool| tool.name == name)?;
        let namespace = tool.namespace.as_deref()?;
        Some((namespace, name.strip_prefix(namespace)?.strip_prefix('.')?))
    }

    /// Returns the options by lepo's own names, without those that do not decide an answer.
    pub fn options(&self) -> &Map<String, Value> {
        &self.body.options.values
    }

    /// Returns the schema of the answer.
    pub fn schema(&self) -> Option<&Value> {
        self.body.options.schema.as_ref()
    }

    /// Returns the id of the response that the request continues.
    pub fn previous_response(&self) -> Option<&str> {
        self.body.previous.as_deref()
    }

    /// Returns the number of answers that are wanted.
    pub fn answer_count(&self) -> u64 {
        self.body.answers
    }
}

/// Returns the deployment in a path of Azure, whose bodies may have no model.
fn deployment_in(path: &str) -> &str {
    let mut parts = path.split('/').skip_while(|part| *part != "deployments");
    parts.nth(1).unwrap_or_default()
}
