//! A line of a log of Claude Code, read without the lines before it.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::claude_tables::{INJECTED, SILENT};
use super::conversation::{History, ImportNode, ImportedFile, NodeContent};
use super::exported::{ExportedMessage, FIELD};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::{attach, output, time};
use lepo_base::role::Role;

/// The model name of answers that the program wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// Facts of a log that the reading of a line depends on.
#[derive(Debug, Clone, Copy)]
pub struct LineContext {
    /// The log is a subagent's.
    pub agent: bool,
    /// The directory is not known yet.
    pub dir: bool,
}

pub struct ClaudeLine {
    /// The working directory, if the reader asked for it.
    pub dir: Option<String>,
    /// `None` if it is empty.
    pub id: Option<String>,
    /// The parent's id.
    pub parent: Option<String>,
    /// The line has no key of a parent: the program printed it, and it follows the previous line.
    pub is_printed: bool,
    /// The call whose subagent printed the line.
    pub under: Option<String>,
    /// The session's id, as the program prints it.
    pub session: Option<String>,
    pub what: ClaudeContent,
}

pub enum ClaudeContent {
    Message(Box<ClaudeMessage>),
    /// A message typed while an answer was written: its time, its nodes, and the number of its blocks of unknown type.
    Queued(Option<u64>, Vec<ImportNode>, u64),
    /// The id of a message, and the title for its conversation.
    Summary(String, String),
    /// A title that the model chose.
    ModelTitle(Option<String>),
    /// A title that the user chose.
    OwnTitle(Option<String>),
    /// Any other line: its type if unknown, and whether it is a record that others may follow.
    Other(Option<String>, bool),
    /// The turn ended.
    Ended,
}

/// A message, or a part of it.
#[derive(Default)]
pub struct ClaudeMessage {
    /// The model wrote it.
    pub is_answer: bool,
    /// The id of an answer. Several lines may share it.
    pub id: String,
    /// Some may be `NodeContent::Nothing`.
    pub nodes: Vec<ImportNode>,
    /// Hash of each node's block; `None` if repeats of the block count too.
    pub hashes: Vec<Option<u64>>,
    /// Texts of blocks that `nodes` does not contain verbatim.
    pub texts: Vec<String>,
    /// Hash of each block of unknown type; `None` if repeats of the block count too.
    pub unknown: Vec<Option<u64>>,
    /// Milliseconds since 1970.
    pub time: Option<u64>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Id and prompt of each call that starts a subagent.
    pub prompts: Vec<(String, String)>,
    /// A subagent's id, and the call whose result names it.
    pub agent: Option<(String, String)>,
    /// The text of a subagent's first message, if its messages are in the session's own log.
    pub begins: Option<String>,
    /// The message ends the turn, by its stop reason or because lepo exported it.
    pub has_ended: bool,
}

impl ClaudeLine {
    /// Reads a line of a session's log, or of a subagent's.
    pub fn parse(line: JsonValue<'_>, wanted: LineContext) -> ClaudeLine {
        let [kind, message, parent, uuid, dir, exported, under, session] = line.pick([
            "type",
            "message",
            "parentUuid",
            "uuid",
            "cwd",
            FIELD,
            "parent_tool_use_id",
            "session_id",
        ]);
        let kind = kind.text().unwrap_or_default();
        let is_printed = parent.is_missing() && !line.has("logicalParentUuid");
        let what = match &*kind {
            "user" | "assistant" if message.is_object() => ClaudeContent::Message(Box::new(
                ClaudeMessage::parse(line, message, ExportedMessage::parse(exported), wanted),
            )),
            "attachment" if line.at(&["attachment", "type"]).is_str("queued_command") => {
                let time = time::written(line.get("timestamp"));
                let (nodes, unknown) = queued(line, time, wanted);
                ClaudeContent::Queued(time, nodes, unknown)
            }
            "summary" => ClaudeContent::Summary(line.get("leafUuid").string(), line.get("summary").string()),
            "ai-title" => ClaudeContent::ModelTitle(line.get("aiTitle").non_empty()),
            "custom-title" => ClaudeContent::OwnTitle(line.get("customTitle").non_empty()),
            "result" => ClaudeContent::Ended,
            other => {
                let unknown = !SILENT.contains(&other);
                ClaudeContent::Other(unknown.then(|| other.to_string()), uuid.text().is_some() && !is_printed)
            }
        };
        ClaudeLine {
            dir: if wanted.dir { dir.non_empty() } else { None },
            id: uuid.non_empty(),
            parent: parent.non_empty().or_else(|| {
                let [logical, compaction] = line.pick(["logicalParentUuid", "compactMetadata"]);
                logical.non_empty().or_else(|| preserved(compaction))
            }),
            is_printed,
            under: under.non_empty(),
            session: session.non_empty(),
            what,
        }
    }

    pub fn nodes(&mut self) -> &mut [ImportNode] {
        match &mut self.what {
            ClaudeContent::Message(message) => &mut message.nodes,
            ClaudeContent::Queued(_, nodes, _) => nodes,
            _ => &mut [],
        }
    }
}

impl ClaudeMessage {
    fn parse(
        line: JsonValue<'_>,
        message: JsonValue<'_>,
        exported: Option<ExportedMessage<'_>>,
        wanted: LineContext,
    ) -> ClaudeMessage {
        let [kind, parent, time, is_side, result] =
            line.pick(["type", "parentUuid", "timestamp", "isSidechain", "toolUseResult"]);
        let [content, usage, id, model, stop] =
            message.pick(["content", "usage", "id", "model", "stop_reason"]);
        let [new, written, cached, output] = usage.pick([
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ]);
        let input =
            [new, written, cached].into_iter().filter_map(JsonValue::count).fold(0, u64::saturating_add);
        let is_answer = kind.is_str("assistant");
        let under = line.get("parent_tool_use_id").non_empty();
        let call = || content.items().find_map(|block| block.get("tool_use_id").non_empty());
        let begins = is_side.is_true() && !wanted.agent && parent.is_null();
        let is_side = is_side.is_true() || under.is_some();
        let mut read = ClaudeMessage {
            is_answer,
            id: if is_answer { id.string() } else { String::new() },
            time: time::written(time),
            input: (input > 0).then_some(input),
            output: output.count(),
            agent: result.get("agentId").non_empty().and_then(|agent| Some((agent, call()?))),
            begins: begins.then(|| texts(content)),
            has_ended: exported.is_some()
                || (is_answer
                    && stop.non_empty().is_some_and(|stop| !matches!(&*stop, "tool_use" | "pause_turn"))),
            ..ClaudeMessage::default()
        };
        let model = match exported {
            Some(exported) => {
                read.exported(content, &exported);
                exported.model
            }
            None => {
                read.content(line, content, model.is_str(SYNTHETIC), wanted.agent || is_side);
                model.non_empty()
            }
        };
        read.prompts = read.prompts(content);
        read.nodes.iter_mut().filter(|node| node.is_answer()).for_each(|node| node.model.clone_from(&model));
        read
    }

    /// Reads a message that lepo exported.
    fn exported(&mut self, content: JsonValue<'_>, exported: &ExportedMessage<'_>) {
        let mut all = History::default();
        let is_file = |block: &JsonValue<'_>| matches!(&*block.get("type").string(), "image" | "document");
        add(&mut all, self.time, exported.role, false, &|parts| {
            let files = content.items().filter(is_file).map(file).collect();
            exported.add_to(parts, self.time, &texts(content), files);
        });
        self.hashes.resize(all.nodes.len(), None);
        self.nodes = all.nodes;
    }

    fn content(&mut self, line: JsonValue<'_>, content: JsonValue<'_>, synthetic: bool, is_side: bool) {
        let hidden = line.pick(["isCompactSummary", "isMeta", "isApiErrorMessage"]);
        let hidden = hidden.into_iter().zip([Role::System, Role::User, Role::Assistant]);
        let hidden = hidden.filter(|(is_such, _)| is_such.is_true()).map(|(_, role)| role).next();
        let hidden = hidden.or(synthetic.then_some(Role::Assistant));
        // Another agent or a program wrote the message.
        let is_foreign = line.at(&["origin", "kind"]).non_empty().is_some_and(|kind| kind != "human");
        let has_result = content.items().any(|block| block.get("type").is_str("tool_result"));
        let hidden = hidden.or((is_foreign && !self.is_answer && !has_result).then_some(Role::User));
        let mut all = History::default();
        let mut block = |hash: Option<u64>, role: Role, fill: &dyn Fn(&mut MessageBuilder<'_>)| {
            let unknown = add(&mut all, self.time, role, is_side, fill);
            self.hashes.resize(all.nodes.len(), hash);
            self.unknown.extend((0..unknown).map(|_| hash));
        };
        match (hidden, content.text()) {
            (Some(role), _) => {
                let own = if self.is_answer { Role::Assistant } else { Role::User };
                block(None, own, &|parts| parts.aside(role, &texts(content)));
                let blocks = content.items().filter(|block| block.get("type").is_str("text"));
                self.texts.extend(blocks.filter_map(|block| block.get("text").non_empty()));
            }
            (None, Some(text)) if self.is_answer => block(None, Role::Assistant, &|parts| parts.text(&text)),
            (None, Some(text)) => {
                block(None, Role::User, &|parts| parts.push_without_injections(&text, &INJECTED))
            }
            (None, None) if !content.is_array() && !content.is_object() && !content.is_null() => {
                block(None, Role::User, &|parts| parts.unknown());
            }
            (None, None) if self.is_answer => {
                for part in content.parts() {
                    block(Some(hash(part)), Role::Assistant, &|parts| answer_block(parts, part));
                }
            }
            (None, None) => {
                block(None, Role::User, &|parts| content.parts().for_each(|part| user_block(parts, part)));
            }
        }
        self.nodes = all.nodes;
    }

    fn prompts(&self, content: JsonValue<'_>) -> Vec<(String, String)> {
        let mut prompts = Vec::new();
        for node in &self.nodes {
            let NodeContent::Call { id, name, .. } = &node.what else { continue };
            if matches!(name.as_str(), "Task" | "Agent") {
                let block = content.items().find(|block| block.get("id").is_str(id));
                let prompt = block.and_then(|block| block.at(&["input", "prompt"]).non_empty());
                prompts.extend(prompt.map(|prompt| (id.clone(), prompt)));
            }
        }
        prompts
    }
}

/// Adds the nodes of a message or of one of its blocks, as a chain. Returns the number of blocks of unknown type.
fn add(
    to: &mut History,
    time: Option<u64>,
    role: Role,
    is_side: bool,
    fill: &dyn Fn(&mut MessageBuilder<'_>),
) -> u64 {
    let mut parts = MessageBuilder::new(to, None, time, role).as_subagent(is_side);
    fill(&mut parts);
    parts.finish();
    std::mem::take(&mut to.skipped).into_values().sum()
}

fn queued(line: JsonValue<'_>, time: Option<u64>, wanted: LineContext) -> (Vec<ImportNode>, u64) {
    let prompt = line.at(&["attachment", "prompt"]);
    let mut all = History::default();
    let unknown = add(&mut all, time, Role::User, wanted.agent, &|parts| match prompt.text() {
        Some(text) => parts.push_without_injections(&text, &INJECTED),
        None => prompt.items().for_each(|block| user_block(parts, block)),
    });
    (all.nodes, unknown)
}

/// Returns the last message that a compaction preserved: the parent of what follows, if that names none.
fn preserved(compaction: JsonValue<'_>) -> Option<String> {
    let last = compaction.at(&["preservedMessages", "uuids"]).items().last().and_then(JsonValue::non_empty);
    last.or_else(|| compaction.at(&["preservedSegment", "tailUuid"]).non_empty())
}

fn hash(block: JsonValue<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    block.raw().hash(&mut hasher);
    hasher.finish()
}

/// Joins all texts of a message.
fn texts(content: JsonValue<'_>) -> String {
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    content.items().filter_map(|block| block.get("text").non_empty()).collect::<Vec<_>>().join("\n\n")
}

fn user_block(parts: &mut MessageBuilder<'_>, block: JsonValue<'_>) {
    match &*block.get("type").text().unwrap_or_default() {
        "text" => parts.push_without_injections(&block.get("text").text().unwrap_or_default(), &INJECTED),
        "image" | "document" => parts.file(file(block)),
        "tool_result" => {
            let content = block.get("content");
            let files = content.items().filter(|part| part.get("source").is_object()).map(file).collect();
            let call = block.get("tool_use_id").string();
            parts.push_node(NodeContent::Output { call, text: output::text(content), files });
        }
        _ => {
            parts.unknown();
            parts.push_without_injections(&block.get("text").text().unwrap_or_default(), &INJECTED);
        }
    }
}

fn answer_block(parts: &mut MessageBuilder<'_>, block: JsonValue<'_>) {
    match &*block.get("type").text().unwrap_or_default() {
        "text" => parts.push_text(block.get("text").string()),
        "thinking" => parts.aside(Role::Assistant, &block.get("thinking").text().unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => parts.push_node(NodeContent::Call {
            id: block.get("id").string(),
            name: block.get("name").string(),
            input: String::from_utf8_lossy(block.get("input").raw()).into_owned(),
        }),
        kind if kind.ends_with("_result") => {
            parts.push_node(output::of_call(block.get("tool_use_id").string(), block.get("content")));
        }
        // Encrypted reasoning.
        "redacted_thinking" => {}
        _ => parts.unknown_with(&block.get("text").text().unwrap_or_default()),
    }
}

fn file(block: JsonValue<'_>) -> ImportedFile {
    let source = block.get("source");
    let (name, mime) = (block.get("title").string(), source.get("media_type").string());
    match source.get("data").text() {
        Some(data) if source.get("type").is_str("base64") => attach::base64(&name, &mime, &data),
        _ => attach::url(&name, &mime, &source.get("url").string()),
    }
}
