//! LibreChat: an exported conversation, whose messages are a flat list with parents, or nested.

use std::path::Path;

use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::tree::{Link, parents};
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut values = reading.values(path)?;
    let read = |value: JsonValue<'_>| Some(conversation(value)).filter(|read| !read.nodes.is_empty());
    reading.conversations(&mut values, read, each)
}

fn conversation(value: JsonValue<'_>) -> History {
    let mut conversation = History {
        id: value.get("conversationId").string(),
        title: value.get("title").non_empty(),
        start: time::any(value.get("createdAt")),
        updated: time::any(value.get("updatedAt")),
        ..History::default()
    };
    let options = value.get("options");
    let prompt = options.get("promptPrefix").non_empty().or_else(|| options.get("system").non_empty());
    let root = prompt.map(|prompt| conversation.add(None, None, NodeContent::System(prompt)));
    // Nesting has no limit, so this does not recurse: each message with the index of the enclosing one.
    let list =
        if value.get("messages").is_array() { value.get("messages") } else { value.get("messagesTree") };
    let mut open: Vec<(JsonValue<'_>, Option<usize>)> = list.items().map(|message| (message, None)).collect();
    open.reverse();
    let mut messages = Vec::new();
    while let Some((message, inside)) = open.pop() {
        let index = messages.len();
        messages.push((
            message.get("messageId").string(),
            message.get("parentMessageId").non_empty(),
            inside,
            message,
        ));
        let children: Vec<_> = message.get("children").items().map(|child| (child, Some(index))).collect();
        open.extend(children.into_iter().rev());
    }
    // A nested message whose parent is missing or not named follows the enclosing message.
    let named = |parent: &'_ Option<String>, inside: Option<usize>| match (parent, inside) {
        (None, Some(_)) => Some(String::new()),
        (parent, _) => parent.clone(),
    };
    let named: Vec<Option<String>> =
        messages.iter().map(|(_, parent, inside, _)| named(parent, *inside)).collect();
    let links: Vec<Link<'_>> = messages
        .iter()
        .zip(&named)
        .map(|((id, ..), parent)| Link { id, parent: parent.as_deref() })
        .collect();
    let mut by_name = parents(&links, |index| messages[index].2);
    // If no message has a parent or its key, each follows the previous one.
    if messages
        .iter()
        .all(|(_, _, inside, message_value)| inside.is_none() && !message_value.has("parentMessageId"))
    {
        by_name = (0..messages.len()).map(|index: usize| index.checked_sub(1)).collect();
    }
    let indices: Vec<(usize, usize)> =
        messages.iter().map(|(.., message_value)| message(&mut conversation, *message_value)).collect();
    for (index, parent) in by_name.into_iter().enumerate() {
        conversation.nodes[indices[index].0].parent = parent.map(|parent| indices[parent].1).or(root);
    }
    conversation
}

fn message(conversation: &mut History, message: JsonValue<'_>) -> (usize, usize) {
    let at = time::any(message.get("createdAt"));
    let is_user = message.get("isCreatedByUser").is_true() || message.get("sender").is_str("User");
    let role = if is_user { Role::User } else { Role::Assistant };
    conversation.messages += 1;
    let mut parts = MessageBuilder::new(conversation, None, at, role);
    parts.text(&message.get("text").text().unwrap_or_default());
    let content = message.get("content");
    if message.get("text").non_empty().is_none() {
        parts.text(&content.text().unwrap_or_default());
    }
    for part in content.parts() {
        let text = |key: &str| {
            part.get(key).non_empty().or_else(|| part.at(&[key, "value"]).non_empty()).unwrap_or_default()
        };
        match &*part.get("type").text().unwrap_or_default() {
            // The text field repeats it.
            "text" if message.get("text").non_empty().is_some() => {}
            "text" => parts.text(&text("text")),
            "think" => parts.aside(role, &text("think")),
            "tool_call" => {
                let call = part.get("tool_call");
                let (id, name) = (call.get("id").string(), call.get("name").string());
                let input = call.get("args");
                let input =
                    input.non_empty().unwrap_or_else(|| String::from_utf8_lossy(input.raw()).into_owned());
                parts.push_node(NodeContent::Call { id: id.clone(), name, input });
                parts.push_node(output::of_call(id, call.get("output")));
            }
            _ => parts.unknown_with(&text("text")),
        }
    }
    for file in message.get("files").items() {
        parts.file(attach::missing_file(&file.get("filename").string(), &file.get("type").string()));
    }
    let (first, last) = parts.finish();
    conversation.answered_by(first, message.get("model").non_empty().as_deref(), None, None);
    (first, last)
}
