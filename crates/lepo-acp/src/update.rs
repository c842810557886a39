//! The updates of a session: text, thoughts and tool calls of a turn, one notification each.

use serde_json::{Map, Value, json};

use super::content::{self, ContentBlock};
use super::rpc::notification;

/// The method of an update.
pub const METHOD: &str = "session/update";

/// Who a chunk of text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// The user.
    User,
    /// The agent's answer.
    Agent,
    /// The agent's thinking.
    Thought,
}

impl ChunkKind {
    fn as_str(self) -> &'static str {
        match self {
            ChunkKind::User => "user_message_chunk",
            ChunkKind::Agent => "agent_message_chunk",
            ChunkKind::Thought => "agent_thought_chunk",
        }
    }
}

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a program.
    Execute,
    /// Fetches external data.
    Fetch,
    /// Any other kind.
    Other,
}

/// The progress of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallStatus {
    /// Waiting.
    Pending,
    /// Running.
    InProgress,
    /// Done.
    Completed,
    /// Failed or refused.
    Failed,
}

impl ToolCallStatus {
    fn as_str(self) -> &'static str {
        match self {
            ToolCallStatus::Pending => "pending",
            ToolCallStatus::InProgress => "in_progress",
            ToolCallStatus::Completed => "completed",
            ToolCallStatus::Failed => "failed",
        }
    }

    fn read(word: &str) -> Option<ToolCallStatus> {
        let all = [
            ToolCallStatus::Pending,
            ToolCallStatus::InProgress,
            ToolCallStatus::Completed,
            ToolCallStatus::Failed,
        ];
        all.into_iter().find(|status| status.as_str() == word)
    }
}

/// A tool call, or a change of one, without the fields that are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AcpToolCall {
    /// Its id.
    pub id: String,
    /// Its title, in one line.
    pub title: Option<String>,
    /// Its kind.
    pub kind: Option<ToolKind>,
    /// Its progress.
    pub status: Option<ToolCallStatus>,
    /// The texts to display, each a block.
    pub texts: Option<Vec<String>>,
    /// The input of the call.
    pub input: Option<Value>,
    /// The output of the call.
    pub output: Option<Value>,
    /// lepo's own metadata.
    pub meta: Option<Value>,
}

impl AcpToolCall {
    /// Builds the JSON object of the call.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("toolCallId".into(), self.id.as_str().into());
        let kind = self.kind.map(|kind| match kind {
            ToolKind::Execute => "execute",
            ToolKind::Fetch => "fetch",
            ToolKind::Other => "other",
        });
        let block = |text: &String| json!({ "type": "content", "content": content::text(text) });
        let fields = [
            ("title", self.title.as_deref().map(Value::from)),
            ("kind", kind.map(Value::from)),
            ("status", self.status.map(|status| status.as_str().into())),
            ("content", self.texts.as_ref().map(|texts| texts.iter().map(block).collect())),
            ("rawInput", self.input.clone()),
            ("rawOutput", self.output.clone()),
            ("_meta", self.meta.clone()),
        ];
        object.extend(fields.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))));
        Value::Object(object)
    }

    /// Parses the JSON object of a call; `None` if it has no id.
    pub fn read(value: &Value) -> Option<AcpToolCall> {
        let text = |key: &str| value[key].as_str().map(str::to_string);
        let shown = |item: &Value| match item["type"].as_str()? {
            "content" => ContentBlock::text(&item["content"]).map(str::to_string),
            "diff" => {
                let (old, new) = (item["oldText"].as_str().unwrap_or_default(), item["newText"].as_str()?);
                Some(format!(
                    "{}\n--- before\n{old}\n--- after\n{new}",
                    item["path"].as_str().unwrap_or_default()
                ))
            }
            _ => None,
        };
        Some(AcpToolCall {
            id: text("toolCallId")?,
            title: text("title"),
            kind: match value["kind"].as_str() {
                Some("execute") => Some(ToolKind::Execute),
                Some("fetch") => Some(ToolKind::Fetch),
                Some(_) => Some(ToolKind::Other),
                None => None,
            },
            status: value["status"].as_str().and_then(ToolCallStatus::read),
            texts: value["content"].as_array().map(|items| items.iter().filter_map(shown).collect()),
            input: value.get("rawInput").filter(|input| !input.is_null()).cloned(),
            output: value.get("rawOutput").filter(|output| !output.is_null()).cloned(),
            meta: None,
        })
    }
}

/// A slash command or a prompt that the user may type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    pub about: String,
    /// A hint at the input that may follow it.
    pub hint: Option<String>,
}

/// An update to send.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionUpdate {
    /// A chunk of text or other content.
    Chunk {
        /// Who it comes from.
        voice: ChunkKind,
        /// A content block.
        content: Value,
        /// The id of its message.
        message: Option<String>,
        /// lepo's own metadata.
        meta: Option<Value>,
    },
    /// A new tool call.
    ToolCall(AcpToolCall),
    /// A change of a tool call.
    ToolUpdate(AcpToolCall),
    /// All available commands.
    Commands(Vec<AvailableCommand>),
    /// The current mode.
    Mode(String),
    /// The options, built by [`super::agent::options`].
    Options(Value),
    /// The session's title and time, and lepo's metadata.
    Info {
        /// The title, if it changed.
        title: Option<String>,
        /// The time of the last message, in ISO 8601.
        updated: Option<String>,
        /// lepo's own metadata.
        meta: Option<Value>,
    },
    /// The size of the conversation and of the model's window.
    Usage {
        /// Tokens of the conversation.
        used: u64,
        /// Tokens of the window.
        size: u64,
    },
}

impl SessionUpdate {
    /// Creates an update for a chunk of text.
    pub fn text(voice: ChunkKind, text: &str, message: Option<String>) -> SessionUpdate {
        SessionUpdate::Chunk { voice, content: content::text(text), message, meta: None }
    }

    /// Builds the update's JSON object.
    fn to_json(&self) -> Value {
        match self {
            SessionUpdate::Chunk { voice, content, message, meta } => {
                let mut chunk = json!({ "sessionUpdate": voice.as_str(), "content": content });
                if let Some(message) = message {
                    chunk["messageId"] = message.as_str().into();
                }
                if let Some(meta) = meta {
                    chunk["_meta"] = meta.clone();
                }
                chunk
            }
            SessionUpdate::ToolCall(call) => tagged("tool_call", call.to_json()),
            SessionUpdate::ToolUpdate(call) => tagged("tool_call_update", call.to_json()),
            SessionUpdate::Commands(commands) => {
                let one = |command: &AvailableCommand| {
                    let mut one = json!({ "name": command.name, "description": command.about });
                    if let Some(hint) = &command.hint {
                        one["input"] = json!({ "hint": hint });
                    }
                    one
                };
                let commands: Vec<Value> = commands.iter().map(one).collect();
                json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands })
            }
            SessionUpdate::Mode(mode) => {
                json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode })
            }
            SessionUpdate::Options(options) => {
                json!({ "sessionUpdate": "config_option_update", "configOptions": options })
            }
            SessionUpdate::Info { title, updated, meta } => {
                let mut info = json!({ "sessionUpdate": "session_info_update" });
                for (key, value) in [("title", title), ("updatedAt", updated)] {
                    if let Some(value) = value {
                        info[key] = value.as_str().into();
                    }
                }
                if let Some(meta) = meta {
                    info["_meta"] = meta.clone();
                }
                info
            }
            SessionUpdate::Usage { used, size } => {
                json!({ "sessionUpdate": "usage_update", "used": used, "size": size })
            }
        }
    }

    /// Builds the line of the update.
    pub fn line(&self, session: &str) -> String {
        notification(METHOD, &json!({ "sessionId": session, "update": self.to_json() }))
    }
}

fn tagged(word: &str, mut object: Value) -> Value {
    object["sessionUpdate"] = word.into();
    object
}

/// An update from an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentUpdate {
    /// A chunk of the agent's answer or of its thinking.
    Said(ChunkKind, String),
    /// A new tool call, or a change of one.
    Tool(Box<AcpToolCall>),
    /// Tokens of the conversation, and of the window.
    Usage(u64, u64),
    /// Any other update.
    Other,
}

/// Parses the parameters of an update: its session, and its content. `None` if they are malformed.
pub fn read(params: &Value) -> Option<(&str, AgentUpdate)> {
    let (session, update) = (params["sessionId"].as_str()?, &params["update"]);
    let said =
        |voice| ContentBlock::text(&update["content"]).map(|text| AgentUpdate::Said(voice, text.to_string()));
    let told = match update["sessionUpdate"].as_str()? {
        "agent_message_chunk" => said(ChunkKind::Agent).unwrap_or(AgentUpdate::Other),
        "agent_thought_chunk" => said(ChunkKind::Thought).unwrap_or(AgentUpdate::Other),
        "tool_call" | "tool_call_update" => AgentUpdate::Tool(Box::new(AcpToolCall::read(update)?)),
        "usage_update" => AgentUpdate::Usage(update["used"].as_u64()?, update["size"].as_u64()?),
        _ => AgentUpdate::Other,
    };
    Some((session, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_is_read_as_it_was_written() {
        let call = AcpToolCall {
            id: "1".into(),
            title: Some("ls".into()),
            kind: Some(ToolKind::Execute),
            status: Some(ToolCallStatus::InProgress),
            texts: Some(vec!["a".into(), "b".into()]),
            input: Some(json!({ "command": "ls" })),
            output: Some(json!({ "exit": 0 })),
            meta: None,
        };
        assert_eq!(AcpToolCall::read(&call.to_json()), Some(call.clone()));
        let line: Value = serde_json::from_str(&SessionUpdate::ToolCall(call.clone()).line("s")).unwrap();
        assert_eq!(read(&line["params"]), Some(("s", AgentUpdate::Tool(Box::new(call)))));
        let bare = AcpToolCall { id: "2".into(), ..AcpToolCall::default() };
        assert_eq!(bare.to_json(), json!({ "toolCallId": "2" }));
    }

    #[test]
    fn updates_of_others_never_fail_but_by_being_none() {
        let update =
            |update: Value| read(&json!({ "sessionId": "s", "update": update })).map(|(_, told)| told);
        let chunk =
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "a" } });
        assert_eq!(update(chunk), Some(AgentUpdate::Said(ChunkKind::Agent, "a".into())));
        let picture = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image" } });
        assert_eq!(update(picture), Some(AgentUpdate::Other));
        assert_eq!(update(json!({ "sessionUpdate": "new" })), Some(AgentUpdate::Other));
        for none in
            [json!({}), json!(7), json!({ "sessionUpdate": "tool_call" }), json!({ "sessionUpdate": 7 })]
        {
            assert_eq!(update(none.clone()), None, "{none}");
        }
        assert_eq!(read(&json!([])), None);
    }
}
