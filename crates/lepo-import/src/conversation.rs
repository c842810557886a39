//! A conversation of another tool as a value: messages with their parents, before they are bubbs.

use std::collections::BTreeMap;

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A prompt of the program or of the person, before all else.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

impl Role {
    /// All four.
    const ALL: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

    /// The letter in a line of a database's conversation, and in what lepo exported.
    pub fn letter(self) -> char {
        match self {
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        }
    }

    /// The role of a letter.
    pub fn of_letter(letter: u8) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.letter() as u8 == letter)
    }
}

/// One conversation: a tree of messages, or several.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// Its id in the other tool. Empty where that gives none.
    pub id: String,
    /// Its title there.
    pub title: Option<String>,
    /// The time of its beginning, milliseconds since 1970: for messages without a time.
    pub start: Option<u64>,
    /// The directory it is about.
    pub dir: Option<String>,
    /// A log that the tool may still write to: its last message may not be whole yet.
    pub grows: bool,
    /// Another source has more of it: left out where it was imported from there.
    pub copy: bool,
    /// Messages in the order of the source.
    pub nodes: Vec<Node>,
    /// Names that a person gave to messages; the message of each.
    pub labels: Vec<(String, usize)>,
    /// Messages that were read, of which one may be several nodes.
    pub messages: u64,
    /// The time of its last change, milliseconds since 1970, if the source says it.
    pub updated: Option<u64>,
    /// Parts that were stepped over: the count of each reason.
    pub skipped: BTreeMap<String, u64>,
}

/// The reason for a part of a message that no reader knows.
pub const UNKNOWN_CONTENT: &str = "content of an unknown type";

/// The reason for a message that is neither a person's, a model's, a tool's nor a system prompt.
const UNKNOWN_ROLE: &str = "message of an unknown role";

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Node {
    /// The node before, by its place. Parents may stand anywhere; there are no circles.
    pub parent: Option<usize>,
    /// Milliseconds since 1970, as the source says.
    pub time: Option<u64>,
    /// Its kind.
    pub what: What,
    /// Of an answer: its model.
    pub model: Option<String>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// It belongs to the last message of a log.
    pub last: bool,
    /// The SHA-256 of its text, if `Reading::finish` has made that what its taker writes.
    pub ready: Option<[u8; 32]>,
}

/// The kind of a part of a message.
#[derive(Debug, Clone)]
pub enum What {
    /// Nothing to keep; what follows it follows its parent.
    Nothing,
    /// A system prompt that a person chose.
    System(String),
    /// Visible text: this alone makes a conversation longer.
    Text(Role, String, Vec<File>),
    /// Hidden text beside what precedes it: reasoning, what a program put in, summaries.
    Aside(Role, String),
    /// A tool call.
    Call {
        /// The id by which its result names it.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: JSON as it is written in the source.
        input: String,
    },
    /// The result of a tool.
    Output {
        /// The call's id; empty for the call before.
        call: String,
        /// Its text.
        text: String,
        /// Its files.
        files: Vec<File>,
    },
    /// A message of a subagent, which is hidden under the call that began it.
    Side(Role, String),
    /// A message that lepo exported: whether it is hidden, and its text as it is.
    Exact(Role, bool, String),
}

/// An image or a document of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, if it has one.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Its bytes, unless the source does not hold them.
    pub data: Option<Vec<u8>>,
}

impl What {
    /// True if another one says the same, and perhaps goes on; or says a part of a text that this one has whole.
    pub fn begins(&self, other: &What) -> bool {
        let text =
            |one: &str, other: &str| !one.is_empty() && (other.starts_with(one) || one.contains(other));
        match (self, other) {
            (What::Text(kind, one, files), What::Text(other_kind, other, other_files)) => {
                let is_text = one == other || text(one, other);
                kind == other_kind && is_text && files.len() == other_files.len()
            }
            (What::Side(kind, one), What::Side(other_kind, other))
            | (What::Aside(kind, one), What::Aside(other_kind, other)) => {
                kind == other_kind && text(one, other)
            }
            (What::Exact(kind, hidden, one), What::Exact(other_kind, other_hidden, other)) => {
                (kind, hidden, one) == (other_kind, other_hidden, other)
            }
            (What::System(one), What::System(other)) => one == other,
            (What::Call { id, name, input }, What::Call { id: other_id, name: other_name, input: other }) => {
                (id, name, input) == (other_id, other_name, other)
            }
            (What::Output { call, text: one, .. }, What::Output { call: other_call, text: other, .. }) => {
                call == other_call && (one == other || text(one, other))
            }
            _ => false,
        }
    }

    /// The bytes of its text and files.
    pub fn size(&self) -> usize {
        let all = |files: &[File]| files.iter().filter_map(|file| file.data.as_ref()).map(Vec::len).sum();
        match self {
            What::Nothing => 0,
            What::Text(_, text, files) | What::Output { text, files, .. } => {
                let files: usize = all(files);
                text.len() + files
            }
            What::Call { name, input, .. } => name.len() + input.len(),
            What::System(text) | What::Aside(_, text) | What::Side(_, text) | What::Exact(_, _, text) => {
                text.len()
            }
        }
    }
}

impl Node {
    /// A node without a model.
    pub fn new(parent: Option<usize>, time: Option<u64>, what: What) -> Node {
        Node { parent, time, what, model: None, input: None, output: None, last: false, ready: None }
    }

    /// True if it is the visible text of an answer.
    pub fn is_answer(&self) -> bool {
        matches!(self.what, What::Text(Role::Assistant, ..))
    }
}

impl Conversation {
    /// Counts a part whose type is unknown.
    pub fn unknown_content(&mut self) {
        *self.skipped.entry(UNKNOWN_CONTENT.to_string()).or_default() += 1;
    }

    /// Counts a message whose role is unknown.
    pub fn unknown_role(&mut self) {
        *self.skipped.entry(UNKNOWN_ROLE.to_string()).or_default() += 1;
    }

    /// Adds the counts of a part that was read as a conversation of its own.
    pub fn skip_with(&mut self, skipped: BTreeMap<String, u64>) {
        for (reason, count) in skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Adds the nodes of a part that was read by itself: those without a parent follow `parent`. Its counts are added.
    pub fn append(&mut self, part: Conversation, parent: Option<usize>) {
        let shift = self.nodes.len();
        self.nodes.extend(part.nodes.into_iter().map(|mut node| {
            node.parent = node.parent.map(|parent| parent + shift).or(parent);
            node
        }));
        self.messages += part.messages;
        self.skip_with(part.skipped);
    }

    /// The time of its last change: as the source says it, else that of its last message.
    pub fn changed(&self) -> Option<u64> {
        let last = || self.nodes.iter().filter_map(|node| node.time).max();
        self.updated.or_else(last).or(self.start)
    }

    /// Adds a node; its place.
    pub fn add(&mut self, parent: Option<usize>, time: Option<u64>, what: What) -> usize {
        self.nodes.push(Node::new(parent, time, what));
        self.nodes.len() - 1
    }

    /// Says of the answers from `from` on which model gave them, for how many tokens.
    pub fn answered_by(&mut self, from: usize, model: Option<&str>, input: Option<u64>, output: Option<u64>) {
        for node in self.nodes.iter_mut().skip(from).filter(|node| node.is_answer()) {
            node.model = model.map(str::to_string);
        }
        self.answered_for(from, input, output);
    }

    /// Says of the last answer from `from` on for how many tokens it was given.
    pub fn answered_for(&mut self, from: usize, input: Option<u64>, output: Option<u64>) {
        if let Some(last) = self.nodes.iter_mut().skip(from).rfind(|node| node.is_answer()) {
            (last.input, last.output) = (input, output);
        }
    }

    /// True if nothing of what was read was understood: all of its messages are empty.
    pub fn is_unknown(&self) -> bool {
        self.messages > 0 && self.nodes.iter().all(|node| matches!(node.what, What::Nothing))
    }

    /// The first visible text.
    pub fn first_said(&self) -> Option<usize> {
        self.nodes.iter().position(|node| matches!(node.what, What::Text(..)))
    }
}
