//! opencode: the parts of its messages, and the JSON files of sessions that it wrote before it had a database:
//! `storage/session/PROJECT/SESSION.json`, `storage/message/SESSION/`, `storage/part/MESSAGE/`.
//!
//! A session with a parent is a subagent's, hidden under the call that started it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::conversation::{History, ImportedFile, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::source::{ALONE, SourceReader, files_in, first_value, folders_in};
use super::{ConversationSink, attach, output};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// The call that started each subagent's session.
pub type CallNodes = HashMap<String, usize>;

/// Returns the sessions of a folder of opencode; `None` if it is another folder.
pub fn sessions_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let storages = [folder.to_path_buf(), folder.join("storage")];
    let is_one = |path: &&PathBuf| path.join("session").is_dir() && path.join("message").is_dir();
    let storage = storages.iter().find(is_one)?;
    let mut sessions: Vec<PathBuf> =
        folders_in(&storage.join("session")).iter().flat_map(|project| files_in(project)).collect();
    sessions.retain(|path| path.extension().is_some_and(|end| end == "json"));
    sessions.sort();
    Some(sessions)
}

/// Whether a value is a session with its messages, as `opencode export` writes it.
pub fn is_export(value: JsonValue<'_>) -> bool {
    is_session(value.get("info")) && value.get("messages").is_array()
}

pub fn is_session(value: JsonValue<'_>) -> bool {
    value.get("id").string().starts_with("ses_") && value.at(&["time", "created"]).count().is_some()
}

/// Reads a session with its subagents, or an export.
pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    if first_value(path, is_export).unwrap_or(false) {
        return exported(path, reading, each);
    }
    let Some((id, parent, conversation)) = session(path, reading) else {
        reading.tally.skip("not a session of opencode", 1);
        return Ok(());
    };
    let session_file = path.with_file_name(format!("{}.json", parent.as_deref().unwrap_or_default()));
    if parent.is_some_and(|parent| parent < id && session_file.is_file()) {
        if !reading.named.contains(&session_file) {
            reading.tally.skip_file(ALONE, path, None);
        }
        return Ok(());
    }
    let mut calls = CallNodes::new();
    let mut found = vec![(id.clone(), None, conversation)];
    let mut waiting = vec![id];
    while let Some(parent) = waiting.pop() {
        for agent in agents(path, &parent, reading) {
            let Some((id, _, conversation)) = session(&agent, reading).filter(|(id, ..)| *id > parent) else {
                continue;
            };
            waiting.push(id.clone());
            found.push((id, Some(parent.clone()), conversation));
        }
    }
    for (id, _, conversation) in &mut found {
        messages(path, id, conversation, &mut calls);
    }
    gather(found, &calls).into_iter().try_for_each(each)
}

/// Returns the sessions that `parent` started, all of which are in its folder.
fn agents(path: &Path, parent: &str, reading: &mut SourceReader) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let agent_logs = reading.agent_logs.entry(folder).or_insert_with_key(|folder| {
        let mut by_parent: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for file in files_in(folder) {
            if let Some(parent) = first_value(&file, |value| value.get("parentID").non_empty()).flatten() {
                by_parent.entry(parent).or_default().push(file);
            }
        }
        by_parent
    });
    agent_logs.get(parent).cloned().unwrap_or_default()
}

/// Reads a session without its messages: its id, and its parent's.
fn session(path: &Path, reading: &SourceReader) -> Option<(String, Option<String>, History)> {
    let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
    reading.bytes.set(reading.bytes.get() + size);
    first_value(path, |value| {
        let conversation = History { copy: true, ..about(value) };
        is_session(value).then(|| (conversation.id.clone(), value.get("parentID").non_empty(), conversation))
    })
    .flatten()
}

fn about(session: JsonValue<'_>) -> History {
    History {
        id: session.get("id").string(),
        title: session.get("title").non_empty(),
        start: session.at(&["time", "created"]).count(),
        dir: session.get("directory").non_empty(),
        grows: true,
        ..History::default()
    }
}

/// Reads sessions that `opencode export` wrote, each a document with its messages.
fn exported(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let mut values = reading.values(path)?;
    while let Some(value) = reading.next(&mut values)? {
        if !is_export(value) {
            reading.tally.skip("not a session of opencode", 1);
            continue;
        }
        let (mut conversation, mut calls) = (about(value.get("info")), CallNodes::new());
        let mut line = OpencodeLine::default();
        for message in value.get("messages").items() {
            let info = message.get("info");
            let parts = |parts: &mut MessageBuilder<'_>, about: &mut OpencodeFacts| {
                for value in message.get("parts").items() {
                    part(parts, about, value, &mut calls);
                }
            };
            line.add(
                &mut conversation,
                info.at(&["time", "created"]).count(),
                OpencodeFacts::parse(info),
                parts,
            );
        }
        line.finish(&mut conversation);
        each(conversation)?;
    }
    Ok(())
}

/// Builds the messages of a session as a chain.
#[derive(Default)]
pub struct OpencodeLine {
    at: Option<usize>,
    last: usize,
    has_ended: bool,
}

impl OpencodeLine {
    /// Adds a message; `tell` adds its parts.
    pub fn add(
        &mut self,
        conversation: &mut History,
        time: Option<u64>,
        mut about: OpencodeFacts,
        build: impl FnOnce(&mut MessageBuilder<'_>, &mut OpencodeFacts),
    ) {
        self.last = conversation.nodes.len();
        conversation.messages += 1;
        let mut parts = MessageBuilder::new(conversation, self.at, time, about.role);
        about.time = time;
        build(&mut parts, &mut about);
        let (first, tail) = parts.finish();
        self.at = Some(tail);
        self.has_ended = about.has_ended;
        conversation.answered_by(first, about.model.as_deref(), about.input, about.output);
    }

    /// Marks the nodes of the last message, unless its turn ended.
    pub fn finish(self, conversation: &mut History) {
        for node in conversation.nodes.iter_mut().skip(self.last).filter(|_| !self.has_ended) {
            node.last = true;
        }
    }
}

/// Adds the messages of a session as a chain; the order of their ids is the order in time.
fn messages(path: &Path, id: &str, conversation: &mut History, calls: &mut CallNodes) {
    let Some(storage) = path.ancestors().nth(3) else { return };
    let mut line = OpencodeLine::default();
    for file in files_in(&storage.join("message").join(id)) {
        let about = first_value(&file, |message| {
            let time = message.at(&["time", "created"]).count();
            (message.get("id").string(), time, OpencodeFacts::parse(message))
        });
        let Some((message, time, about)) = about else { continue };
        let folders = [storage.join("part").join(&message), storage.join("part").join(id).join(&message)];
        line.add(conversation, time, about, |parts, about| {
            for file in folders.iter().flat_map(|folder| files_in(folder)) {
                first_value(&file, |value| part(parts, about, value, calls));
            }
        });
    }
    line.finish(conversation);
}

/// The facts about a message, without its parts.
pub struct OpencodeFacts {
    /// Its role.
    pub role: Role,
    /// Its model.
    pub model: Option<String>,
    /// Tokens of the request, including cached ones.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Its own time, which a fork copies from the original; for parts without a time.
    pub time: Option<u64>,
    /// The turn ended.
    pub has_ended: bool,
}

impl OpencodeFacts {
    /// Reads the facts of a message.
    pub fn parse(message: JsonValue<'_>) -> OpencodeFacts {
        let (tokens, cache) = (message.get("tokens"), message.at(&["tokens", "cache"]));
        let parts = [tokens.get("input"), cache.get("read"), cache.get("write")];
        let input = parts.iter().filter_map(|part| part.count()).reduce(u64::saturating_add);
        let role = if message.get("role").is_str("user") { Role::User } else { Role::Assistant };
        OpencodeFacts {
            role,
            model: message.get("modelID").non_empty(),
            input,
            output: tokens.get("output").count(),
            time: None,
            has_ended: role == Role::Assistant && is_end(message.get("finish")),
        }
    }
}

/// Whether a stop reason ends the turn: the model is not asked again.
fn is_end(reason: JsonValue<'_>) -> bool {
    reason.non_empty().is_some_and(|reason| !matches!(&*reason, "tool-calls" | "unknown"))
}

/// Adds a part of a message. Its time comes from the part itself, because the time of its row or file differs in a
/// fork.
pub fn part(
    parts: &mut MessageBuilder<'_>,
    about: &mut OpencodeFacts,
    part: JsonValue<'_>,
    calls: &mut CallNodes,
) {
    let words = part.get("text").string();
    let role = about.role;
    let time = |time: JsonValue<'_>, key: &str| time.get(key).count();
    let times = if part.get("state").is_object() { part.at(&["state", "time"]) } else { part.get("time") };
    parts.at(time(times, "start").or(about.time));
    match &*part.get("type").text().unwrap_or_default() {
        "text" if part.get("synthetic").is_true() || part.get("ignored").is_true() => {
            parts.aside(role, &words)
        }
        "text" => parts.text(&words),
        "reasoning" => parts.aside(Role::Assistant, &words),
        "compaction" => parts.aside(Role::System, &words),
        "file" => parts.file(file(part)),
        "tool" => {
            let state = part.get("state");
            let id = part.get("callID").non_empty().unwrap_or_else(|| part.get("id").string());
            let name = part.get("tool").non_empty().unwrap_or_else(|| part.get("name").string());
            let input = compact(&String::from_utf8_lossy(state.get("input").raw()));
            parts.push_node(NodeContent::Call { id: id.clone(), name, input });
            let files: Vec<ImportedFile> = state.get("attachments").items().map(file).collect();
            let agent = state.at(&["metadata", "sessionId"]).non_empty();
            calls.extend(agent.zip(parts.last()));
            parts.at(time(times, "end"));
            parts.push_node(NodeContent::Output { call: id, text: tool_output(state), files });
        }
        "step-finish" => about.has_ended = role == Role::Assistant && is_end(part.get("reason")),
        "step-start" | "snapshot" | "patch" | "agent" | "retry" | "subtask" => {}
        _ => parts.unknown_with(&words),
    }
}

/// Removes the white space between JSON values, which an export has and the database does not.
fn compact(json: &str) -> String {
    let (mut within, mut escaped) = (false, false);
    let mut keeps = |c: char| {
        let is_kept = within || !c.is_ascii_whitespace();
        within ^= c == '"' && !escaped;
        escaped = within && c == '\\' && !escaped;
        is_kept
    };
    json.chars().filter(|&c| keeps(c)).collect()
}

/// Returns the output of a tool, from either version's fields.
fn tool_output(state: JsonValue<'_>) -> String {
    let texts = || state.get("content").items().filter_map(|part| part.get("text").non_empty());
    let error = state.get("error");
    let ways = [Some(output::text(state.get("output"))), Some(texts().collect::<Vec<_>>().join("\n\n"))];
    let mut ways = ways.into_iter().chain([error.non_empty(), error.get("message").non_empty()]).flatten();
    ways.find(|text| !text.is_empty()).unwrap_or_default()
}

fn file(part: JsonValue<'_>) -> ImportedFile {
    let (name, mime) = (part.get("filename").string(), part.get("mime").string());
    attach::url(&name, &mime, &part.get("url").string())
}

/// Moves the sessions of subagents under the calls that started them, the deepest first, and returns the others.
pub fn gather(mut sessions: Vec<(String, Option<String>, History)>, calls: &CallNodes) -> Vec<History> {
    let mut agents: HashMap<String, Vec<History>> = HashMap::new();
    sessions.sort_by(|a, b| b.0.cmp(&a.0));
    let known: Vec<String> = sessions.iter().map(|(id, ..)| id.clone()).collect();
    let mut found = Vec::new();
    for (id, parent, mut conversation) in sessions {
        for agent in agents.remove(&id).unwrap_or_default() {
            let call = calls.get(&agent.id).copied();
            hang(&mut conversation, agent, call);
        }
        match parent.filter(|parent| known.binary_search_by(|id| parent.cmp(id)).is_ok() && *parent < id) {
            Some(parent) => agents.entry(parent).or_default().push(conversation),
            None => found.push(conversation),
        }
    }
    found
}

/// Moves a subagent's session under the call that started it, else under the last call, else under the last node.
fn hang(conversation: &mut History, agent: History, named: Option<usize>) {
    let calls = conversation.nodes.iter().enumerate();
    let last = calls
        .filter(|(_, node)| matches!(node.what, NodeContent::Call { .. }))
        .map(|(index, _)| index)
        .next_back();
    let Some(under) = named.or(last).or_else(|| conversation.nodes.len().checked_sub(1)) else { return };
    let shift = conversation.nodes.len();
    for mut node in agent.nodes {
        node.parent = Some(node.parent.map_or(under, |parent| parent + shift));
        node.what = match node.what {
            NodeContent::Text(role, text, _) => NodeContent::Side(role, text),
            what => what,
        };
        conversation.nodes.push(node);
    }
    conversation.messages += agent.messages;
    conversation.skip_with(agent.skipped);
}
