//! llama-server's web interface: exported conversations, each a tree. Newer exports are lines, a session and then its
//! messages, in a single file or several in a zip; older exports are documents of a conversation with its messages.

use std::io::Read;
use std::path::Path;

use super::archive::{Archive, is_zip};
use super::conversation::{History, ImportedFile, NodeContent};
use super::json::{JsonValue, read_json};
use super::message_builder::MessageBuilder;
use super::source::SourceReader;
use super::tree::{Link, parents};
use super::value_reader::ValueReader;
use super::{ConversationSink, attach, messages, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Whether a file of a zip may contain conversations.
pub fn is_document(name: &str) -> bool {
    name.ends_with(".jsonl") || name.ends_with(".json")
}

/// Whether a value is an export, or its first line.
pub fn is_export(value: JsonValue<'_>) -> bool {
    let conv = value.get("conv");
    let is_header = value.get("type").is_str("session") && value.get("harness").text().is_some();
    is_header
        || (conv.is_object()
            && value.get("messages").is_array()
            && (conv.has("currNode") || conv.has("lastModified")))
}

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    if !is_zip(path) {
        return session_lines(&mut reading.values(path)?, reading, each);
    }
    let mut archive = Archive::open(path)?;
    for document in archive.documents(is_document) {
        archive.read(document, reading, |from: &mut dyn Read, reading| {
            session_lines(&mut ValueReader::sequence(from), reading, each)
        })?;
    }
    Ok(())
}

/// Reads sessions: a header and its messages, or a document.
fn session_lines<R: Read>(
    values: &mut ValueReader<R>,
    reading: &mut SourceReader,
    each: &mut ConversationSink<'_>,
) -> Result<()> {
    let mut session: Option<Session> = None;
    while let Some(value) = reading.next(values)? {
        if value.get("conv").is_object() {
            let mut whole = Session::new(value.get("conv"));
            value.get("messages").items().for_each(|message| whole.add(message));
            each(whole.finish())?;
        } else if value.get("type").is_str("session") {
            if let Some(before) = session.replace(Session::new(value)) {
                each(before.finish())?;
            }
        } else if value.get("type").is_str("message") {
            session.get_or_insert_default().add(value.get("message"));
        } else {
            let kind = value.get("type").string();
            reading.tally.skip(&format!("unknown record {kind:?}"), 1);
        }
    }
    session.map_or(Ok(()), |session| each(session.finish()))
}

#[derive(Default)]
struct Session {
    conversation: History,
    /// For each message: its id, its parent's, and its first and last node.
    messages: Vec<(String, Option<String>, (usize, usize))>,
}

impl Session {
    fn new(conv: JsonValue<'_>) -> Session {
        let conversation = History {
            id: id(conv.get("id")).unwrap_or_default(),
            title: conv.get("name").non_empty(),
            updated: time::any(conv.get("lastModified")),
            ..History::default()
        };
        Session { conversation, messages: Vec::new() }
    }

    fn add(&mut self, message: JsonValue<'_>) {
        let nodes = self::message(&mut self.conversation, message);
        self.messages.push((id(message.get("id")).unwrap_or_default(), id(message.get("parent")), nodes));
    }

    fn finish(mut self) -> History {
        let link = |(id, parent, _): &'_ (String, Option<String>, _)| (id.clone(), parent.clone());
        let named: Vec<(String, Option<String>)> = self.messages.iter().map(link).collect();
        let links: Vec<Link<'_>> =
            named.iter().map(|(id, parent)| Link { id, parent: parent.as_deref() }).collect();
        for (index, parent) in parents(&links, |_| None).into_iter().enumerate() {
            let first = self.messages[index].2.0;
            self.conversation.nodes[first].parent = parent.map(|parent| self.messages[parent].2.1);
        }
        self.conversation
    }
}

/// Returns an id: a text, or in older versions a number.
fn id(value: JsonValue<'_>) -> Option<String> {
    value.non_empty().or_else(|| value.number().map(str::to_string))
}

/// Adds a message, and returns its first and last node.
fn message(conversation: &mut History, message: JsonValue<'_>) -> (usize, usize) {
    let role_name = message.get("role").text().unwrap_or_default();
    let role = if role_name == "assistant" { Role::Assistant } else { Role::User };
    let is_root = message.get("type").is_str("root");
    conversation.messages += u64::from(!is_root);
    let mut parts = MessageBuilder::new(conversation, None, time::any(message.get("timestamp")), role);
    let content = message.get("content").text().unwrap_or_default();
    match &*role_name {
        _ if is_root => {}
        "system" => parts.push_node(NodeContent::System(content.into_owned())),
        "tool" => {
            let files = message.get("extra").items().filter_map(media).collect();
            let call = message.get("toolCallId").string();
            parts.push_node(NodeContent::Output { call, text: content.into_owned(), files });
        }
        "user" | "assistant" => {
            let (thought, rest) = thought(&content);
            let thoughts = [message.get("reasoningContent").non_empty(), message.get("thinking").non_empty()];
            parts.aside(Role::Assistant, &thoughts.into_iter().flatten().next().unwrap_or_default());
            parts.aside(Role::Assistant, thought.filter(|_| role == Role::Assistant).unwrap_or_default());
            match content.is_empty() {
                true => messages::body(&mut parts, message.get("content")),
                false => parts.text(if role == Role::Assistant { rest } else { &content }),
            }
            message.get("extra").items().for_each(|extra| attached(&mut parts, extra));
            calls(&mut parts, message.get("toolCalls"));
        }
        _ => parts.unknown_role(),
    }
    let (first, last) = parts.finish();
    let timings = message.get("timings");
    let (input, output) = (timings.get("prompt_n").count(), timings.get("predicted_n").count());
    conversation.answered_by(first, message.get("model").non_empty().as_deref(), input, output);
    (first, last)
}

/// Splits off the reasoning at the start of an answer, where older versions stored it.
fn thought(content: &str) -> (Option<&str>, &str) {
    let inside = content.trim_start().strip_prefix("<think>");
    match inside.and_then(|inside| inside.split_once("</think>")) {
        Some((thought, rest)) => (Some(thought.trim()), rest.trim_start_matches('\n')),
        None => (None, content),
    }
}

/// Adds calls, from a list or from a string with the JSON of a list.
fn calls(parts: &mut MessageBuilder<'_>, calls: JsonValue<'_>) {
    let add = |parts: &mut MessageBuilder<'_>, list: JsonValue<'_>| {
        for call in list.items() {
            let function = call.get("function");
            let arguments = function.get("arguments");
            let input = arguments.non_empty().unwrap_or_else(|| output::json(arguments));
            parts.push_node(NodeContent::Call {
                id: call.get("id").string(),
                name: function.get("name").string(),
                input,
            });
        }
    };
    match calls.text() {
        Some(text) if text.is_empty() => {}
        Some(text) => {
            if read_json(&text, |list| add(parts, list)).is_none() {
                parts.unknown();
            }
        }
        None => add(parts, calls),
    }
}

/// Adds an attachment: a file, or a text headed by its name.
fn attached(parts: &mut MessageBuilder<'_>, extra: JsonValue<'_>) {
    if let Some(file) = media(extra) {
        return parts.file(file);
    }
    match extra.get("content").non_empty() {
        Some(text) => parts.text(&attach::named_text(&extra.get("name").string(), &text)),
        None => parts.unknown(),
    }
}

/// Returns the file of an attachment, if it has bytes.
fn media(extra: JsonValue<'_>) -> Option<ImportedFile> {
    let name = extra.get("name").string();
    if let Some(url) = ["base64Url", "base64url"].iter().find_map(|key| extra.get(key).non_empty()) {
        return Some(attach::url(&name, "", &url));
    }
    let pdf = extra.get("type").text().is_some_and(|kind| kind.eq_ignore_ascii_case("pdf"));
    let mime = extra
        .get("mimeType")
        .non_empty()
        .unwrap_or_else(|| if pdf { "application/pdf" } else { "" }.to_string());
    extra.get("base64Data").non_empty().map(|data| attach::base64(&name, &mime, &data))
}
