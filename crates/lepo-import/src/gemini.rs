//! gemini-cli: a log of events a session, or in older versions a document.
//!
//! A message may be written several times: by the program as it grows, and when a session is resumed, which writes all
//! messages again, without times and tokens. The first value of a field wins. Rewound messages remain as a fork.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::conversation::{History, ImportedFile, NodeContent};
use super::injected::Injections;
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::{SourceReader, first_value};
use super::{ConversationSink, attach, output, time};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Texts that the program inserts into a user's message.
pub const INJECTED: Injections = Injections {
    elements: &["session_context", "hook_context", "system_note"],
    beginnings: &["This is the Gemini CLI. We are setting up the context"],
    headings: &[],
};

/// The marks around the content of files that the user named.
const FILES: (&str, &str) = ("--- Content from referenced files ---", "--- End of content ---");

/// A message. For each field the first record that has it wins.
#[derive(Default)]
struct GeminiMessage {
    /// The previous message when this one was first written.
    before: Option<usize>,
    is_answer: bool,
    is_said: bool,
    at: Option<u64>,
    thoughts: Vec<(Option<u64>, String)>,
    content: Vec<GeminiPart>,
    calls: Vec<GeminiCall>,
    model: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
    /// The record has token counts, so the answer is complete.
    is_counted: bool,
}

enum GeminiPart {
    Text(String),
    /// Text that the program inserted, not typed by the user.
    Aside(String),
    Thought(String),
    File(ImportedFile),
    Call(GeminiCall),
    Output(GeminiCall),
    Unknown,
}

/// A tool call and its result.
#[derive(Default)]
struct GeminiCall {
    id: String,
    name: String,
    input: String,
    output: Option<String>,
    at: Option<u64>,
}

/// Messages in the order in which they were first written.
#[derive(Default)]
struct GeminiMessages {
    all: Vec<GeminiMessage>,
    indices: HashMap<String, usize>,
    at: Option<usize>,
}

impl GeminiMessages {
    /// Adds a record of a message. A snapshot of the session adds nothing to a known message.
    fn put(&mut self, message: JsonValue<'_>, is_snapshot: bool) {
        let id = message.get("id").string();
        match self.indices.get(&id) {
            Some(&index) if !id.is_empty() => {
                if !is_snapshot {
                    self.all[index].merge(GeminiMessage::parse(message));
                }
                self.at = if is_snapshot { Some(index) } else { Some(index).max(self.at) };
            }
            _ => {
                self.indices.insert(id, self.all.len());
                self.all.push(GeminiMessage { before: self.at, ..GeminiMessage::parse(message) });
                self.at = Some(self.all.len() - 1);
            }
        }
    }

    fn rewind(&mut self, id: &str) {
        if let Some(&index) = self.indices.get(id) {
            self.at = self.all[index].before;
        }
    }
}

/// Reads a session, with its subagents.
pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut conversation = History { grows: true, ..History::default() };
    let mut messages = GeminiMessages::default();
    let lines = path.extension().is_some_and(|end| end == "jsonl");
    let mut values = if lines { reading.lines(path)? } else { reading.values(path)? };
    while let Some(value) = reading.next(&mut values)? {
        event(&mut conversation, &mut messages, value, reading);
    }
    // The first node of a message follows the last node of the previous message.
    let mut tails = Vec::with_capacity(messages.all.len());
    let last = messages.all.len().saturating_sub(1);
    let (mut called, mut answered) = (HashSet::new(), HashSet::new());
    for (index, message) in messages.all.into_iter().enumerate() {
        let is_open = index == last && !message.is_whole();
        let before = message.before.and_then(|before| tails.get(before).copied());
        let first = conversation.nodes.len();
        message.add_nodes(&mut conversation, before, &mut called, &mut answered);
        conversation.nodes.iter_mut().skip(first).for_each(|node| node.last = is_open);
        conversation.messages += 1;
        tails.push(conversation.nodes.len() - 1);
    }
    conversation.dir = directory(path);
    each(conversation)
}

/// Returns the directory that a session is about, from the file next to the sessions, or from the list of all projects.
pub fn directory(path: &Path) -> Option<String> {
    let project = path.ancestors().find(|folder| folder.join("chats").is_dir())?;
    if let Ok(root) = std::fs::read_to_string(project.join(".project_root")) {
        return Some(root.trim_end_matches('\n').to_string()).filter(|root| !root.is_empty());
    }
    let name = project.file_name()?.to_str()?;
    let known = project.parent()?.parent()?.join("projects.json");
    let dir = first_value(&known, |known| {
        let mut projects = known.get("projects").fields();
        projects.find(|(_, slug)| slug.is_str(name)).map(|(dir, _)| dir.string())
    });
    dir.flatten()
}

fn event(
    conversation: &mut History,
    messages: &mut GeminiMessages,
    value: JsonValue<'_>,
    reading: &mut SourceReader,
) {
    if let Some(session) = value.get("sessionId").non_empty() {
        conversation.id = session;
        // Resuming a session repeats its id, with another start.
        conversation.start = conversation.start.or(time::written(value.get("startTime")));
        conversation.title = value.get("summary").non_empty().or(conversation.title.take());
    }
    if value.has("messages") {
        messages.at = None;
        value.get("messages").items().for_each(|message| messages.put(message, false));
    } else if value.has("$set") {
        let set = value.get("$set");
        conversation.title = set.get("summary").non_empty().or(conversation.title.take());
        if set.has("messages") {
            messages.at = None;
            messages.at = None;
            set.get("messages").items().for_each(|message| messages.put(message, true));
        }
    } else if let Some(id) = value.get("$rewindTo").non_empty() {
        messages.rewind(&id);
    } else if value.has("content") && value.has("type") {
        messages.put(value, false);
    } else if !value.has("sessionId") {
        reading.tally.skip("unknown record", 1);
    }
}

impl GeminiMessage {
    fn parse(message: JsonValue<'_>) -> GeminiMessage {
        let at = time::written(message.get("timestamp"));
        let is_answer = message.get("type").is_str("gemini");
        let thought = |thought: JsonValue<'_>| {
            let both = [thought.get("subject").non_empty(), thought.get("description").non_empty()];
            let text = both.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            (time::written(thought.get("timestamp")), text)
        };
        let call = |call: JsonValue<'_>| GeminiCall {
            id: call.get("id").string(),
            name: call.get("name").string(),
            input: String::from_utf8_lossy(call.get("args").raw()).into_owned(),
            output: Some(result(call)),
            at: time::written(call.get("timestamp")),
        };
        let tokens = message.get("tokens");
        GeminiMessage {
            before: None,
            is_answer,
            is_said: is_answer || message.get("type").is_str("user"),
            at,
            thoughts: message.get("thoughts").items().map(thought).collect(),
            content: content(message),
            calls: message.get("toolCalls").items().map(call).collect(),
            model: message.get("model").non_empty(),
            input: tokens.get("input").count(),
            output: tokens.get("output").count(),
            is_counted: tokens.is_object(),
        }
    }

    /// Adds the fields of a later record that this one lacks.
    fn merge(&mut self, later: GeminiMessage) {
        self.at = self.at.or(later.at);
        self.model = self.model.take().or(later.model);
        (self.input, self.output) = (self.input.or(later.input), self.output.or(later.output));
        self.is_counted |= later.is_counted;
        if self.thoughts.is_empty() {
            self.thoughts = later.thoughts;
        }
        if self.content.is_empty() {
            self.content = later.content;
        }
        for call in later.calls {
            match self.calls.iter_mut().find(|known| known.id == call.id && !call.id.is_empty()) {
                Some(known) => {
                    let output = known.output.take().filter(|output| !output.is_empty());
                    known.output = output.or(call.output);
                }
                None => self.calls.push(call),
            }
        }
    }

    /// Whether no later record can add to the message.
    fn is_whole(&self) -> bool {
        self.is_answer && self.is_counted && self.calls.is_empty()
    }

    /// Adds the nodes of the message. A call or a result that two messages have is added with the first.
    fn add_nodes(
        self,
        conversation: &mut History,
        before: Option<usize>,
        called: &mut HashSet<String>,
        answered: &mut HashSet<String>,
    ) {
        let role = if self.is_answer { Role::Assistant } else { Role::User };
        let mut parts = MessageBuilder::new(conversation, before, self.at, role);
        for (at, thought) in self.thoughts {
            parts.at(at);
            parts.aside(Role::Assistant, &thought);
        }
        parts.at(self.at);
        for part in self.content {
            match part {
                GeminiPart::Text(text) if self.is_answer => parts.text(&text),
                GeminiPart::Text(text) => add_text(&mut parts, self.is_said, &text),
                GeminiPart::Aside(text) => parts.aside(Role::User, &text),
                GeminiPart::Thought(text) => parts.aside(Role::Assistant, &text),
                GeminiPart::File(file) => parts.file(file),
                GeminiPart::Call(call) => {
                    // A call with its result is added below.
                    let is_below = self.calls.iter().any(|known| known.id == call.id);
                    if !is_below && is_new(called, &call.id) {
                        parts.push_node(NodeContent::Call {
                            id: call.id,
                            name: call.name,
                            input: call.input,
                        });
                    }
                }
                GeminiPart::Output(call) => {
                    if is_new(answered, &call.id) {
                        let text = call.output.unwrap_or_default();
                        parts.push_node(NodeContent::Output { call: call.id, text, files: Vec::new() });
                    }
                }
                GeminiPart::Unknown => parts.unknown(),
            }
        }
        for call in self.calls {
            let (id, new) = (call.id.clone(), is_new(called, &call.id));
            if new {
                parts.push_node(NodeContent::Call { id: call.id, name: call.name, input: call.input });
            }
            parts.at(call.at);
            let text = call.output.unwrap_or_default();
            if !text.is_empty() && is_new(answered, &id) {
                parts.push_node(NodeContent::Output { call: id, text, files: Vec::new() });
            }
        }
        let (first, _) = parts.finish();
        conversation.answered_by(first, self.model.as_deref(), self.input, self.output);
    }
}

/// Inserts an id, and returns whether it is new. A call without an id is always new.
fn is_new(known: &mut HashSet<String>, id: &str) -> bool {
    id.is_empty() || known.insert(id.to_string())
}

fn content(message: JsonValue<'_>) -> Vec<GeminiPart> {
    let content = message.get("content");
    if let Some(text) = content.text() {
        return if text.is_empty() { Vec::new() } else { vec![GeminiPart::Text(text.into_owned())] };
    }
    // The texts that the user typed, if the program inserted files into the content.
    let typed: Vec<String> =
        message.get("displayContent").parts().filter_map(|part| part.get("text").non_empty()).collect();
    let is_typed = |text: &str| typed.is_empty() || typed.iter().any(|typed| typed == text);
    let (mut parts, mut put_in, mut is_file) = (Vec::new(), Vec::new(), false);
    for part in content.parts() {
        let inline = part.get("inlineData");
        let (call, response) = (part.get("functionCall"), part.get("functionResponse"));
        let text = part.get("text").text().or_else(|| part.text());
        let mark = text.as_deref().unwrap_or_default().trim();
        is_file |= mark == FILES.0;
        let is_put_in = is_file && text.is_some();
        is_file &= mark != FILES.1;
        parts.push(if inline.is_object() {
            let (mime, data) = (inline.get("mimeType").string(), inline.get("data").string());
            GeminiPart::File(attach::base64("", &mime, &data))
        } else if call.is_object() {
            let input = String::from_utf8_lossy(call.get("args").raw()).into_owned();
            let (id, name) = (call.get("id").string(), call.get("name").string());
            GeminiPart::Call(GeminiCall { id, name, input, ..GeminiCall::default() })
        } else if response.is_object() {
            let output = Some(self::response(part).unwrap_or_default());
            GeminiPart::Output(GeminiCall {
                id: response.get("id").string(),
                output,
                ..GeminiCall::default()
            })
        } else {
            match text {
                Some(text) if part.get("thought").is_true() => GeminiPart::Thought(text.into_owned()),
                Some(text) if is_typed(&text) && !is_put_in => GeminiPart::Text(text.into_owned()),
                Some(text) => {
                    put_in.push(text.trim_matches('\n').to_string());
                    continue;
                }
                None => GeminiPart::Unknown,
            }
        });
    }
    if !put_in.is_empty() {
        parts.push(GeminiPart::Aside(put_in.join("\n")));
    }
    parts
}

/// Returns the text of a tool's result, else its JSON.
fn result(call: JsonValue<'_>) -> String {
    let result = call.get("result");
    let text = |part: JsonValue<'_>| response(part).or_else(|| part.get("text").non_empty());
    let texts: Vec<String> = result.parts().filter_map(text).collect();
    match texts.is_empty() {
        true => output::text(result),
        false => texts.join("\n\n"),
    }
}

/// Returns the tool's answer that a part contains.
pub fn response(part: JsonValue<'_>) -> Option<String> {
    let response = part.at(&["functionResponse", "response"]);
    let text = response.get("output").non_empty().or_else(|| response.get("error").non_empty());
    text.or_else(|| response.is_object().then(|| String::from_utf8_lossy(response.raw()).into_owned()))
}

/// Adds a message, or a note that the program inserted.
fn add_text(parts: &mut MessageBuilder<'_>, is_said: bool, text: &str) {
    if !is_said {
        return parts.aside(Role::User, text);
    }
    parts.push_without_injections(text, &INJECTED);
}
