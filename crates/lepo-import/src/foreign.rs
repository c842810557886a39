//! Marks of tools whose files are not supported, so that an error can name the tool, and no other format claims the
//! file.

use super::json::JsonValue;

/// Whether a record or a document has the marks of a tool.
type HasMarks = fn(JsonValue<'_>) -> bool;

/// The tools: a name, and their marks.
const TOOLS: &[(&str, HasMarks)] = &[
    ("Qwen Code", is_qwen_code),
    ("DeepSeek Harness", is_deepseek_harness),
    ("Cursor", is_cursor),
    ("Chatbox", is_chatbox),
    ("Zed", is_zed),
    ("DeepSeek's web chat", is_deepseek_chat),
    ("Grok", is_grok),
    ("Copilot", is_copilot),
    ("Continue", is_continue),
    ("Cline", is_cline),
    ("Factory Droid", |value| value.get("type").is_str("session_start") && value.has("cwd")),
    ("`codex exec --json`", |value| value.get("type").is_str("thread.started") && value.has("thread_id")),
    ("Codex's list of prompts", |value| {
        value.has("session_id") && value.get("ts").count().is_some() && value.get("text").text().is_some()
    }),
    ("`llm logs --json`", |value| {
        value.has("prompt")
            && value.has("response")
            && value.has("conversation_id")
            && value.has("datetime_utc")
    }),
    ("Kimi Code", |value| value.get("type").is_str("metadata") && value.has("protocol_version")),
    ("SillyTavern", |value| value.has("chat_metadata") && value.has("character_name")),
    ("LobeChat", |value| value.has("exportType") && value.get("state").is_object()),
    ("big-AGI", is_big_agi),
    ("TypingMind", |value| value.at(&["data", "chats"]).is_array()),
    ("NextChat", |value| value.get("chat-next-web-store").is_object()),
    ("HuggingChat", |value| {
        first(value, "messages").is_some_and(|one| one.has("from") && one.has("ancestors"))
    }),
];

/// Returns the tool that wrote a value, if it is a tool without support.
pub fn tool(value: JsonValue<'_>) -> Option<&'static str> {
    let name = TOOLS.iter().find(|(_, has_marks)| has_marks(value)).map(|(name, _)| *name);
    name.filter(|_| value.is_object())
}

fn first<'v>(value: JsonValue<'v>, key: &str) -> Option<JsonValue<'v>> {
    value.get(key).items().next()
}

/// Session records, an export of them, and the sessions that older versions wrote in gemini-cli's format.
fn is_qwen_code(value: JsonValue<'_>) -> bool {
    let is_record = |value: JsonValue<'_>| {
        let kind = value.get("type").text().unwrap_or_default();
        matches!(&*kind, "user" | "assistant" | "tool_result" | "system" | "tool_call")
            && (value.at(&["message", "parts"]).is_array()
                || value.has("systemPayload")
                || value.has("provenance")
                || value.has("toolCallResult"))
    };
    let is_answer = |message: JsonValue<'_>| message.get("type").is_str("qwen") || is_record(message);
    value.has("qwen_code_version")
        || (value.has("sessionId") && (is_record(value) || value.get("messages").items().any(is_answer)))
}

fn is_deepseek_harness(value: JsonValue<'_>) -> bool {
    let is_header = value.get("type").is_str("session") && value.get("createdAt").count().is_some();
    let is_event = || value.get("type").string().contains('/') && value.has("seq") && value.has("data");
    is_header || is_event()
}

/// Lines of a transcript, and of the program's stream.
fn is_cursor(value: JsonValue<'_>) -> bool {
    let is_line = value.get("role").text().is_some()
        && value.at(&["message", "content"]).is_array()
        && !value.has("type")
        && !value.has("content");
    let is_stream = value.get("type").is_str("tool_call") && value.has("session_id") && value.has("call_id");
    let is_init = value.get("type").is_str("system")
        && value.has("apiKeySource")
        && value.has("session_id")
        && !value.has("uuid")
        && !value.has("tools");
    is_line || is_stream || is_init || value.get("type").is_str("turn_ended")
}

/// An export of all sessions, or a session, whose threads and forks are next to its messages.
fn is_chatbox(value: JsonValue<'_>) -> bool {
    ["chat-sessions", "chat-sessions-list", "messageForksHash", "copilotId"].iter().any(|key| value.has(key))
        || first(value, "threads").is_some_and(|thread| thread.has("messages"))
        || first(value, "messages").is_some_and(|message| message.has("contentParts"))
        || value.get("session").is_object() && is_chatbox_session(value.get("session"))
}

fn is_chatbox_session(session: JsonValue<'_>) -> bool {
    session.get("messages").is_array() && session.has("name")
}

/// A thread of the current version or an older one, or a text thread.
fn is_zed(value: JsonValue<'_>) -> bool {
    let has_words = |message: JsonValue<'_>| {
        message.get("User").is_object()
            || message.get("Agent").is_object()
            || message.get("segments").is_array()
    };
    value.get("zed").text().is_some() || value.get("messages").items().any(has_words)
}

/// Like the mapping of ChatGPT, except for its messages.
fn is_deepseek_chat(value: JsonValue<'_>) -> bool {
    let has_fragments =
        |(_, node): (JsonValue<'_>, JsonValue<'_>)| node.at(&["message", "fragments"]).is_array();
    value.get("mapping").fields().any(has_fragments)
}

fn is_grok(value: JsonValue<'_>) -> bool {
    let one = first(value, "conversations").unwrap_or(value);
    one.get("conversation").is_object() && one.get("responses").is_array()
}

/// The program's events, and the sessions of the editor's chat: a document, or since VS Code 1.109 a log of its changes,
/// the first of which is the whole.
fn is_copilot(value: JsonValue<'_>) -> bool {
    let value = if value.get("kind").count() == Some(0) { value.get("v") } else { value };
    let is_event = value.get("type").is_str("session.start") && value.get("data").is_object();
    let has_names = value.has("requesterUsername") || value.has("responderUsername");
    is_event || (value.get("requests").is_array() && (has_names || value.has("sessionId")))
}

fn is_continue(value: JsonValue<'_>) -> bool {
    first(value, "history").is_some_and(|one| one.get("message").is_object() && one.has("contextItems"))
}

fn is_cline(value: JsonValue<'_>) -> bool {
    let kind = value.get("type").text().unwrap_or_default();
    value.has("ts") && matches!(&*kind, "say" | "ask") && value.has(&kind)
}

fn is_big_agi(value: JsonValue<'_>) -> bool {
    let one = first(value, "conversations").unwrap_or(value);
    first(one, "messages").is_some_and(|message| message.get("fragments").is_array())
}
