//! A conversation of another tool as a value: messages with their parents, not yet bubbs.

use std::collections::BTreeMap;

use lepo_base::role::Role;

/// A conversation: a tree of messages, or several trees.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Its id in the other tool; empty if that has no ids.
    pub id: String,
    /// Its title in the other tool.
    pub title: Option<String>,
    /// Start in milliseconds since 1970, for messages without a time.
    pub start: Option<u64>,
    /// The directory that it is about.
    pub dir: Option<String>,
    /// The tool may still write to the log: the last message may be incomplete.
    pub grows: bool,
    /// Another source has more of the conversation: this one is skipped if the other was imported.
    pub copy: bool,
    /// Parts of messages, in the order of the source.
    pub nodes: Vec<ImportNode>,
    /// Names that the user gave to messages, each with the node.
    pub labels: Vec<(String, usize)>,
    /// Number of messages read; a message may have several nodes.
    pub messages: u64,
    /// Last change in milliseconds since 1970, if the source has it.
    pub updated: Option<u64>,
    /// Number of skipped parts, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// The providers' ids of its answers, if the source has them.
    pub responses: Vec<String>,
}

/// The reason for skipping a part of unknown type.
pub const UNKNOWN_CONTENT: &str = "content of an unknown type";

/// The reason for skipping a message that is not a user's, a model's, a tool's or a system prompt.
const UNKNOWN_ROLE: &str = "message of an unknown role";

/// A part of a message.
#[derive(Debug, Clone)]
pub struct ImportNode {
    /// Index of the previous node. A parent may come later in the list; cycles never occur.
    pub parent: Option<usize>,
    /// Milliseconds since 1970, from the source.
    pub time: Option<u64>,
    /// Its content.
    pub what: NodeContent,
    /// The model, if this is an answer.
    pub model: Option<String>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// The node belongs to the last message of a log.
    pub last: bool,
    /// SHA-256 of the text, if `SourceReader::finish` has already brought the text into its final form.
    pub ready: Option<[u8; 32]>,
}

/// The content of a part of a message.
#[derive(Debug, Clone)]
pub enum NodeContent {
    /// Nothing to import; nodes that follow it follow its parent.
    Nothing,
    /// A system prompt that the user chose.
    System(String),
    /// Visible text. Only this kind lengthens a conversation.
    Text(Role, String, Vec<ImportedFile>),
    /// Hidden text next to the previous node: reasoning, text that the program inserted, summaries.
    Aside(Role, String),
    /// A tool call.
    Call {
        /// The id that its result refers to.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments: JSON, verbatim from the source.
        input: String,
    },
    /// The result of a tool call.
    Output {
        /// The call's id; empty if it belongs to the call before it.
        call: String,
        /// Its text.
        text: String,
        /// Its files.
        files: Vec<ImportedFile>,
    },
    /// A subagent's message, hidden under the call that started the subagent.
    Side(Role, String),
    /// A message that lepo exported: its role, whether it is hidden, and its text, verbatim.
    Exact(Role, bool, String),
}

/// An image or a document of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its name; may be empty.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Its bytes, if the source has them.
    pub data: Option<Vec<u8>>,
}

impl NodeContent {
    /// Whether `other` has the same content, continues it, or repeats a part of its text.
    pub fn begins(&self, other: &NodeContent) -> bool {
        let text =
            |one: &str, other: &str| !one.is_empty() && (other.starts_with(one) || one.contains(other));
        match (self, other) {
            (NodeContent::Text(role, one, files), NodeContent::Text(other_role, other, other_files)) => {
                let is_text = one == other || text(one, other);
                role == other_role && is_text && files.len() == other_files.len()
            }
            (NodeContent::Side(role, one), NodeContent::Side(other_role, other))
            | (NodeContent::Aside(role, one), NodeContent::Aside(other_role, other)) => {
                role == other_role && text(one, other)
            }
            (NodeContent::Exact(role, hidden, one), NodeContent::Exact(other_role, other_hidden, other)) => {
                (role, hidden, one) == (other_role, other_hidden, other)
            }
            (NodeContent::System(one), NodeContent::System(other)) => one == other,
            (
                NodeContent::Call { id, name, input },
                NodeContent::Call { id: other_id, name: other_name, input: other },
            ) => (id, name, input) == (other_id, other_name, other),
            (
                NodeContent::Output { call, text: one, .. },
                NodeContent::Output { call: other_call, text: other, .. },
            ) => call == other_call && (one == other || text(one, other)),
            _ => false,
        }
    }

    /// Returns the bytes of text and files.
    pub fn size(&self) -> usize {
        let all =
            |files: &[ImportedFile]| files.iter().filter_map(|file| file.data.as_ref()).map(Vec::len).sum();
        match self {
            NodeContent::Nothing => 0,
            NodeContent::Text(_, text, files) | NodeContent::Output { text, files, .. } => {
                let files: usize = all(files);
                text.len() + files
            }
            NodeContent::Call { name, input, .. } => name.len() + input.len(),
            NodeContent::System(text)
            | NodeContent::Aside(_, text)
            | NodeContent::Side(_, text)
            | NodeContent::Exact(_, _, text) => text.len(),
        }
    }
}

impl ImportNode {
    /// Creates a node without a model and without token counts.
    pub fn new(parent: Option<usize>, time: Option<u64>, what: NodeContent) -> ImportNode {
        ImportNode { parent, time, what, model: None, input: None, output: None, last: false, ready: None }
    }

    /// Whether the node is the visible text of an answer.
    pub fn is_answer(&self) -> bool {
        matches!(self.what, NodeContent::Text(Role::Assistant, ..))
    }
}

impl History {
    /// Counts a part of unknown type.
    pub fn unknown_content(&mut self) {
        *self.skipped.entry(UNKNOWN_CONTENT.to_string()).or_default() += 1;
    }

    /// Counts a message of unknown role.
    pub fn unknown_role(&mut self) {
        *self.skipped.entry(UNKNOWN_ROLE.to_string()).or_default() += 1;
    }

    /// Adds the counts of a part read as a separate conversation.
    pub fn skip_with(&mut self, skipped: BTreeMap<String, u64>) {
        for (reason, count) in skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Appends a part read separately, and its counts: nodes without a parent follow `parent`.
    pub fn append(&mut self, part: History, parent: Option<usize>) {
        let shift = self.nodes.len();
        self.nodes.extend(part.nodes.into_iter().map(|mut node| {
            node.parent = node.parent.map(|parent| parent + shift).or(parent);
            node
        }));
        self.messages += part.messages;
        self.responses.extend(part.responses);
        self.skip_with(part.skipped);
    }

    /// Returns the last change, in milliseconds since 1970: of the source, else of the last message, else the start.
    pub fn changed(&self) -> Option<u64> {
        let last = || self.nodes.iter().filter_map(|node| node.time).max();
        self.updated.or_else(last).or(self.start)
    }

    /// Adds a node and returns its index.
    pub fn add(&mut self, parent: Option<usize>, time: Option<u64>, what: NodeContent) -> usize {
        self.nodes.push(ImportNode::new(parent, time, what));
        self.nodes.len() - 1
    }

    /// Sets the model of all answers from `from` on, and the tokens of the last.
    pub fn answered_by(&mut self, from: usize, model: Option<&str>, input: Option<u64>, output: Option<u64>) {
        for node in self.nodes.iter_mut().skip(from).filter(|node| node.is_answer()) {
            node.model = model.map(str::to_string);
        }
        self.answered_for(from, input, output);
    }

    /// Sets the tokens of the last answer from `from` on.
    pub fn answered_for(&mut self, from: usize, input: Option<u64>, output: Option<u64>) {
        if let Some(last) = self.nodes.iter_mut().skip(from).rfind(|node| node.is_answer()) {
            (last.input, last.output) = (input, output);
        }
    }

    /// Whether messages were read but all of them are empty, so that the format was not understood.
    pub fn is_unknown(&self) -> bool {
        self.messages > 0 && self.nodes.iter().all(|node| matches!(node.what, NodeContent::Nothing))
    }

    /// Returns the index of the first visible text.
    pub fn first_visible_text(&self) -> Option<usize> {
        self.nodes.iter().position(|node| matches!(node.what, NodeContent::Text(..)))
    }
}
