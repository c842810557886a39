//! Claude Code: one JSONL log a session below `projects/`, and its subagents' logs.
//!
//! One message of the API is several lines, sometimes each a snapshot of all before. Lines name their parents; a
//! parent that is missing is the line before. Copies of a session repeat its lines, and give the same bubbs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::conversation::{Conversation, What};
use super::json::Value;
use super::log::{Log, Record};
use super::parts::Parts;
use super::source::{Reading, files_in, first_value, first_values};
use super::{Each, attach, claude_prompts, time};
use crate::bubb::Kind;
use crate::error::Result;

/// The beginnings of texts that the program wrote, and not the person.
const INJECTED: &[&str] = &[
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<ide_opened_file>",
    "<ide_selection>",
    "<system-reminder>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<user-memory-input>",
    "Caveat: The messages below were generated",
    "[Request interrupted by user",
];

/// Records that say nothing of the conversation itself.
const SILENT: &[&str] = &[
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "system",
    "attachment",
    "last-prompt",
    "permission-mode",
    "agent-name",
    "agent-color",
    "agent-setting",
    "mode",
    "pr-link",
    "worktree-state",
    "tag",
    "task-summary",
    "content-replacement",
    "result",
    "started",
];

/// Nodes of a message in which an earlier snapshot of a text is looked for.
const SNAPSHOTS: usize = 64;

/// Reads one session with its subagents.
pub fn read(path: &Path, reading: &mut Reading, each: &mut Each<'_>) -> Result<()> {
    if first_value(path, claude_prompts::is_prompt).unwrap_or(false) {
        return claude_prompts::read(path, reading, each);
    }
    let mut session = Session::default();
    session.file(path, reading, None)?;
    for agent in agents(path, reading) {
        let call = session.call_of(&agent);
        session.file(&agent, reading, Some(call))?;
    }
    let told = told_beside(path, reading);
    each(session.finish(path, told))
}

/// True if a file is a subagent's log, which belongs to a session's.
pub fn is_agent(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"agent-"))
}

/// The logs of a session's subagents: in a folder of the session, or, of older versions, beside it.
fn agents(path: &Path, reading: &mut Reading) -> Vec<PathBuf> {
    let is_log = |path: &PathBuf| is_agent(path) && path.extension().is_some_and(|end| end == "jsonl");
    let folder = path.with_extension("").join("subagents");
    let mut found: Vec<PathBuf> = files_in(&folder).into_iter().filter(is_log).collect();
    let (Some(parent), Some(stem)) = (path.parent(), path.file_stem()) else { return found };
    let beside = reading.beside.entry(parent.to_path_buf()).or_insert_with(|| {
        let mut of: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for agent in files_in(parent).into_iter().filter(is_log) {
            let session = first_value(&agent, |value| value.get("sessionId").said()).flatten();
            of.entry(session.unwrap_or_default()).or_default().push(agent);
        }
        of
    });
    found.extend(beside.get(&*stem.to_string_lossy()).into_iter().flatten().cloned());
    found
}

/// The titles that stand at the beginning of the logs of a folder, by the message that each is about: that is most
/// often one of another log.
fn told_beside<'r>(path: &Path, reading: &'r mut Reading) -> &'r HashMap<String, String> {
    let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
    reading.titles.entry(parent).or_insert_with_key(|parent| {
        let mut titles = HashMap::new();
        let is_log = |path: &PathBuf| !is_agent(path) && path.extension().is_some_and(|end| end == "jsonl");
        for log in files_in(parent).into_iter().filter(is_log) {
            first_values(&log, |value| {
                let title = value.get("type").is("summary").then(|| value.get("summary").said()).flatten();
                let is_one = title.is_some();
                titles.extend(title.map(|title| (value.get("leafUuid").words(), title)));
                is_one
            });
        }
        titles
    })
}

/// A session being read.
#[derive(Default)]
struct Session {
    conversation: Conversation,
    log: Log,
    titles: [Option<String>; 3],
    summaries: Vec<(String, String)>,
    /// The calls that begin a subagent, by what they say to it.
    prompts: HashMap<String, usize>,
    /// All calls by their ids.
    calls: HashMap<String, usize>,
    /// The call whose result names a subagent.
    agents: HashMap<String, String>,
    last_call: Option<usize>,
    /// Hashes of the blocks of the message that is being read.
    seen: (String, HashSet<u64>, usize),
}

impl Session {
    /// Reads a file; with `under`, one of a subagent, all of whose lines follow that call.
    fn file(&mut self, path: &Path, reading: &mut Reading, under: Option<Option<usize>>) -> Result<()> {
        let begin = self.log.records.len();
        let mut values = reading.lines(path)?;
        while let Some(value) = reading.next(&mut values)? {
            self.line(value, reading, under.is_some());
        }
        let part = Log { records: self.log.records.split_off(begin) };
        for record in &part.records {
            let first = &mut self.conversation.nodes[record.first];
            if record.parent.is_none() && first.parent.is_none() {
                first.parent = under.flatten();
            }
        }
        part.link(&mut self.conversation);
        part.mark_last(&mut self.conversation);
        self.log.records.extend(part.records);
        Ok(())
    }

    fn line(&mut self, line: Value<'_>, reading: &mut Reading, agent: bool) {
        let kind = line.get("type").text().unwrap_or_default();
        if self.conversation.dir.is_none() {
            self.conversation.dir = line.get("cwd").said();
        }
        match &*kind {
            "user" | "assistant" if line.get("message").is_object() => self.message(line, agent),
            "attachment" if line.at(&["attachment", "type"]).is("queued_command") => self.queued(line, agent),
            "summary" => self.summaries.push((line.get("leafUuid").words(), line.get("summary").words())),
            "ai-title" => self.titles[1] = line.get("aiTitle").said(),
            "custom-title" => self.titles[0] = line.get("customTitle").said(),
            _ => {
                if !SILENT.contains(&&*kind) {
                    reading.tally.skip(&format!("unknown record {kind:?}"), 1);
                }
                if line.get("uuid").text().is_some() {
                    let node = self.conversation.add(None, None, What::Nothing);
                    self.record(line, node, node, String::new());
                }
            }
        }
    }

    fn record(&mut self, line: Value<'_>, first: usize, tail: usize, message: String) {
        let parent = line.get("parentUuid").said().or_else(|| line.get("logicalParentUuid").said());
        let parent = parent.or_else(|| preserved(line.get("compactMetadata")));
        // A message without an id of its own, typed while a tool ran, follows the line before.
        let before = || self.log.records.last().map(|record| record.id.clone());
        let id = line.get("uuid").said();
        let parent = if id.is_none() { parent.or_else(before) } else { parent };
        let id = id.unwrap_or_else(|| format!("line {}", self.log.records.len()));
        self.log.records.push(Record { id, parent, message, first, tail });
    }

    fn queued(&mut self, line: Value<'_>, agent: bool) {
        let prompt = line.at(&["attachment", "prompt"]);
        let mut parts =
            Parts::new(&mut self.conversation, None, time::written(line.get("timestamp")), Kind::User)
                .beside(agent);
        match prompt.text() {
            Some(text) => said(&mut parts, &text),
            None => prompt.items().for_each(|block| user_block(&mut parts, block)),
        }
        let (first, tail) = parts.finish();
        self.conversation.messages += 1;
        self.record(line, first, tail, String::new());
    }

    fn message(&mut self, line: Value<'_>, agent: bool) {
        let message = line.get("message");
        let side = agent || line.get("isSidechain").is_true();
        let at = time::written(line.get("timestamp"));
        let begin = self.conversation.nodes.len();
        let is_answer = line.get("type").is("assistant");
        let id = if is_answer { message.get("id").words() } else { String::new() };
        if is_answer && (self.seen.0 != id || id.is_empty()) {
            self.seen = (id.clone(), HashSet::new(), begin);
        }
        let (seen, from) = (&mut self.seen.1, self.seen.2);
        if is_answer {
            let near = self.conversation.nodes[from..].iter_mut().rev().take(SNAPSHOTS);
            near.for_each(|node| grow(&mut node.what, message));
        }
        let kind = if is_answer { Kind::Assistant } else { Kind::User };
        let mut parts = Parts::new(&mut self.conversation, None, at, kind).beside(side);
        let content = message.get("content");
        if line.get("isCompactSummary").is_true() {
            parts.aside(Kind::System, &texts(content));
        } else if line.get("isMeta").is_true() {
            parts.aside(Kind::User, &texts(content));
        } else if line.get("isApiErrorMessage").is_true() {
            parts.aside(Kind::Assistant, &texts(content));
        } else if !is_answer {
            match content.text() {
                Some(text) => said(&mut parts, &text),
                None => content.items().for_each(|block| user_block(&mut parts, block)),
            }
        } else if let Some(text) = content.text() {
            parts.text(&text);
        } else {
            for block in content.items() {
                let hash = hash(block);
                if seen.insert(hash) {
                    answer_block(&mut parts, block);
                }
            }
        }
        let (first, tail) = parts.finish();
        self.conversation.messages += u64::from(id.is_empty() || from == begin);
        let usage = message.get("usage");
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input: u64 = input.iter().filter_map(|key| usage.get(key).count()).fold(0, u64::saturating_add);
        let model = message.get("model").said();
        let output = usage.get("output_tokens").count();
        self.conversation.answered_by(first, model.as_deref(), (input > 0).then_some(input), output);
        self.calls(first, content);
        if let Some(agent) = line.at(&["toolUseResult", "agentId"]).said() {
            let call = content.items().find_map(|block| block.get("tool_use_id").said());
            self.agents.extend(call.map(|call| (agent, call)));
        }
        if side && !agent && line.get("parentUuid").is_null() {
            let call = self.prompts.get(&texts(content)).copied().or(self.last_call);
            self.conversation.nodes[first].parent = call.filter(|&call| call < first);
        }
        self.record(line, first, tail, id);
    }

    /// Remembers the calls among new nodes.
    fn calls(&mut self, first: usize, content: Value<'_>) {
        let new = self.conversation.nodes.iter().enumerate().skip(first);
        for (place, node) in new {
            let What::Call { id, name, .. } = &node.what else { continue };
            self.last_call = Some(place);
            self.calls.insert(id.clone(), place);
            if matches!(name.as_str(), "Task" | "Agent") {
                let block = content.items().find(|block| block.get("id").is(id));
                let prompt = block.and_then(|block| block.at(&["input", "prompt"]).said());
                self.prompts.extend(prompt.map(|prompt| (prompt, place)));
            }
        }
    }

    /// The call that began a subagent, by the file of its log; where none is known, the first message.
    fn call_of(&self, agent: &Path) -> Option<usize> {
        let named = first_value(&agent.with_extension("meta.json"), |meta| meta.get("toolUseId").said());
        let stem = agent.file_stem().unwrap_or_default().to_string_lossy();
        let by_result = || self.agents.get(stem.strip_prefix("agent-").unwrap_or(&stem));
        let call = named.flatten();
        let call = call.as_ref().or_else(by_result).and_then(|id| self.calls.get(id));
        call.copied().or(self.last_call).or_else(|| self.conversation.first_said())
    }

    fn finish(mut self, path: &Path, told: &HashMap<String, String>) -> Conversation {
        let there = |leaf: &str| self.log.records.iter().any(|record| record.id == leaf);
        self.titles[2] =
            self.summaries.iter().rev().find(|(leaf, _)| there(leaf)).map(|(_, title)| title.clone());
        let elsewhere = || self.log.records.iter().rev().find_map(|record| told.get(&record.id).cloned());
        self.titles[2] = self.titles[2].take().or_else(elsewhere);
        let title = self.titles.into_iter().flatten().next();
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Conversation { id, title, grows: true, ..self.conversation }
    }
}

/// The last of the messages that a compaction keeps: what follows it follows them, where it names no parent.
fn preserved(compaction: Value<'_>) -> Option<String> {
    let last = compaction.at(&["preservedMessages", "uuids"]).items().last().and_then(Value::said);
    last.or_else(|| compaction.at(&["preservedSegment", "tailUuid"]).said())
}

/// A text that stands in a later snapshot of its message, longer.
fn grow(what: &mut What, message: Value<'_>) {
    let (What::Text(_, old, _) | What::Side(_, old)) = what else { return };
    for block in message.get("content").items().filter(|block| block.get("type").is("text")) {
        let Some(new) = block.get("text").text() else { continue };
        if new.len() > old.len() && new.starts_with(old.as_str()) {
            // It is told again, whole: this one goes.
            old.clear();
            return;
        }
    }
}

fn hash(block: Value<'_>) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = std::hash::DefaultHasher::new();
    block.raw().hash(&mut hasher);
    hasher.finish()
}

/// All texts of a message as one.
fn texts(content: Value<'_>) -> String {
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    content.items().filter_map(|block| block.get("text").said()).collect::<Vec<_>>().join("\n\n")
}

/// A person's text, or one that only seems to be.
fn said(parts: &mut Parts<'_>, text: &str) {
    match INJECTED.iter().any(|begin| text.starts_with(begin)) {
        true => parts.aside(Kind::User, text),
        false => parts.text(text),
    }
}

fn user_block(parts: &mut Parts<'_>, block: Value<'_>) {
    match &*block.get("type").text().unwrap_or_default() {
        "text" => said(parts, &block.get("text").text().unwrap_or_default()),
        "image" | "document" => parts.file(file(block)),
        "tool_result" => {
            let content = block.get("content");
            let files = content.items().filter(|part| part.get("source").is_object()).map(file).collect();
            let call = block.get("tool_use_id").words();
            parts.then(What::Output { call, text: texts(content), files });
        }
        _ => {}
    }
}

fn answer_block(parts: &mut Parts<'_>, block: Value<'_>) {
    match &*block.get("type").text().unwrap_or_default() {
        "text" => parts.text(&block.get("text").text().unwrap_or_default()),
        "thinking" => parts.aside(Kind::Assistant, &block.get("thinking").text().unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => parts.then(What::Call {
            id: block.get("id").words(),
            name: block.get("name").words(),
            input: String::from_utf8_lossy(block.get("input").raw()).into_owned(),
        }),
        kind if kind.ends_with("_result") => {
            let content = block.get("content");
            let text = match texts(content) {
                text if text.is_empty() => String::from_utf8_lossy(content.raw()).into_owned(),
                text => text,
            };
            parts.then(What::Output { call: block.get("tool_use_id").words(), text, files: Vec::new() });
        }
        _ => {}
    }
}

fn file(block: Value<'_>) -> super::conversation::File {
    let source = block.get("source");
    let (name, mime) = (block.get("title").words(), source.get("media_type").words());
    match source.get("data").text() {
        Some(data) if source.get("type").is("base64") => attach::base64(&name, &mime, &data),
        _ => attach::url(&name, &mime, &source.get("url").words()),
    }
}
