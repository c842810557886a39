//! Prints messages as one text.

use super::mark::mark_for;
use super::range::TextRange;
use lepo_base::role::Role;

/// Comments that explain the format to first-time readers.
const COMMENTS: [&str; 3] = [
    "Each message is a mark line and the text below it. Move, cut, copy or reword them.",
    "A mark line without an id, such as `%% user`, begins a new message. Lines like this one are comments.",
    "The old messages stay. If nothing changed, or nothing is left, nothing is created.",
];

/// A message in the form that the text has.
#[derive(Debug, Clone)]
pub struct PrintedMessage {
    /// Its id, short if no other in the text ends so.
    pub id: String,
    pub role: Role,
    pub hidden: bool,
    /// A line; in parentheses after the id.
    pub note: Option<String>,
    /// Its bytes; `None` if only its mark line is printed.
    pub text: Option<Vec<u8>>,
}

/// Prints all messages below a comment with their range.
pub fn print(range: &TextRange, messages: &[PrintedMessage]) -> Vec<u8> {
    let mark = mark_for(messages.iter().filter_map(|message| message.text.as_deref()));
    let size: usize = messages.iter().map(|message| message.text.as_ref().map_or(0, Vec::len) + 60).sum();
    let mut out = Vec::with_capacity(size + 500);
    let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
    put(&[mark.as_bytes(), b"# ", range.comment().as_bytes(), b"\n"]);
    for comment in COMMENTS {
        put(&[mark.as_bytes(), b"# ", comment.replace("%%", &mark).as_bytes(), b"\n"]);
    }
    for message in messages {
        let hidden: &[u8] = if message.hidden { b" hidden " } else { b" " };
        put(&[mark.as_bytes(), hidden, message.role.as_str().as_bytes(), b" ", message.id.as_bytes()]);
        if let Some(note) = &message.note {
            put(&[b" (", note.as_bytes(), b")"]);
        }
        put(&[b"\n"]);
        if let Some(text) = message.text.as_deref().filter(|text| !text.is_empty()) {
            put(&[text, b"\n"]);
        }
    }
    out
}
