//! The messages of a turn: on its path, and to write before the answer; and its answers with calls.

use super::attach::AttachedFile;
use super::body::Body;
use lepo_base::role::Role;
use lepo_model::{MediaFile, ProviderMessage, SharedText, ToolCall};
use lepo_secrets::ScreenedBytes;
use lepo_store::bubb::{BubbId, BubbName};

/// A message of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `None` until it is durable, and for a message that is not written at all.
    pub id: Option<BubbId>,
    pub role: Role,
    pub hidden: bool,
    /// Whether it has no prev.
    pub is_root: bool,
    /// The text as the model receives it; bytes that are not UTF-8 are U+FFFD.
    pub text: SharedText,
    pub body: Body,
    /// The files attached to it; only questions and results of servers' tools have files.
    pub files: Vec<AttachedFile>,
}

impl Message {
    /// Creates a message without an id and without files, which is not a root.
    pub fn new(role: Role, hidden: bool, text: impl Into<SharedText>) -> Message {
        let text = text.into();
        let body = Body::read(role, hidden, &text);
        Message { id: None, role, hidden, is_root: false, text, body, files: Vec::new() }
    }

    /// Creates the message of a file in the store.
    pub fn stored(name: &BubbName, text: impl Into<SharedText>) -> Message {
        let is_root = name.prev.is_none();
        Message { id: Some(name.id), is_root, ..Message::new(name.role, name.hidden, text) }
    }

    /// Whether it is a question that the user sees.
    pub fn is_question(&self) -> bool {
        self.role == Role::User && !self.hidden
    }

    /// Whether it is an answer that the user sees.
    pub fn is_answer(&self) -> bool {
        self.role == Role::Assistant && !self.hidden
    }

    /// Returns the files to send with it.
    pub fn sent_files(&self) -> Vec<MediaFile> {
        self.files.iter().filter_map(|attached| attached.file.clone()).collect()
    }
}

/// A message to write, in both its forms.
pub struct NewMessage {
    /// The message as the model receives it.
    pub message: Message,
    /// The text to write.
    pub screened: ScreenedBytes<'static>,
}

impl NewMessage {
    /// Creates a message to write.
    pub fn new(role: Role, hidden: bool, text: String, screened: ScreenedBytes<'_>) -> NewMessage {
        NewMessage { message: Message::new(role, hidden, text), screened: screened.into_owned() }
    }

    /// Creates a hidden message of kind system.
    pub fn hidden(text: String, screened: ScreenedBytes<'_>) -> NewMessage {
        NewMessage::new(Role::System, true, text, screened)
    }
}

/// The calls of one answer, as received.
#[derive(Debug, Clone, PartialEq)]
pub struct CallGroup {
    /// Index of its first bubb on the path.
    pub index: usize,
    pub calls: Vec<ToolCall>,
    /// The answer in the provider's own form.
    pub replay: Option<ProviderMessage>,
    /// Whether one of the calls was pending when an earlier process ended.
    pub was_pending: bool,
}

/// Paths for the tests of this crate.
#[cfg(test)]
pub mod fixture {
    use super::Message;
    use lepo_base::role::Role;

    /// `s1 prompt / u0 hi`: the first is the root.
    pub fn path(text: &str) -> Vec<Message> {
        let message = |(i, line): (usize, &str)| {
            let (tag, text) = line.split_once(' ').unwrap();
            let role = Role::from_letter(tag.as_bytes()[0]).unwrap();
            Message { is_root: i == 0, ..Message::new(role, tag.ends_with('1'), text) }
        };
        text.split(" / ").enumerate().map(message).collect()
    }
}
