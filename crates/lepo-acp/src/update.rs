//! The updates of a session: text, thoughts and tool calls of a turn, one notification each.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::content::ContentBlock;
use super::reading::{entries, or_none, tagged};
use super::rpc::notification;

/// The method of an update.
pub const METHOD: &str = "session/update";

/// The key of an update's type.
const TAG: &str = "sessionUpdate";

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

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Runs a program.
    Execute,
    /// Fetches external data.
    Fetch,
    /// Any other kind.
    #[serde(other)]
    Other,
}

/// The progress of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// A tool call, or a change of one, without the fields that are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AcpToolCall {
    /// Its id.
    #[serde(rename = "toolCallId")]
    pub id: String,
    /// Its title, in one line.
    #[serde(default, deserialize_with = "or_none", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its kind.
    #[serde(default, deserialize_with = "or_none", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// Its progress.
    #[serde(default, deserialize_with = "or_none", skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolCallStatus>,
    /// The texts to display, each a block.
    #[serde(
        rename = "content",
        default,
        deserialize_with = "texts",
        serialize_with = "blocks",
        skip_serializing_if = "Option::is_none"
    )]
    pub texts: Option<Vec<String>>,
    /// The input of the call.
    #[serde(rename = "rawInput", default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The output of the call.
    #[serde(rename = "rawOutput", default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// lepo's own metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// A part of what a tool call shows.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
enum ToolCallContent {
    Content {
        content: ContentBlock,
    },
    #[serde(rename_all = "camelCase")]
    Diff {
        #[serde(default, deserialize_with = "or_none")]
        path: Option<String>,
        #[serde(default, deserialize_with = "or_none")]
        old_text: Option<String>,
        new_text: String,
    },
    #[serde(other)]
    Other,
}

tagged!(ToolCallContent, "type");

impl ToolCallContent {
    fn into_text(self) -> Option<String> {
        match self {
            ToolCallContent::Content { content } => content.into_text(),
            ToolCallContent::Diff { path, old_text, new_text } => {
                let (path, old) = (path.unwrap_or_default(), old_text.unwrap_or_default());
                Some(format!("{path}\n--- before\n{old}\n--- after\n{new_text}"))
            }
            ToolCallContent::Other => None,
        }
    }
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let list: Option<Vec<Value>> = or_none(from)?;
    Ok(list.map(|list| entries(list).filter_map(ToolCallContent::into_text).collect()))
}

fn blocks<S: Serializer>(texts: &Option<Vec<String>>, to: S) -> Result<S::Ok, S::Error> {
    let block = |text: &String| ToolCallContent::Content { content: ContentBlock::text(text) };
    to.collect_seq(texts.iter().flatten().map(block))
}

/// A slash command or a prompt that the user may type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvailableCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    #[serde(rename = "description")]
    pub about: String,
    /// The input that may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<CommandInput>,
}

/// The input of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandInput {
    /// A hint at it.
    pub hint: String,
}

/// A chunk of text or other content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContentChunk {
    /// The content.
    pub content: ContentBlock,
    /// The id of its message.
    #[serde(
        rename = "messageId",
        default,
        deserialize_with = "or_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub message: Option<String>,
}

/// An update of a session, in either direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SessionUpdate {
    /// A chunk of what the user typed.
    UserMessageChunk(ContentChunk),
    /// A chunk of the agent's answer.
    AgentMessageChunk(ContentChunk),
    /// A chunk of the agent's thinking.
    AgentThoughtChunk(ContentChunk),
    /// A new tool call.
    ToolCall(AcpToolCall),
    /// A change of a tool call.
    ToolCallUpdate(AcpToolCall),
    /// All available commands.
    AvailableCommandsUpdate {
        /// The commands.
        available_commands: Vec<AvailableCommand>,
    },
    /// The current mode.
    CurrentModeUpdate {
        /// Its id.
        current_mode_id: String,
    },
    /// The options, built by [`super::agent::options`].
    ConfigOptionUpdate {
        /// The options.
        config_options: Value,
    },
    /// The session's title and time, and lepo's metadata.
    SessionInfoUpdate {
        /// The title, if it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The time of the last message, in ISO 8601.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_at: Option<String>,
        /// lepo's own metadata.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// The size of the conversation and of the model's window.
    UsageUpdate {
        /// Tokens of the conversation.
        used: u64,
        /// Tokens of the window.
        size: u64,
    },
    /// Any other update.
    #[serde(other)]
    Other,
}

tagged!(SessionUpdate, TAG);

impl SessionUpdate {
    /// Creates an update for a chunk, with the id of its message.
    pub fn chunk(kind: ChunkKind, content: ContentBlock, message: Option<String>) -> SessionUpdate {
        let chunk = ContentChunk { content, message };
        match kind {
            ChunkKind::User => SessionUpdate::UserMessageChunk(chunk),
            ChunkKind::Agent => SessionUpdate::AgentMessageChunk(chunk),
            ChunkKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
        }
    }

    /// Builds the line of the update.
    pub fn line(&self, session: &str) -> String {
        let mut params = json!({ "sessionId": session, "update": self });
        if let SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) = self
            && let Some(call) = params["update"].as_object_mut()
            && let Some(tag) = call.shift_remove(TAG)
        {
            // The type of a tool call follows its fields.
            call.insert(TAG.to_string(), tag);
        }
        notification(METHOD, &params)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    session_id: String,
    update: SessionUpdate,
}

/// Parses the parameters of an update: its session, and its content. `None` if they are malformed.
pub fn read(params: Value) -> Option<(String, SessionUpdate)> {
    let UpdateParams { session_id, update } = serde_json::from_value(params).ok()?;
    Some((session_id, update))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> AcpToolCall {
        AcpToolCall {
            id: "1".into(),
            title: Some("ls".into()),
            kind: Some(ToolKind::Execute),
            status: Some(ToolCallStatus::InProgress),
            texts: Some(vec!["a".into(), "b".into()]),
            input: Some(json!({ "command": "ls", "n": [1, -2, 1.5] })),
            output: Some(json!({ "exit": 0 })),
            meta: Some(json!({ "lepo": {} })),
        }
    }

    #[test]
    fn an_update_is_read_as_it_was_written() {
        let bare = AcpToolCall { id: "2".into(), ..AcpToolCall::default() };
        assert_eq!(serde_json::to_value(&bare).unwrap(), json!({ "toolCallId": "2" }));
        let text = |kind, message: Option<&str>| {
            SessionUpdate::chunk(kind, ContentBlock::text("a"), message.map(str::to_string))
        };
        let input = Some(CommandInput { hint: "h".into() });
        let commands = vec![
            AvailableCommand { name: "a".into(), about: "A".into(), input },
            AvailableCommand { name: "b".into(), about: "B".into(), input: None },
        ];
        let info = |title: Option<&str>, meta| SessionUpdate::SessionInfoUpdate {
            title: title.map(str::to_string),
            updated_at: None,
            meta,
        };
        for (update, expected) in [
            (
                text(ChunkKind::User, Some("m")),
                r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}"#,
            ),
            (
                text(ChunkKind::Agent, None),
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}"#,
            ),
            (
                text(ChunkKind::Thought, None),
                r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"a"}}"#,
            ),
            (
                SessionUpdate::ToolCall(call()),
                r#"{"toolCallId":"1","title":"ls","kind":"execute","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"a"}},{"type":"content","content":{"type":"text","text":"b"}}],"rawInput":{"command":"ls","n":[1,-2,1.5]},"rawOutput":{"exit":0},"_meta":{"lepo":{}},"sessionUpdate":"tool_call"}"#,
            ),
            (SessionUpdate::ToolCallUpdate(bare), r#"{"toolCallId":"2","sessionUpdate":"tool_call_update"}"#),
            (
                SessionUpdate::AvailableCommandsUpdate { available_commands: commands },
                r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"A","input":{"hint":"h"}},{"name":"b","description":"B"}]}"#,
            ),
            (
                SessionUpdate::CurrentModeUpdate { current_mode_id: "m".into() },
                r#"{"sessionUpdate":"current_mode_update","currentModeId":"m"}"#,
            ),
            (
                SessionUpdate::ConfigOptionUpdate { config_options: json!([]) },
                r#"{"sessionUpdate":"config_option_update","configOptions":[]}"#,
            ),
            (
                info(Some("t"), Some(json!({ "a": 1 }))),
                r#"{"sessionUpdate":"session_info_update","title":"t","_meta":{"a":1}}"#,
            ),
            (info(None, None), r#"{"sessionUpdate":"session_info_update"}"#),
            (
                SessionUpdate::UsageUpdate { used: 1, size: 2 },
                r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
            ),
        ] {
            let line = update.line("s");
            let start = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#;
            assert_eq!(line, format!("{start}{expected}}}}}"));
            let mut line: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(read(line["params"].take()), Some(("s".to_string(), update)));
        }
    }

    #[test]
    fn updates_of_others_never_fail_but_by_being_none() {
        let update =
            |update: Value| read(json!({ "sessionId": "s", "update": update })).map(|(_, received)| received);
        let picture = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image" } });
        assert_eq!(update(picture), None);
        let audio = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "audio" } });
        assert!(matches!(update(audio), Some(SessionUpdate::AgentMessageChunk(_))));
        assert_eq!(update(json!({ "sessionUpdate": "new", "a": 1 })), Some(SessionUpdate::Other));
        for none in
            [json!({}), json!(7), json!({ "sessionUpdate": "tool_call" }), json!({ "sessionUpdate": 7 })]
        {
            assert_eq!(update(none.clone()), None, "{none}");
        }
        assert_eq!(read(json!([])), None);
    }

    #[test]
    fn fields_of_a_call_that_are_not_required_may_have_any_type() {
        let read = |call: Value| serde_json::from_value::<AcpToolCall>(call).unwrap();
        let bare = AcpToolCall { id: "1".into(), ..AcpToolCall::default() };
        for field in ["title", "kind", "status", "content", "rawInput", "rawOutput"] {
            assert_eq!(read(json!({ "toolCallId": "1", field: null })), bare, "{field}");
            if !field.starts_with("raw") {
                for value in [json!(7), json!({ "a": [1] }), json!(true)] {
                    assert_eq!(read(json!({ "toolCallId": "1", field: value })), bare, "{field}");
                }
            }
        }
        assert_eq!(read(json!({ "toolCallId": "1", "kind": "dream" })).kind, Some(ToolKind::Other));
        assert_eq!(read(json!({ "toolCallId": "1", "status": "dreaming" })), bare);
        let content = json!([
            { "type": "content", "content": { "type": "text", "text": "a" } },
            { "type": "content", "content": { "type": "resource", "resource": { "uri": "u", "text": "b" } } },
            { "type": "diff", "path": "p", "oldText": null, "newText": "n" },
            { "type": "diff", "path": "p", "oldText": "o", "newText": "n" },
            { "type": "diff", "path": "p", "oldText": 7, "newText": "n" },
            { "type": "diff", "path": 7, "newText": "n" },
            { "type": "diff", "path": "p" },
            { "type": "terminal", "terminalId": "t" },
            { "type": "content", "content": 7 },
            7,
        ]);
        let texts = read(json!({ "toolCallId": "1", "content": content })).texts.unwrap();
        let diff = |path: &str, old: &str| format!("{path}\n--- before\n{old}\n--- after\nn");
        let diffs = [diff("p", ""), diff("p", "o"), diff("p", ""), diff("", "")];
        assert_eq!(texts, [["a".to_string(), "b".to_string()].as_slice(), &diffs].concat());
    }
}
