//! Messages to a model as plain values; each provider converts them to its API's form.

use serde_json::Value;

use super::media::MediaFile;
use super::replay::ProviderMessage;
use super::text::SharedText;
use lepo_base::role::Role;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// The role of its author.
    pub role: Role,
    /// The text, which may be empty.
    pub text: SharedText,
    /// The native tool calls of an assistant's message.
    pub calls: Vec<ToolCall>,
    /// The id of the call that a tool's message answers.
    pub call_id: Option<String>,
    /// Files of types that the provider accepts.
    pub files: Vec<MediaFile>,
    /// The received form of an assistant's message with calls, which is sent instead of all other fields.
    pub replay: Option<ProviderMessage>,
    /// Whether the message is the instruction of this request only, and not a part of the conversation.
    pub instruction: bool,
}

impl ChatMessage {
    /// Creates a message of text only.
    pub fn new(role: Role, text: impl Into<SharedText>) -> Self {
        let (text, calls, files) = (text.into(), Vec::new(), Vec::new());
        ChatMessage { role, text, calls, call_id: None, files, replay: None, instruction: false }
    }
}

/// A tool that a model may call natively.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name for calls: letters, digits, `_` and `-`, at most 64 of them (the API's own rule).
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// The JSON schema of the arguments.
    pub schema: Value,
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id for its result. Made from the call's index if the model sent none.
    pub id: String,
    /// The name of the tool, as in its [`ToolSpec`].
    pub name: String,
    /// The arguments. If the model's text was not JSON, a [`Value::String`] with that text.
    pub arguments: Value,
}

/// The required form of an answer: structured output, if the provider supports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The name: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON schema. The request is strict, so every property must be required and `additionalProperties` false.
    pub schema: Value,
}

/// A request to a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatRequest<'a> {
    /// The conversation, oldest first.
    pub messages: &'a [ChatMessage],
    /// The form of the answer, if one is required.
    pub schema: Option<&'a Schema>,
    /// The tools for native calls, if the API has fields for them.
    pub tools: &'a [ToolSpec],
    /// Whether the tools are listed only so that the request has the same prefix as earlier ones, and may not be
    /// called.
    pub tools_ended: bool,
    /// The position of the question, for an agent that stores conversations itself.
    pub agent: super::agent_types::AgentContext<'a>,
    /// Whether the provider's own web search and fetch are allowed, if the model's options enable them.
    pub web: bool,
    /// The cache key of the conversation, the same for all its requests, by which servers find their cache.
    pub cache_key: Option<&'a str>,
}
