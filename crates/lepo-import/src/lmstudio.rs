//! LM Studio: one document a conversation. A message has versions; later messages follow the selected version.

use std::path::Path;

use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Keys of a conversation's time, by preference.
const TIMES: [&str; 3] = ["createdAt", "userLastMessagedAt", "assistantLastMessagedAt"];

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut values = reading.values(path)?;
    while let Some(value) = reading.next(&mut values)? {
        let mut conversation = History {
            id: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .split('.')
                .next()
                .unwrap_or_default()
                .into(),
            title: value.get("name").non_empty(),
            start: TIMES.iter().find_map(|key| time::any(value.get(key))),
            grows: true,
            ..History::default()
        };
        let mut at = value
            .get("systemPrompt")
            .non_empty()
            .map(|prompt| conversation.add(None, None, NodeContent::System(prompt)));
        let model = value.at(&["lastUsedModel", "identifier"]).non_empty();
        for message in value.get("messages").items() {
            let (before, begin) = (at, conversation.nodes.len());
            let selected = message.get("currentlySelected").count().unwrap_or(0);
            for (index, version_value) in message.get("versions").items().enumerate() {
                let last = version(&mut conversation, before, version_value, model.as_deref());
                if index as u64 == selected || at == before {
                    at = Some(last);
                }
            }
            conversation.messages += 1;
            // Only the nodes of the last message may be incomplete.
            conversation.nodes.iter_mut().take(begin).for_each(|node| node.last = false);
            conversation.nodes.iter_mut().skip(begin).for_each(|node| node.last = true);
        }
        each(conversation)?;
    }
    Ok(())
}

/// Adds a version of a message, and returns its last node.
fn version(
    conversation: &mut History,
    parent: Option<usize>,
    version: JsonValue<'_>,
    model: Option<&str>,
) -> usize {
    let role = if version.get("role").is_str("user") { Role::User } else { Role::Assistant };
    let mut parts = MessageBuilder::new(conversation, parent, None, role);
    if version.get("role").is_str("system") {
        parts.push_node(NodeContent::System(text(version.get("content"))));
        return parts.finish().1;
    }
    if !matches!(&*version.get("role").text().unwrap_or_default(), "user" | "assistant") {
        parts.unknown_role();
        return parts.finish().1;
    }
    content(&mut parts, version.get("content"));
    for step in version.get("steps").items() {
        if step.at(&["style", "type"]).is_str("thinking") {
            parts.aside(role, &text(step.get("content")));
        } else {
            content(&mut parts, step.get("content"));
        }
    }
    let (first, last) = parts.finish();
    let model = version.at(&["senderInfo", "senderName"]).non_empty().or(model.map(str::to_string));
    let stats = |step: JsonValue<'_>, key: &str| step.at(&["genInfo", "stats"]).get(key).count();
    let tokens = |key: &str| version.get("steps").items().filter_map(|step| stats(step, key)).last();
    let (input, output) = (tokens("promptTokensCount"), tokens("predictedTokensCount"));
    conversation.answered_by(first, model.as_deref(), input, output);
    last
}

fn content(parts: &mut MessageBuilder<'_>, content: JsonValue<'_>) {
    parts.text(&content.text().unwrap_or_default());
    for part in content.parts() {
        match &*part.get("type").text().unwrap_or_default() {
            "file" => {
                let image = if part.get("fileType").is_str("image") { "image/png" } else { "" };
                parts.file(attach::missing_file(&part.get("fileIdentifier").string(), image));
            }
            "toolCallRequest" => {
                let call =
                    if part.get("toolCallRequest").is_object() { part.get("toolCallRequest") } else { part };
                let given = call.get("parameters");
                let input = if given.is_object() { given.raw() } else { call.get("arguments").raw() };
                parts.push_node(NodeContent::Call {
                    id: call_id(part),
                    name: call.get("name").string(),
                    input: String::from_utf8_lossy(input).into_owned(),
                });
            }
            "toolCallResult" => {
                parts.push_node(output::of_call(call_id(part), part.get("content")));
            }
            _ => match part.get("text").text() {
                Some(text) => parts.text(&text),
                None => parts.unknown(),
            },
        }
    }
}

/// Returns the id of a call, which is a number or a text.
fn call_id(part: JsonValue<'_>) -> String {
    let id = part.get("callId");
    id.number().map(str::to_string).unwrap_or_else(|| id.string())
}

fn text(content: JsonValue<'_>) -> String {
    content.items().filter_map(|part| part.get("text").non_empty()).collect::<Vec<_>>().join("\n\n")
}
