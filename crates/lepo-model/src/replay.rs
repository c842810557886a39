//! An assistant's message with calls in its server's own form, to be sent back as it came.
//!
//! Servers sign and encrypt parts of it, and refuse it if anything is missing or changed. Only the
//! provider it came from understands it.

use std::sync::Arc;

use serde_json::Value;

use super::spec;
use crate::ModelConfig;

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

/// The origin of a replay; it is sent back to the same server and model only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The API it is in the form of.
    pub provider: &'static str,
    /// The server's address.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
}

impl Origin {
    /// The origin of what this model says; none for a program.
    pub fn of(config: &ModelConfig) -> Option<Origin> {
        let api = spec(config).http?;
        Some(Origin { provider: api.name, base_url: config.base_url.clone(), model: config.model.clone() })
    }
}
