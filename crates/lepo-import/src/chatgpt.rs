//! ChatGPT: `conversations.json` of an export, each conversation a tree in its `mapping`.
//!
//! The tree is built from parents: children may be missing, and the order of a mapping is meaningless.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use super::archive::Archive;
use super::conversation::{History, ImportedFile, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::{BEHIND, SourceReader};
use super::tree::{Link, parents};
use super::value_reader::ValueReader;
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Whether a document of an export contains conversations.
pub fn is_document(name: &str) -> bool {
    name.strip_prefix("conversations")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b'_'))
}

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut archive = Archive::open(path)?;
    let names = asset_names(&mut archive, reading)?;
    // Opened twice, for the assets: the first is borrowed while its document is read.
    let mut assets = Archive::open(path)?;
    for document in archive.documents(is_document) {
        archive.read(document, reading, |from: &mut dyn Read, reading| {
            let mut values = ValueReader::sequence(from);
            while let Some(value) = reading.next(&mut values)? {
                let mut ids = Vec::new();
                match conversation(value, &mut ids) {
                    _ if value.is_array() => reading.tally.skip(BEHIND, 1),
                    Some(mut conversation) => {
                        fill(&mut conversation, ids, &names, &mut assets);
                        each(conversation)?;
                    }
                    None => reading.tally.skip("conversation without messages", 1),
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The document of an export that maps its asset files to their original names.
const NAMES: &str = "conversation_asset_file_names.json";

/// Reads the original names of files, by the exported names up to the first `.`: the ids.
fn asset_names(archive: &mut Archive, reading: &mut SourceReader) -> Result<HashMap<String, String>> {
    let mut names = HashMap::new();
    if let Archive::File(_) = archive {
        return Ok(names);
    }
    for document in archive.documents(|name| name == NAMES) {
        archive.read(document, reading, |from: &mut dyn Read, reading| {
            let mut values = ValueReader::sequence(from);
            while let Some(value) = reading.next(&mut values)? {
                names.extend(value.fields().filter_map(|(file, name)| {
                    let file = file.string();
                    let id = file.split('.').next().unwrap_or_default();
                    Some((id.to_string(), name.non_empty()?))
                }));
            }
            Ok(())
        })?;
    }
    Ok(names)
}

/// Sets the bytes of a conversation's files, and the names of unnamed ones. `ids` has an item for each file, in order.
fn fill(conversation: &mut History, ids: Ids, names: &HashMap<String, String>, assets: &mut Archive) {
    let files = conversation.nodes.iter_mut().flat_map(|node| match &mut node.what {
        NodeContent::Text(_, _, files) | NodeContent::Output { files, .. } => files.as_mut_slice(),
        _ => &mut [],
    });
    for (file, id) in files.zip(ids) {
        if let Some(id) = id {
            file.data = assets.asset(&id);
            if let Some(name) = names.get(&id).filter(|_| file.name == id || file.name.is_empty()) {
                file.name.clone_from(name);
            }
        }
    }
}

/// The ids of a conversation's files, in their order; `None` for a file whose bytes are in the text.
type Ids = Vec<Option<String>>;

/// Reads a conversation; its files have no bytes yet.
fn conversation(value: JsonValue<'_>, ids: &mut Ids) -> Option<History> {
    let mapping = value.get("mapping");
    if !mapping.is_object() {
        return None;
    }
    let mut conversation = History {
        id: value
            .get("conversation_id")
            .non_empty()
            .or_else(|| value.get("id").non_empty())
            .unwrap_or_default(),
        title: value.get("title").non_empty(),
        start: time::any(value.get("create_time")),
        updated: time::any(value.get("update_time")),
        ..History::default()
    };
    let model = value.get("default_model_slug").non_empty();
    let nodes: Vec<(String, Option<String>, JsonValue<'_>)> =
        mapping.fields().map(|(key, node)| (key.string(), node.get("parent").non_empty(), node)).collect();
    // A node without a parent may still be listed as another node's child.
    let mut named: HashMap<String, &str> = HashMap::new();
    if nodes.iter().filter(|(_, parent, _)| parent.is_none()).count() > 1 {
        for (key, _, node) in &nodes {
            named.extend(
                node.get("children").items().filter_map(|child| Some((child.non_empty()?, key.as_str()))),
            );
        }
    }
    let links: Vec<Link<'_>> = nodes
        .iter()
        .map(|(id, parent, _)| Link { id, parent: parent.as_deref().or_else(|| named.get(id).copied()) })
        .collect();
    let parents = parents(&links, |_| None);
    let mut indices = Vec::with_capacity(nodes.len());
    for (_, _, node) in &nodes {
        indices.push(message(&mut conversation, node.get("message"), model.as_deref(), ids));
    }
    for (index, parent) in parents.iter().enumerate() {
        conversation.nodes[indices[index].0].parent = parent.map(|parent| indices[parent].1);
    }
    Some(conversation)
}

/// The supported content types.
const TYPES: &[&str] = &[
    "text",
    "multimodal_text",
    "code",
    "execution_output",
    "thoughts",
    "reasoning_recap",
    "user_editable_context",
    "model_editable_context",
    "tether_quote",
    "tether_browsing_display",
    "computer_output",
    "citable_code_output",
    "system_error",
];

/// Adds the nodes of a message, and returns the indices of the first and the last.
fn message(
    conversation: &mut History,
    message: JsonValue<'_>,
    model: Option<&str>,
    ids: &mut Ids,
) -> (usize, usize) {
    let at = time::seconds(message.get("create_time"));
    let role_name = message.at(&["author", "role"]).text().unwrap_or_default();
    let role = if role_name == "user" { Role::User } else { Role::Assistant };
    let is_known = matches!(&*role_name, "user" | "assistant" | "system" | "tool");
    let (content, metadata) = (message.get("content"), message.get("metadata"));
    conversation.messages += u64::from(message.is_object());
    let mut parts = MessageBuilder::new(conversation, None, at, role);
    let recipient = message.get("recipient").non_empty().unwrap_or_default();
    let hidden = metadata.get("is_visually_hidden_from_conversation").is_true();
    if let Some(tag) = metadata.get("lepo").non_empty() {
        parts.exact(&tag, &text(content));
    } else if !is_known {
        if message.is_object() {
            parts.unknown_role();
        }
    } else if role_name == "system" {
        let prompt = text(content);
        match content.get("content_type").is_str("model_editable_context") {
            _ if prompt.is_empty() => {}
            true => parts.aside(Role::System, &prompt),
            false => parts.push_node(NodeContent::System(prompt)),
        }
    } else if role_name == "tool" {
        let name = message.at(&["author", "name"]).string();
        let output = match text(content) {
            // Without a text the output is the content's JSON; if the content is empty too, the tool's name.
            text if text.is_empty() && !has_files(content) && has_more(content) => output::json(content),
            text if text.is_empty() && !has_files(content) => name,
            text => text,
        };
        let files = files(content, metadata, ids);
        parts.push_node(NodeContent::Output { call: String::new(), text: output, files });
    } else {
        let content_type = content.get("content_type").text().unwrap_or_default();
        let is_typeless = content_type.is_empty() && !text(content).is_empty();
        if content.is_object() && !is_typeless && !TYPES.contains(&&*content_type) {
            parts.unknown();
        }
        match &*content_type {
            "thoughts" => {
                for thought in content.get("thoughts").items() {
                    let both = [thought.get("summary").non_empty(), thought.get("content").non_empty()];
                    parts
                        .aside(Role::Assistant, &both.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
                }
            }
            "reasoning_recap" => parts.aside(Role::Assistant, &content.get("content").string()),
            "user_editable_context" | "model_editable_context" => parts.aside(role, &text(content)),
            _ if !matches!(recipient.as_str(), "" | "all") => {
                parts.push_node(NodeContent::Call {
                    id: String::new(),
                    name: recipient,
                    input: text(content),
                });
            }
            _ if hidden || message.get("channel").is_str("analysis") => parts.aside(role, &text(content)),
            _ => {
                parts.push_text(text(content));
                files(content, metadata, ids).into_iter().for_each(|file| parts.file(file));
            }
        }
    }
    let (first, last) = parts.finish();
    let model = metadata.get("model_slug").non_empty().or(model.map(str::to_string));
    conversation.answered_by(first, model.as_deref(), None, None);
    (first, last)
}

/// Returns the text of a content of any type.
fn text(content: JsonValue<'_>) -> String {
    let mut texts: Vec<String> = Vec::from_iter(content.non_empty());
    texts.extend(content.get("parts").non_empty());
    for part in content.get("parts").parts() {
        texts.extend(part.non_empty().or_else(|| part.get("text").non_empty()));
    }
    for key in ["text", "result", "user_profile", "user_instructions", "model_set_context"] {
        texts.extend(content.get(key).non_empty());
    }
    if texts.is_empty() && content.has("thoughts") {
        texts.extend(content.get("content").non_empty());
    }
    if texts.len() == 1 { texts.swap_remove(0) } else { texts.join("\n\n") }
}

/// Whether a content has more than its type, its language and empty parts.
fn has_more(content: JsonValue<'_>) -> bool {
    let is_empty = |value: JsonValue<'_>| {
        value.is_null()
            || value.is_str("")
            || (value.is_array() && value.items().all(|item| item.is_str("") || item.is_null()))
    };
    content
        .fields()
        .any(|(key, value)| !key.is_str("content_type") && !key.is_str("language") && !is_empty(value))
}

fn has_files(content: JsonValue<'_>) -> bool {
    content.get("parts").items().any(JsonValue::is_object)
}

/// Returns the files of a message: files in its content, and files only attached.
fn files(content: JsonValue<'_>, metadata: JsonValue<'_>, ids: &mut Ids) -> Vec<ImportedFile> {
    let attached: Vec<(String, String, String)> = metadata
        .get("attachments")
        .items()
        .map(|file| (file.get("id").string(), file.get("name").string(), file.get("mime_type").string()))
        .collect();
    let about: HashMap<&str, (&str, &str)> =
        attached.iter().rev().map(|(id, name, mime)| (id.as_str(), (name.as_str(), mime.as_str()))).collect();
    let (mut files, mut sent_ids) = (Vec::new(), HashSet::new());
    for part in content.get("parts").items().filter(|part| part.is_object()) {
        let inner = part.get("audio_asset_pointer");
        let part = if inner.is_object() { inner } else { part };
        let Some(pointer) = part.get("asset_pointer").non_empty() else { continue };
        let name = part.get("name").string();
        if pointer.starts_with("data:") {
            files.push(attach::url(&name, "", &pointer));
            ids.push(None);
            continue;
        }
        let id = pointer.rsplit("//").next().unwrap_or_default().to_string();
        let (name, mime) = about.get(id.as_str()).copied().unwrap_or((&id, ""));
        files.push(attach::missing_file(name, mime));
        ids.push(Some(id.clone()));
        sent_ids.insert(id);
    }
    for (id, name, mime) in attached.iter().filter(|(id, ..)| !sent_ids.contains(id.as_str())) {
        files.push(attach::missing_file(name, mime));
        ids.push(Some(id.clone()));
    }
    files
}
