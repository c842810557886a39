//! Open WebUI: exported chats, each a tree in its `history`. Reasoning and tools are HTML elements in a text.

use std::path::Path;

use super::conversation::{History, NodeContent};
use super::json::{JsonValue, read_json};
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::tree::{Link, parents};
use super::{ConversationSink, attach, messages, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut values = reading.values(path)?;
    reading.conversations(&mut values, conversation, each)
}

/// Reads a chat from the text of its JSON.
pub fn read_text(text: &str) -> Option<History> {
    read_json(text, conversation)?
}

/// Reads a chat: a row of the export, or the content of its `chat`.
pub fn conversation(value: JsonValue<'_>) -> Option<History> {
    let chat = if value.get("chat").is_object() { value.get("chat") } else { value };
    let history = chat.at(&["history", "messages"]);
    if !history.is_object() {
        return None;
    }
    let start = [value.get("created_at"), chat.get("timestamp")].into_iter().find_map(time::any);
    let mut conversation = History {
        id: value.get("id").non_empty().or_else(|| chat.get("id").non_empty()).unwrap_or_default(),
        title: value.get("title").non_empty().or_else(|| chat.get("title").non_empty()),
        start,
        updated: time::any(value.get("updated_at")),
        ..History::default()
    };
    let prompt = chat.get("system").non_empty().or_else(|| chat.at(&["params", "system"]).non_empty());
    let root = prompt.map(|prompt| {
        let at = time::any(chat.get("systemTime"));
        conversation.add(None, at, NodeContent::System(prompt))
    });
    let messages: Vec<(String, Option<String>, JsonValue<'_>)> = history
        .fields()
        .map(|(key, message)| (key.string(), message.get("parentId").non_empty(), message))
        .collect();
    let links: Vec<Link<'_>> =
        messages.iter().map(|(id, parent, _)| Link { id, parent: parent.as_deref() }).collect();
    let parents = parents(&links, |_| None);
    let indices: Vec<(usize, usize)> =
        messages.iter().map(|(_, _, message_value)| message(&mut conversation, *message_value)).collect();
    for (index, parent) in parents.into_iter().enumerate() {
        conversation.nodes[indices[index].0].parent = parent.map(|parent| indices[parent].1).or(root);
    }
    Some(conversation)
}

fn message(conversation: &mut History, message: JsonValue<'_>) -> (usize, usize) {
    // lepo exports the milliseconds, which a time in whole seconds lacks.
    let at = [message.get("lepoTime"), message.get("timestamp")].into_iter().find_map(time::any);
    let role_name = message.get("role").text().unwrap_or_default();
    let role = if role_name == "user" { Role::User } else { Role::Assistant };
    conversation.messages += 1;
    let mut parts = MessageBuilder::new(conversation, None, at, role);
    let given = message.get("content");
    let content = given.text().unwrap_or_default();
    let is_list = given.is_array() || given.is_object();
    if let Some(tag) = message.get("lepo").non_empty() {
        parts.exact(&tag, &content);
    } else if !matches!(&*role_name, "user" | "assistant" | "system") {
        parts.unknown_role();
    } else if role_name == "system" {
        parts.push_node(NodeContent::System(output::text(given)));
    } else if message.get("output").items().next().is_some() {
        message.get("output").items().for_each(|item| output_item(&mut parts, item));
    } else if is_list {
        messages::body(&mut parts, given);
    } else if role == Role::User {
        parts.text(&content);
    } else {
        details(&mut parts, &content);
    }
    for file in message.get("files").items() {
        let inner = file.get("file");
        let name =
            file.get("name").non_empty().or_else(|| inner.get("filename").non_empty()).unwrap_or_default();
        let mime =
            file.get("content_type").non_empty().or_else(|| inner.at(&["meta", "content_type"]).non_empty());
        let image = if file.get("type").is_str("image") { "image/png" } else { "" };
        let url = file.get("url").string();
        parts.file(match url.starts_with("data:") {
            true => attach::url(&name, "", &url),
            false => attach::missing_file(&name, mime.as_deref().unwrap_or(image)),
        });
    }
    let (first, last) = parts.finish();
    let usage = message.get("usage");
    let tokens = |keys: [&str; 2]| keys.iter().find_map(|key| usage.get(key).count());
    let (input, output) =
        (tokens(["prompt_tokens", "prompt_eval_count"]), tokens(["completion_tokens", "eval_count"]));
    conversation.answered_by(first, message.get("model").non_empty().as_deref(), input, output);
    (first, last)
}

/// Adds an item of `output`, where newer versions store the parts of an answer.
fn output_item(parts: &mut MessageBuilder<'_>, item: JsonValue<'_>) {
    let texts = |value: JsonValue<'_>| {
        let texts: Vec<String> = value.items().filter_map(|part| part.get("text").non_empty()).collect();
        value.non_empty().unwrap_or_else(|| texts.join("\n\n"))
    };
    match &*item.get("type").text().unwrap_or_default() {
        "message" => parts.text(&texts(item.get("content"))),
        "reasoning" => {
            let both = [texts(item.get("summary")), texts(item.get("content"))];
            parts.aside(Role::Assistant, both.iter().find(|text| !text.is_empty()).map_or("", |text| text));
        }
        "function_call" => parts.push_node(NodeContent::Call {
            id: item.get("call_id").string(),
            name: item.get("name").string(),
            input: item.get("arguments").string(),
        }),
        "function_call_output" => {
            parts.push_node(output::of_call(item.get("call_id").string(), item.get("output")));
        }
        _ => parts.unknown_with(&texts(item.get("content"))),
    }
}

/// Adds a text in which reasoning and tool calls are `<details type="…">`.
fn details(parts: &mut MessageBuilder<'_>, content: &str) {
    const BEGIN: &str = "<details type=\"";
    let mut rest = content;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let at_line = before.is_empty() || before.ends_with('\n');
        let Some((inside, behind)) = after.split_once("</details>").filter(|_| at_line) else { break };
        let Some((head, body)) = inside.split_once('>') else { break };
        let kind = head.split('"').next().unwrap_or_default();
        parts.text(before.trim_end_matches('\n'));
        let body = body.split_once("</summary>").map_or(body, |(_, body)| body);
        let text = entities(body.trim_matches('\n'));
        let attribute = |name: &str| {
            let (_, value) = head.split_once(&format!(" {name}=\""))?;
            Some(entities(value.split('"').next().unwrap_or_default()))
        };
        if kind == "reasoning" {
            let lines =
                text.lines().map(|line| line.strip_prefix("> ").unwrap_or(line.trim_start_matches('>')));
            parts.aside(Role::Assistant, &lines.collect::<Vec<_>>().join("\n"));
        } else {
            let id = attribute("id").unwrap_or_default();
            let name = attribute("name").unwrap_or_else(|| kind.to_string());
            let input = attribute("arguments").unwrap_or_default();
            parts.push_node(NodeContent::Call { id: id.clone(), name, input });
            let text = attribute("result").filter(|text| !text.is_empty()).unwrap_or(text);
            parts.push_node(NodeContent::Output { call: id, text, files: Vec::new() });
        }
        rest = behind.trim_start_matches('\n');
    }
    parts.text(rest);
}

/// Decodes the HTML entities that Open WebUI writes.
fn entities(text: &str) -> String {
    let pairs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_string(), |text, (entity, letter)| text.replace(entity, letter))
}
