//! Claude Code: one JSONL log a session below `projects/`, and its subagents' logs.
//!
//! A message of the API is spread over several lines, each of which may be a snapshot of the ones before. Lines name
//! their parents; a line whose parent is missing follows the previous line. Copies of a session repeat its lines, and
//! result in the same bubbs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::claude_lines::{ClaudeContent, ClaudeLine, ClaudeMessage, LineContext};
use super::conversation::{History, ImportNode, NodeContent};
use super::linked_log::LinkedLog;
use super::source::{SourceReader, files_in, first_value, first_values};
use super::{ConversationSink, claude_prompts};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Number of nodes of a message in which to search for an earlier snapshot of a text.
const SNAPSHOTS: usize = 64;

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    if first_value(path, claude_prompts::is_prompt).unwrap_or(false) {
        return claude_prompts::read(path, reading, each);
    }
    let mut session = ClaudeSession::default();
    session.file(path, reading, None)?;
    for agent in agents(path, reading) {
        let call = session.call_of(&agent);
        session.file(&agent, reading, Some(call))?;
    }
    let titles = sibling_titles(path, reading);
    each(session.finish(path, titles))
}

/// Whether a file is a subagent's log, to be read with its session's.
pub fn is_agent(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"agent-"))
}

/// Returns the log of the session that a subagent's log belongs to, if the file exists.
pub fn session_of(agent: &Path) -> Option<PathBuf> {
    let folder = agent.parent()?;
    let below = folder.parent().map(|session| session.with_extension("jsonl"));
    let named = || {
        let session = first_value(agent, |value| value.get("sessionId").non_empty()).flatten()?;
        Some(folder.join(session).with_extension("jsonl"))
    };
    below
        .filter(|log| folder.ends_with("subagents") && log.is_file())
        .or_else(named)
        .filter(|log| log.is_file())
}

/// Finds the logs of a session's subagents: in the session's folder, or, for older versions, next to its log.
fn agents(path: &Path, reading: &mut SourceReader) -> Vec<PathBuf> {
    let is_log = |path: &PathBuf| is_agent(path) && path.extension().is_some_and(|end| end == "jsonl");
    let folder = path.with_extension("").join("subagents");
    let mut found: Vec<PathBuf> = files_in(&folder).into_iter().filter(is_log).collect();
    let (Some(parent), Some(stem)) = (path.parent(), path.file_stem()) else { return found };
    let agent_logs = reading.agent_logs.entry(parent.to_path_buf()).or_insert_with(|| {
        let mut by_session: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for agent in files_in(parent).into_iter().filter(is_log) {
            let session = first_value(&agent, |value| value.get("sessionId").non_empty()).flatten();
            by_session.entry(session.unwrap_or_default()).or_default().push(agent);
        }
        by_session
    });
    found.extend(agent_logs.get(&*stem.to_string_lossy()).into_iter().flatten().cloned());
    found
}

/// Reads the titles at the start of all logs of a folder, by the message that each describes: mostly a message of
/// another log.
fn sibling_titles<'r>(path: &Path, reading: &'r mut SourceReader) -> &'r HashMap<String, String> {
    let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
    reading.titles.entry(parent).or_insert_with_key(|parent| {
        let mut titles = HashMap::new();
        let is_log = |path: &PathBuf| !is_agent(path) && path.extension().is_some_and(|end| end == "jsonl");
        for log in files_in(parent).into_iter().filter(is_log) {
            first_values(&log, |value| {
                let title =
                    value.get("type").is_str("summary").then(|| value.get("summary").non_empty()).flatten();
                let is_one = title.is_some();
                titles.extend(title.map(|title| (value.get("leafUuid").string(), title)));
                is_one
            });
        }
        titles
    })
}

#[derive(Default)]
struct ClaudeSession {
    conversation: History,
    log: LinkedLog,
    titles: [Option<String>; 3],
    summaries: Vec<(String, String)>,
    /// The calls that start a subagent, by the prompt they send it.
    prompts: HashMap<String, usize>,
    /// All calls by their ids.
    calls: HashMap<String, usize>,
    /// The call whose result names a subagent, by the subagent's id.
    agents: HashMap<String, String>,
    last_call: Option<usize>,
    /// The previous record, which a line without the key of a parent follows.
    before: Option<String>,
    /// The last record that the subagent of each call printed.
    printed: HashMap<String, String>,
    /// The session's id, if the log is the program's printed output.
    id: Option<String>,
    /// The id of the message being read, the hashes of its blocks, and its first node.
    seen: (String, HashSet<u64>, usize),
}

impl ClaudeSession {
    /// Reads a log; with `under`, a subagent's, whose lines all follow that call.
    fn file(&mut self, path: &Path, reading: &mut SourceReader, under: Option<Option<usize>>) -> Result<()> {
        self.log.start_log();
        self.before = None;
        let mut lines = reading.lines(path)?;
        while let Some(line) = reading.next(&mut lines)? {
            let wanted = LineContext { agent: under.is_some(), dir: self.conversation.dir.is_none() };
            let mut line = ClaudeLine::parse(line, wanted);
            if let Some(finish) = reading.finish {
                line.nodes().iter_mut().for_each(finish);
            }
            self.line(line, reading);
        }
        self.log.link(&mut self.conversation, under.flatten());
        self.log.mark_last(&mut self.conversation);
        Ok(())
    }

    fn line(&mut self, line: ClaudeLine, reading: &mut SourceReader) {
        let ClaudeLine { dir, id, parent, is_printed, under, session, mut what } = line;
        self.conversation.dir = self.conversation.dir.take().or(dir);
        self.id = self.id.take().or(session.filter(|_| is_printed));
        if let (Some(id), ClaudeContent::Message(message)) = (&id, &mut what)
            && self.log.repeats(id, &message.nodes, &mut self.conversation)
        {
            self.before = Some(id.clone());
            return;
        }
        let mut has_ended = false;
        let (first, message) = match what {
            ClaudeContent::Message(message) => {
                has_ended = message.has_ended;
                (self.conversation.nodes.len(), self.message(*message))
            }
            ClaudeContent::Queued(time, nodes, unknown) => {
                let first = self.conversation.nodes.len();
                self.add(first, time, nodes);
                (0..unknown).for_each(|_| self.conversation.unknown_content());
                self.conversation.messages += 1;
                (first, String::new())
            }
            ClaudeContent::Summary(leaf, title) => return self.summaries.push((leaf, title)),
            ClaudeContent::ModelTitle(title) => return self.titles[1] = title,
            ClaudeContent::OwnTitle(title) => return self.titles[0] = title,
            ClaudeContent::Ended => return self.log.set_ended(true),
            ClaudeContent::Other(unknown, is_record) => {
                if let Some(kind) = unknown {
                    reading.tally.skip(&format!("unknown record {kind:?}"), 1);
                }
                if !is_record {
                    return;
                }
                (self.conversation.add(None, None, NodeContent::Nothing), String::new())
            }
        };
        // A message without an id, typed while a tool ran, follows the previous record too.
        let before = match &under {
            Some(call) => self.printed.get(call).cloned(),
            None => self.before.clone(),
        };
        let parent = if id.is_none() || is_printed { parent.or(before) } else { parent };
        let id = id.unwrap_or_else(|| format!("line {}", self.log.records.len()));
        match under {
            Some(call) => {
                let begun_by =
                    self.calls.get(&call).copied().filter(|&call| call < first && parent.is_none());
                self.conversation.nodes[first].parent = self.conversation.nodes[first].parent.or(begun_by);
                self.printed.insert(call, id.clone());
            }
            None => self.before = Some(id.clone()),
        }
        let tail = self.conversation.nodes.len() - 1;
        self.log.add(id, parent, &message, first..=tail);
        self.log.set_ended(has_ended);
    }

    /// Adds nodes as a chain that starts at `first`, and an empty node if `new` is empty. Consecutive texts of an
    /// answer are joined.
    fn add(&mut self, first: usize, time: Option<u64>, new: impl IntoIterator<Item = ImportNode>) {
        let nodes = &mut self.conversation.nodes;
        for mut node in new.into_iter().filter(|node| !matches!(node.what, NodeContent::Nothing)) {
            if let Some(last) = nodes.get_mut(first..).and_then(<[ImportNode]>::last_mut)
                && let (
                    NodeContent::Text(Role::Assistant, before, _)
                    | NodeContent::Side(Role::Assistant, before),
                    NodeContent::Text(_, text, _) | NodeContent::Side(_, text),
                ) = (&mut last.what, &node.what)
            {
                before.push_str("\n\n");
                before.push_str(text);
                last.ready = None;
                continue;
            }
            node.parent = nodes.len().checked_sub(1).filter(|&last| last >= first);
            nodes.push(node);
        }
        if nodes.len() == first {
            self.conversation.add(None, time, NodeContent::Nothing);
        }
    }

    /// Adds a message and returns its id.
    fn message(&mut self, message: ClaudeMessage) -> String {
        let first = self.conversation.nodes.len();
        if message.is_answer && (self.seen.0 != message.id || message.id.is_empty()) {
            self.seen = (message.id.clone(), HashSet::new(), first);
        }
        let from = self.seen.2;
        if message.is_answer {
            let near = self.conversation.nodes[from..].iter_mut().rev().take(SNAPSHOTS);
            near.for_each(|node| grow(node, &message));
        }
        let ClaudeMessage { id, prompts, nodes, hashes, unknown, .. } = message;
        let mut seen = std::mem::take(&mut self.seen.1);
        // The hash is inverted because a block of an unknown type may also have a node, with the hash itself.
        let unknown = unknown.into_iter().filter(|hash| hash.is_none_or(|hash| seen.insert(!hash)));
        unknown.for_each(|_| self.conversation.unknown_content());
        // An answer's block has a single node, so a repeated hash is always a repeated block.
        let new = nodes.into_iter().zip(hashes);
        let new = new.filter(|(_, hash)| hash.is_none_or(|hash| seen.insert(hash)));
        self.add(first, message.time, new.map(|(node, _)| node));
        self.seen.1 = seen;
        self.conversation.messages += u64::from(id.is_empty() || from == first);
        if from == first && !id.is_empty() {
            self.conversation.responses.push(id.clone());
        }
        self.conversation.answered_for(first, message.input, message.output);
        self.calls(first, prompts);
        self.agents.extend(message.agent);
        if let Some(text) = message.begins {
            let call = self.prompts.get(&text).copied().or(self.last_call);
            self.conversation.nodes[first].parent = call.filter(|&call| call < first);
        }
        id
    }

    /// Indexes the calls among new nodes.
    fn calls(&mut self, first: usize, prompts: Vec<(String, String)>) {
        let new = self.conversation.nodes.iter().enumerate().skip(first);
        for (index, node) in new {
            let NodeContent::Call { id, name, .. } = &node.what else { continue };
            self.last_call = Some(index);
            self.calls.insert(id.clone(), index);
            if matches!(name.as_str(), "Task" | "Agent") {
                let prompt = prompts.iter().find(|(call, _)| call == id);
                self.prompts.extend(prompt.map(|(_, prompt)| (prompt.clone(), index)));
            }
        }
    }

    /// Finds the call that started a subagent, by the subagent's log; else the last call, else the first message.
    fn call_of(&self, agent: &Path) -> Option<usize> {
        let named = first_value(&agent.with_extension("meta.json"), |meta| meta.get("toolUseId").non_empty());
        let stem = agent.file_stem().unwrap_or_default().to_string_lossy();
        let by_result = || self.agents.get(stem.strip_prefix("agent-").unwrap_or(&stem));
        let call = named.flatten();
        let call = call.as_ref().or_else(by_result).and_then(|id| self.calls.get(id));
        call.copied().or(self.last_call).or_else(|| self.conversation.first_visible_text())
    }

    fn finish(mut self, path: &Path, sibling_titles: &HashMap<String, String>) -> History {
        let there = |leaf: &str| self.log.records.iter().any(|record| record.id == leaf);
        self.titles[2] =
            self.summaries.iter().rev().find(|(leaf, _)| there(leaf)).map(|(_, title)| title.clone());
        let elsewhere =
            || self.log.records.iter().rev().find_map(|record| sibling_titles.get(&record.id).cloned());
        self.titles[2] = self.titles[2].take().or_else(elsewhere);
        let title = self.titles.into_iter().flatten().next();
        // Printed lines have less than the session's own log.
        let copy = self.id.is_some();
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let id = self.id.unwrap_or_else(stem);
        History { id, title, grows: true, copy, ..self.conversation }
    }
}

/// Clears a text that a later snapshot of its message repeats and extends.
fn grow(node: &mut ImportNode, message: &ClaudeMessage) {
    let (NodeContent::Text(_, old, _) | NodeContent::Side(_, old)) = &mut node.what else { return };
    let blocks = message.nodes.iter().zip(&message.hashes).filter(|(_, hash)| hash.is_some());
    let texts = blocks.filter_map(|(node, _)| match &node.what {
        NodeContent::Text(_, text, _) | NodeContent::Side(_, text) => Some(text),
        _ => None,
    });
    if texts.chain(&message.texts).any(|new| new.len() > old.len() && new.starts_with(old.as_str())) {
        old.clear();
        node.ready = None;
    }
}
