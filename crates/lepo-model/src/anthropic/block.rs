//! A block of an answer of the Messages API, joined from the pieces of a stream.

use serde_json::{Map, Value, json};

use crate::arguments::{ArgumentText, read_arguments};
use crate::call_pieces::text_of;
use crate::message::ToolCall;
use crate::tool_names::{ToolNames, legal_name};

/// A block as received, with its streamed texts joined.
pub(super) struct ReceivedBlock {
    pub index: u64,
    pub fields: Map<String, Value>,
    /// The streamed arguments of a call.
    pub json: ArgumentText,
    pub has_ended: bool,
}

impl ReceivedBlock {
    /// Creates a block that starts with these fields.
    pub fn new(index: u64, fields: Map<String, Value>) -> ReceivedBlock {
        ReceivedBlock { index, fields, json: ArgumentText::default(), has_ended: false }
    }

    /// Appends text to a field, which may not exist yet.
    pub fn append(&mut self, field: &str, text: &str) {
        match self.fields.get_mut(field) {
            Some(Value::String(whole)) => whole.push_str(text),
            _ => {
                self.fields.insert(field.to_owned(), text.into());
            }
        }
    }

    /// Returns the call in this block, if it is for one of the caller's tools. Also stores the arguments in the block,
    /// even for a call that the server runs itself.
    pub fn call(&mut self, names: &ToolNames) -> Option<ToolCall> {
        if !self.is_call() {
            return None;
        }
        let initial = match self.fields.get("input") {
            Some(Value::String(text)) => read_arguments(text),
            Some(input @ Value::Object(_)) => input.clone(),
            _ => json!({}),
        };
        let mut arguments = initial.clone();
        if !self.json.is_empty() {
            arguments = self.json.value();
            // Some servers send the arguments whole at the start, and then pieces that are not an object.
            if !arguments.is_object() && initial.as_object().is_some_and(|input| !input.is_empty()) {
                arguments = initial;
            }
        }
        let input = if arguments.is_object() { arguments.clone() } else { json!({}) };
        self.fields.insert("input".to_owned(), input);
        // The server runs other calls itself.
        if !self.has_type("tool_use") {
            return None;
        }
        let field = |name: &str| self.fields.get(name).map(text_of).unwrap_or_default();
        let (id, name) = (field("id"), names.resolve(&field("name")));
        self.fields.insert("name".to_owned(), legal_name(&name).into());
        Some(ToolCall { id, name, arguments })
    }

    pub fn has_type(&self, kind: &str) -> bool {
        self.fields.get("type").is_some_and(|value| value == kind)
    }

    /// Whether the block is a call, whoever runs it.
    pub fn is_call(&self) -> bool {
        ["tool_use", "server_tool_use", "mcp_tool_use"].iter().any(|kind| self.has_type(kind))
    }

    /// Whether this is a text of white space, which the API sends but does not accept.
    pub fn is_blank(&self) -> bool {
        let text = |name: &str| self.fields.get(name).and_then(Value::as_str);
        text("type") == Some("text") && text("text").is_none_or(|text| text.trim().is_empty())
    }
}
