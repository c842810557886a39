//! Messages that a log of Codex has twice, as an event and as a record: which of them are told for the first time.
//!
//! Either may come first, and either may be missing. Both are counted by what they say: an event that is one more than
//! the messages so far is a message, until a record says it again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::conversation::{Conversation, What};

/// The two kinds of events that repeat a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The text alone.
    Text,
    /// An item of a thread.
    Item,
}

/// A message that was taken from an event.
#[derive(Debug, Clone, Copy)]
pub struct Echo {
    /// Its first node; the others follow.
    pub first: usize,
    /// The place after its last node.
    pub end: usize,
    /// The turn that it began.
    pub turn: Option<usize>,
}

/// The messages of a log by what they say.
#[derive(Debug, Default)]
pub struct Echoes {
    texts: HashMap<u64, Text>,
}

/// The messages of one text.
#[derive(Debug, Default)]
struct Text {
    /// Messages of the conversation.
    messages: u32,
    /// Events, by their kind.
    events: [u32; 2],
    /// Messages that no record has said yet.
    open: Vec<Echo>,
}

impl Echoes {
    /// True if the message of an event is told for the first time.
    pub fn is_new(&mut self, part: &Conversation, kind: EventKind) -> bool {
        let Some(key) = key(part) else { return false };
        let text = self.texts.entry(key).or_default();
        let events = &mut text.events[usize::from(kind == EventKind::Item)];
        *events += 1;
        *events > text.messages
    }

    /// Notes the message that was made of an event.
    pub fn add(&mut self, part: &Conversation, echo: Echo) {
        let Some(key) = key(part) else { return };
        let text = self.texts.entry(key).or_default();
        text.messages += 1;
        text.open.push(echo);
    }

    /// Notes the message of a record: the event's that it takes the place of, if there was one.
    pub fn record(&mut self, part: &Conversation) -> Option<Echo> {
        let text = self.texts.entry(key(part)?).or_default();
        let echo = (!text.open.is_empty()).then(|| text.open.remove(0));
        text.messages += u32::from(echo.is_none());
        echo
    }
}

/// The hash of what a message says visibly, without its blanks; `None` if that is nothing.
fn key(part: &Conversation) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut is_empty = true;
    for node in &part.nodes {
        let What::Text(role, text, _) = &node.what else { continue };
        role.letter().hash(&mut hasher);
        for word in text.split_whitespace() {
            is_empty = false;
            word.hash(&mut hasher);
        }
    }
    (!is_empty).then(|| hasher.finish())
}
