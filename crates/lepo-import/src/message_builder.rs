//! Builds the nodes of a message: consecutive texts become a single node, each other part its own.

use super::conversation::{History, ImportedFile, NodeContent};
use super::injected::Injections;
use lepo_base::role::Role;

/// A message being read. Its nodes are a chain; consecutive texts are joined by a blank line.
pub struct MessageBuilder<'c> {
    conversation: &'c mut History,
    /// The node that the next one follows.
    parent: Option<usize>,
    time: Option<u64>,
    role: Role,
    /// The message is a subagent's.
    is_side: bool,
    /// The texts since the last node.
    text: String,
    /// The files since the last node.
    files: Vec<ImportedFile>,
    /// Index of the first node of the message.
    first: usize,
}

impl<'c> MessageBuilder<'c> {
    /// Starts a message after `parent`.
    pub fn new(
        conversation: &'c mut History,
        parent: Option<usize>,
        time: Option<u64>,
        role: Role,
    ) -> MessageBuilder<'c> {
        let first = conversation.nodes.len();
        MessageBuilder {
            conversation,
            parent,
            time,
            role,
            is_side: false,
            text: String::new(),
            files: Vec::new(),
            first,
        }
    }

    /// Marks the message as a subagent's if `is_side`.
    pub fn as_subagent(mut self, is_side: bool) -> MessageBuilder<'c> {
        self.is_side = is_side;
        self
    }

    /// Sets the time of the parts that follow, unless it is `None`.
    pub fn at(&mut self, time: Option<u64>) {
        self.time = time.or(self.time);
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    /// Adds a text, without copying it if it is the first.
    pub fn push_text(&mut self, text: String) {
        if self.text.is_empty() {
            self.text = text;
        } else {
            self.text(&text);
        }
    }

    /// Counts a part of unknown type.
    pub fn unknown(&mut self) {
        self.conversation.unknown_content();
    }

    /// Counts the message as having an unknown role.
    pub fn unknown_role(&mut self) {
        self.conversation.unknown_role();
    }

    /// Counts a part of unknown type, and adds its text.
    pub fn unknown_with(&mut self, text: &str) {
        self.unknown();
        self.text(text);
    }

    /// Adds an image or a document.
    pub fn file(&mut self, file: ImportedFile) {
        self.files.push(file);
    }

    /// Adds reasoning, or text that a program inserted, unless it is empty.
    pub fn aside(&mut self, role: Role, text: &str) {
        if !text.is_empty() {
            self.push_node(NodeContent::Aside(role, text.to_string()));
        }
    }

    /// Adds a user's text. Text that a program inserted becomes separate, hidden nodes.
    pub fn push_without_injections(&mut self, text: &str, injections: &Injections) {
        for piece in injections.split(text) {
            match piece.is_injected {
                true => self.aside(Role::User, piece.text),
                false => self.text(piece.text),
            }
        }
    }

    /// Returns the last node so far, or the parent.
    pub fn last(&self) -> Option<usize> {
        self.parent
    }

    /// Adds any other part. In an answer, it separates the texts before and after it.
    pub fn push_node(&mut self, what: NodeContent) {
        if self.role == Role::Assistant {
            self.flush();
        }
        self.push(what);
    }

    /// Adds a message that lepo exported. The tag is its role and whether it is hidden: `s0`, `a1`.
    pub fn exact(&mut self, tag: &str, text: &str) {
        if let [letter, hidden @ (b'0' | b'1')] = tag.as_bytes()
            && let Some(role) = Role::from_letter(*letter)
        {
            self.push_node(NodeContent::Exact(role, *hidden == b'1', text.to_string()));
        }
    }

    fn push(&mut self, what: NodeContent) {
        self.parent = Some(self.conversation.add(self.parent, self.time, what));
    }

    fn flush(&mut self) {
        let (text, files) = (std::mem::take(&mut self.text), std::mem::take(&mut self.files));
        if !text.is_empty() || !files.is_empty() {
            let what = if self.is_side {
                NodeContent::Side(self.role, text)
            } else {
                NodeContent::Text(self.role, text, files)
            };
            self.push(what);
        }
    }

    /// Finishes the message; returns its first and last node. A message without content has a single [`NodeContent::Nothing`].
    pub fn finish(mut self) -> (usize, usize) {
        self.flush();
        if self.conversation.nodes.len() == self.first {
            self.push(NodeContent::Nothing);
        }
        (self.first, self.conversation.nodes.len() - 1)
    }
}
