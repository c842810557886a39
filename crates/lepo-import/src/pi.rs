//! pi: one JSONL log a session, each entry with its parent; in the first version entries have no ids and each follows
//! the previous one.

use std::path::Path;

use super::conversation::{History, ImportedFile, NodeContent};
use super::json::JsonValue;
use super::linked_log::LinkedLog;
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut conversation = History { grows: true, ..History::default() };
    let (mut log, mut labels) = (LinkedLog::default(), Vec::new());
    let mut header = None;
    let mut values = reading.lines(path)?;
    while let Some(line) = reading.next(&mut values)? {
        let kind = line.get("type").text().unwrap_or_default();
        let first = conversation.nodes.len();
        let at = time::written(line.get("timestamp"));
        match &*kind {
            "session" => {
                conversation.id = line.get("id").string();
                conversation.dir = line.get("cwd").non_empty();
                header = at;
                // A file that lepo exported is complete.
                conversation.grows = !line.get("exportedBy").is_str("lepo");
                continue;
            }
            "message" => message(&mut conversation, line.get("message"), at),
            "compaction" | "branch_summary" => {
                let mut parts = MessageBuilder::new(&mut conversation, None, at, Role::System);
                parts.aside(Role::System, &line.get("summary").string());
                parts.finish();
                conversation.messages += 1;
            }
            "custom_message" => {
                let mut parts = MessageBuilder::new(&mut conversation, None, at, Role::User);
                parts.aside(Role::User, &texts(line.get("content")));
                parts.finish();
            }
            "custom" if line.get("customType").is_str("lepo") => {
                let data = line.get("data");
                let mut parts = MessageBuilder::new(&mut conversation, None, at, Role::System);
                match data.get("tag").is_str("s1") && line.get("parentId").is_null() {
                    true => parts.push_node(NodeContent::System(data.get("text").string())),
                    false => parts.exact(&data.get("tag").string(), &data.get("text").string()),
                }
                parts.finish();
            }
            "session_info" => {
                conversation.title = line.get("name").non_empty().or(conversation.title.take());
                conversation.add(None, at, NodeContent::Nothing);
            }
            other => {
                if let ("label", Some(label)) = (other, line.get("label").non_empty()) {
                    labels.push((label, line.get("targetId").string()));
                }
                if !matches!(other, "label" | "model_change" | "thinking_level_change" | "custom") {
                    reading.tally.skip(&format!("unknown record {other:?}"), 1);
                }
                conversation.add(None, at, NodeContent::Nothing);
            }
        }
        let before = log.records.last().map(|record| record.id.clone());
        let id = line.get("id").non_empty();
        if let Some(id) = &id {
            let new = conversation.nodes.split_off(first);
            let read = conversation.messages;
            if log.repeats(id, &new, &mut conversation) {
                conversation.messages = read.saturating_sub(u64::from(kind == "message"));
                continue;
            }
            conversation.nodes.extend(new);
        }
        let has_parent = id.is_some() && line.has("parentId");
        let parent = if has_parent { line.get("parentId").non_empty() } else { before };
        let id = id.unwrap_or_else(|| format!("line {}", log.records.len()));
        let tail = conversation.nodes.len() - 1;
        log.add(id, parent, "", first..=tail);
        let stop = line.at(&["message", "stopReason"]).non_empty();
        log.set_ended(stop.is_some_and(|stop| stop != "toolUse"));
    }
    // The header may be newer than all entries after it.
    if conversation.nodes.iter().all(|node| node.time.is_none()) {
        conversation.start = header;
    }
    log.link(&mut conversation, None);
    log.mark_last(&mut conversation);
    for (label, target) in labels {
        if let Some(index) = log.find(&target) {
            conversation.labels.push((label, log.records[index].tail));
        }
    }
    each(conversation)
}

fn message(conversation: &mut History, message: JsonValue<'_>, logged: Option<u64>) {
    let at = time::any(message.get("timestamp")).or(logged);
    let role_name = message.get("role").text().unwrap_or_default();
    let role = if role_name == "user" { Role::User } else { Role::Assistant };
    conversation.messages += 1;
    let mut parts = MessageBuilder::new(conversation, None, at, role);
    let content = message.get("content");
    match &*role_name {
        "user" | "assistant" => {
            parts.text(&content.text().unwrap_or_default());
            content.parts().for_each(|part| block(&mut parts, role, part));
        }
        "toolResult" => {
            let files = content.items().filter_map(image).collect();
            let call = message.get("toolCallId").string();
            parts.push_node(NodeContent::Output { call, text: output::text(content), files });
        }
        "bashExecution" => {
            let input = String::from_utf8_lossy(message.get("command").raw()).into_owned();
            parts.push_node(NodeContent::Call { id: "bash".into(), name: "bash".into(), input });
            let text = message.get("output").string();
            parts.push_node(NodeContent::Output { call: "bash".into(), text, files: Vec::new() });
        }
        _ => {
            let summary = message.get("summary").non_empty().unwrap_or_else(|| texts(content));
            let role = if role_name.ends_with("Summary") { Role::System } else { Role::User };
            parts.aside(role, &summary);
        }
    }
    let (first, _) = parts.finish();
    let usage = message.get("usage");
    let parts = ["input", "cacheRead", "cacheWrite"].iter().filter_map(|key| usage.get(key).count());
    let input = parts.fold(0, u64::saturating_add);
    let model = message.get("model").non_empty();
    conversation.answered_by(
        first,
        model.as_deref(),
        (input > 0).then_some(input),
        usage.get("output").count(),
    );
}

fn block(parts: &mut MessageBuilder<'_>, role: Role, block: JsonValue<'_>) {
    match &*block.get("type").text().unwrap_or_default() {
        "text" => parts.text(&block.get("text").text().unwrap_or_default()),
        "thinking" => parts.aside(role, &block.get("thinking").text().unwrap_or_default()),
        "image" => image(block).into_iter().for_each(|file| parts.file(file)),
        "toolCall" => parts.push_node(NodeContent::Call {
            id: block.get("id").string(),
            name: block.get("name").string(),
            input: String::from_utf8_lossy(block.get("arguments").raw()).into_owned(),
        }),
        _ => parts.unknown_with(&block.get("text").text().unwrap_or_default()),
    }
}

fn image(block: JsonValue<'_>) -> Option<ImportedFile> {
    let data = block.get("data").text()?;
    Some(attach::base64(&block.get("name").string(), &block.get("mimeType").string(), &data))
}

fn texts(content: JsonValue<'_>) -> String {
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    content.items().filter_map(|part| part.get("text").non_empty()).collect::<Vec<_>>().join("\n\n")
}
