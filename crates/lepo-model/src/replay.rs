//! An assistant's message with calls in its server's own format, to be sent back unchanged.
//!
//! Servers sign and encrypt parts of it, and refuse it if anything is missing or changed. Only the provider that sent
//! it understands it.

use std::sync::Arc;

use serde_json::Value;

/// An assistant's message, or its items, as received.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderMessage(Arc<Value>);

impl ProviderMessage {
    /// Wraps a message as received or as stored.
    pub fn new(received: Value) -> ProviderMessage {
        ProviderMessage(Arc::new(received))
    }

    /// Joins the message before a pause and this one, by concatenating their blocks.
    pub(super) fn behind(self, before: &ProviderMessage) -> ProviderMessage {
        let mut whole = before.json().clone();
        if let (Some(Value::Array(all)), Some(Value::Array(more))) =
            (whole.get_mut("content"), self.json().get("content"))
        {
            all.extend(more.iter().cloned());
        }
        ProviderMessage::new(whole)
    }

    /// Returns the JSON to store or to send.
    pub fn json(&self) -> &Value {
        &self.0
    }
}
