//! Jan: a folder a thread, its messages in `messages.jsonl`, its title in `thread.json`.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::{SourceReader, first_value};
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Reads a thread from its messages.
pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut conversation = History { grows: true, ..History::default() };
    let (mut last, mut known) = (0, HashSet::new());
    let mut values = reading.lines(path)?;
    while let Some(value) = reading.next(&mut values)? {
        if conversation.id.is_empty() {
            conversation.id = value.get("thread_id").string();
        }
        // A repeated, unchanged message is skipped.
        let again = value.get("id").non_empty().is_some_and(|id| !known.insert((id, hash(value))));
        if again {
            continue;
        }
        last = conversation.nodes.len();
        message(&mut conversation, value);
    }
    conversation.nodes.iter_mut().skip(last).for_each(|node| node.last = true);
    let about = path.with_file_name("thread.json");
    let (title, created, prompt) = first_value(&about, |thread| {
        let prompt =
            thread.get("assistants").items().find_map(|assistant| assistant.get("instructions").non_empty());
        let begun = ["created", "created_at", "updated"].iter().find_map(|key| time::any(thread.get(key)));
        (thread.get("title").non_empty(), begun, prompt)
    })
    .unwrap_or_default();
    (conversation.title, conversation.start) = (title, created);
    if let Some(prompt) = prompt {
        let root = conversation.add(None, None, NodeContent::System(prompt));
        if let Some(first) = conversation.nodes.first_mut() {
            first.parent = Some(root);
        }
    }
    each(conversation)
}

/// Hashes the role and the content of a message.
fn hash(message: JsonValue<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (message.get("role").raw(), message.get("content").raw()).hash(&mut hasher);
    hasher.finish()
}

fn message(conversation: &mut History, value: JsonValue<'_>) {
    let parent = conversation.nodes.len().checked_sub(1);
    let role = if value.get("role").is_str("user") { Role::User } else { Role::Assistant };
    conversation.messages += 1;
    let mut parts = MessageBuilder::new(conversation, parent, time::any(value.get("created_at")), role);
    let is_prompt = value.get("role").is_str("system");
    if !is_prompt && !matches!(&*value.get("role").text().unwrap_or_default(), "user" | "assistant") {
        parts.unknown_role();
        parts.finish();
        return;
    }
    let content = value.get("content");
    match content.text() {
        Some(text) if is_prompt => parts.push_node(NodeContent::System(text.into_owned())),
        Some(text) => parts.text(&text),
        None => {}
    }
    for part in content.parts() {
        let words = part
            .at(&["text", "value"])
            .non_empty()
            .or_else(|| part.get("text").non_empty())
            .unwrap_or_default();
        match &*part.get("type").text().unwrap_or_default() {
            "image_url" => parts.file(attach::url("", "image/png", &part.at(&["image_url", "url"]).string())),
            "reasoning" => parts.aside(role, &words),
            "tool_call" => {
                let (id, name) = (part.get("tool_call_id").string(), part.get("tool_name").string());
                let input = String::from_utf8_lossy(part.get("input").raw()).into_owned();
                parts.push_node(NodeContent::Call { id: id.clone(), name, input });
                let output = part.get("output");
                parts.push_node(output::of_call(id, output));
            }
            _ if is_prompt => parts.push_node(NodeContent::System(words)),
            "text" | "" => parts.text(&words),
            _ => parts.unknown_with(&words),
        }
    }
    let (first, _) = parts.finish();
    let model = value.at(&["metadata", "modelId"]).non_empty();
    conversation.answered_by(first, model.as_deref(), None, None);
}
