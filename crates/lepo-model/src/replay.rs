//! An assistant's message with calls in its server's own form, to be sent back as it came.
//!
//! Servers sign and encrypt parts of it, and refuse it if anything is missing or changed. Only the
//! provider it came from understands it.

use std::sync::Arc;

use serde_json::Value;

/// An assistant's message, or its items, as received.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay(Arc<Value>);

impl Replay {
    /// One that was received, or kept.
    pub fn new(received: Value) -> Replay {
        Replay(Arc::new(received))
    }

    /// Joins the part before a pause and this one after it to one message: the blocks of both.
    pub(super) fn behind(self, before: &Replay) -> Replay {
        let mut whole = before.json().clone();
        if let (Some(Value::Array(all)), Some(Value::Array(more))) =
            (whole.get_mut("content"), self.json().get("content"))
        {
            all.extend(more.iter().cloned());
        }
        Replay::new(whole)
    }

    /// The JSON of the thinking, to be kept or sent.
    pub fn json(&self) -> &Value {
        &self.0
    }
}
