//! A record of a log of Codex, read without the records before it.

use super::conversation::{History, ImportedFile, NodeContent};
use super::echoes::EventKind;
use super::exported::{ExportedMessage, FIELD};
use super::injected::Injections;
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::{attach, output, time};
use lepo_base::role::Role;

/// Texts that the program inserts into a user's message.
const INJECTED: Injections = Injections {
    elements: &[
        "environment_context",
        "user_instructions",
        "INSTRUCTIONS",
        "turn_aborted",
        "skill",
        "subagent_notification",
        "user_shell_command",
        "user_action",
        "permissions instructions",
        "collaboration_mode",
        "multi_agent_mode",
        "model_switch",
        "personality_spec",
        "hook_prompt",
        "goal_context",
        "ide_context",
        "app-context",
        "realtime_conversation",
        "apps_instructions",
        "skills_instructions",
        "plugins_instructions",
        "recommended_plugins",
        "codex_internal_context",
    ],
    beginnings: &["# AGENTS.md instructions\n", "# AGENTS.md instructions for "],
    headings: &[("#", "\n## My request for Codex:"), (REQUEST, REQUEST)],
};

/// The heading of the user's text, after the context that an editor inserted.
const REQUEST: &str = "## My request for Codex:";

pub struct CodexRecord {
    /// Its number in the log, if the record has one.
    pub ordinal: Option<u64>,
    pub content: CodexContent,
}

pub enum CodexContent {
    /// No part of the conversation.
    Nothing,
    /// A chain of nodes that is not a message.
    Part(History),
    /// A chain of nodes that is a message.
    Message(History),
    /// A message that lepo exported; the event after it repeats the message.
    Exported(History),
    /// The message of an event, which a record may have too.
    Echo(History, EventKind),
    /// The model of the answers that follow.
    Model(Option<String>),
    /// The number of undone turns.
    RolledBack(usize),
    /// Tokens of the last request and of its answer.
    Tokens(Option<u64>, Option<u64>),
    /// A record of unknown type.
    UnknownRecord(String),
    /// A part of unknown type.
    UnknownContent,
    /// The summary that replaces the conversation so far.
    Compacted(History, String),
    /// The turn ended.
    Ended,
}

impl CodexRecord {
    pub fn parse(line: JsonValue<'_>) -> CodexRecord {
        CodexRecord { ordinal: line.get("ordinal").count(), content: parse_content(line) }
    }
}

fn parse_content(line: JsonValue<'_>) -> CodexContent {
    let [at, kind, payload, exported] = line.pick(["timestamp", "type", "payload", FIELD]);
    let at = time::written(at);
    let kind = kind.text().unwrap_or_default();
    match &*kind {
        "response_item" => match ExportedMessage::parse(exported) {
            Some(exported) => self::exported(payload, &exported, at),
            None => item(payload, at),
        },
        "turn_context" => CodexContent::Model(payload.get("model").non_empty()),
        "compacted" => {
            let text = payload.get("message").string();
            CodexContent::Compacted(
                nodes(Role::Assistant, at, |parts| parts.aside(Role::System, &text)),
                text,
            )
        }
        "event_msg" => event(payload, at),
        // Older logs have the items without an envelope.
        "message" | "reasoning" | "function_call" | "function_call_output" | "local_shell_call" => {
            item(line, at)
        }
        "session_meta"
        | "world_state"
        | "token_usage_record"
        | "inter_agent_communication"
        | "inter_agent_communication_metadata"
        | "server_request"
        | "server_request_resolved"
        | "wrapper_meta"
        | "ghost_snapshot" => CodexContent::Nothing,
        // The first line of older logs, and the states between their lines.
        "" if !line.is_object() || line.has("record_type") || line.has("instructions") => {
            CodexContent::Nothing
        }
        other => CodexContent::UnknownRecord(other.to_string()),
    }
}

fn event(payload: JsonValue<'_>, at: Option<u64>) -> CodexContent {
    match &*payload.get("type").text().unwrap_or_default() {
        "user_message" => {
            let images = payload.get("images").items().filter_map(JsonValue::text);
            let images: Vec<ImportedFile> = images.map(|url| attach::url("", "image/png", &url)).collect();
            echo(Role::User, at, &payload.get("message").string(), images, EventKind::Text)
        }
        "agent_message" => {
            echo(Role::Assistant, at, &payload.get("message").string(), Vec::new(), EventKind::Text)
        }
        "item_completed" => completed(payload.get("item"), at),
        "thread_rolled_back" => {
            CodexContent::RolledBack(payload.get("num_turns").count().unwrap_or(0) as usize)
        }
        "token_count" => {
            let usage = payload.at(&["info", "last_token_usage"]);
            CodexContent::Tokens(usage.get("input_tokens").count(), usage.get("output_tokens").count())
        }
        "task_complete" | "turn_complete" | "turn_aborted" => CodexContent::Ended,
        _ => CodexContent::Nothing,
    }
}

/// Reads the message of an event.
fn echo(role: Role, at: Option<u64>, text: &str, files: Vec<ImportedFile>, event: EventKind) -> CodexContent {
    let nodes = nodes(role, at, |parts| {
        match role {
            Role::User => parts.push_without_injections(text, &INJECTED),
            _ => parts.text(text),
        }
        files.into_iter().for_each(|file| parts.file(file));
    });
    CodexContent::Echo(nodes, event)
}

/// Reads a thread item if it is a message.
fn completed(item: JsonValue<'_>, at: Option<u64>) -> CodexContent {
    let role = match &*item.get("type").text().unwrap_or_default() {
        "UserMessage" | "userMessage" | "user_message" => Role::User,
        "AgentMessage" | "agentMessage" | "agent_message" => Role::Assistant,
        _ => return CodexContent::Nothing,
    };
    let text = item.get("text").non_empty().unwrap_or_else(|| texts(item.get("content")));
    echo(role, at, &text, Vec::new(), EventKind::Item)
}

fn item(item: JsonValue<'_>, at: Option<u64>) -> CodexContent {
    let call = item.get("call_id").non_empty().or_else(|| item.get("id").non_empty()).unwrap_or_default();
    match &*item.get("type").text().unwrap_or_default() {
        "message" => message(item, at),
        "reasoning" => {
            let mut texts: Vec<String> =
                item.get("summary").items().filter_map(|part| part.get("text").non_empty()).collect();
            texts.extend(item.get("content").items().filter_map(|part| part.get("text").non_empty()));
            part(at, |parts| parts.aside(Role::Assistant, &texts.join("\n\n")))
        }
        "function_call" | "custom_tool_call" => {
            let (name, arguments) = (item.get("name").string(), item.get("arguments"));
            let input = arguments.non_empty().or_else(|| item.get("input").non_empty());
            let input = input.unwrap_or_else(|| String::from_utf8_lossy(arguments.raw()).into_owned());
            part(at, |parts| parts.push_node(NodeContent::Call { id: call, name, input }))
        }
        kind @ ("local_shell_call" | "web_search_call") => {
            let input = String::from_utf8_lossy(item.get("action").raw()).into_owned();
            let name = kind.trim_end_matches("_call").to_string();
            part(at, |parts| parts.push_node(NodeContent::Call { id: call, name, input }))
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.get("output");
            let content = output.get("content");
            let text = content.non_empty().unwrap_or_else(|| output::text(output));
            let files = output.items().filter_map(|part| part.get("image_url").non_empty());
            let files = files.map(|url| attach::url("", "image/png", &url)).collect();
            part(at, |parts| parts.push_node(NodeContent::Output { call, text, files }))
        }
        "image_generation_call" if item.get("result").non_empty().is_some() => {
            let file = attach::base64("", "image/png", &item.get("result").string());
            part(at, |parts| parts.file(file))
        }
        // Another agent's message.
        "agent_message" => {
            let text = output::text(item.get("content"));
            part(at, |parts| parts.aside(Role::User, &text))
        }
        "ghost_snapshot" | "compaction" | "context_compaction" | "compaction_summary"
        | "compaction_trigger" | "other" => CodexContent::Nothing,
        kind if kind.ends_with("_output") && item.has("call_id") => {
            let given = ["output", "tools", "result"].map(|key| item.get(key));
            let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(item);
            part(at, |parts| parts.push_node(output::of_call(call, given)))
        }
        kind if kind.ends_with("_call") => {
            let given = ["arguments", "input", "action"].map(|key| item.get(key));
            let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(item);
            let input = given.non_empty().unwrap_or_else(|| output::json(given));
            let name = kind.trim_end_matches("_call").to_string();
            part(at, |parts| parts.push_node(NodeContent::Call { id: call, name, input }))
        }
        "" if item.has("role") && item.has("content") => match message(item, at) {
            CodexContent::Message(mut nodes) => {
                nodes.unknown_content();
                CodexContent::Message(nodes)
            }
            other => other,
        },
        _ => CodexContent::UnknownContent,
    }
}

/// Reads a message that lepo exported: the first content part is its text, unless that is empty; the others are files.
fn exported(item: JsonValue<'_>, exported: &ExportedMessage<'_>, at: Option<u64>) -> CodexContent {
    let mut parts = item.get("content").items();
    let text =
        if exported.is_empty { None } else { parts.next().and_then(|part| part.get("text").non_empty()) };
    let images = parts.filter_map(|part| part.get("image_url").text());
    let images = images.map(|url| attach::url("", "image/png", &url)).collect();
    let mut nodes = nodes(exported.role, at, |parts| {
        exported.add_to(parts, at, &text.unwrap_or_default(), images);
    });
    let answers = nodes.nodes.iter_mut().filter(|node| node.is_answer());
    answers.for_each(|node| node.model.clone_from(&exported.model));
    CodexContent::Exported(nodes)
}

fn message(item: JsonValue<'_>, at: Option<u64>) -> CodexContent {
    let role = match &*item.get("role").text().unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        // Codex's own instructions.
        "system" | "developer" => return CodexContent::Nothing,
        _ => return CodexContent::UnknownContent,
    };
    let content = item.get("content");
    CodexContent::Message(nodes(role, at, |parts| {
        // The name of the next image, from the mark before it.
        let mut image = String::new();
        for part in content.parts() {
            let text = part.get("text").text().unwrap_or_default();
            match part.get("image_url").text() {
                Some(url) => parts.file(attach::url(&std::mem::take(&mut image), "image/png", &url)),
                None if role == Role::User && is_image_mark(&text) => image = image_name(&text),
                None if role == Role::User => parts.push_without_injections(&text, &INJECTED),
                None => parts.text(&text),
            }
        }
        match content.text() {
            Some(text) if role == Role::User => parts.push_without_injections(&text, &INJECTED),
            Some(text) => parts.text(&text),
            None => {}
        }
    }))
}

/// Whether a text is a mark that the program puts around an image of a question.
fn is_image_mark(text: &str) -> bool {
    let begins = text == "<image>" || text.starts_with("<image name=");
    text == "</image>" || (begins && text.ends_with('>') && !text.contains('\n'))
}

/// Returns the file name in the mark before an image; empty if it has no path.
fn image_name(mark: &str) -> String {
    let path = mark.split_once("path=\"").and_then(|(_, rest)| rest.rsplit_once('"'));
    path.and_then(|(path, _)| path.rsplit(['/', '\\']).next()).unwrap_or_default().to_string()
}

fn part(at: Option<u64>, build: impl FnOnce(&mut MessageBuilder<'_>)) -> CodexContent {
    CodexContent::Part(nodes(Role::Assistant, at, build))
}

fn nodes(role: Role, at: Option<u64>, build: impl FnOnce(&mut MessageBuilder<'_>)) -> History {
    let mut nodes = History { messages: 1, ..History::default() };
    let mut parts = MessageBuilder::new(&mut nodes, None, at, role);
    build(&mut parts);
    parts.finish();
    nodes
}

fn texts(output: JsonValue<'_>) -> String {
    output.parts().filter_map(|part| part.get("text").non_empty()).collect::<Vec<_>>().join("\n\n")
}
