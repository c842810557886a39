//! Splits a request into parts of a tree, like an import of messages: visible text is the spine, all else hidden leaves.

use lepo_base::media::Media;
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, ContentHash, clean_name, seems_to_name_a_blob};
use lepo_store::store::Blob;
use lepo_turn::is_request_text;

use crate::request::{MessageItem, ProxyFile, ProxyMessage, ProxyRequest, ProxyRole};

/// The kind of message that a part of a request or an answer becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// A visible message, which the next one follows.
    Visible(Role),
    /// A system text among the messages.
    System,
    /// Thinking, which is ignored when requests are compared.
    Thinking,
    /// A call.
    Call,
    /// The result of a call.
    Output,
}

impl PartKind {
    /// Returns the kind of the message, and whether it is hidden.
    pub fn tag(self) -> (Role, bool) {
        match self {
            PartKind::Visible(kind) => (kind, false),
            PartKind::System => (Role::System, true),
            PartKind::Thinking | PartKind::Call => (Role::Assistant, true),
            PartKind::Output => (Role::Tool, true),
        }
    }
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPart {
    /// Its kind.
    pub kind: PartKind,
    /// Its text, without masks, with the lines of its files.
    pub text: String,
    /// The bytes of its files.
    pub blobs: Vec<Vec<u8>>,
    /// The provider's id of the call that it is, or is the result of.
    pub call: String,
    /// The index of its message in the request.
    pub message: usize,
}

/// A request as parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestLayout {
    /// The system prompt: the system texts before all other messages.
    pub system: Option<String>,
    /// All other parts, in order.
    pub parts: Vec<RequestPart>,
}

impl RequestLayout {
    /// Lays out a request.
    pub fn new(request: &ProxyRequest) -> RequestLayout {
        let messages = request.messages();
        let head = messages.iter().take_while(|message| message.role == ProxyRole::System).count();
        let system = messages.iter().take(head).map(ProxyMessage::joined_text);
        let system: Vec<String> = system.filter(|text| !text.trim().is_empty()).collect();
        let mut parts = Vec::new();
        for (index, message) in messages.iter().enumerate().skip(head) {
            add_message(&mut parts, index, message);
        }
        let system = (!system.is_empty()).then(|| system.join("\n\n"));
        // Without a root, hidden parts before the first visible message can only be its leaves.
        let first = parts.iter().position(|part| matches!(part.kind, PartKind::Visible(_)));
        if let Some(first) = first.filter(|_| system.is_none() && request.previous_response().is_none())
            && let Some(before) = parts.get_mut(..=first)
        {
            before.rotate_right(1);
        }
        RequestLayout { system, parts }
    }
}

/// Adds the parts of a message. Its texts are joined by a blank line; in an answer, another part separates those before
/// and after it.
fn add_message(parts: &mut Vec<RequestPart>, index: usize, message: &ProxyMessage) {
    let kind = match message.role {
        ProxyRole::System => PartKind::System,
        ProxyRole::User => PartKind::Visible(Role::User),
        ProxyRole::Assistant => PartKind::Visible(Role::Assistant),
        ProxyRole::Tool => PartKind::Output,
    };
    let part = |kind, text, blobs, call| RequestPart { kind, text, blobs, call, message: index };
    let (mut text, mut files) = (String::new(), Vec::new());
    for item in &message.parts {
        let hidden = match item {
            MessageItem::Text(more) => {
                add_text(&mut text, more);
                continue;
            }
            MessageItem::File(file) => {
                files.push(file.clone());
                continue;
            }
            MessageItem::Thinking(thought) => {
                part(PartKind::Thinking, thought.clone(), vec![], String::new())
            }
            MessageItem::Call(call) => {
                part(PartKind::Call, call_text(&call.name, &call.input), vec![], call.id.clone())
            }
            MessageItem::Output(output) => {
                let (text, blobs) = with_files(Role::Tool, output.text.clone(), &output.files);
                part(PartKind::Output, text, blobs, output.call.clone())
            }
        };
        if message.role == ProxyRole::Assistant {
            let (text, blobs) = with_files(Role::Assistant, std::mem::take(&mut text), &files);
            files.clear();
            push(parts, part(kind, text, blobs, String::new()));
        }
        push(parts, hidden);
    }
    let (text, blobs) = with_files(kind.tag().0, text, &files);
    push(parts, part(kind, text, blobs, String::new()));
}

fn add_text(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Adds a part, unless it is blank. A result counts even if it is empty.
fn push(parts: &mut Vec<RequestPart>, mut part: RequestPart) {
    let is_result = part.kind == PartKind::Output && !part.call.is_empty();
    if part.text.trim().is_empty() && !is_result {
        return;
    }
    part.text = settled_text(part.kind, part.text, part.blobs.is_empty());
    parts.push(part);
}

/// Returns the text of a call: its tool, and on the next line its arguments.
pub fn call_text(name: &str, input: &str) -> String {
    [name, "\n", if input.trim().is_empty() { "{}" } else { input }].concat()
}

/// Adds a newline to a text that lepo would act on: a hidden request could be approved, and a last line in the format of
/// an attachment would name a blob of the store.
pub fn settled_text(kind: PartKind, mut text: String, has_no_blob: bool) -> String {
    let (_, hidden) = kind.tag();
    let is_acted_on = (hidden && is_request_text(&text)) || (has_no_blob && seems_to_name_a_blob(&text));
    if is_acted_on || text.is_empty() {
        text.push('\n');
    }
    text
}

/// Appends a line for each file; returns the text and the blobs. A user's files are attachments, which come last.
fn with_files(role: Role, text: String, files: &[ProxyFile]) -> (String, Vec<Vec<u8>>) {
    if files.is_empty() {
        return (text, Vec::new());
    }
    let line = |file: &ProxyFile| {
        let (hash, len) = (ContentHash::from_content(&file.bytes), file.bytes.len() as u64);
        let media: Media = file.media;
        let name = || clean_name(&file.name).unwrap_or_else(|| format!("file.{}", media.extension()));
        match role {
            Role::User => Attachment { media, len, name: name(), hash }.line(),
            _ => Blob { hash, len }.line(),
        }
    };
    let lines = files.iter().map(line).collect::<Vec<_>>().join("\n");
    let text = match (text.is_empty(), role) {
        (true, _) => lines,
        // As in an import, the lines of a result are part of its text.
        (false, Role::Tool) => format!("{text}\n{lines}"),
        (false, _) => format!("{text}\n\n{lines}"),
    };
    (text, files.iter().map(|file| file.bytes.clone()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::ProxyWire;

    fn layout(wire: ProxyWire, body: &Value) -> String {
        let request = ProxyRequest::read(wire, "", body.to_string().as_bytes()).unwrap();
        let RequestLayout { system, parts } = RequestLayout::new(&request);
        let part = |part: &RequestPart| {
            let (role, hidden) = part.kind.tag();
            let text = part.text.replace('\n', "|");
            format!("{}{} {}{text}", role.letter(), u8::from(hidden), part.call)
        };
        let lines: Vec<String> = system
            .map(|system| format!("root {}", system.replace('\n', "|")))
            .into_iter()
            .chain(parts.iter().map(part))
            .collect();
        lines.join("\n")
    }

    #[test]
    fn visible_text_is_the_spine_and_the_rest_is_hidden() {
        use ProxyWire::{Chat, Messages};
        let png = ContentHash::from_content(b"\x89PNG\r\n\x1a\n");
        for (wire, messages, expected) in [
            (
                Chat,
                json!([{"role": "system", "content": "a"}, {"role": "developer", "content": "b"},
                {"role": "user", "content": "c"}, {"role": "system", "content": "mid"}]),
                "root a||b\nu0 c\ns1 mid".to_string(),
            ),
            (
                Messages,
                json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}}, {"type": "text", "text": "c"}]},
                {"role": "user", "content": [{"type": "text", "text": "look"},
                    {"type": "tool_result", "tool_use_id": "c1", "content": []}]}]),
                "u0 q\na1 hm\na0 a||b\na1 c1f|{}\na0 c\nt1 c1|\nu0 look".into(),
            ),
            (
                Chat,
                json!([{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function":
                {"name": "f", "arguments": ""}}]}, {"role": "tool", "tool_call_id": "1", "content": "r"},
                {"role": "user", "content": "q"}]),
                "u0 q\na1 1f|{}\nt1 1r".into(),
            ),
            (
                Chat,
                json!([{"role": "user", "content": [{"type": "image_url", "image_url":
                {"url": "data:image/png;base64,iVBORw0KGgo="}}, {"type": "text", "text": "what?"}]}]),
                format!("u0 what?||[image/png 8 bytes file.png: _blobs/{png}]"),
            ),
            (
                Chat,
                json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "\n\n"},
                {"role": "user", "content": format!("[8 bytes: _blobs/{png}]")}]),
                format!("u0 a\nu0 [8 bytes: _blobs/{png}]|"),
            ),
            (
                Chat,
                json!([{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "1",
                "content": r#"{"access":"read","command":"ls"}"#}]),
                "u0 a\nt1 1{\"access\":\"read\",\"command\":\"ls\"}|".into(),
            ),
        ] {
            assert_eq!(layout(wire, &json!({"messages": messages})), expected, "{messages}");
        }
    }
}
