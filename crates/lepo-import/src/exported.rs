//! The facts that lepo writes into a message of another tool's session, in a field that the tool ignores.

use super::conversation::{ImportedFile, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::{attach, time};
use lepo_base::role::Role;

/// The name of that field.
pub const FIELD: &str = "lepo";

/// The facts about a visible message that lepo exported.
pub struct ExportedMessage<'v> {
    pub role: Role,
    /// Its model, if known.
    pub model: Option<String>,
    /// The message has only files: no part of its content is its text.
    pub is_empty: bool,
    value: JsonValue<'v>,
}

impl<'v> ExportedMessage<'v> {
    /// Parses the field; `None` if it is malformed.
    pub fn parse(value: JsonValue<'v>) -> Option<ExportedMessage<'v>> {
        let tag = value.get("kind").text()?;
        let role = match tag.as_bytes() {
            [letter, b'0'] => Role::from_letter(*letter)?,
            _ => return None,
        };
        Some(ExportedMessage {
            role,
            model: value.get("model").non_empty(),
            is_empty: value.get("empty").is_true(),
            value,
        })
    }

    /// Adds the message, after the system prompt that the field names. `files` are the files of the message's content.
    pub fn add_to(
        &self,
        parts: &mut MessageBuilder<'_>,
        at: Option<u64>,
        text: &str,
        files: Vec<ImportedFile>,
    ) {
        let prompt = self.value.get("prompt");
        if let Some(text) = prompt.get("text").non_empty() {
            parts.at(time::written(prompt.get("timestamp")));
            parts.push_node(NodeContent::System(text));
            parts.at(at);
        }
        if !matches!(self.role, Role::User | Role::Assistant) {
            return parts.push_node(NodeContent::Exact(self.role, false, text.to_string()));
        }
        parts.text(text);
        let mut inside = files.into_iter();
        for file_value in self.value.get("files").items() {
            let (name, data) = (file_value.get("name").string(), file_value.get("data").text());
            let file = match data {
                Some(data) => Some(attach::base64(&name, &file_value.get("mime").string(), &data)),
                None => inside.next().map(|file| ImportedFile { name, ..file }),
            };
            file.into_iter().for_each(|file| parts.file(file));
        }
        inside.for_each(|file| parts.file(file));
    }
}
