//! Messages as values: ids, speakers, messages read and messages to write.

use std::fmt;
use std::str::FromStr;

use super::failure::{Failure, failed};
use crate::bubb::{BubbId, BubbName};
use crate::store::Store;
use lepo_base::role::Role;

/// The id of a message: a ULID that contains a hash of the message and of all before it.
///
/// ```
/// let id: lepo_store::MessageId = "01jb3z0q4n8v2k5t7w9x1y3z5a".parse().unwrap();
/// assert_eq!(id.to_string(), "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
/// assert_eq!(id.time(), 1_729_931_271_317);
/// assert!("no id".parse::<lepo_store::MessageId>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub(super) BubbId);

/// The error for a text that is not an id.
///
/// ```
/// let error = "no id".parse::<lepo_store::MessageId>().unwrap_err();
/// assert_eq!(error.to_string(), "it is not an id of 26 characters");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoId;

/// The speaker of a message.
///
/// ```
/// assert_eq!(lepo_store::Speaker::Assistant.to_string(), "assistant");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Text for a model outside of the conversation: a system prompt, the output of a command that the user ran.
    System,
    /// The user.
    User,
    /// A model.
    Assistant,
    /// The result of a tool.
    Tool,
}

/// A message of a store.
///
/// ```
/// # use lepo_store::{Conversations, NewMessage, Speaker};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
/// # let id = store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
/// let message = &store.read(id).unwrap().messages[0];
/// assert_eq!((message.speaker, message.hidden, message.after), (Speaker::User, false, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The id of this message.
    pub id: MessageId,
    /// The previous message; `None` for a root.
    pub after: Option<MessageId>,
    /// The author.
    pub speaker: Speaker,
    /// Whether the message is listed only on request: thinking, tool calls, results.
    pub hidden: bool,
    /// The content, byte for byte. Usually UTF-8, but never checked.
    pub text: Vec<u8>,
}

/// The messages from a root to the last one.
///
/// ```
/// # use lepo_store::{Conversations, NewMessage, Speaker};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
/// # let id = store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
/// assert!(store.read(id).unwrap().is_whole);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversation {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Whether the first message is a root, so that no earlier one is missing.
    pub is_whole: bool,
}

/// The end of a conversation that can be continued.
///
/// ```
/// # use lepo_store::{Conversations, NewMessage, Speaker};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
/// # store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
/// for tail in store.tails().unwrap() {
///     println!("{} ({})", tail.id, tail.height);
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The last message.
    pub id: MessageId,
    /// The number of messages from the root to `id`.
    pub height: u32,
}

/// A message to write.
///
/// ```
/// use lepo_store::{NewMessage, Speaker};
///
/// let root = NewMessage::root(Speaker::System, b"Be brief.").hidden();
/// assert!(root.hidden && root.after.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewMessage<'m> {
    /// The previous message; `None` starts a conversation.
    pub after: Option<MessageId>,
    /// The author.
    pub speaker: Speaker,
    /// Whether the message is listed only on request.
    pub hidden: bool,
    /// The content.
    pub text: &'m [u8],
}

impl<'m> NewMessage<'m> {
    /// Creates a message that starts a conversation.
    ///
    /// ```
    /// let new = lepo_store::NewMessage::root(lepo_store::Speaker::User, b"why?");
    /// assert_eq!(new.after, None);
    /// ```
    pub fn root(speaker: Speaker, text: &'m [u8]) -> NewMessage<'m> {
        NewMessage { after: None, speaker, hidden: false, text }
    }

    /// Creates a message that follows another.
    ///
    /// ```
    /// let id = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// let new = lepo_store::NewMessage::after(id, lepo_store::Speaker::Assistant, b"so");
    /// assert_eq!(new.after, Some(id));
    /// ```
    pub fn after(id: MessageId, speaker: Speaker, text: &'m [u8]) -> NewMessage<'m> {
        NewMessage { after: Some(id), speaker, hidden: false, text }
    }

    /// Hides the message: it is then listed only on request.
    ///
    /// ```
    /// assert!(lepo_store::NewMessage::root(lepo_store::Speaker::System, b"x").hidden().hidden);
    /// ```
    pub fn hidden(self) -> NewMessage<'m> {
        NewMessage { hidden: true, ..self }
    }
}

/// A fault of a file in a store.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = lepo_store::Conversations::create(&dir.path().join(".lepo")).unwrap();
/// for problem in store.verify().unwrap() {
///     println!("{} {}: {}", problem.what, problem.file, problem.why);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// A name from `docs/format.md`, section 15: `edited`, `dangling`, `cycle` and so on.
    pub what: &'static str,
    /// Whether the fault is only a warning.
    pub is_warning: bool,
    /// The file, relative to the store, with U+FFFD for bytes that are not UTF-8.
    pub file: String,
    /// An explanation for the user.
    pub why: String,
}

pub(super) fn read(store: &Store, name: &BubbName) -> Result<Message, Failure> {
    let text = failed(store.read_bubb(name))?;
    let (id, after) = (MessageId(name.id), name.prev.map(MessageId));
    Ok(Message { id, after, speaker: name.kind.into(), hidden: name.hidden, text })
}

impl MessageId {
    /// Returns when the message was written, in milliseconds since 1970.
    ///
    /// ```
    /// let id: lepo_store::MessageId = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// assert_eq!(id.time(), 1_729_931_271_317);
    /// ```
    pub fn time(self) -> u64 {
        self.0.time()
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MessageId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<MessageId, NoId> {
        BubbId::parse(text.as_bytes()).map(MessageId).ok_or(NoId)
    }
}

impl fmt::Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not an id of 26 characters")
    }
}

impl std::error::Error for NoId {}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Role::from(*self).as_str())
    }
}

impl From<Speaker> for Role {
    fn from(speaker: Speaker) -> Role {
        match speaker {
            Speaker::System => Role::System,
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
            Speaker::Tool => Role::Tool,
        }
    }
}

impl From<Role> for Speaker {
    fn from(kind: Role) -> Speaker {
        match kind {
            Role::System => Speaker::System,
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
        }
    }
}
