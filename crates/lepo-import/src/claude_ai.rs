//! Claude.ai: `conversations.json` of an export. A message may name its parent; if no message does, each follows the
//! previous one.

use std::io::Read;
use std::path::Path;

use super::archive::Archive;
use super::chatgpt::is_document;
use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::tree::{Link, cut_circles, parents};
use super::value_reader::ValueReader;
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// The parent id of a first message.
const ROOT: &str = "00000000-0000-4000-8000-000000000000";

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut archive = Archive::open(path)?;
    for document in archive.documents(is_document) {
        archive.read(document, reading, |from: &mut dyn Read, reading| {
            let read =
                |value: JsonValue<'_>| value.get("chat_messages").is_array().then(|| conversation(value));
            reading.conversations(&mut ValueReader::sequence(from), read, each)
        })?;
    }
    Ok(())
}

fn conversation(value: JsonValue<'_>) -> History {
    let mut conversation = History {
        id: value.get("uuid").string(),
        title: value.get("name").non_empty(),
        start: time::written(value.get("created_at")),
        updated: time::written(value.get("updated_at")),
        ..History::default()
    };
    let messages: Vec<(String, Option<String>, JsonValue<'_>)> = value
        .get("chat_messages")
        .items()
        .map(|message| {
            (message.get("uuid").string(), message.get("parent_message_uuid").non_empty(), message)
        })
        .collect();
    let links: Vec<Link<'_>> = messages
        .iter()
        .map(|(id, parent, _)| Link { id, parent: parent.as_deref().filter(|parent| *parent != ROOT) })
        .collect();
    // A message without the key of a parent follows the previous message.
    let silent = |index: usize| {
        messages.get(index).is_some_and(|(.., message_value)| !message_value.has("parent_message_uuid"))
    };
    let mut parents = parents(&links, |index| index.checked_sub(1));
    for (index, parent) in parents.iter_mut().enumerate().filter(|(index, _)| silent(*index)) {
        *parent = index.checked_sub(1);
    }
    cut_circles(&mut parents, |index| messages.get(index).map_or("", |(id, ..)| id));
    let model = value.get("model").non_empty();
    let mut indices = Vec::with_capacity(messages.len());
    for (_, _, message_value) in &messages {
        let index = message(&mut conversation, *message_value);
        conversation.answered_by(index.0, model.as_deref(), None, None);
        indices.push(index);
    }
    for (index, parent) in parents.into_iter().enumerate() {
        conversation.nodes[indices[index].0].parent = parent.map(|parent| indices[parent].1);
    }
    conversation
}

fn message(conversation: &mut History, message: JsonValue<'_>) -> (usize, usize) {
    let at = time::written(message.get("created_at"));
    let role = if message.get("sender").is_str("human") { Role::User } else { Role::Assistant };
    conversation.messages += 1;
    let mut parts = MessageBuilder::new(conversation, None, at, role);
    let sender = message.get("sender").text().unwrap_or_default();
    if !matches!(&*sender, "human" | "assistant") {
        parts.unknown_role();
        return parts.finish();
    }
    let content = message.get("content");
    parts.text(&content.text().unwrap_or_default());
    for block in content.parts() {
        match &*block.get("type").text().unwrap_or_default() {
            "text" | "voice_note" => parts.text(&block.get("text").text().unwrap_or_default()),
            "thinking" => parts.aside(role, &block.get("thinking").text().unwrap_or_default()),
            "tool_use" => parts.push_node(NodeContent::Call {
                id: block.get("id").string(),
                name: block.get("name").string(),
                input: String::from_utf8_lossy(block.get("input").raw()).into_owned(),
            }),
            "tool_result" => {
                parts.push_node(output::of_call(block.get("tool_use_id").string(), block.get("content")));
            }
            "token_budget" | "flag" => {}
            _ => parts.unknown_with(&block.get("text").text().unwrap_or_default()),
        }
    }
    if content.parts().next().is_none() && content.non_empty().is_none() {
        parts.text(&message.get("text").text().unwrap_or_default());
    }
    for attached in message.get("attachments").items() {
        let (name, mime) = (attached.get("file_name").string(), attached.get("file_type").string());
        match attached.get("extracted_content").non_empty() {
            Some(pasted) => parts.text(&attach::named_text(&name, &pasted)),
            None => parts.file(attach::missing_file(&name, &mime)),
        }
    }
    for file in message.get("files").items() {
        parts.file(attach::missing_file(&file.get("file_name").string(), &file.get("file_kind").string()));
    }
    parts.finish()
}
