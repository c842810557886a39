//! Messages to a model as plain values; each provider puts them into the form of its wire.

use serde_json::Value;

use super::media::MediaFile;
use super::replay::Replay;
use super::text::Text;

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
    Tool,
}

impl Role {
    /// The word for it, the same on every wire: `system`, `user`, `assistant`, `tool`.
    pub fn word(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Role of the message.
    pub role: Role,
    /// Text of the message.
    pub text: Text,
    /// The native tool calls of an assistant's message.
    pub calls: Vec<ToolCall>,
    /// Of a tool's message: the id of the call it answers.
    pub call_id: Option<String>,
    /// Files that go with it, of types that the provider takes.
    pub files: Vec<MediaFile>,
    /// Of an assistant's message with calls: what was received, to be sent in place of all else.
    pub replay: Option<Replay>,
    /// The message is the instruction of this one request, not a part of the conversation.
    pub instruction: bool,
}

impl Message {
    /// A message that is text and nothing else.
    pub fn new(role: Role, text: impl Into<Text>) -> Self {
        let (text, calls, files) = (text.into(), Vec::new(), Vec::new());
        Message { role, text, calls, call_id: None, files, replay: None, instruction: false }
    }
}

/// A tool that a model may call natively.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name it is called by: letters, digits, `_` and `-`, at most 64 of them (the API's own rule).
    pub name: String,
    /// Description, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// One call of a tool, asked for by a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id that its result must name. Made from the call's position if the model gave none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments. If the model's text was no JSON, a [`Value::String`] with that text.
    pub arguments: Value,
}

/// The shape an answer must have: structured output, where the provider has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// A name for it: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON schema. It is asked for strictly, so every property must be required and
    /// `additionalProperties` false.
    pub schema: Value,
}

/// One request to a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The conversation, oldest first.
    pub messages: &'a [Message],
    /// The shape of the answer, if it must have one.
    pub schema: Option<&'a Schema>,
    /// The tools it may call natively, where its API has fields for them.
    pub tools: &'a [ToolSpec],
    /// The tools are listed only so that the request begins as the ones before it: none may be called any more.
    pub tools_ended: bool,
    /// The place of the question, for an agent that keeps conversations itself.
    pub agent: super::agents::AgentPlace<'a>,
    /// The provider's own web search and fetch may be called, if the model's options have them.
    pub web: bool,
    /// Key of the conversation, one for all its requests: servers find their cache by it.
    pub cache_key: Option<&'a str>,
}
