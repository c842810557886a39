//! Messages in the formats of APIs: `{"messages": […]}`, an array or lines of messages, ShareGPT, sessions of
//! humble-ai-cli. Any tool whose history `jq` can bring into this form can be imported.

use std::path::Path;

use super::conversation::{History, ImportedFile, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::message_items::{add_item, is_item};
use super::source::SourceReader;
use super::{ConversationSink, attach, gemini, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Reads a document, or lines of documents.
pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let lines = path.extension().is_some_and(|end| end == "jsonl" || end == "ndjson");
    let mut values = if lines { reading.lines(path)? } else { reading.values(path)? };
    // Messages outside a conversation become one conversation.
    let mut loose = History::default();
    while let Some(value) = reading.next(&mut values)? {
        // The first line of a log of Goose.
        if value.has("working_dir") && value.has("message_count") && !list(value).is_array() {
            loose.title = value.get("description").non_empty();
            loose.dir = value.get("working_dir").non_empty();
            continue;
        }
        if is_message(value) || is_item(value) || value.get("role").text().is_some() {
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

/// Keys of which each message has at least one.
const WORDS: &[&str] = &[
    "content",
    "value",
    "parts",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "thinking",
    "refusal",
];

pub fn is_message(value: JsonValue<'_>) -> bool {
    let has_role =
        value.get("role").text().is_some() || (value.get("from").text().is_some() && value.has("value"));
    has_role && WORDS.iter().any(|key| value.has(key))
}

/// Whether a value is a message outside a conversation. A message that names its parent belongs to a tree, which would
/// be flattened.
pub fn is_loose(value: JsonValue<'_>) -> bool {
    is_message(value) && !is_of_tree(value)
}

/// Whether a value is a list of messages, each of which follows the previous one.
pub fn is_line(list: JsonValue<'_>) -> bool {
    list.is_array() && list.items().next().is_some_and(is_message) && !list.items().any(is_of_tree)
}

/// Whether a message names its parent or its children.
fn is_of_tree(message: JsonValue<'_>) -> bool {
    let parent = ["parent", "parentId", "parent_id", "parentMessageId", "parent_message_id", "parentUuid"];
    let children = ["children", "childrenIds", "children_ids"];
    parent.iter().any(|key| message.get(key).non_empty().is_some() || message.get(key).number().is_some())
        || children.iter().any(|key| message.get(key).items().next().is_some())
}

/// Finds the list of a conversation's messages.
pub fn list(value: JsonValue<'_>) -> JsonValue<'_> {
    if value.is_array() {
        return value;
    }
    let lists = ["messages", "conversations", "history", "conversation"].map(|key| value.get(key));
    lists.into_iter().find(|list| list.is_array()).unwrap_or(lists[1])
}

/// Keys of the start of a conversation or of a message's time; below, of the last change.
const BEGUN: &[&str] = &[
    "startedAt",
    "started_at",
    "created_at",
    "createdAt",
    "create_time",
    "created",
    "timestamp",
    "startTime",
    "date",
    "time",
    "ts",
];
const CHANGED: &[&str] =
    &["update_time", "updated_at", "updatedAt", "updated", "lastModified", "lastUpdated"];

fn time_of(value: JsonValue<'_>, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| time::any(value.get(key)))
}

fn conversation(value: JsonValue<'_>) -> History {
    // Goose names the folder, and writes a title as the description.
    let dir = value.get("working_dir").non_empty();
    let mut conversation = History {
        id: value.get("id").non_empty().unwrap_or_default(),
        title: value
            .get("title")
            .non_empty()
            .or_else(|| value.get("description").non_empty().filter(|_| dir.is_some())),
        start: time_of(value, BEGUN),
        updated: time_of(value, CHANGED),
        dir,
        ..History::default()
    };
    list(value).items().for_each(|value| message(&mut conversation, value));
    if let Some(model) = value.get("model").non_empty() {
        conversation.answered_by(0, Some(&model), None, None);
    }
    conversation
}

/// Parses a role; `None` if no tool is known to write it.
fn role_of(name: &str) -> Option<Role> {
    Some(match name {
        "user" | "human" => Role::User,
        "system" | "developer" => Role::System,
        "tool" | "function" | "observation" | "ipython" => Role::Tool,
        "assistant" | "model" | "gpt" | "chatgpt" | "ai" | "bot" | "bing" | "bard" | "claude" | "gemini"
        | "function_call" => Role::Assistant,
        _ => return None,
    })
}

fn message(conversation: &mut History, value: JsonValue<'_>) {
    let role_name =
        value.get("role").non_empty().or_else(|| value.get("from").non_empty()).unwrap_or_default();
    let content = ["content", "value", "parts"].into_iter().find(|key| value.has(key));
    let content = value.get(content.unwrap_or("content"));
    let at = time_of(value, BEGUN).or_else(|| time_of(value, CHANGED));
    let parent = conversation.nodes.len().checked_sub(1);
    let role = role_of(&role_name.to_lowercase());
    if value.get("delta").is_true() && append_piece(conversation, role, &content.text().unwrap_or_default()) {
        return;
    }
    conversation.messages += 1;
    if role_name.is_empty() && is_item(value) {
        return add_item(conversation, parent, at, value);
    }
    let Some(role) = role else { return conversation.unknown_role() };
    let mut parts = MessageBuilder::new(conversation, parent, at, role);
    if role == Role::System && content.items().any(is_result) {
        body(&mut parts, content);
    } else if role == Role::System {
        let text = texts(&mut parts, content);
        parts.push_node(NodeContent::System(text));
    } else if role == Role::Tool {
        let call = value.get("tool_call_id").string();
        match content.items().any(is_result) {
            true => body(&mut parts, content),
            false => parts.push_node(output::of_call(call, content)),
        }
    } else if role_name == "function_call" {
        let input = texts(&mut parts, content);
        parts.push_node(NodeContent::Call { id: String::new(), name: role_name, input });
    } else {
        for key in ["reasoning_content", "reasoning", "thinking"] {
            parts.aside(role, &value.get(key).string());
        }
        match value.has("parts") && role == Role::User {
            true => gemini_parts(&mut parts, content),
            false => body(&mut parts, content),
        }
        parts.text(&value.get("refusal").string());
        for url in value.get("images").items() {
            parts.file(image(url));
        }
        let older = value.get("function_call");
        let older = older.is_object().then_some(("", older)).into_iter();
        let calls: Vec<(String, JsonValue<'_>)> = (value.get("tool_calls").items())
            .map(|call| {
                (
                    call.get("id").string(),
                    if call.get("function").is_object() { call.get("function") } else { call },
                )
            })
            .chain(older.map(|(id, function)| (id.to_string(), function)))
            .collect();
        for (id, function) in calls {
            let arguments = ["arguments", "args", "input"].into_iter().map(|key| function.get(key));
            let arguments =
                arguments.into_iter().find(|value| !value.is_null()).unwrap_or(function.get("arguments"));
            let input = arguments.non_empty().unwrap_or_else(|| output::json(arguments));
            parts.push_node(NodeContent::Call { id, name: function.get("name").string(), input });
        }
    }
    if !WORDS.iter().any(|key| value.has(key)) {
        parts.unknown();
    }
    let (first, _) = parts.finish();
    if let Some(model) = value.get("model").non_empty() {
        conversation.answered_by(first, Some(&model), None, None);
    }
}

/// Adds a piece of an answer to the last message, if it is of the same role.
fn append_piece(conversation: &mut History, role: Option<Role>, piece: &str) -> bool {
    match conversation.nodes.last_mut().map(|last| &mut last.what) {
        Some(NodeContent::Text(last, text, _)) if Some(*last) == role => text.push_str(piece),
        _ => return false,
    }
    true
}

/// Returns an image from a message's list of images: a data URL, base64 alone, or an object with a URL.
fn image(image: JsonValue<'_>) -> ImportedFile {
    let inner = image.get("image_url");
    let url = image.non_empty().or_else(|| inner.non_empty()).unwrap_or_else(|| inner.get("url").string());
    match url.contains(':') || url.is_empty() {
        true => attach::url("", "image/png", &url),
        false => attach::base64("", "image/png", &url),
    }
}

/// Whether a part of a content is a tool's result.
fn is_result(part: JsonValue<'_>) -> bool {
    let kind = part.get("type").text().unwrap_or_default();
    kind.ends_with("_result") || kind == "tool-result" || part.get("functionResponse").is_object()
}

/// Adds a content: a string, a list of parts, or a single part.
pub fn body(parts: &mut MessageBuilder<'_>, content: JsonValue<'_>) {
    if let Some(text) = content.text() {
        return parts.text(&text);
    }
    for part in several(content) {
        match part.text() {
            Some(text) => parts.text(&text),
            None => body_part(parts, part),
        }
    }
}

/// Adds a user's message in Gemini's format; a checkpoint of gemini-cli also has inserted text in it.
fn gemini_parts(parts: &mut MessageBuilder<'_>, content: JsonValue<'_>) {
    for part in content.items() {
        match part.get("text").text().filter(|_| !part.has("type") && !part.get("thought").is_true()) {
            Some(text) => parts.push_without_injections(&text, &gemini::INJECTED),
            None => body_part(parts, part),
        }
    }
}

fn body_part(parts: &mut MessageBuilder<'_>, part: JsonValue<'_>) {
    let text = part.get("text").text().or_else(|| part.get("refusal").text());
    let kind = part.get("type").text().unwrap_or_default();
    // A part in Gemini's format has no type.
    let [inline, call, response] = part.pick(["inlineData", "functionCall", "functionResponse"]);
    match &*kind {
        "" if call.is_object() => parts.push_node(NodeContent::Call {
            id: call.get("id").string(),
            name: call.get("name").string(),
            input: output::json(call.get("args")),
        }),
        "" if response.is_object() => {
            let (call, text) = (response.get("id").string(), gemini::response(part).unwrap_or_default());
            parts.push_node(NodeContent::Output { call, text, files: Vec::new() });
        }
        "" if inline.get("data").text().is_some() => {
            parts.file(attach::base64("", &inline.get("mimeType").string(), &inline.get("data").string()));
        }
        "" if part.get("thought").is_true() => parts.aside(Role::Assistant, &text.unwrap_or_default()),
        "thinking" | "reasoning" => {
            let thought = part.get("thinking").non_empty().or(text.map(|text| text.into_owned()));
            parts.aside(Role::Assistant, &thought.unwrap_or_default());
        }
        // Encrypted reasoning, and marks without content.
        "redacted_thinking" | "step-start" => {}
        "tool_use" | "server_tool_use" | "mcp_tool_use" => parts.push_node(NodeContent::Call {
            id: part.get("id").string(),
            name: part.get("name").string(),
            input: output::json(part.get("input")),
        }),
        "tool-call" => {
            let given = ["input", "args"].map(|key| part.get(key));
            let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(part.get("input"));
            let (id, name) = (part.get("toolCallId").string(), part.get("toolName").string());
            parts.push_node(NodeContent::Call { id, name, input: output::json(given) });
        }
        "tool-result" => {
            let given = [part.at(&["output", "value"]), part.get("output"), part.get("result")];
            let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(part.get("output"));
            parts.push_node(output::of_call(part.get("toolCallId").string(), given));
        }
        // Goose.
        "toolRequest" => {
            let call = part.at(&["toolCall", "value"]);
            parts.push_node(NodeContent::Call {
                id: part.get("id").string(),
                name: call.get("name").string(),
                input: output::json(call.get("arguments")),
            });
        }
        "toolResponse" => {
            let given = [part.at(&["toolResult", "value"]), part.at(&["toolResult", "error"])];
            let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(part.get("toolResult"));
            parts.push_node(output::of_call(part.get("id").string(), given));
        }
        kind if kind.ends_with("_result") => {
            parts.push_node(output::of_call(part.get("tool_use_id").string(), part.get("content")));
        }
        kind if kind.starts_with("tool-") && part.has("toolCallId") => {
            let (id, name) = (part.get("toolCallId").string(), kind.trim_start_matches("tool-").to_string());
            parts.push_node(NodeContent::Call {
                id: id.clone(),
                name,
                input: output::json(part.get("input")),
            });
            parts.push_node(output::of_call(id, part.get("output")));
        }
        "image_url" | "input_image" => {
            let url = part.get("image_url");
            let url = url.non_empty().unwrap_or_else(|| url.get("url").string());
            parts.file(attach::url(&part.get("name").string(), "image/png", &url));
        }
        "image" | "document" => {
            let source = part.get("source");
            let (mime, data) = (source.get("media_type").string(), source.get("data").string());
            parts.file(attach::base64(&part.get("title").string(), &mime, &data));
        }
        "file" | "input_file" => {
            let inner = part.get("file");
            let file = if inner.is_object() { inner } else { part };
            let data = [file.get("file_data"), file.get("url"), file.get("data")];
            let url = data.into_iter().find_map(JsonValue::non_empty).unwrap_or_default();
            let mime =
                [file.get("mediaType"), file.get("mimeType")].into_iter().find_map(JsonValue::non_empty);
            parts.file(attach::url(&file.get("filename").string(), &mime.unwrap_or_default(), &url));
        }
        "" | "text" | "input_text" | "output_text" | "refusal" if text.is_some() => {
            parts.text(&text.unwrap_or_default());
        }
        _ => parts.unknown_with(&text.unwrap_or_default()),
    }
}

/// Returns the parts of a content that is not a string: its elements, or the content itself.
fn several(content: JsonValue<'_>) -> impl Iterator<Item = JsonValue<'_>> {
    let alone = (!content.is_array() && !content.is_null()).then_some(content);
    content.items().chain(alone)
}

/// Joins all texts of a content. Other parts are counted as unknown.
fn texts(parts: &mut MessageBuilder<'_>, content: JsonValue<'_>) -> String {
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
