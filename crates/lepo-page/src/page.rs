//! The content of a page.

use super::body::MessageBody;
use super::chart::Figures;
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;

/// A message of a page.
#[derive(Debug, Clone)]
pub struct PageMessage {
    /// Its id.
    pub id: BubbId,
    /// The author.
    pub role: Role,
    /// The message is hidden, and the page includes hidden messages; not for a stopped answer.
    pub hidden: bool,
    /// Index of the previous message, which comes earlier in the list.
    pub prev: Option<usize>,
    /// The participant who speaks, if there are several.
    pub speaker: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The label of an answer that ended early.
    pub ended_early: Option<&'static str>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Milliseconds from the request to the end.
    pub ms: Option<u64>,
    /// The branches that end here.
    pub branches: Vec<String>,
    /// Its content.
    pub body: MessageBody,
    /// Hidden bubbs of its side branches, displayed within it.
    pub sides: Vec<PageMessage>,
}

impl PageMessage {
    /// Returns the author's name.
    pub(crate) fn who(&self) -> &'static str {
        match self.role {
            Role::System => "System",
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::Tool => "Tool",
        }
    }
}

/// Number of colours for speakers.
const COLOURS: usize = 8;

/// The content of a page.
pub struct Page {
    pub(crate) title: String,
    pub(crate) messages: Vec<PageMessage>,
    /// Indices of the messages of the conversation displayed first, the oldest first.
    pub(crate) path: Vec<usize>,
    pub(crate) on_path: Vec<bool>,
    /// Whether no other message of the page follows it.
    pub(crate) is_tail: Vec<bool>,
    /// Speakers, in the order of their first messages.
    pub(crate) speakers: Vec<String>,
    /// Token use, if known.
    pub figures: Option<Figures>,
}

impl Page {
    /// Creates a page of these messages, each after its prev. The conversation that ends at `chosen` is displayed
    /// first; by default its first question is the title.
    pub fn new(messages: Vec<PageMessage>, chosen: usize, title: Option<String>) -> Page {
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
            .find(|message| message.role == Role::User && !message.hidden);
        let first = asked.or_else(|| path.first().map(|&at| &messages[at]));
        let title = title.or_else(|| first.map(|message| message.body.words.clone()));
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| "Conversation".into());
        Page { title, messages, path, on_path, is_tail, speakers, figures: None }
    }

    /// Returns the index of a speaker's colour.
    pub(crate) fn colour(&self, speaker: &str) -> usize {
        self.speakers.iter().position(|name| name == speaker).unwrap_or_default() % COLOURS
    }
}
