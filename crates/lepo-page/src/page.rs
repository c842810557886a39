//! The content of a page.

use super::body::Body;
use super::chart::Figures;
use lepo_store::bubb::{BubbId, Kind};

/// A message of a page.
#[derive(Debug, Clone)]
pub struct Message {
    /// Id of the message.
    pub id: BubbId,
    /// The kind of speaker.
    pub kind: Kind,
    /// The message is hidden, and shown because hidden ones were asked for.
    pub hidden: bool,
    /// The place of the message it follows, which stands before it.
    pub prev: Option<usize>,
    /// The participant that speaks, where there are several.
    pub speaker: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The word for an answer that ended early.
    pub ended_early: Option<&'static str>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// From the request to the end, milliseconds.
    pub ms: Option<u64>,
    /// The branches that name it.
    pub branches: Vec<String>,
    /// Content of the message.
    pub body: Body,
    /// Hidden bubbs of its side branches, shown within it.
    pub sides: Vec<Message>,
}

impl Message {
    /// The name of the kind of speaker.
    pub(crate) fn who(&self) -> &'static str {
        match self.kind {
            Kind::System => "System",
            Kind::User => "User",
            Kind::Assistant => "Assistant",
            Kind::Tool => "Tool",
        }
    }
}

/// Colours that tell speakers apart.
const COLOURS: usize = 8;

/// The content of a page.
pub struct Page {
    pub(crate) title: String,
    pub(crate) messages: Vec<Message>,
    /// The places of the conversation that is shown first, the oldest first.
    pub(crate) path: Vec<usize>,
    pub(crate) on_path: Vec<bool>,
    /// No other message of the page follows it.
    pub(crate) is_tail: Vec<bool>,
    /// Speakers in the order in which they first speak.
    pub(crate) speakers: Vec<String>,
    /// Token use, where that is known.
    pub figures: Option<Figures>,
}

impl Page {
    /// A page of these messages, each behind the one it follows. The conversation that ends at `chosen` is shown
    /// first. Without a title its first question is.
    pub fn new(messages: Vec<Message>, chosen: usize, title: Option<String>) -> Page {
        let mut path: Vec<usize> = std::iter::successors(Some(chosen), |&at| messages[at].prev).collect();
        path.reverse();
        let (mut on_path, mut is_tail) = (vec![false; messages.len()], vec![true; messages.len()]);
        for &at in &path {
            on_path[at] = true;
        }
        let mut speakers: Vec<String> = Vec::new();
        for message in &messages {
            if let Some(prev) = message.prev {
                is_tail[prev] = false;
            }
            if let Some(speaker) = &message.speaker
                && !speakers.contains(speaker)
            {
                speakers.push(speaker.clone());
            }
        }
        let asked = path
            .iter()
            .map(|&at| &messages[at])
            .find(|message| message.kind == Kind::User && !message.hidden);
        let first = asked.or_else(|| path.first().map(|&at| &messages[at]));
        let title = title.or_else(|| first.map(|message| message.body.words.clone()));
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| "Conversation".into());
        Page { title, messages, path, on_path, is_tail, speakers, figures: None }
    }

    /// The number of a speaker's colour.
    pub(crate) fn colour(&self, speaker: &str) -> usize {
        self.speakers.iter().position(|name| name == speaker).unwrap_or_default() % COLOURS
    }
}
