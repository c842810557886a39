//! One line of a log of Claude Code, read without the lines before it: many are read at once.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::conversation::{Conversation, File, Node, What};
use super::json::Value;
use super::parts::Parts;
use super::ready::make_ready;
use super::{attach, time};
use crate::bubb::Kind;

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

/// A line.
pub struct Line {
    /// The directory it was written in.
    pub dir: Option<String>,
    /// Its id, unless that is empty.
    pub id: Option<String>,
    /// Its parent's.
    pub parent: Option<String>,
    /// The rest.
    pub what: Told,
}

/// The content of a line.
pub enum Told {
    /// A message.
    Message(Box<Message>),
    /// A message that was typed while an answer was being written: its time, its nodes.
    Queued(Option<u64>, Vec<Node>),
    /// A title, by the message that it is about.
    Summary(String, String),
    /// A title that the model gave.
    ModelTitle(Option<String>),
    /// A title that the person gave.
    OwnTitle(Option<String>),
    /// Anything else: its type, if that is not known, and whether it is a record that others may follow.
    Other(Option<String>, bool),
}

/// A message, or a part of one.
#[derive(Default)]
pub struct Message {
    /// From the model.
    pub is_answer: bool,
    /// An answer's id. Several lines may have it.
    pub id: String,
    /// The nodes of each block, with its hash if it counts only once in a message. A line of a person is one block.
    pub blocks: Vec<(Option<u64>, Vec<Node>)>,
    /// Texts of blocks that `blocks` does not have as they are.
    pub texts: Vec<String>,
    /// Its time.
    pub time: Option<u64>,
    /// The model.
    pub model: Option<String>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// What calls say to the subagents they begin, by the calls' ids.
    pub prompts: Vec<(String, String)>,
    /// A subagent, and the call whose result names it.
    pub agent: Option<(String, String)>,
    /// The first message of a subagent within the log: its text.
    pub begins: Option<String>,
}

impl Line {
    /// Reads a line of a session's log, or of a subagent's. With `brief`, tools' texts are cut.
    pub fn of(line: Value<'_>, agent: bool, brief: bool) -> Line {
        let kind = line.get("type").text().unwrap_or_default();
        let parent = line.get("parentUuid").said().or_else(|| line.get("logicalParentUuid").said());
        let what = match &*kind {
            "user" | "assistant" if line.get("message").is_object() => {
                Told::Message(Box::new(Message::of(line, agent, brief)))
            }
            "attachment" if line.at(&["attachment", "type"]).is("queued_command") => {
                let time = time::written(line.get("timestamp"));
                let mut nodes = queued(line, time, agent);
                make_ready(&mut nodes, brief);
                Told::Queued(time, nodes)
            }
            "summary" => Told::Summary(line.get("leafUuid").words(), line.get("summary").words()),
            "ai-title" => Told::ModelTitle(line.get("aiTitle").said()),
            "custom-title" => Told::OwnTitle(line.get("customTitle").said()),
            other => {
                let unknown = !SILENT.contains(&other);
                Told::Other(unknown.then(|| other.to_string()), line.get("uuid").text().is_some())
            }
        };
        Line {
            dir: line.get("cwd").said(),
            id: line.get("uuid").said(),
            parent: parent.or_else(|| preserved(line.get("compactMetadata"))),
            what,
        }
    }
}

impl Message {
    fn of(line: Value<'_>, agent: bool, brief: bool) -> Message {
        let message = line.get("message");
        let content = message.get("content");
        let is_answer = line.get("type").is("assistant");
        let usage = message.get("usage");
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input: u64 = input.iter().filter_map(|key| usage.get(key).count()).fold(0, u64::saturating_add);
        let call = || content.items().find_map(|block| block.get("tool_use_id").said());
        let is_side = line.get("isSidechain").is_true();
        let begins = is_side && !agent && line.get("parentUuid").is_null();
        let mut read = Message {
            is_answer,
            id: if is_answer { message.get("id").words() } else { String::new() },
            time: time::written(line.get("timestamp")),
            model: message.get("model").said(),
            input: (input > 0).then_some(input),
            output: usage.get("output_tokens").count(),
            agent: line.at(&["toolUseResult", "agentId"]).said().and_then(|agent| Some((agent, call()?))),
            begins: begins.then(|| texts(content)),
            ..Message::default()
        };
        read.content(line, content, agent || is_side);
        read.prompts = read.prompts(content);
        for (_, nodes) in &mut read.blocks {
            make_ready(nodes, brief);
        }
        read
    }

    fn content(&mut self, line: Value<'_>, content: Value<'_>, side: bool) {
        let hidden = [
            ("isCompactSummary", Kind::System),
            ("isMeta", Kind::User),
            ("isApiErrorMessage", Kind::Assistant),
        ];
        let hidden = hidden.iter().find(|(key, _)| line.get(key).is_true());
        let mut block = |hash: Option<u64>, kind: Kind, fill: &dyn Fn(&mut Parts<'_>)| {
            self.blocks.push((hash, nodes(self.time, kind, side, fill)));
        };
        match (hidden, content.text()) {
            (Some((_, kind)), _) => {
                let own = if self.is_answer { Kind::Assistant } else { Kind::User };
                block(None, own, &|parts| parts.aside(*kind, &texts(content)));
                let blocks = content.items().filter(|block| block.get("type").is("text"));
                self.texts.extend(blocks.filter_map(|block| block.get("text").said()));
            }
            (None, Some(text)) if self.is_answer => block(None, Kind::Assistant, &|parts| parts.text(&text)),
            (None, Some(text)) => block(None, Kind::User, &|parts| said(parts, &text)),
            (None, None) if self.is_answer => {
                for part in content.items() {
                    block(Some(hash(part)), Kind::Assistant, &|parts| answer_block(parts, part));
                }
            }
            (None, None) => {
                let all = |parts: &mut Parts<'_>| content.items().for_each(|part| user_block(parts, part));
                block(None, Kind::User, &all);
            }
        }
    }

    fn prompts(&self, content: Value<'_>) -> Vec<(String, String)> {
        let mut prompts = Vec::new();
        for node in self.blocks.iter().flat_map(|(_, nodes)| nodes) {
            let What::Call { id, name, .. } = &node.what else { continue };
            if matches!(name.as_str(), "Task" | "Agent") {
                let block = content.items().find(|block| block.get("id").is(id));
                let prompt = block.and_then(|block| block.at(&["input", "prompt"]).said());
                prompts.extend(prompt.map(|prompt| (id.clone(), prompt)));
            }
        }
        prompts
    }
}

/// The nodes of a message or of a part of it, in a row; none of nothing.
fn nodes(time: Option<u64>, kind: Kind, side: bool, fill: &dyn Fn(&mut Parts<'_>)) -> Vec<Node> {
    let mut conversation = Conversation::default();
    let mut parts = Parts::new(&mut conversation, None, time, kind).beside(side);
    fill(&mut parts);
    parts.finish();
    conversation.nodes.retain(|node| !matches!(node.what, What::Nothing));
    conversation.nodes
}

fn queued(line: Value<'_>, time: Option<u64>, agent: bool) -> Vec<Node> {
    let prompt = line.at(&["attachment", "prompt"]);
    nodes(time, Kind::User, agent, &|parts| match prompt.text() {
        Some(text) => said(parts, &text),
        None => prompt.items().for_each(|block| user_block(parts, block)),
    })
}

/// The last of the messages that a compaction keeps: what follows it follows them, where it names no parent.
fn preserved(compaction: Value<'_>) -> Option<String> {
    let last = compaction.at(&["preservedMessages", "uuids"]).items().last().and_then(Value::said);
    last.or_else(|| compaction.at(&["preservedSegment", "tailUuid"]).said())
}

fn hash(block: Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
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
        "text" => parts.whole(block.get("text").words()),
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

fn file(block: Value<'_>) -> File {
    let source = block.get("source");
    let (name, mime) = (block.get("title").words(), source.get("media_type").words());
    match source.get("data").text() {
        Some(data) if source.get("type").is("base64") => attach::base64(&name, &mime, &data),
        _ => attach::url(&name, &mime, &source.get("url").words()),
    }
}
