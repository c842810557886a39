//! Messages as APIs have them: `{"messages": […]}`, an array or lines of messages, ShareGPT, sessions of
//! humble-ai-cli. Any tool whose history `jq` can bring into this form can be imported.

use std::path::Path;

use super::conversation::{Conversation, Role, What};
use super::json::Value;
use super::parts::Parts;
use super::source::Reading;
use super::{Each, attach, time};
use lepo_base::error::Result;

/// Reads a document or lines of it.
pub fn read(path: &Path, reading: &mut Reading, each: &mut Each<'_>) -> Result<()> {
    let lines = path.extension().is_some_and(|end| end == "jsonl" || end == "ndjson");
    let mut values = if lines { reading.lines(path)? } else { reading.values(path)? };
    // Messages that stand by themselves are one conversation.
    let mut loose = Conversation::default();
    while let Some(value) = reading.next(&mut values)? {
        if is_message(value) {
            message(&mut loose, value);
            continue;
        }
        let mut read = conversation(value);
        if read.nodes.is_empty() {
            reading.tally.skip_parts(&mut read);
            reading.tally.skip("no messages", 1);
        } else {
            each(read)?;
        }
    }
    if loose.nodes.is_empty() {
        reading.tally.skip_parts(&mut loose);
    } else {
        each(loose)?;
    }
    Ok(())
}

/// True if a value is a message.
pub fn is_message(value: Value<'_>) -> bool {
    value.get("role").text().is_some() || (value.get("from").text().is_some() && value.has("value"))
}

/// The messages of a conversation, wherever they stand in it.
pub fn list(value: Value<'_>) -> Value<'_> {
    match (value.is_array(), value.get("messages").is_array()) {
        (true, _) => value,
        (_, true) => value.get("messages"),
        _ => value.get("conversations"),
    }
}

fn conversation(value: Value<'_>) -> Conversation {
    let mut conversation = Conversation {
        id: value.get("id").said().unwrap_or_default(),
        title: value.get("title").said(),
        start: ["startedAt", "created_at", "createdAt", "create_time"]
            .iter()
            .find_map(|key| time::any(value.get(key))),
        ..Conversation::default()
    };
    list(value).items().for_each(|value| message(&mut conversation, value));
    if let Some(model) = value.get("model").said() {
        conversation.answered_by(0, Some(&model), None, None);
    }
    conversation
}

/// The role that a word means; none for a word that no tool is known to write.
fn role_of(role: &str) -> Option<Role> {
    Some(match role {
        "user" | "human" => Role::User,
        "system" | "developer" => Role::System,
        "tool" | "function" | "observation" | "ipython" => Role::Tool,
        "assistant" | "model" | "gpt" | "chatgpt" | "ai" | "bot" | "bing" | "bard" | "claude" | "gemini"
        | "function_call" => Role::Assistant,
        _ => return None,
    })
}

fn message(conversation: &mut Conversation, value: Value<'_>) {
    let role = value.get("role").said().or_else(|| value.get("from").said()).unwrap_or_default();
    let content = ["content", "value", "parts"].into_iter().find(|key| value.has(key));
    let content = value.get(content.unwrap_or("content"));
    let at =
        ["timestamp", "created_at", "createdAt", "time"].iter().find_map(|key| time::any(value.get(key)));
    let parent = conversation.nodes.len().checked_sub(1);
    conversation.messages += 1;
    let Some(kind) = role_of(&role.to_lowercase()) else { return conversation.unknown_role() };
    let mut parts = Parts::new(conversation, parent, at, kind);
    if kind == Role::System {
        let text = texts(&mut parts, content);
        parts.then(What::System(text));
    } else if kind == Role::Tool {
        let (call, text) = (value.get("tool_call_id").words(), texts(&mut parts, content));
        parts.then(What::Output { call, text, files: Vec::new() });
    } else if role == "function_call" {
        let input = texts(&mut parts, content);
        parts.then(What::Call { id: String::new(), name: role, input });
    } else {
        for key in ["reasoning_content", "reasoning", "thinking"] {
            parts.aside(kind, &value.get(key).words());
        }
        body(&mut parts, content);
        for call in value.get("tool_calls").items() {
            let function = call.get("function");
            let arguments = function.get("arguments");
            let input =
                arguments.said().unwrap_or_else(|| String::from_utf8_lossy(arguments.raw()).into_owned());
            parts.then(What::Call { id: call.get("id").words(), name: function.get("name").words(), input });
        }
    }
    let (first, _) = parts.finish();
    if let Some(model) = value.get("model").said() {
        conversation.answered_by(first, Some(&model), None, None);
    }
}

/// Adds a content: a string, its parts, or one part alone.
fn body(parts: &mut Parts<'_>, content: Value<'_>) {
    if let Some(text) = content.text() {
        return parts.text(&text);
    }
    for part in several(content) {
        if let Some(text) = part.text() {
            parts.text(&text);
            continue;
        }
        let text = part.get("text").text().or_else(|| part.get("refusal").text());
        match &*part.get("type").text().unwrap_or_default() {
            "thinking" | "reasoning" => {
                let thought = part.get("thinking").said().or(text.map(|text| text.into_owned()));
                parts.aside(Role::Assistant, &thought.unwrap_or_default());
            }
            "tool_use" => parts.then(What::Call {
                id: part.get("id").words(),
                name: part.get("name").words(),
                input: String::from_utf8_lossy(part.get("input").raw()).into_owned(),
            }),
            "tool_result" => {
                let (call, text) = (part.get("tool_use_id").words(), texts(parts, part.get("content")));
                parts.then(What::Output { call, text, files: Vec::new() });
            }
            "image_url" | "input_image" => {
                let url = part.get("image_url");
                let url = url.said().unwrap_or_else(|| url.get("url").words());
                parts.file(attach::url(&part.get("name").words(), "image/png", &url));
            }
            "image" | "document" => {
                let source = part.get("source");
                let (mime, data) = (source.get("media_type").words(), source.get("data").words());
                parts.file(attach::base64(&part.get("title").words(), &mime, &data));
            }
            "file" | "input_file" => {
                let inner = part.get("file");
                let file = if inner.is_object() { inner } else { part };
                parts.file(attach::url(&file.get("filename").words(), "", &file.get("file_data").words()));
            }
            "" | "text" | "input_text" | "output_text" | "refusal" if text.is_some() => {
                parts.text(&text.unwrap_or_default());
            }
            _ => parts.unknown_with(&text.unwrap_or_default()),
        }
    }
}

/// The parts of a content that is no string: its elements, or itself.
fn several(content: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let alone = (!content.is_array() && !content.is_null()).then_some(content);
    content.items().chain(alone)
}

/// All texts of a content as one. Other parts are counted.
fn texts(parts: &mut Parts<'_>, content: Value<'_>) -> String {
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    let mut texts: Vec<String> = Vec::new();
    for part in several(content) {
        match part.text().or_else(|| part.get("text").text()) {
            Some(text) if text.is_empty() => {}
            Some(text) => texts.push(text.into_owned()),
            None => parts.unknown(),
        }
    }
    texts.join("\n\n")
}
