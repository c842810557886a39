//! An assistant's message with calls in its server's own format, to be sent back unchanged.
//!
//! Servers sign and encrypt parts of it, and refuse it if anything is missing or changed. Only the provider that sent
//! it understands it.

use std::sync::Arc;

use lepo_base::error::{Error, Result};
use lepo_net::client::LIMIT;
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
    pub(super) fn joined_to(self, before: &ProviderMessage) -> ProviderMessage {
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

/// Counts the bytes to store of an answer, so that it can be sent back: calls, and the reasoning before them.
#[derive(Default)]
pub(super) struct ReplayBudget(usize);

impl ReplayBudget {
    /// Most of these bytes: four lines of the greatest length.
    const MOST: usize = 4 * LIMIT;

    /// Adds the line or event that contained more of them.
    pub fn count(&mut self, line: &[u8]) -> Result<()> {
        self.0 = self.0.saturating_add(line.len());
        match self.0 <= ReplayBudget::MOST {
            true => Ok(()),
            false => Err(Error::remote("the tool calls and the reasoning of the answer exceed 64 MiB")),
        }
    }
}
