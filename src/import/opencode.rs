//! opencode: the parts of its messages, and sessions as files of JSON, which it wrote before it had a database:
//! `storage/session/PROJECT/SESSION.json`, `storage/message/SESSION/`, `storage/part/MESSAGE/`.
//!
//! A session with a parent is a subagent's, hidden under the call that began it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::conversation::{Conversation, File, What};
use super::json::Value;
use super::parts::Parts;
use super::source::{Reading, files_in, first_value, folders_in};
use super::{Each, attach};
use lepo_base::error::Result;
use lepo_store::bubb::Kind;

/// The call that began each subagent's session.
pub type Calls = HashMap<String, usize>;

/// The sessions of a folder of opencode, if it is one.
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

/// True if a value is a session.
pub fn is_session(value: Value<'_>) -> bool {
    value.get("id").words().starts_with("ses_") && value.at(&["time", "created"]).count().is_some()
}

/// Reads one session with its subagents.
pub fn read(path: &Path, reading: &mut Reading, each: &mut Each<'_>) -> Result<()> {
    let Some((id, parent, conversation)) = session(path, reading) else {
        reading.tally.skip("not a session of opencode", 1);
        return Ok(());
    };
    let beside = |parent: &str| path.with_file_name(format!("{parent}.json"));
    if parent.is_some_and(|parent| parent < id && beside(&parent).is_file()) {
        return Ok(());
    }
    let mut calls = Calls::new();
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

/// The sessions of subagents that a session began, of those in its folder.
fn agents(path: &Path, parent: &str, reading: &mut Reading) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let beside = reading.beside.entry(folder).or_insert_with_key(|folder| {
        let mut of: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for file in files_in(folder) {
            if let Some(parent) = first_value(&file, |value| value.get("parentID").said()).flatten() {
                of.entry(parent).or_default().push(file);
            }
        }
        of
    });
    beside.get(parent).cloned().unwrap_or_default()
}

/// A session without its messages: its id, and that of the one that began it.
fn session(path: &Path, reading: &Reading) -> Option<(String, Option<String>, Conversation)> {
    let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
    reading.bytes.set(reading.bytes.get() + size);
    first_value(path, |value| {
        let conversation = Conversation {
            id: value.get("id").words(),
            title: value.get("title").said(),
            start: value.at(&["time", "created"]).count(),
            dir: value.get("directory").said(),
            grows: true,
            copy: true,
            ..Conversation::default()
        };
        is_session(value).then(|| (conversation.id.clone(), value.get("parentID").said(), conversation))
    })
    .flatten()
}

/// Adds the messages of a session, a line; ids grow with time.
fn messages(path: &Path, id: &str, conversation: &mut Conversation, calls: &mut Calls) {
    let Some(storage) = path.ancestors().nth(3) else { return };
    let (mut at, mut last) = (None, 0);
    for file in files_in(&storage.join("message").join(id)) {
        let about = first_value(&file, |message| {
            let time = message.at(&["time", "created"]).count();
            (message.get("id").words(), time, About::of(message))
        });
        let Some((message, time, about)) = about else { continue };
        last = conversation.nodes.len();
        conversation.messages += 1;
        let mut parts = Parts::new(conversation, at, time, about.kind);
        let folders = [storage.join("part").join(&message), storage.join("part").join(id).join(&message)];
        for file in folders.iter().flat_map(|folder| files_in(folder)) {
            first_value(&file, |value| part(&mut parts, about.kind, value, calls));
        }
        let (first, tail) = parts.finish();
        at = Some(tail);
        conversation.answered_by(first, about.model.as_deref(), about.input, about.output);
    }
    for node in conversation.nodes.iter_mut().skip(last) {
        node.last = true;
    }
}

/// The facts about a message besides its parts.
pub struct About {
    /// Its speaker.
    pub kind: Kind,
    /// Its model.
    pub model: Option<String>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

impl About {
    /// Those of a message.
    pub fn of(message: Value<'_>) -> About {
        let tokens = message.get("tokens");
        About {
            kind: if message.get("role").is("user") { Kind::User } else { Kind::Assistant },
            model: message.get("modelID").said(),
            input: tokens.get("input").count(),
            output: tokens.get("output").count(),
        }
    }
}

/// Adds a part of a message.
pub fn part(parts: &mut Parts<'_>, kind: Kind, part: Value<'_>, calls: &mut Calls) {
    let words = part.get("text").words();
    match &*part.get("type").text().unwrap_or_default() {
        "text" if part.get("synthetic").is_true() || part.get("ignored").is_true() => {
            parts.aside(kind, &words)
        }
        "text" => parts.text(&words),
        "reasoning" => parts.aside(Kind::Assistant, &words),
        "compaction" => parts.aside(Kind::System, &words),
        "file" => parts.file(file(part)),
        "tool" => {
            let state = part.get("state");
            let id = part.get("callID").said().unwrap_or_else(|| part.get("id").words());
            let name = part.get("tool").said().unwrap_or_else(|| part.get("name").words());
            let input = String::from_utf8_lossy(state.get("input").raw()).into_owned();
            parts.then(What::Call { id: id.clone(), name, input });
            let files: Vec<File> = state.get("attachments").items().map(file).collect();
            let agent = state.at(&["metadata", "sessionId"]).said();
            calls.extend(agent.zip(parts.last()));
            parts.then(What::Output { call: id, text: output(state), files });
        }
        "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" | "subtask" => {}
        _ => parts.unknown_with(&words),
    }
}

/// The output of a tool, as one version or another has it.
fn output(state: Value<'_>) -> String {
    let texts = || state.get("content").items().filter_map(|part| part.get("text").said());
    let error = state.get("error");
    let ways = [state.get("output").said(), Some(texts().collect::<Vec<_>>().join("\n\n"))];
    let mut ways = ways.into_iter().chain([error.said(), error.get("message").said()]).flatten();
    ways.find(|text| !text.is_empty()).unwrap_or_default()
}

fn file(part: Value<'_>) -> File {
    let (name, mime) = (part.get("filename").words(), part.get("mime").words());
    attach::url(&name, &mime, &part.get("url").words())
}

/// Hangs the sessions of subagents under what began them, the deepest first; the others are left.
pub fn gather(mut sessions: Vec<(String, Option<String>, Conversation)>, calls: &Calls) -> Vec<Conversation> {
    let mut agents: HashMap<String, Vec<Conversation>> = HashMap::new();
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

/// Hangs a subagent's session under the call that began it, else under the last one.
fn hang(conversation: &mut Conversation, agent: Conversation, named: Option<usize>) {
    let calls = conversation.nodes.iter().enumerate();
    let last =
        calls.filter(|(_, node)| matches!(node.what, What::Call { .. })).map(|(place, _)| place).next_back();
    let Some(under) = named.or(last).or_else(|| conversation.nodes.len().checked_sub(1)) else { return };
    let shift = conversation.nodes.len();
    for mut node in agent.nodes {
        node.parent = Some(node.parent.map_or(under, |parent| parent + shift));
        node.what = match node.what {
            What::Text(kind, text, _) => What::Side(kind, text),
            what => what,
        };
        conversation.nodes.push(node);
    }
    conversation.messages += agent.messages;
    conversation.skip_with(agent.skipped);
}
