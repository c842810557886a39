//! Messages that a log of Codex has twice, as an event and as a record: finds out which are new.
//!
//! Either may come first, and either may be missing. Both are counted by their text: an event beyond the messages of
//! its text so far is a new message, until a record repeats it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::conversation::{History, NodeContent};
use lepo_base::role::Role;

/// The two kinds of events that repeat a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A text alone.
    Text,
    /// A thread item.
    Item,
}

/// A message added because of an event.
#[derive(Debug, Clone, Copy)]
pub struct Echo {
    /// Its first node; the others follow.
    pub first: usize,
    /// Index after its last node.
    pub end: usize,
    /// Index of the turn that it started.
    pub turn: Option<usize>,
}

/// The messages of a log, by a hash of their text.
#[derive(Debug, Default)]
pub struct Echoes {
    texts: HashMap<u64, Text>,
}

#[derive(Debug, Default)]
struct Text {
    /// Number of messages in the conversation.
    messages: u32,
    /// Number of events, by kind.
    events: [u32; 2],
    /// Messages that no record has repeated yet.
    open: Vec<Echo>,
}

impl Echoes {
    /// Counts the message of an event, and returns whether the message is new.
    pub fn is_new(&mut self, part: &History, kind: EventKind) -> bool {
        let Some(key) = key(part) else { return false };
        let text = self.texts.entry(key).or_default();
        let events = &mut text.events[usize::from(kind == EventKind::Item)];
        *events += 1;
        *events > text.messages
    }

    /// Adds a message that comes from an event.
    pub fn add(&mut self, part: &History, echo: Echo) {
        let Some(key) = key(part) else { return };
        let text = self.texts.entry(key).or_default();
        text.messages += 1;
        text.open.push(echo);
    }

    /// Adds the message of a record, and returns the event's message that it replaces.
    pub fn record(&mut self, part: &History) -> Option<Echo> {
        let text = self.texts.entry(key(part)?).or_default();
        let echo = (!text.open.is_empty()).then(|| text.open.remove(0));
        text.messages += u32::from(echo.is_none());
        echo
    }
}

/// Hashes the visible text of a message without white space, or the hidden one of a message that has no other; `None` if
/// it has neither.
fn key(part: &History) -> Option<u64> {
    let visible = part.nodes.iter().filter_map(|node| match &node.what {
        NodeContent::Text(role, text, _) => Some((role, text)),
        _ => None,
    });
    let hidden = part.nodes.iter().filter_map(|node| match &node.what {
        NodeContent::Aside(role, text) => Some((role, text)),
        _ => None,
    });
    hash_words(visible).or_else(|| hash_words(hidden))
}

fn hash_words<'t>(texts: impl Iterator<Item = (&'t Role, &'t String)>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut last = None;
    for (role, text) in texts {
        for word in text.split_whitespace() {
            // An event has the parts of a record as one text.
            if last.replace(role) != Some(role) {
                role.letter().hash(&mut hasher);
            }
            hasher.write(word.as_bytes());
        }
    }
    last.map(|_| hasher.finish())
}
