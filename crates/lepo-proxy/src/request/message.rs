//! A message of a request in one form for all wires: text, thinking, calls, results, files.

use serde_json::Value;

use lepo_base::media::Media;

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyRole {
    /// The program: `system` and `developer`.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, by the program.
    Tool,
}

impl ProxyRole {
    /// Parses the role of a wire. An unknown one is the program's own, as `function` and `context` were.
    pub fn parse(role: &str) -> ProxyRole {
        match role {
            "system" | "developer" => ProxyRole::System,
            "assistant" | "model" => ProxyRole::Assistant,
            "tool" | "function" => ProxyRole::Tool,
            _ => ProxyRole::User,
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyMessage {
    /// Its role.
    pub role: ProxyRole,
    /// Its parts, in order.
    pub parts: Vec<MessageItem>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageItem {
    /// Visible text, or a line that describes other content.
    Text(String),
    /// Thinking of the model.
    Thinking(String),
    /// A call of a tool.
    Call(ProxyCall),
    /// The result of a call.
    Output(CallOutput),
    /// An image or a document whose bytes came with the request.
    File(ProxyFile),
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyCall {
    /// The provider's id; empty where the wire has none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: JSON as received, or a text in the tool's own format.
    pub input: String,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOutput {
    /// The id of its call; empty for the call before it.
    pub call: String,
    /// Its text.
    pub text: String,
    /// Its files.
    pub files: Vec<ProxyFile>,
}

/// A file of a kind that a store has as a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyFile {
    /// Its name; may be empty.
    pub name: String,
    /// Its type, by its first bytes.
    pub media: Media,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyTool {
    /// Its name, with its namespace and a dot before it; for a provider's own tool without a name, its type.
    pub name: String,
    /// Its namespace on the wire, which a call names in a field apart.
    pub namespace: Option<String>,
    /// The schema of its arguments; for a provider's own tool, its settings.
    pub schema: Value,
}

impl ProxyMessage {
    /// Creates a message with a single text.
    pub fn text(role: ProxyRole, text: impl Into<String>) -> ProxyMessage {
        ProxyMessage { role, parts: vec![MessageItem::Text(text.into())] }
    }

    /// Joins the texts of the message by a blank line, except empty ones.
    pub fn joined_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessageItem::Text(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Whether it has visible text and nothing but text and thinking.
    pub fn is_text(&self) -> bool {
        let is_words = |part: &MessageItem| matches!(part, MessageItem::Text(_) | MessageItem::Thinking(_));
        self.parts.iter().all(is_words) && !self.joined_text().trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_text_is_told_from_one_with_calls() {
        let call = MessageItem::Call(ProxyCall::default());
        let text = |text: &str| MessageItem::Text(text.into());
        for (parts, joined, is_text) in [
            (vec![text("a"), text(""), text("b")], "a\n\nb", true),
            (vec![MessageItem::Thinking("t".into()), text("a")], "a", true),
            (vec![text("a"), call.clone()], "a", false),
            (vec![text(" \n")], " \n", false),
            (vec![call], "", false),
            (vec![], "", false),
        ] {
            let message = ProxyMessage { role: ProxyRole::Assistant, parts };
            assert_eq!((message.joined_text().as_str(), message.is_text()), (joined, is_text), "{message:?}");
        }
    }
}
